"""Costboost in a minute: train on real tables through the HTTP API, and count what decisions cost.

`make demo` runs it. Nothing is assumed but the installed package: the service is started here, on a free port
and in a temporary folder, and stopped at the end; unless COSTBOOST_URL names one that runs already. Every
number printed is computed from the API's answers for rows that training never saw.
"""

import json
import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import terminal
from http_api import Api, RefusedError
from running import ServiceError, running_service
from tables import CARD_FRAUD, COST_COLUMNS, GERMAN_CREDIT, Table, features, money

ALGORITHMS = ("auto", "adacost")
TABLES = (CARD_FRAUD, GERMAN_CREDIT)
SHOWN_ROWS = 2
#: What a check costs when the same rows are priced again; the first that changes a decision is shown.
DEARER_CHECKS = (20, 50, 100, 200)


@dataclass(frozen=True)
class Trained:
    """One version of a model, and the rows that will judge it.

    Attributes
    ----------
    rows : list
        Held-out rows as they stand in the file, with label and costs.
    inputs : list
        The same rows as the API wants them.
    """

    table: Table
    algorithm: str
    version: int
    rows: list[dict[str, str]]
    inputs: list[dict[str, Any]]


def main() -> int:
    """Tell the story; 0 when every step worked."""
    # A SIGTERM, too, must leave no service behind.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        tell()
    except (ServiceError, RefusedError, OSError) as error:
        print(f"\nThe demo failed: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nStopped.", file=sys.stderr)
        return 130
    return 0


def tell() -> None:
    """Start, train, decide, price again, count."""
    began = time.monotonic()
    terminal.heading("Costboost: decisions that cost the least")
    with service(began) as api:
        trained = train(api)
        best = next(one for one in trained if one.table is CARD_FRAUD)
        show_decisions(api, best)
        show_other_costs(api, best)
        show_money(api, trained)


@contextmanager
def service(began: float) -> Iterator[Api]:
    """The service that COSTBOOST_URL names, with its COSTBOOST_API_KEY, or else one of our own."""
    url = os.environ.get("COSTBOOST_URL")
    if url is not None:
        terminal.line(f"The service on {url}")
        yield Api(url.rstrip("/"), os.environ.get("COSTBOOST_API_KEY"))
        return
    with running_service() as url:
        terminal.line(f"API and worker on {url}, SQLite in a temporary folder {seconds(began)}")
        yield Api(url)
    terminal.line(
        terminal.dim(f"Everything that was started is stopped, after {time.monotonic() - began:.0f} s.")
    )
    show_next()


def train(api: Api) -> list[Trained]:
    """Upload each table, train each algorithm on it, and show how far the jobs are."""
    terminal.heading("Training on real tables; each fourth row is kept back, to count the money on")
    jobs: list[tuple[Table, dict[str, Any], str, str]] = []
    for table in TABLES:
        dataset = upload(api, table)
        for algorithm in ALGORITHMS:
            spec = {"dataset": dataset["id"], "costs": table.costs, "algorithm": algorithm, "seed": 7}
            jobs.append((table, dataset, algorithm, api.train(model=table.name, **spec)))
    return [wait(api, *job) for job in jobs]


def upload(api: Api, table: Table) -> dict[str, Any]:
    """Send the rows to learn from; the cost columns are stored but never learned from."""
    roles = json.dumps(dict.fromkeys(COST_COLUMNS, "cost"))
    return api.upload(table.training_csv(), name=table.name, label="label", positive_class="1", roles=roles)


def wait(api: Api, table: Table, dataset: dict[str, Any], algorithm: str, job_id: str) -> Trained:
    """Follow one job to its end."""
    began = time.monotonic()
    name = f"{table.name:<14}{algorithm:<8}"
    for job in api.watch(job_id):
        if not job["done"]:
            progress = job["progress"] or {"fraction": 0.0, "phase": job["status"]}
            terminal.bar(progress["fraction"], f"{name} {progress['phase']} {seconds(began)}")
    terminal.bar(1.0, f"{name} is version {job['result']['version']} {seconds(began)}", last=True)
    types = {one["name"]: one["type"] for one in dataset["columns"] if one["role"] == "feature"}
    rows = table.held_out()
    inputs = [features(row, types) for row in rows]
    return Trained(table, algorithm, job["result"]["version"], rows, inputs)


def show_decisions(api: Api, model: Trained) -> None:
    """Rows that a plain threshold of 0.5 decides otherwise, those with the most money in them first."""
    terminal.heading("A miss costs the amount, a check costs 10: where a threshold of 0.5 decides otherwise")
    answers = api.predict(model.table.name, model.version, model.inputs)
    plain = api.predict(model.table.name, model.version, model.inputs, threshold=0.5)
    differing = [i for i in range(len(answers)) if answers[i]["label"] != plain[i]["label"]]
    differing.sort(key=lambda i: -float(model.rows[i]["Amount"]))
    checked = [i for i in differing if answers[i]["label"] == "1"]
    accepted = [i for i in differing if answers[i]["label"] == "0"]
    # The dearest fraud that only the costs have caught is among them, if there is one.
    caught = [i for i in checked if model.rows[i]["label"] == "1"][:1]
    others = [i for i in checked if i not in caught][: SHOWN_ROWS - len(caught)]
    shown = [i for i in checked if i in {*caught, *others}]
    for i in [*shown, *accepted[:SHOWN_ROWS]]:
        truth = "it was a fraud" if model.rows[i]["label"] == "1" else "it was none"
        terminal.line(f"{describe(model.rows[i], answers[i])}  {terminal.dim(truth)}")


def show_other_costs(api: Api, model: Trained) -> None:
    """The same row at another price of a check: another decision, the same probability, no retraining."""
    before = api.predict(model.table.name, model.version, model.inputs)
    for price in DEARER_CHECKS:
        costs = {**model.table.costs, "fp": price, "tp": price}
        after = api.predict(model.table.name, model.version, model.inputs, costs=costs)
        flips = [i for i in range(len(before)) if before[i]["decision"] != after[i]["decision"]]
        if flips:
            break
    else:
        raise RefusedError("other costs changed no decision")
    if any(old["probabilities"] != new["probabilities"] for old, new in zip(before, after, strict=True)):
        raise RefusedError("other costs changed a probability")
    terminal.heading(f"The same transaction when a check costs {price}: priced again, not trained again")
    i = max(flips, key=lambda flip: float(model.rows[flip]["Amount"]))
    terminal.line(f"{describe(model.rows[i], before[i])}  {terminal.dim('a check costs 10')}")
    terminal.line(f"{describe(model.rows[i], after[i])}  {terminal.dim(f'a check costs {price}')}")


def describe(row: dict[str, str], answer: dict[str, Any]) -> str:
    """One transaction: amount, probability, from where on a check is cheaper, and what is done."""
    threshold = answer["threshold"]
    cheaper = "a check never pays" if threshold is None else f"check above {threshold:>6.1%}"
    done = "check " if answer["label"] == "1" else "accept"
    return (
        f"{float(row['Amount']):>9,.2f} EUR   p(fraud) {answer['probabilities']['1']:>6.1%}   "
        f"{cheaper:<18}   {terminal.bold(done)}"
    )


def show_money(api: Api, trained: list[Trained]) -> None:
    """What each policy costs on the rows kept back, and its saving against the cheaper constant policy."""
    for table in TABLES:
        models = [one for one in trained if one.table is table]
        rows = models[0].rows
        costs = {
            "accept all": sum(money(row, "0") for row in rows),
            "refuse all": sum(money(row, "1") for row in rows),
        }
        cheapest = min(costs.values())
        for model in models:
            costs[f"{model.algorithm}, threshold 0.5"] = cost_of(api, model, threshold=0.5)
        for model in models:
            costs[f"{model.algorithm}, least cost"] = cost_of(api, model)
        terminal.heading(f"{table.name}: what the {len(rows)} rows kept back cost, in {table.unit}")
        best = min(costs.values())
        for policy, cost in costs.items():
            text = f"{policy:<24}{cost:>10,.0f}   {1 - cost / cheapest:>+8.1%}"
            terminal.line(terminal.green(terminal.bold(text)) if cost == best else text)
    terminal.line(terminal.dim("+ is the saving against the better of accept all and refuse all"))


def cost_of(api: Api, model: Trained, **more: Any) -> float:
    """Decide all held-out rows through the API and add up what the decisions cost."""
    predictions = api.predict(model.table.name, model.version, model.inputs, **more)
    return sum(money(row, one["label"]) for row, one in zip(model.rows, predictions, strict=True))


def show_next() -> None:
    """Where to go from here."""
    terminal.heading("Next")
    terminal.line("make serve                    keep a service running, with its data in ./var")
    terminal.line("http://127.0.0.1:8000/ui      its pages, once it runs")
    terminal.line("http://127.0.0.1:8000/docs    its documentation")
    terminal.line("README.md                     the first request with curl")


def seconds(began: float) -> str:
    """Seconds since then, set back."""
    return terminal.dim(f"{time.monotonic() - began:.1f} s")


if __name__ == "__main__":
    sys.exit(main())
