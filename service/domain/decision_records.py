"""What is kept of a decision: on which probabilities and costs it was taken, to judge it by later."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any


@dataclass(frozen=True)
class DecisionRecord:
    """
    One answered row.

    Attributes
    ----------
    model_id, version_id, version_number
        Who decided; a record outlives the version.
    alias : str or None
        The alias that was asked; None when a version was.
    row_id : str or None
        The `id` that the row brought.
    subject : str or None
        Whom the row is about; what is erased with them.
    probabilities : mapping of class to probability
    decision, rule_decision : str
        The action that was answered and the one that the rule chose; they differ in control rows alone.
    label : str or None
        The class that the answered action serves; None for a review.
    decision_source : str
        As in the answer; "control" where chance let the row through.
    expected_cost : mapping of action to money
    costs : mapping of class to mapping of action to money
        The cost cells of this row.
    propensity : float
        The probability with which this decision was answered for this row; 1 where chance had no part.
    row : mapping or None
        The row itself, only where the model says so.
    shadow_of : str or None
        The record whose row this is the unanswered decision of a challenger for.
    """

    id: str
    tenant_id: str
    model_id: str
    version_id: str
    version_number: int
    alias: str | None
    row_id: str | None
    subject: str | None
    decided_at: datetime
    probabilities: Mapping[str, float]
    decision: str
    rule_decision: str
    label: str | None
    decision_source: str
    expected_cost: Mapping[str, float]
    costs: Mapping[str, Mapping[str, float]]
    propensity: float = 1.0
    row: Mapping[str, Any] | None = None
    shadow_of: str | None = None
