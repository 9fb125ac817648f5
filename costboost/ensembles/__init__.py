"""Scores of fitted ensembles as values, beside the terms of stumps: numpy only, one row equal to a batch."""
