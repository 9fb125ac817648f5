"""Finding the version that answers without asking the database: pointers and loaded versions are kept."""

import threading
import time
from collections import OrderedDict
from dataclasses import dataclass

import structlog
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.orm import Session, sessionmaker

from service.artifacts.store import ArtifactStore
from service.domain.errors import ConflictError, InvalidError, NotFoundError
from service.domain.models import Model, Version
from service.domain.predictions import Selector
from service.learning import Predictor, load
from service.usecases.naming import required_cost_spec
from service.usecases.predicting import Priced
from service.usecases.resolution import resolve

#: A pointer older than this is looked up again before it is used.
FRESH_SECONDS = 1.0
#: Pointers in use are looked up this often, aside from the requests.
REFRESH_SECONDS = 0.4
#: A pointer nobody asked for in this time is forgotten.
IDLE_SECONDS = 60.0
#: Loaded versions kept in memory, the least recently used leaving first.
MAX_LOADED = 64
MAX_POINTERS = 10_000

log = structlog.get_logger("service.scoring")


@dataclass(frozen=True)
class Loaded:
    """A version ready to score."""

    model: Model
    version: Version
    predictor: Predictor


@dataclass
class _Pointer:
    model: Model
    version: Version
    checked: float
    used: float


class Scoring:
    """
    The versions that answer predictions.

    `cached` never waits and may be called on the event loop; `load` reads database and store, so it belongs
    into a thread. A version never changes, so it is loaded once; only the pointer to it is looked up again.
    """

    def __init__(self, readers: sessionmaker[Session], store: ArtifactStore) -> None:
        self._readers = readers
        self._store = store
        self._pointers: dict[Selector, _Pointer] = {}
        self._loaded: OrderedDict[str, Predictor] = OrderedDict()
        self._priced: dict[tuple[str, str], Priced] = {}
        self._lock = threading.Lock()
        self._loading = threading.Lock()
        self._stopped = threading.Event()
        self._refresher = threading.Thread(
            target=self._refresh_until_stopped, name="alias-refresh", daemon=True
        )

    def start(self) -> None:
        """Begin to look up the pointers in use, aside."""
        self._refresher.start()

    def stop(self) -> None:
        """End the looking up."""
        self._stopped.set()
        self._refresher.join()

    def cached(self, selector: Selector) -> Loaded | None:
        """Give the version if it is at hand and its pointer is fresh."""
        pointer = self._pointers.get(selector)
        now = time.monotonic()
        if pointer is None or now - pointer.checked > FRESH_SECONDS:
            return None
        pointer.used = now
        predictor = self._predictor(pointer.version)
        return None if predictor is None else Loaded(pointer.model, pointer.version, predictor)

    def load(self, selector: Selector) -> Loaded:
        """
        Look the version up and load it.

        Raises
        ------
        NotFoundError
            No such model, alias or version.
        InvalidError
            `model_required`: no model is named and there is not exactly one.
        ConflictError
            `artifact_missing`, `artifact_corrupt`.
        """
        try:
            pointer = self._look_up(selector)
        except (DBAPIError, PoolTimeoutError):
            # Versions never change: while the database is away, the last pointer is the best there is.
            known = self._pointers.get(selector)
            if known is None:
                raise
            pointer = known
        try:
            return Loaded(pointer.model, pointer.version, self._load(pointer.version))
        except ConflictError:
            # Its bytes may be gone because it is: deleted since we looked it up, the alias moved on before.
            again = self._look_up(selector)
            if again.version.id == pointer.version.id:
                raise
            return Loaded(again.model, again.version, self._load(again.version))

    def cached_costs(self, loaded: Loaded, cost_spec: str) -> Priced | None:
        """Give the stored cost spec of an id, ready for the version, if it is at hand."""
        with self._lock:
            return self._priced.get((loaded.version.id, cost_spec))

    def load_costs(self, loaded: Loaded, cost_spec: str) -> Priced:
        """
        Read a stored cost spec, or the latest of a name, and make it ready for the version.

        What an id names never changes, so it is kept.

        Raises
        ------
        InvalidError
            There is none of this id or name, or it does not fit the version.
        """
        with self._readers() as session:
            found = required_cost_spec(session, loaded.version.tenant_id, cost_spec)
        costs = loaded.predictor.cost_spec(found.costs, at="/cost_spec")
        priced = Priced(costs, found.costs, found.id, found.revision)
        with self._lock:
            if len(self._priced) >= MAX_POINTERS:
                self._priced.clear()
            self._priced[loaded.version.id, found.id] = priced
        return priced

    def forget(self, tenant: str, model: str) -> None:
        """Look up the pointers of a model again, because this process has just moved one."""
        with self._lock:
            for selector, pointer in list(self._pointers.items()):
                if selector.tenant == tenant and pointer.model.name == model:
                    del self._pointers[selector]

    def _predictor(self, version: Version) -> Predictor | None:
        with self._lock:
            predictor = self._loaded.get(version.id)
            if predictor is not None:
                self._loaded.move_to_end(version.id)
        return predictor

    def _load(self, version: Version) -> Predictor:
        with self._loading:  # one at a time: many requests for a new version load it once
            predictor = self._predictor(version)
            if predictor is None:
                predictor = load(self._store.read(version.artifact_sha256))
                with self._lock:
                    self._loaded[version.id] = predictor
                    while len(self._loaded) > MAX_LOADED:
                        self._loaded.popitem(last=False)
        return predictor

    def _look_up(self, selector: Selector) -> _Pointer:
        with self._readers() as session:
            model, version = resolve(session, selector)
        now = time.monotonic()
        pointer = _Pointer(model, version, checked=now, used=now)
        with self._lock:
            if len(self._pointers) >= MAX_POINTERS:
                self._pointers.clear()
            self._pointers[selector] = pointer
        return pointer

    def _refresh_until_stopped(self) -> None:
        while not self._stopped.wait(REFRESH_SECONDS):
            try:
                self._refresh()
            except (DBAPIError, PoolTimeoutError) as error:
                log.warning("aliases cannot be looked up; the last ones stay", error=type(error).__name__)
                self._keep_all()

    def _refresh(self) -> None:
        selectors = self._in_use()
        if not selectors:
            return
        with self._readers() as session:
            for selector in selectors:
                found = _find(session, selector)
                with self._lock:
                    pointer = self._pointers.get(selector)
                    if found is None:
                        self._pointers.pop(selector, None)
                    elif pointer is not None:  # not forgotten meanwhile
                        pointer.model, pointer.version = found
                        pointer.checked = time.monotonic()

    def _in_use(self) -> list[Selector]:
        oldest = time.monotonic() - IDLE_SECONDS
        with self._lock:
            for selector, pointer in list(self._pointers.items()):
                if pointer.used < oldest:
                    del self._pointers[selector]
            return list(self._pointers)

    def _keep_all(self) -> None:
        now = time.monotonic()
        with self._lock:
            for pointer in self._pointers.values():
                pointer.checked = now


def _find(session: Session, selector: Selector) -> tuple[Model, Version] | None:
    try:
        return resolve(session, selector)
    except (NotFoundError, InvalidError):
        return None
