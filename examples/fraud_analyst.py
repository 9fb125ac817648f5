"""A missed fraud costs its amount, a check costs 10: what is saved on payments that training never saw."""

from pathlib import Path

import pandas as pd

from costboost.client import Client

DATA = Path(__file__).parent.parent / "demo" / "data" / "card_fraud.csv.gz"
CHECK = 10.0
COSTS = {"fn": {"per": {"Amount": 1}}, "fp": CHECK, "tp": CHECK}
#: Columns that say what each mistake costs; here the costs above say it.
ROLES = dict.fromkeys(["cost_fn", "cost_fp", "cost_tp", "cost_tn"], "cost")


def main() -> None:
    """Train on three quarters of the payments, decide the others, and count the money."""
    payments = pd.read_csv(DATA)
    kept_back = payments.iloc[::4]
    with Client() as client:
        dataset = client.create_dataset(
            payments.drop(kept_back.index), name="card-payments", positive_class="1", roles=ROLES
        )
        # Without `algorithm` the default is trained: it costs less, and takes longer.
        job = client.train("card-example", dataset, COSTS, algorithm="cgada")
        job.wait(progress=True)
        by_cost = client.predict_table("card-example", kept_back)
        by_half = client.predict_table("card-example", kept_back, threshold=0.5)
    is_fraud = kept_back["label"].to_numpy() == 1
    amount = kept_back["Amount"].to_numpy()
    print(f"accept all      {amount[is_fraud].sum():>10,.2f}")
    for name, decided in (("threshold 0.5", by_half), ("least cost", by_cost)):
        is_checked = decided["label"].to_numpy() == "1"
        cost = CHECK * is_checked.sum() + amount[is_fraud & ~is_checked].sum()
        print(f"{name:<14}  {cost:>10,.2f}   {is_checked.sum()} checked")


if __name__ == "__main__":
    main()
