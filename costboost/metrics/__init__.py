"""How good decisions and probabilities were, in money first.

A metric that is undefined for the data at hand is None, with the reason beside it; it is never 0 or NaN.
Sums over rows are exact before rounding, so the order of rows changes no total.
"""
