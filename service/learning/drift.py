"""Drift of a version: what it says and what it is asked, beside the rows that were set aside to test it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from costboost.drift import Drift, category_drift, number_drift
from costboost.realised import RealisedCost, realised_cost
from costboost.reliability import reliability_table
from service.domain.outcomes import Recorded
from service.learning.held_out import TestPart


@dataclass(frozen=True)
class ClassDrift:
    """
    One class.

    Attributes
    ----------
    probability : Drift
        Of its probability, against the test part.
    calibration : RealisedCost
        How much more often than predicted the class came, as a mean with interval; no money here.
    reliability : dict of lists, or None
        Of the records whose label is known: `mean_probability` and `observed_rate` of bins; None without any.
    """

    name: str
    probability: Drift
    calibration: RealisedCost
    reliability: dict[str, list[float]] | None


@dataclass(frozen=True)
class InputDrift:
    """One column of the input."""

    name: str
    drift: Drift


def class_drifts(part: TestPart, records: Sequence[Recorded]) -> list[ClassDrift]:
    """Compare the probabilities of records with those of the test part; of two classes the positive one."""
    said = np.array([[one.probabilities[name] for name in part.classes] for one in records])
    codes = {name: code for code, name in enumerate(part.classes)}
    label = np.array([codes.get(one.label or "", -1) for one in records], dtype=np.intp)
    reveal = np.array([one.reveal for one in records])
    shown = range(len(part.classes)) if part.positive is None else (part.positive,)
    return [
        ClassDrift(
            part.classes[code],
            number_drift(part.probabilities[:, code], said[:, code]),
            realised_cost(np.eye(len(part.classes))[code] - said[:, code, None], label, reveal),
            _reliability(said[:, code], label, code),
        )
        for code in shown
    ]


def _reliability(
    said: NDArray[np.float64], label: NDArray[np.intp], code: int
) -> dict[str, list[float]] | None:
    known = label >= 0
    if not known.any():
        return None
    return reliability_table(label[known] == code, said[known], np.ones(int(known.sum())))


def input_drifts(
    reference: Mapping[str, NDArray[Any]], sample: Mapping[str, NDArray[Any]]
) -> list[InputDrift]:
    """Compare typed columns, the one that moved most first."""
    found = [InputDrift(name, _column(reference[name], values)) for name, values in sample.items()]
    return sorted(found, key=lambda one: -one.drift.psi)


def _column(reference: NDArray[Any], sample: NDArray[Any]) -> Drift:
    if reference.dtype == object:
        return category_drift(reference.tolist(), sample.tolist())
    return number_drift(reference, sample)
