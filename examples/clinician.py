"""A sick patient sent home costs five times a healthy one examined: one patient, decided with reasons."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from costboost.client import Client, Prediction

DATA = Path(__file__).parent.parent / "demo" / "data" / "heart_statlog.csv.gz"
ROLES = dict.fromkeys(["cost_fn", "cost_fp", "cost_tp", "cost_tn"], "cost")
NAMES = {"0": "send home", "1": "examine"}


def main() -> None:
    """Train on all patients but the first, and decide that one at two prices of a miss."""
    patients = pd.read_csv(DATA)
    patient = patients.iloc[0].drop(["label", *ROLES]).to_dict()
    with Client() as client:
        dataset = client.create_dataset(patients.iloc[1:], name="heart", positive_class="1", roles=ROLES)
        job = client.train(
            "heart-example", dataset, {"fn": 5, "fp": 1}, algorithm="cgada", params={"n_estimators": 100}
        )
        how_sure(job.wait(progress=True).outcome["metrics"])
        for text in client.check_costs({"fn": 5, "fp": 1})["consequences"]:
            print(text)
        show(client.predict("heart-example", [patient], explain=3)[0])
        # Other costs move the decision, never the probability, and nothing is trained anew.
        show(client.predict("heart-example", [patient], costs={"fn": 1, "fp": 5})[0])


def how_sure(metrics: Mapping[str, Any]) -> None:
    """What it saves against examining everybody: on few patients, within wide bounds."""
    low, high = metrics["savings_ci95"]
    bounds = f"95 %: {low:.0%} to {high:.0%}"
    print(f"saves {metrics['savings']:.0%} on {metrics['rows']} patients set aside, {bounds}")
    others = metrics["out_of_fold"]
    print(f"saves {others['savings']:.0%} out of fold, on {others['rows']} others")


def show(decided: Prediction) -> None:
    """Probability, threshold and decision, and what speaks for and against."""
    probability = (decided.probabilities or {})["1"]
    print(f"p(sick) {probability:.1%}, examined above {decided.threshold:.1%}: {NAMES[decided.label or '0']}")
    for reason in decided.reasons or []:
        print(f"  {reason['feature']} = {reason['value']}: {reason['contribution']:+.2f}")


if __name__ == "__main__":
    main()
