"""Approve, decline, or have somebody look: what a review is worth when reviewers are few."""

from pathlib import Path

import pandas as pd

from costboost.client import Client

DATA = Path(__file__).parent.parent / "demo" / "data" / "german_credit.csv.gz"
ROLES = dict.fromkeys(["cost_fn", "cost_fp", "cost_tp", "cost_tn"], "cost")
COSTS = {
    "classes": ["0", "1"],  # 1 is a credit that was not paid back
    "actions": [
        {"name": "approve", "for": "0"},
        {"name": "decline", "for": "1"},
        {"name": "review", "kind": "review"},
    ],
    "costs": [
        {"true": "1", "action": "approve", "cost": {"per": {"credit_amount": 0.5}}},
        {"true": "0", "action": "decline", "cost": {"per": {"credit_amount": 0.1}}},
    ],
    "review": {"fee": 40, "accuracy": {"0": 0.95, "1": 0.9}},
}


def main() -> None:
    """Train with a review among the actions, and see what fewer reviewers would cost."""
    with Client() as client:
        dataset = client.create_dataset(pd.read_csv(DATA), name="credits", positive_class="1", roles=ROLES)
        client.train("credit-example", dataset, COSTS, algorithm="cgada").wait(progress=True)
        for places in (10, 30, 200):
            told = client.simulate("credit-example", capacity={"max": places, "per": "file"})
            cost, worth = told["optimum"]["cost"], told["shadow_price"]
            print(f"{places:>4} places   cost {cost:>10,.0f}   the last place is worth {worth:,.2f}")


if __name__ == "__main__":
    main()
