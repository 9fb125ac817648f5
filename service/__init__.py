"""The HTTP service of Costboost: trains in workers, answers with the decision that costs the least."""
