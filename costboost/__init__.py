"""Cost-sensitive boosting: learn from a table which decision costs the least."""
