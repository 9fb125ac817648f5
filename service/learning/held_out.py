"""The test part of a version as an artifact: what the model said about rows it has not seen, and the truth.

From it follow, with no model and no data set at hand, what other costs or thresholds would have cost.
"""

import json
import math
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import safetensors
import safetensors.numpy
from numpy.typing import NDArray

from costboost.costs import LARGEST_COST
from service.domain.errors import ConflictError
from service.learning.judging import Judged

_FORMAT: Final = 1
_KEY: Final = "costboost.test_part"
#: Of sound rows probabilities sum to 1 but for the last digits; see `costboost.decisions`.
_SUM_SLACK: Final = 1e-6
#: The largest that training takes.
_LARGEST_WEIGHT: Final = 1e12


@dataclass(frozen=True, eq=False)
class TestPart:
    """
    n rows of the test part.

    Attributes
    ----------
    classes, actions : tuple of str
    positive : int or None
        Index of the positive class of two.
    serves : tuple of int or None
        Class that each action serves; None for a review.
    rows : ndarray of shape (n,), int64
        Their numbers in the dataset; empty where the version came from elsewhere.
    codes : ndarray of shape (n,), int64
        Class of each.
    weight : ndarray of shape (n,)
    probabilities : ndarray of shape (n, K)
    score : ndarray of shape (n,) or (n, K)
    decision : ndarray of shape (n,), int64
        Index of the action.
    costs : ndarray of shape (K, A) or (n, K, A)
        Those of training.
    """

    __test__ = False  # no test, whatever its name says

    classes: tuple[str, ...]
    actions: tuple[str, ...]
    positive: int | None
    serves: tuple[int | None, ...]
    rows: NDArray[np.int64]
    codes: NDArray[np.int64]
    weight: NDArray[np.float64]
    probabilities: NDArray[np.float64]
    score: NDArray[np.float64]
    decision: NDArray[np.int64]
    costs: NDArray[np.float64]


# What bytes of another shape raise on their way.
_FLAWS: Final = (ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError)
_NAMES: Final = ("classes", "actions", "positive", "serves")
_ARRAYS: Final = ("rows", "codes", "weight", "probabilities", "score", "decision", "costs")
_INTEGERS: Final = frozenset({"rows", "codes", "decision"})


def test_part_of(judged: Judged, rows: NDArray[np.intp]) -> TestPart:
    """Put together what is kept of judged rows with these numbers."""
    n = len(judged.codes)
    return TestPart(
        classes=tuple(judged.spec.classes),
        actions=tuple(action.name for action in judged.spec.actions),
        positive=judged.spec.positive,
        serves=tuple(judged.spec.serves),
        rows=rows.astype(np.int64),
        codes=judged.codes.astype(np.int64),
        weight=np.ones(n) if judged.weight is None else judged.weight,
        probabilities=judged.probabilities,
        score=judged.score,
        decision=judged.decisions.decision.astype(np.int64),
        costs=judged.costs,
    )


def total_cost(part: TestPart) -> float:
    """What the decisions cost, weighted: `total_cost` of the metrics."""
    own = np.broadcast_to(part.costs, (len(part.codes), *part.costs.shape[-2:]))
    return math.fsum(part.weight * own[np.arange(len(part.codes)), part.codes, part.decision])


def dump_test_part(part: TestPart) -> bytes:
    """Write a test part: arrays and JSON, nothing that could be executed."""
    named = {name: getattr(part, name) for name in _NAMES}
    header = json.dumps({"format": _FORMAT, **named}, sort_keys=True, separators=(",", ":"))
    arrays = {name: np.ascontiguousarray(getattr(part, name)) for name in _ARRAYS}
    return safetensors.numpy.save(arrays, {_KEY: header})


def load_test_part(data: bytes) -> TestPart:
    """Read what :func:`dump_test_part` wrote.

    Raises
    ------
    ConflictError
        `artifact_corrupt`.
    """
    try:
        size = int.from_bytes(data[:8], "little")
        header = json.loads(json.loads(data[8 : 8 + size])["__metadata__"][_KEY])
        arrays = safetensors.numpy.load(data)
        if header.pop("format") != _FORMAT or set(arrays) != set(_ARRAYS):
            raise ValueError("another format")
        named: dict[str, Any] = {name: _tuple(header[name]) for name in _NAMES}
        part = TestPart(**named | arrays)
        _check(part)
    except (*_FLAWS, safetensors.SafetensorError):
        raise ConflictError("artifact_corrupt", "the stored bytes are not a test part") from None
    return part


def _tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _check(part: TestPart) -> None:
    n, n_classes, n_actions = len(part.codes), len(part.classes), len(part.actions)
    score = (n,) if n_classes == 2 else (n, n_classes)
    shapes = {"weight": (n,), "probabilities": (n, n_classes), "score": score, "decision": (n,)}
    if any(getattr(part, name).shape != shape for name, shape in shapes.items()):
        raise ValueError("arrays of other shapes")
    if part.costs.shape not in ((n_classes, n_actions), (n, n_classes, n_actions)):
        raise ValueError("costs of another shape")
    if part.rows.shape not in ((n,), (0,)) or len(part.serves) != n_actions:
        raise ValueError("rows or actions of another number")
    for name in _ARRAYS:
        array = getattr(part, name)
        if array.dtype != (np.int64 if name in _INTEGERS else np.float64):
            raise ValueError("another type")
        if not np.isfinite(array).all():
            raise ValueError("numbers that are none")
    for codes, limit in ((part.codes, n_classes), (part.decision, n_actions)):
        if codes.size and not (codes.min() >= 0 and codes.max() < limit):
            raise ValueError("codes out of range")
    if part.positive not in ((0, 1) if n_classes == 2 else (None,)):
        raise ValueError("another positive class")
    _check_values(part)


def _check_values(part: TestPart) -> None:
    """Refuse finite numbers that mean nothing, or that sums and squares of could not hold."""
    if not part.codes.size or (part.rows < 0).any():
        raise ValueError("no rows, or rows before the first")
    if (part.weight < 0.0).any() or (part.weight > _LARGEST_WEIGHT).any():
        raise ValueError("weights that are none")
    if (part.probabilities < 0.0).any() or (np.abs(part.probabilities.sum(axis=1) - 1.0) > _SUM_SLACK).any():
        raise ValueError("probabilities that are none")
    if (np.abs(part.costs) > LARGEST_COST).any():
        raise ValueError("costs beyond what can be reckoned with")
