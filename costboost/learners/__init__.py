"""Weak learners: what a boosting round fits under its weights."""
