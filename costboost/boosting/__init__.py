"""Cost-sensitive boosters: one loop, and one file per formula."""
