"""A day of an operator: is it ready, is the challenger better, what did decisions cost in the end."""

import tempfile
from pathlib import Path

import pandas as pd

from costboost.client import Client

DATA = Path(__file__).parent.parent / "demo" / "data" / "heart_statlog.csv.gz"
ROLES = dict.fromkeys(["cost_fn", "cost_fp", "cost_tp", "cost_tn"], "cost")
COSTS = {"fn": 5, "fp": 1}
MODEL = "operated-example"


def main() -> None:
    """Train twice, compare, promote, record decisions, give labels back, and carry the version elsewhere."""
    table = pd.read_csv(DATA)
    with Client() as client:
        print("ready:", client.readiness()["status"])
        dataset = client.create_dataset(table, name="operated", positive_class="1", roles=ROLES)
        for algorithm in ("cgada", "adacost"):
            done = client.train(MODEL, dataset, COSTS, algorithm=algorithm).wait(progress=True)
            version, metrics = done.outcome["version"], done.outcome["metrics"]
            print(f"version {version} ({algorithm}): {metrics['expected_cost']:.3f} a row")
        client.set_alias(MODEL, "champion", version, reason="costs less on the test part")

        labels = [str(label) for label in table.pop("label")[:50]]
        rows = table.drop(columns=list(ROLES))[:50].to_dict("records")
        decided = client.predict(MODEL, rows, record="durable")
        client.give_feedback(
            {"prediction_id": one.prediction_id, "label": label}
            for one, label in zip(decided, labels, strict=True)
        )
        total = client.performance(MODEL, window="all")["versions"][0]["total"]
        print(f"expected {total['expected_cost']:.3f}, realised {total['realised_cost']['mean']}")

        with tempfile.TemporaryDirectory() as folder:
            file = client.export(MODEL, version, Path(folder, "version.zip"))
            print("imported as version", client.import_version(f"{MODEL}-copy", file).version)


if __name__ == "__main__":
    main()
