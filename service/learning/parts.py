"""A table scored in parts, side by side where joblib is told to: in threads, or on other machines."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from numpy.typing import NDArray

from service.domain.errors import CostboostError
from service.learning.answers import Answers
from service.learning.pricing import PricedCosts
from service.learning.scoring import Predictor, load

__all__ = ["Asked", "predict_parts"]

Columns: TypeAlias = Mapping[str, NDArray[Any]]

#: The version that this process has made ready last, by the digest of its bytes.
_ready: dict[str, Predictor] = {}


@dataclass(frozen=True)
class Asked:
    """What is asked about every part, as `Predictor.predict` takes it."""

    costs: PricedCosts | None = None
    priors: Mapping[str, float] | None = None
    reasons: int | None = None

    def of(self, predictor: Predictor, columns: Columns) -> Answers:
        """Ask it about some rows."""
        n = len(next(iter(columns.values())))
        return predictor.predict(columns, n, self.costs, priors=self.priors, reasons=self.reasons)


def predict_parts(
    predictor: Predictor, artifact: bytes, parts: Iterable[Columns], asked: Asked
) -> Iterator[Answers]:
    """Score the parts of a table; where that is done changes no number.

    Parameters
    ----------
    predictor : Predictor
    artifact : bytes
        What it was loaded from, for other machines.
    parts : iterable of mappings
        Taken as they are wanted.
    asked : Asked

    Yields
    ------
    Answers
        In the order of the parts.
    """
    from joblib import Parallel, delayed, effective_n_jobs, parallel  # noqa: PLC0415  the API scores alone

    if effective_n_jobs(None) == 1:
        yield from (asked.of(predictor, part) for part in parts)
    elif getattr(parallel.get_active_backend()[0], "supports_sharedmem", False):
        yield from Parallel(return_as="generator")(delayed(asked.of)(predictor, part) for part in parts)
    else:
        # Bytes go along with each part. An array joblib would leave with one worker of Dask, whose death
        # would take it away from all parts that are still to come.
        digest, sent = hashlib.sha256(artifact).hexdigest(), list[Columns]()

        def tasks() -> Iterator[Any]:
            for part in parts:
                sent.append(part)
                yield delayed(_score_there)(artifact, digest, part, asked)

        for answers in Parallel(return_as="generator")(tasks()):
            part = sent.pop(0)
            # What is wrong with a part is found again here: our errors do not travel.
            yield asked.of(predictor, part) if answers is None else answers


def _score_there(artifact: bytes, digest: str, part: Columns, asked: Asked) -> Answers | None:
    """Score a part, or say that it cannot be."""
    predictor = _ready.get(digest)
    if predictor is None:
        _ready.clear()
        predictor = _ready[digest] = load(artifact)
    try:
        return asked.of(predictor, part)
    except CostboostError:
        return None
