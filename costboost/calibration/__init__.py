"""Scores to probabilities, fitted on out-of-fold scores and unweighted labels.

A cost-trained booster shifts and stretches its scores; a non-decreasing map from score to probability, fitted
on rows the booster has not seen, brings them back to the base rate. Probabilities never contain costs.
"""
