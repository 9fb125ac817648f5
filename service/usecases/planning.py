"""What a training spec comes to: what it names is found, what would fail is refused, the rest is settled."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy.orm import Session, sessionmaker

from service import learning
from service.artifacts.store import ArtifactStore
from service.db import registry
from service.domain.costs import Costs
from service.domain.datasets import Dataset, InputColumn
from service.domain.errors import FieldError, InvalidError
from service.domain.faults import counted
from service.domain.models import Version
from service.domain.problems.registry import PROBLEMS
from service.domain.training import KeptLimits, SettledSpec, TrainingSpec
from service.rows import read_parquet
from service.usecases import ingredients
from service.usecases.cost_specs import look_swapped

#: Columns that are named in a warning.
_NAMED = 10


@dataclass(frozen=True)
class Ceilings:
    """The largest limits a job may ask for, and how many jobs of a tenant may wait."""

    seconds: float
    memory_mb: int
    queued_jobs: int


@dataclass(frozen=True)
class Plan:
    """What would be trained.

    Attributes
    ----------
    consequences : list of str
        What the costs lead to, in words.
    unreasonable_rows : int
        Rows in which a wrong decision costs no more than the right one.
    """

    spec: SettledSpec
    dataset: Dataset
    costs: Costs
    consequences: list[str]
    unreasonable_rows: int
    division: learning.Division

    @property
    def trials(self) -> int | None:
        """How many parameters would be tried; None without a search."""
        return None if self.spec.search is None else len(learning.candidates(self.spec))


def plan(
    readers: sessionmaker[Session],
    store: ArtifactStore,
    tenant: str,
    spec: TrainingSpec,
    *,
    ceilings: Ceilings,
    new: Dataset | None = None,
) -> Plan:
    """Check a spec and settle it, and do nothing.

    Parameters
    ----------
    new : Dataset, optional
        The dataset of the spec when it has no row yet.

    Raises
    ------
    InvalidError
        With a pointer for everything that would make the job fail.
    """
    with readers() as session:
        placed, dataset, costs = ingredients.place(session, tenant, spec, new)
        last = _last_version(session, tenant, spec.model)
    faults = [*_check_limits(placed, ceilings), *learning.check(placed, dataset, costs)]
    if faults:
        raise _invalid(faults)
    columns = _columns(store, dataset, costs, placed)
    division, faults = learning.rehearse(placed, dataset, columns)
    if division is None:
        raise _invalid(faults)
    prices = learning.cost_spec(costs, dataset.classes, dataset.positive_class)
    unreasonable = learning.count_unreasonable(prices, columns, dataset.rows)
    if unreasonable == dataset.rows:
        raise _never_reasonable(spec, dataset)
    warnings = dict(_differences(last, dataset)) | dict(_notices(placed, dataset, unreasonable, division))
    if look_swapped(learning.describe(prices), dataset):
        warnings["swapped_costs"] = "a missed positive is cheaper than a false alarm: are the two swapped?"
    settled = _settled(placed, warnings)
    return Plan(settled, dataset, costs, learning.consequences(prices), unreasonable, division)


def _notices(
    spec: TrainingSpec, dataset: Dataset, unreasonable: int, division: learning.Division
) -> Iterator[tuple[str, str]]:
    if unreasonable:
        detail = f"in {unreasonable} of {dataset.rows} rows a wrong decision costs no more than the right one"
        yield "unreasonable_costs", detail
    if division.folds < spec.split.folds and spec.split.kind != "predefined":
        detail = f"the rows make {division.folds} folds only: a class has too few rows, groups or times"
        yield "fewer_folds", detail


def _settled(spec: TrainingSpec, warnings: Mapping[str, str]) -> SettledSpec:
    name, params = learning.settle(spec.algorithm, spec.params)
    if spec.search is not None:
        params = {key: value for key, value in params.items() if key not in spec.search.params}
    known: dict[str, Any] = dict(spec) | {"limits": KeptLimits(**dict(spec.limits))}
    told = {"requested_algorithm": spec.algorithm, "warnings": warnings}
    return SettledSpec(**known | {"algorithm": name, "params": params} | told)


def _columns(store: ArtifactStore, dataset: Dataset, costs: Costs, spec: TrainingSpec) -> dict[str, Any]:
    """What costs are computed from and rows are divided by; of most jobs nothing has to be read."""
    names = set(costs.columns) | {column.name for column in learning.division_columns(spec, dataset)}
    wanted = [column for column in dataset.columns if column.name in names]
    if not wanted:
        return {}
    with store.open(dataset.content_sha256) as content:
        return read_parquet(content, [InputColumn(column.name, column.type) for column in wanted])


def _never_reasonable(spec: TrainingSpec, dataset: Dataset) -> InvalidError:
    at = "/costs" if spec.cost_spec is None else "/cost_spec"
    detail = (
        f"in each of the {dataset.rows} rows a wrong decision costs no more than the right one, so one "
        "decision is always the cheapest: check the columns, factors and bounds of the cells"
    )
    return InvalidError.at(at, "unreasonable_costs", detail)


def _last_version(session: Session, tenant: str, name: str) -> Version | None:
    model = registry.find_model(session, tenant, name)
    found = [] if model is None else registry.list_versions(session, model, 1, None)
    return found[0] if found else None


def _differences(last: Version | None, dataset: Dataset) -> Iterator[tuple[str, str]]:
    """In what a dataset differs from that of the last version: who predicts has to send other rows then."""
    if last is None:
        return
    before = {one["name"] for one in last.schema.get("columns", ()) if one["role"] == "feature"}
    now = {column.name for column in dataset.columns_of("feature")}
    told = [_listed("new are", now - before), _listed("no longer there are", before - now)]
    if before and before != now:
        yield "other_columns", f"version {last.number} has other columns: {'; '.join(filter(None, told))}"
    classes = last.schema.get("classes", dataset.classes)
    if set(classes) != set(dataset.classes):
        detail = f"version {last.number} decides between other classes: {', '.join(sorted(classes)[:_NAMED])}"
        yield "other_classes", detail


def _listed(what: str, names: set[str]) -> str:
    more = " ..." if len(names) > _NAMED else ""
    return f"{what} {', '.join(sorted(names)[:_NAMED])}{more}" if names else ""


def _invalid(faults: list[FieldError]) -> InvalidError:
    codes = {fault.code for fault in faults}
    code = faults[0].code if len(codes) == 1 and faults[0].code in PROBLEMS else "invalid"
    return InvalidError(code, counted(faults), faults)


def _check_limits(spec: TrainingSpec, ceilings: Ceilings) -> list[FieldError]:
    faults = []
    if spec.limits.seconds is not None and spec.limits.seconds > ceilings.seconds:
        faults.append(FieldError("/limits/seconds", "too_large", f"at most {ceilings.seconds:g}"))
    if spec.limits.memory_mb is not None and spec.limits.memory_mb > ceilings.memory_mb:
        faults.append(FieldError("/limits/memory_mb", "too_large", f"at most {ceilings.memory_mb}"))
    return faults
