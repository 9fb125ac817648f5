"""The search of a training job: whether its space makes sense, what is drawn, and what it comes to."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from costboost import parameters
from costboost.search_space import Choices, Interval, draw_params
from service.domain.errors import FieldError, pointer
from service.domain.searching import SearchInterval, SearchSpec
from service.domain.training import TrainingSpec
from service.learning.algorithms import check_params, find, params_schema


@dataclass(frozen=True)
class Searched:
    """
    What a search came to, as plain JSON values.

    Attributes
    ----------
    params : dict
        Those of the best trial.
    told : dict
        `strategy`, `metric`, `best` (number of the best trial, from 0) and `trials`: for each `params`,
        `folds`, `cost` and `error`.
    """

    params: dict[str, Any]
    told: dict[str, Any]


def candidates(spec: TrainingSpec) -> list[dict[str, Any]]:
    """Parameters to try, drawn by the seed; those that do not go together are left out."""
    from costboost import registry  # noqa: PLC0415 - loads scikit-learn and the compiler

    assert spec.search is not None
    schema = params_schema(spec.algorithm)
    space = {name: _range(one, schema[name]) for name, one in spec.search.params.items()}

    def allowed(params: Mapping[str, Any]) -> bool:
        return not registry.check_params(spec.algorithm, {**spec.params, **params})

    return draw_params(space, spec.search.trials, spec.seed, allowed)


def check_search(spec: TrainingSpec) -> Iterator[FieldError]:
    """Faults of the search, each with its pointer."""
    if spec.search is None:
        return
    if spec.decision_rule == "sign":
        detail = "a search looks for the least cost, which the rule sign does not"
        yield FieldError("/decision_rule", "exclusive", detail)
    faults = [*_check_names(spec, spec.search), *_check_values(spec, spec.search)]
    yield from faults
    if not faults and not check_params(spec.algorithm, spec.params) and not candidates(spec):
        detail = "no values of these go together, with each other or with params"
        yield FieldError("/search/params", "nothing_to_try", detail)


def run_search(
    spec: TrainingSpec, search: Callable[..., Any], progress: Callable[..., None] | None
) -> Searched:
    """Search, and tell what it came to.

    Parameters
    ----------
    spec : TrainingSpec
    search : callable
        `costboost.search.search_params` on the rows of the job: called with the candidates, `strategy` and
        `progress`.
    progress : callable, optional
    """
    assert spec.search is not None
    found = search(candidates(spec), strategy=spec.search.strategy, progress=progress)
    trials = [
        {"params": dict(one.params), "folds": one.folds, "cost": one.cost, "error": one.error}
        for one in found.trials
    ]
    told = {
        "strategy": spec.search.strategy,
        "metric": spec.search.metric,
        "best": next(i for i, one in enumerate(found.trials) if one is found.best),
        "trials": trials,
    }
    return Searched(dict(found.best.params), told)


def share_of_search(spec: TrainingSpec) -> float:
    """About which share of all fits of a job its search does."""
    if spec.search is None:
        return 0.0
    folds, trials = spec.split.folds, spec.search.trials
    fits = trials * folds if spec.search.strategy == "random" else 2 * trials + folds
    return fits / (fits + folds + 1)


def _check_names(spec: TrainingSpec, search: SearchSpec) -> Iterator[FieldError]:
    found = find(spec.algorithm)
    known = params_schema(spec.algorithm) if found is not None else {}
    for name in search.params:
        if found is not None and name not in known:
            detail = f"is not a parameter of {found.name}; it has {', '.join(known)}"
            yield FieldError(pointer("search", "params", name), "invalid_param", detail)
        elif name in spec.params:
            detail = "is given in params and searched: leave it out of one of them"
            yield FieldError(pointer("search", "params", name), "exclusive", detail)


def _check_values(spec: TrainingSpec, search: SearchSpec) -> Iterator[FieldError]:
    if find(spec.algorithm) is None:
        return
    known = params_schema(spec.algorithm)
    for name, one in search.params.items():
        if name not in known:
            continue
        values = {"low": one.low, "high": one.high} if isinstance(one, SearchInterval) else enumerate(one)
        for place, value in dict(values).items():
            yield from _check_value(spec.algorithm, name, place, _meant(value, known[name]))


def _check_value(algorithm: str, name: str, place: str | int, value: Any) -> Iterator[FieldError]:
    # Each by itself: what does not go together is left out when values are drawn.
    for path, message in parameters.check_params(find(algorithm).cls, {name: value}):
        yield FieldError(pointer("search", "params", name, place, *path[1:]), "invalid_param", message)


def _range(one: Any, schema: Mapping[str, Any]) -> Interval | Choices:
    if not isinstance(one, SearchInterval):
        return Choices(tuple(one))
    return Interval(_meant(one.low, schema), _meant(one.high, schema), one.log, whole=_is_whole(schema))


def _meant(value: Any, schema: Mapping[str, Any]) -> Any:
    """A bound of a whole parameter as the whole number that it is."""
    is_bound = isinstance(value, float) and value.is_integer()
    return int(value) if is_bound and _is_whole(schema) else value


def _is_whole(schema: Mapping[str, Any]) -> bool:
    types = {one.get("type") for one in schema.get("anyOf", [schema])}
    return "integer" in types and "number" not in types
