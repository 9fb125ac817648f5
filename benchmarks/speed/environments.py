"""Environments of their own, for peers that need other versions than Costboost does."""

import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

#: Ignored by git; `make clean` removes it.
FOLDER = Path(__file__).parents[1] / "environments"

PACKAGES: dict[str, tuple[str, ...]] = {
    "imbalanced-ensemble": ("imbalanced-ensemble==0.2.3",),
    "mlflow": ("mlflow==3.18.0",),
    "mlserver": ("mlserver==1.7.1", "mlserver-sklearn==1.7.1"),
}
#: What must be the same there as here, because a model is carried over.
SHARED: dict[str, tuple[str, ...]] = dict.fromkeys(("mlflow", "mlserver"), ("scikit-learn", "numpy"))


def python_of(name: str) -> Path | None:
    """Build the environment if it is not there, and give its Python; None if it cannot be installed."""
    folder = FOLDER / name
    python, stamp = folder / "bin" / "python", folder / "installed"
    if stamp.exists():
        return python
    shared = [f"{one}=={version(one)}" for one in SHARED.get(name, ())]
    print(f"installing {name} into an environment of its own ...", flush=True)
    pip: list[str | Path] = [python, "-m", "pip", "-qq", "--disable-pip-version-check", "install"]
    try:
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        subprocess.run([*pip, *PACKAGES[name], *shared], check=True)
    except subprocess.CalledProcessError as error:
        print(f"{name} is left out: {error}", flush=True)
        return None
    stamp.touch()
    return python


def versions() -> dict[str, str]:
    """Versions of the peers that could be installed."""
    there = (name for name in PACKAGES if (FOLDER / name / "installed").exists())
    return {name: PACKAGES[name][0].partition("==")[2] for name in there}
