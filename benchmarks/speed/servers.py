"""Servers on this machine, started for a benchmark: Costboost, a plain FastAPI route, MLServer, MLflow."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import joblib
import psutil
from sklearn.linear_model import LogisticRegression

from . import draws
from .machine import ONE_THREAD

COLUMNS = tuple(f"c{column:02d}" for column in range(30))
MODEL = "bench"
START_SECONDS = 90.0

FASTAPI = "FastAPI + pydantic + scikit-learn"
MLSERVER = "MLServer"
MLFLOW = "MLflow"


@dataclass(frozen=True)
class Server:
    """A process that answers on a port of 127.0.0.1."""

    port: int
    process: psutil.Process

    def cpu(self) -> float:
        """CPU seconds of the process and of those it started."""
        times = [self.process.cpu_times(), *(child.cpu_times() for child in self._living())]
        ended = times[0].children_user + times[0].children_system
        return float(sum(one.user + one.system for one in times) + ended)

    def _living(self) -> list[psutil.Process]:
        return list(self.process.children(recursive=True))


@contextmanager
def costboost(folder: Path, *, worker: int = 0, **settings: str) -> Iterator[Server]:
    """Serve from a folder that `train` has filled, with a worker of so many slots if any."""
    flags, slots = ((), {"workers": str(worker)}) if worker else (("--no-worker",), {})
    with _costboost(folder, flags, settings | slots) as server:
        yield server


@contextmanager
def starlette(folder: Path) -> Iterator[Server]:
    """Serve `bare_app` by uvicorn with uvloop and httptools, as Costboost is."""
    port = free_port()
    command = [sys.executable, "-m", "uvicorn", "speed.bare_app:app", "--port", str(port)]
    command += ["--loop", "uvloop", "--http", "httptools", "--no-access-log"]
    path = {"PYTHONPATH": str(Path(__file__).parent.parent)}
    with _running(command, folder, port, "/", path) as server:
        yield server


def train(folder: Path, rounds: int = 100) -> None:
    """Train 100 stumps on 30 columns by the service itself."""
    with _costboost(folder, (), {}) as server:
        url = f"http://127.0.0.1:{server.port}/v1"
        dataset = call(f"{url}/datasets?label=label", csv(*draws.dense(5_000, len(COLUMNS))), "text/csv")
        wish = {
            "model": MODEL,
            "dataset": dataset["id"],
            "costs": {"fn": 50, "fp": 1},
            "algorithm": "adaboost",
            "params": {"n_estimators": rounds},
        }
        job = call(f"{url}/training-jobs", json.dumps(wish).encode(), "application/json")
        while not job["done"]:
            job = call(f"{url}/training-jobs/{job['id']}", None, "application/json", Prefer="wait=20")
        if job["status"] != "succeeded":
            raise RuntimeError(f"training ended as {job}")


@contextmanager
def fastapi(folder: Path) -> Iterator[Server]:
    """Serve `peer_app` by uvicorn with uvloop and httptools, as Costboost is."""
    _logistic(folder / "logistic.joblib")
    port = free_port()
    command = [sys.executable, "-m", "uvicorn", "speed.peer_app:app", "--port", str(port)]
    command += ["--loop", "uvloop", "--http", "httptools", "--no-access-log"]
    with _running(command, folder, port, "/ready", {"LOGISTIC": str(folder / "logistic.joblib")}) as server:
        yield server


@contextmanager
def mlserver(folder: Path, python: Path) -> Iterator[Server]:
    """Serve the same logistic regression by MLServer, in its own process alone."""
    _logistic(folder / "model.joblib")
    ports = {name: free_port() for name in ("http_port", "grpc_port", "metrics_port")}
    settings = {"parallel_workers": 0, "debug": False, "host": "127.0.0.1", **ports}
    model = {
        "name": MODEL,
        "implementation": "mlserver_sklearn.SKLearnModel",
        "parameters": {"uri": "./model.joblib"},
    }
    (folder / "settings.json").write_text(json.dumps(settings), encoding="utf-8")
    (folder / "model-settings.json").write_text(json.dumps(model), encoding="utf-8")
    command = [str(python.with_name("mlserver")), "start", str(folder)]
    with _running(command, folder, ports["http_port"], f"/v2/models/{MODEL}/ready", {}) as server:
        yield server


@contextmanager
def mlflow(folder: Path, python: Path) -> Iterator[Server]:
    """Serve the same logistic regression by `mlflow models serve`, with one worker."""
    _logistic(folder / "logistic.joblib")
    # `predict` of a classifier is its label alone; MLflow is asked for the probability too.
    save = (
        "import joblib, mlflow.sklearn, sys; "
        "mlflow.sklearn.save_model(joblib.load(sys.argv[1]), sys.argv[2], pyfunc_predict_fn='predict_proba', "
        "serialization_format='cloudpickle')"
    )
    saved = folder / "saved"
    subprocess.run([python, "-W", "ignore", "-c", save, folder / "logistic.joblib", saved], check=True)
    port = free_port()
    command = [str(python.with_name("mlflow")), "models", "serve", "--model-uri", str(saved)]
    command += ["--port", str(port), "--env-manager", "local", "--workers", "1"]
    path = {"PATH": f"{python.parent}{os.pathsep}{os.environ['PATH']}"}
    with _running(command, folder, port, "/ping", path) as server:
        yield server


def free_port() -> int:
    """Find a port that is free now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _logistic(path: Path) -> None:
    X, y = draws.dense(5_000, len(COLUMNS))
    joblib.dump(LogisticRegression(max_iter=500).fit(X, y), path)


def csv(X: Any, y: Any) -> bytes:
    """Write a table as a CSV with its label."""
    lines = [",".join((*COLUMNS, "label"))]
    lines += [
        ",".join((*map(repr, row), str(label))) for row, label in zip(X.tolist(), y.tolist(), strict=True)
    ]
    return "\n".join(lines).encode() + b"\n"


def call(url: str, body: bytes | None, content_type: str, **headers: str) -> Any:
    """Send a request, and read the JSON of its answer."""
    request = urllib.request.Request(url, body, {"Content-Type": content_type, **headers})
    try:
        with urllib.request.urlopen(request, timeout=120) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        raise RuntimeError(f"{error.code} {error.read()[:500]!r}") from error


@contextmanager
def _costboost(folder: Path, flags: Sequence[str], settings: Mapping[str, str]) -> Iterator[Server]:
    port = free_port()
    command = [sys.executable, "-m", "service.cli", "serve", f"--port={port}", f"--data-dir={folder}", *flags]
    variables = {f"COSTBOOST_{name.upper()}": value for name, value in settings.items()}
    with _running(command, folder, port, "/livez", variables) as server:
        yield server


@contextmanager
def _running(
    command: Sequence[str], folder: Path, port: int, ready: str, variables: Mapping[str, str]
) -> Iterator[Server]:
    ours = {name: value for name, value in os.environ.items() if not name.startswith("COSTBOOST_")}
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            command,
            env=ours | ONE_THREAD | dict(variables),
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        _wait_until_ready(process, f"http://127.0.0.1:{port}{ready}", folder / "log")
        yield Server(port, psutil.Process(process.pid))
    finally:
        process.terminate()
        try:
            process.wait(20.0)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _wait_until_ready(process: "subprocess.Popen[bytes]", url: str, log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with urllib.request.urlopen(url, timeout=2.0):
                return
        except OSError:
            time.sleep(0.2)
    raise RuntimeError(f"the server did not start\n{log.read_text(errors='replace')[-2000:]}")
