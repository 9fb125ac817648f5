"""What a service holds while it is used for long at a low rate: `make load LOAD="--minutes 60"`.

Each second brings single rows, a batch, lists and a refusal; each minute an upload, a training, and a longer
one that is cancelled a minute later. Each ten seconds memory, open files, threads and processes are noted.
"""

import json
import time
import urllib.request
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import psutil
from matplotlib.figure import Figure

from . import draws, machine, servers
from .servers import COLUMNS, MODEL, Server
from .serving import PREDICT

LOOK_SECONDS = 10.0
TRAIN_SECONDS = 60.0
SINGLE_ROWS = 20  # a second
#: After this part of the run all has been loaded that is loaded once.
WARM = 1 / 3
_JSON = "application/json"


@dataclass(frozen=True)
class Look:
    """What a service holds at a moment.

    Attributes
    ----------
    seconds : float
        Since the beginning.
    api, worker : float
        MiB resident: the process of the API, and that of the worker.
    files, threads : int
        Open in the process of the API.
    processes : int
        All of them, children of trainings too.
    """

    seconds: float
    api: float
    worker: float
    files: int
    threads: int
    processes: int


def run(server: Server, minutes: float) -> list[Look]:
    """Use a service for so long, and print what it holds meanwhile."""
    use, worker = _Use(server.port), _worker_of(server.process)
    began, looks = time.monotonic(), list[Look]()
    next_look, next_training = 0.0, LOOK_SECONDS
    while (seconds := time.monotonic() - began) < 60 * minutes:
        if seconds >= next_look:
            looks.append(_look(server.process, worker, seconds))
            next_look += LOOK_SECONDS
            print(looks[-1], flush=True)
        if seconds >= next_training:
            use.train()
            next_training += TRAIN_SECONDS
        use.ask()
        time.sleep(max(0.0, seconds + 1.0 - (time.monotonic() - began)))
    return looks


def _worker_of(api: psutil.Process) -> psutil.Process:
    return next(one for one in api.children() if "service.worker" in one.cmdline())


def _look(api: psutil.Process, worker: psutil.Process, seconds: float) -> Look:
    return Look(
        round(seconds, 1),
        round(api.memory_info().rss / 2**20, 1),
        round(worker.memory_info().rss / 2**20, 1),
        api.num_fds(),
        api.num_threads(),
        1 + len(api.children(recursive=True)),
    )


class _Use:
    """What is asked of the service again and again."""

    def __init__(self, port: int) -> None:
        self._url = f"http://127.0.0.1:{port}"
        X, y = draws.dense(2_000, len(COLUMNS), seed=3)
        self._table = servers.csv(X, y)
        self._rows = [dict(zip(COLUMNS, row, strict=True)) for row in X[:200].tolist()]
        self._long: str | None = None

    def ask(self) -> None:
        """A second's worth of small requests."""
        for _ in range(SINGLE_ROWS):
            self._post(PREDICT, {"rows": self._rows[:1]})
        self._post(PREDICT, {"rows": self._rows})
        for path in ("/v1/models", "/v1/datasets", "/v1/training-jobs", "/livez", "/metrics"):
            with urllib.request.urlopen(self._url + path, timeout=60) as answer:
                answer.read()
        try:
            self._post(PREDICT, {"rows": [{"nobody": 1}]})
        except RuntimeError:
            return
        raise RuntimeError("a row without its columns was taken")

    def train(self) -> None:
        """Upload, train, and cancel the long training of a minute ago."""
        dataset = servers.call(f"{self._url}/v1/datasets?label=label", self._table, "text/csv")["id"]
        wish = {"model": f"{MODEL}-soak", "dataset": dataset, "costs": {"fn": 50, "fp": 1}}
        if self._long is not None:
            servers.call(f"{self._url}/v1/training-jobs/{self._long}/cancel", b"", _JSON)
        for rounds in (20, 100_000):
            params = {"n_estimators": rounds, "estimator": {"name": "tree", "max_depth": 2}}
            job = self._post("/v1/training-jobs", wish | {"algorithm": "adaboost", "params": params})
        self._long = job["id"]

    def _post(self, path: str, body: Any) -> Any:
        return servers.call(self._url + path, json.dumps(body).encode(), _JSON)


def slope(looks: list[Look], what: str) -> float:
    """MiB that are added in an hour, by a line through all that was seen once it was warm."""
    warm = [look for look in looks if look.seconds >= WARM * looks[-1].seconds]
    hours = [look.seconds / 3600 for look in warm]
    return float(np.polyfit(hours, [getattr(look, what) for look in warm], 1)[0])


def publish(looks: list[Look], folder: Path) -> None:
    """Write the figures, their plot and a page."""
    lines = [",".join(asdict(looks[0])), *(",".join(map(str, asdict(look).values())) for look in looks)]
    (folder / "memory.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    _draw(looks, folder / "memory.svg")
    (folder / "memory.md").write_text(_page(looks), encoding="utf-8")


def _page(looks: list[Look]) -> str:
    shown = [min(looks, key=lambda look: abs(look.seconds - part * looks[-1].seconds)) for part in _PARTS]
    rows = [
        f"| {one.seconds / 60:.0f} | {one.api:.0f} | {one.worker:.0f} | {one.files} | {one.threads} | "
        f"{one.processes} |"
        for one in shown
    ]
    return "\n".join(
        [
            "# Memory over time",
            "",
            f'Written by `make load LOAD="--minutes N"`. {looks[-1].seconds / 60:.0f} minutes. In each second'
            f" {SINGLE_ROWS} single rows, a batch of 200, three lists, `/livez`, `/metrics` and a refusal;"
            " in each minute an upload, a training, and a long training that is cancelled a minute later. "
            f"{machine.describe()}.",
            "",
            "| minute | API, MiB | worker, MiB | open files | threads | processes |",
            "|---|---|---|---|---|---|",
            *rows,
            "",
            "![Resident memory over time](memory.svg)",
            "",
            f"A line through the last two thirds rises by {slope(looks, 'api'):.1f} MiB an hour for the API,"
            f" by {slope(looks, 'worker'):.1f} for the worker. Files and threads are those of the API. What"
            " the first training adds to the API is scikit-learn and the compiler of kernels: they are loaded"
            " once, to check `params` against the signatures of the estimators.",
            "",
        ]
    )


_PARTS = (0.0, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0)


def _draw(looks: list[Look], path: Path) -> None:
    figure = Figure(figsize=(8, 3), layout="constrained")
    axes = figure.subplots()
    minutes = [look.seconds / 60 for look in looks]
    for what, colour in (("api", "#0b6e4f"), ("worker", "#a8b5c4")):
        axes.plot(minutes, [getattr(look, what) for look in looks], color=colour, label=what)
    axes.set_ylim(bottom=0)
    axes.set_xlabel("minutes", fontsize=8)
    axes.set_ylabel("MiB resident", fontsize=8)
    axes.tick_params(labelsize=8)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(fontsize=8, frameon=False)
    with mpl.rc_context({"svg.hashsalt": "memory", "svg.fonttype": "none"}):
        figure.savefig(path, metadata={"Date": None})
