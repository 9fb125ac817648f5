"""The machine in words, without its name, and the versions of all that takes part."""

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

#: Distributions whose versions the page prints.
DISTRIBUTIONS = (
    "costboost",
    "numpy",
    "numba",
    "scikit-learn",
    "lightgbm",
    "xgboost-cpu",
    "catboost",
    "interpret-core",
    "onnxruntime",
    "polars",
    "pyarrow",
    "fastapi",
    "pydantic",
    "uvicorn",
    "uvloop",
    "httptools",
    "msgspec",
)

#: One thread for each method: peers read these when they are imported.
ONE_THREAD = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "POLARS_MAX_THREADS": "1",
    "NUMBA_NUM_THREADS": "1",
}


def describe() -> str:
    """Cores, processor, memory and system."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return (
        f"{os.cpu_count()} cores of {_processor()}, {memory:.0f} GiB, {platform.system()} "
        f"{platform.machine()}, Python {platform.python_version()}"
    )


def load() -> float:
    """Mean number of running processes in the last minute."""
    return round(os.getloadavg()[0], 1)


def versions() -> dict[str, str]:
    """Versions of what is installed here."""
    found = {}
    for name in DISTRIBUTIONS:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return found


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or "an unknown processor"
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, "an unknown processor")
