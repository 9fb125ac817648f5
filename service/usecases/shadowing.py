"""A challenger decides recorded rows too, unseen: aside from the answers, so that none waits for it."""

import queue
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace

import msgspec
import numpy as np
import structlog
from numpy.typing import NDArray
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from service.domain.decision_records import DecisionRecord
from service.domain.errors import CostboostError
from service.domain.predictions import PredictOptions, Selector
from service.rows import Sent
from service.usecases.predicting import Priced, predict, price
from service.usecases.recording import Recorder, records_of
from service.usecases.scoring import Loaded, Scoring

#: Requests that wait for their shadow; those beyond go without one.
MAX_WAITING = 1_000
_LOOK_SECONDS = 0.25

log = structlog.get_logger("service.shadowing")


@dataclass(frozen=True, eq=False)
class Recorded:
    """A request that was answered and recorded.

    Attributes
    ----------
    sound : ndarray of shape (m,), int
        Indices of the rows that the records are of.
    """

    loaded: Loaded
    wish: PredictOptions
    sent: Sent
    sound: NDArray[np.intp]
    records: Sequence[DecisionRecord]


class Shadows:
    """Decides recorded rows once more, with the version of the model's shadow alias."""

    def __init__(self, scoring: Scoring, recorder: Recorder) -> None:
        self._scoring = scoring
        self._recorder = recorder
        self._waiting: queue.Queue[Recorded] = queue.Queue(MAX_WAITING)
        self._stopped = threading.Event()
        self._decider = threading.Thread(target=self._decide_until_stopped, name="shadows", daemon=True)

    def start(self) -> None:
        """Begin to decide."""
        self._decider.start()

    def stop(self) -> None:
        """Decide what waits, and end."""
        self._stopped.set()
        self._decider.join()

    def offer(self, recorded: Recorded) -> bool:
        """Have the rows decided soon, if the model has a shadow; False when too many wait already."""
        if recorded.loaded.model.shadow_alias is None:
            return True
        try:
            self._waiting.put_nowait(recorded)
        except queue.Full:
            return False
        return True

    def _decide_until_stopped(self) -> None:
        while not self._stopped.is_set() or not self._waiting.empty():
            try:
                recorded = self._waiting.get(timeout=_LOOK_SECONDS)
            except queue.Empty:
                continue
            try:
                self._decide(recorded)
            except (CostboostError, DBAPIError, PoolTimeoutError) as error:
                # No such alias, or rows that the challenger cannot read: the answer does not depend on it.
                log.warning(
                    "a shadow could not decide",
                    model=recorded.loaded.model.name,
                    error=getattr(error, "code", type(error).__name__),
                )

    def _decide(self, recorded: Recorded) -> None:
        model = recorded.loaded.model
        selector = Selector(model.tenant_id, model.name, model.shadow_alias)
        shadow = self._scoring.cached(selector) or self._scoring.load(selector)
        if shadow.version.id == recorded.loaded.version.id:
            return
        wish = msgspec.structs.replace(recorded.wish, on_row_error="null", explain=None)
        priced = self._priced(shadow, wish)
        predicted = predict(
            shadow.predictor,
            wish,
            recorded.sent,
            priced,
            len(recorded.sent),
            review_price=model.review_price,
        )
        ids = dict(zip(recorded.sound.tolist(), (one.id for one in recorded.records), strict=True))
        decided = records_of(shadow, selector, recorded.sent, predicted, priced)
        self._recorder.keep(
            [
                replace(one, shadow_of=ids[row], row=None)
                for row, one in zip(predicted.sound.tolist(), decided, strict=True)
                if row in ids
            ]
        )

    def _priced(self, shadow: Loaded, wish: PredictOptions) -> Priced | None:
        if (own := wish.own_costs) is not None:
            return price(shadow.predictor, own)
        if wish.cost_spec is None:
            return None
        known = self._scoring.cached_costs(shadow, wish.cost_spec)
        return known or self._scoring.load_costs(shadow, wish.cost_spec)
