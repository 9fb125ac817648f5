"""Costboost in a minute: train on real tables through the HTTP API, and count what decisions cost.

`make demo` runs it. Nothing is assumed but the installed package: the service is started here, on a free port
and in a temporary folder, and stopped at the end. Every number printed is computed from the API's answers for
rows that training never saw.
"""

import json
import signal
import sys
import time
from dataclasses import dataclass
from typing import Any

import terminal
from http_api import Api, RefusedError
from running import ServiceError, running_service
from tables import CARD_FRAUD, COST_COLUMNS, GERMAN_CREDIT, Table, features, money

ALGORITHMS = ("cgada", "adacost")
TABLES = (CARD_FRAUD, GERMAN_CREDIT)
SHOWN_ROWS = 3
#: What an investigation costs when the same rows are priced again, in multiples of what it cost before.
DEARER = (2, 5, 10, 20)


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
    with running_service() as url:
        api = Api(url)
        terminal.line(
            f"API and worker on {url}, SQLite in a temporary folder {seconds(time.monotonic() - began)}"
        )
        trained = train(api)
        best = next(one for one in trained if one.table is CARD_FRAUD)
        show_decisions(api, best)
        show_other_costs(api, best)
        show_money(api, trained)
    show_next()
    terminal.line(terminal.dim(f"Everything that was started is stopped. {time.monotonic() - began:.0f} s."))


def train(api: Api) -> list[Trained]:
    """Upload each table, train each algorithm on it, and show how far the jobs are."""
    terminal.heading("Training on real tables, each fourth row kept back")
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
    text = f"{table.name:<14}{algorithm:<9}{dataset['rows']:>6,} rows"
    for job in api.watch(job_id):
        last = job["done"] and job["status"] == "succeeded"
        fraction = 1.0 if last else (job.get("progress") or {}).get("fraction", 0.0)
        terminal.bar(fraction, f"{text} {seconds(time.monotonic() - began)}", last=last)
    types = {one["name"]: one["type"] for one in dataset["columns"] if one["role"] == "feature"}
    rows = table.held_out()
    inputs = [features(row, types) for row in rows]
    return Trained(table, algorithm, job["result"]["version"], rows, inputs)


def show_decisions(api: Api, model: Trained) -> None:
    """A few rows, each with its own threshold: the dearer the miss, the less suspicion is enough."""
    terminal.heading("A miss costs the amount, a check costs 10: so each transaction has its own threshold")
    predictions = api.predict(model.table.name, model.version, model.inputs)
    # The flagged rows with the least suspicion are those where a fixed threshold would err.
    flagged = [i for i, one in enumerate(predictions) if one["label"] == "1"]
    flagged.sort(key=lambda i: predictions[i]["probabilities"]["1"])
    for i in flagged[:SHOWN_ROWS]:
        one = predictions[i]
        truth = "was a fraud" if model.rows[i]["label"] == "1" else "was none"
        terminal.line(
            f"{float(model.rows[i]['Amount']):>9,.2f} EUR   p(fraud) {one['probabilities']['1']:>6.1%}   "
            f"{threshold(one)}   {terminal.bold('check')}   {terminal.dim(truth)}"
        )


def show_other_costs(api: Api, model: Trained) -> None:
    """The same row at another price of a check: another decision, the same probability, no retraining."""
    before = api.predict(model.table.name, model.version, model.inputs)
    for factor in DEARER:
        costs = {**model.table.costs, "fp": 10 * factor, "tp": 10 * factor}
        after = api.predict(model.table.name, model.version, model.inputs, costs=costs)
        flips = [i for i in range(len(before)) if before[i]["decision"] != after[i]["decision"]]
        if flips:
            break
    else:
        raise RefusedError("other costs changed no decision")
    if any(old["probabilities"] != new["probabilities"] for old, new in zip(before, after, strict=True)):
        raise RefusedError("other costs changed a probability")
    terminal.heading("The same transaction at other costs, without training anew")
    i = max(flips, key=lambda flip: before[flip]["probabilities"]["1"])
    amount = float(model.rows[i]["Amount"])
    for price, one in ((10, before[i]), (10 * factor, after[i])):
        terminal.line(
            f"{amount:>9,.2f} EUR   p(fraud) {one['probabilities']['1']:>6.1%}   a check costs {price:>3}   "
            f"{threshold(one)}   {terminal.bold('check' if one['label'] == '1' else 'accept')}"
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
            costs[f"{model.algorithm}, least cost"] = cost_of(api, model)
        terminal.heading(f"{table.name}: what {len(rows)} rows kept back would have cost, in {table.unit}")
        best = min(costs.values())
        for policy, cost in costs.items():
            text = f"{policy:<24}{cost:>12,.0f}   saving {1 - cost / cheapest:>7.1%}"
            terminal.line(terminal.green(terminal.bold(text)) if cost == best else text)


def cost_of(api: Api, model: Trained, **more: Any) -> float:
    """Decide all held-out rows through the API and add up what the decisions cost."""
    predictions = api.predict(model.table.name, model.version, model.inputs, **more)
    return sum(money(row, one["label"]) for row, one in zip(model.rows, predictions, strict=True))


def show_next() -> None:
    """Where to go from here."""
    terminal.heading("Next")
    terminal.line("make serve                    keep a service running, with its data in ./var")
    terminal.line("http://127.0.0.1:8000/docs    its documentation, once it runs")
    terminal.line("README.md                     the first request with curl")


def threshold(prediction: dict[str, Any]) -> str:
    """Above which probability a check is cheaper than letting the transaction pass."""
    value = prediction["threshold"]
    return "no check pays off  " if value is None else f"check above {value:>6.1%}"


def seconds(duration: float) -> str:
    """A duration, set back."""
    return terminal.dim(f"{duration:.1f} s")


if __name__ == "__main__":
    sys.exit(main())
