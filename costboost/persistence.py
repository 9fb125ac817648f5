"""A fitted model as bytes: arrays in safetensors, the rest in a JSON header; no code, no pickle.

The bytes are canonical: a model has one form, and bytes in another form than `dump` writes are refused.
A digest inside them finds accidents; it is no signature, so everything read is checked as if it were hostile:
sizes before anything is allocated, then types, shapes, indices and values.
"""

import hashlib
import json
import math
from collections.abc import Mapping
from importlib import metadata
from typing import TYPE_CHECKING, Any

import numpy as np
import safetensors
import safetensors.numpy

from costboost.calibration.calibrator import Calibrator
from costboost.columns import COLUMN_TYPES, canonical_text
from costboost.contributions.of_ensembles import check_background
from costboost.cost_specs import CostSpec
from costboost.features import FeatureEncoder
from costboost.scorer import Scorer
from costboost.stored_ensembles import Arrays, Wanted, ensemble_from, ensemble_state, wanted_arrays

if TYPE_CHECKING:
    from costboost.model import CostSensitiveModel

#: Written into every artifact; readers refuse others.
FORMAT = 3
#: Larger artifacts are refused unread.
MAX_ARTIFACT_BYTES = 256 * 2**20
_MAX_HEADER_BYTES = 32 * 2**20

_KEY = "costboost"
_NO_DIGEST = "0" * 64
_DTYPES: dict[str, Any] = {"I32": "<i4", "F64": "<f8"}
_ARRAYS = {"score_threshold": "F64", "background": "F64"}


_LABEL_DTYPES: dict[str, Any] = {
    "b": bool,
    "i": np.int64,
    "u": np.uint64,
    "f": np.float64,
    "U": str,
    "O": object,
}
_LIBRARIES = ("costboost", "numpy", "scikit-learn", "numba")
# What a wrong shape of JSON raises on its way through the constructors.
_FLAWS = (ValueError, TypeError, KeyError, IndexError, AttributeError, OverflowError, RecursionError)

Header = dict[str, Any]


class ArtifactError(ValueError):
    """These bytes are no artifact that this version can read, or they were damaged.

    Examples
    --------
    >>> load(b"something else")
    Traceback (most recent call last):
        ...
    costboost.persistence.ArtifactError: ...
    """


def dump(model: "CostSensitiveModel") -> bytes:
    """Write a fitted model.

    Parameters
    ----------
    model : CostSensitiveModel
        Fitted, with stumps, trees or support vector machines of ours as weak learners.

    Returns
    -------
    bytes
        The same for the same model, on every machine with the same library versions.

    Raises
    ------
    ValueError
        If the weak learners are not ours, or a parameter is not plain JSON (a function, for instance).
    sklearn.exceptions.NotFittedError
        If the model is not fitted.
    """
    scorer = model.scorer()
    state, arrays = _scorer_state(scorer)
    header = {"format": FORMAT, "scorer": state, "model": _model_state(model)}
    return _signed(header, arrays)


def load(data: bytes) -> "CostSensitiveModel":
    """Read a model; it predicts as the one that was dumped, and can be fitted anew.

    Raises
    ------
    ArtifactError
        If `dump` did not write these bytes.
    """
    header, arrays = _verified(data)
    try:
        model = _model_from(header["model"], _scorer_from(header["scorer"], arrays))
        sound = dump(model) == data
    except _FLAWS as error:
        raise ArtifactError(f"the artifact is not sound: {type(error).__name__}") from error
    if not sound:
        raise ArtifactError("the artifact is not in the form in which it is written")
    return model


def load_scorer(data: bytes) -> Scorer:
    """Read what serving needs, without importing scikit-learn.

    Raises
    ------
    ArtifactError
        If `dump` did not write these bytes.
    """
    header, arrays = _verified(data)
    try:
        scorer = _scorer_from(header["scorer"], arrays)
        sound = _text(_scorer_state(scorer)[0]) == _text(header["scorer"])
    except _FLAWS as error:
        raise ArtifactError(f"the artifact is not sound: {type(error).__name__}") from error
    if not sound:
        raise ArtifactError("the artifact is not in the form in which it is written")
    return scorer


def read_header(data: bytes) -> dict[str, Any]:
    """What an artifact says about itself: format, algorithm, parameters, classes, costs, library versions.

    Raises
    ------
    ArtifactError
        If the bytes are damaged.
    """
    return _verified(data)[0]


# Bytes


def _text(value: object) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def _written(header: Header, arrays: Arrays) -> bytes:
    return safetensors.numpy.save(arrays, {_KEY: _text(header)})


def _signed(header: Header, arrays: Arrays) -> bytes:
    digest = hashlib.sha256(_written(header | {"digest": _NO_DIGEST}, arrays)).hexdigest()
    return _written(header | {"digest": digest}, arrays)


def _verified(data: bytes) -> tuple[Header, Arrays]:
    """Header and arrays of bytes that are whole and canonical; what they say is not checked yet."""
    if not 8 <= len(data) <= MAX_ARTIFACT_BYTES:
        raise ArtifactError(f"an artifact has from 8 to {MAX_ARTIFACT_BYTES} bytes")
    try:
        header = _header_of(data)
        if _exact(header["format"], int) != FORMAT:
            raise ArtifactError("the artifact was written in another format")
        arrays = _arrays_of(data, wanted_arrays(header["scorer"]["ensemble"]))
        said = {name: value for name, value in header.items() if name != "digest"}
        whole = _signed(said, arrays) == data
    except ArtifactError:
        raise
    except (*_FLAWS, safetensors.SafetensorError) as error:
        raise ArtifactError("these bytes are no artifact") from error
    if not whole:
        raise ArtifactError("the artifact is damaged: its digest does not match")
    return said, arrays


def _header_of(data: bytes) -> Header:
    size = int.from_bytes(data[:8], "little")
    if size > min(len(data) - 8, _MAX_HEADER_BYTES):
        raise ArtifactError("the header of the artifact is too long")
    outer = json.loads(data[8 : 8 + size])
    header: Header = json.loads(outer["__metadata__"][_KEY])
    return header


def _arrays_of(data: bytes, of_ensemble: Wanted) -> Arrays:
    stored = dict(safetensors.deserialize(data))  # type: ignore[no-untyped-call]
    absent = of_ensemble.if_any - set(stored)
    wanted = {name: dtype for name, dtype in (of_ensemble.arrays | _ARRAYS).items() if name not in absent}
    if {name: array["dtype"] for name, array in stored.items()} != wanted:
        raise ArtifactError("the artifact does not hold the arrays of this format")
    if any(len(array["shape"]) != 1 for array in stored.values()):
        raise ArtifactError("the arrays of the artifact must have one dimension")
    if not all(stored[name]["data"] for name in of_ensemble.if_any - absent):
        raise ArtifactError("the artifact holds an empty array that is left out where it is empty")
    return {name: np.frombuffer(array["data"], _DTYPES[array["dtype"]]) for name, array in stored.items()}


# Scorer


def _scorer_state(scorer: Scorer) -> tuple[dict[str, Any], Arrays]:
    described, arrays = ensemble_state(scorer.ensemble)
    state = {
        "encoder": scorer.encoder.to_state(),
        "calibrator": scorer.calibrator.to_state(),
        "classes": list(scorer.classes),
        "codes": list(scorer.codes),
        "priors": list(scorer.priors),
        "costs": scorer.costs.to_dict(),
        "decision_rule": scorer.rule,
        "ensemble": described,
    }
    given = np.zeros(0) if scorer.background is None else scorer.background
    return state, arrays | {"score_threshold": np.array([scorer.score_threshold]), "background": given}


def _scorer_from(state: Mapping[str, Any], arrays: Arrays) -> Scorer:
    if arrays["score_threshold"].shape != (1,):
        raise ValueError("one threshold is needed")
    given = arrays["background"]
    scorer = Scorer(
        encoder=FeatureEncoder.from_state(state["encoder"]),
        ensemble=ensemble_from(state["ensemble"], arrays),
        calibrator=Calibrator.from_state(state["calibrator"]),
        classes=_all_exact(state["classes"], str),
        codes=_all_exact(state["codes"], int),
        priors=_all_exact(state["priors"], float),
        costs=_costs_from(state["costs"]),
        rule=state["decision_rule"],
        score_threshold=float(arrays["score_threshold"][0]),
        background=given if given.size else None,
    )
    check_background(scorer)
    return scorer


def _costs_from(state: Mapping[str, Any]) -> CostSpec:
    # 1 and true are equal in Python, but not as an index of an array.
    _all_exact(
        [
            index
            for index in (state["positive"], *(a["serves"] for a in state["actions"]))
            if index is not None
        ],
        int,
    )
    _all_exact([*state["classes"], *(action["name"] for action in state["actions"])], str)
    return CostSpec.from_dict(state)


def _exact(value: object, kind: type) -> Any:
    if type(value) is not kind:
        raise ValueError(f"expected {kind.__name__}")
    return value


def _all_exact(values: object, kind: type) -> tuple[Any, ...]:
    return tuple(_exact(value, kind) for value in _exact(values, list))


# Model


def _model_state(model: "CostSensitiveModel") -> dict[str, Any]:
    labels = model.classes_
    split = model.split
    return {
        "class": type(model).__name__,
        "booster": _booster_state(model.estimator),
        "calibration": model.calibration,
        "threshold_aim": model.threshold_aim,
        "min_recall": None if model.min_recall is None else float(model.min_recall),
        "train_costs": model.train_costs,
        "split": None if split is None else dict(vars(split)),
        "random_state": model.random_state if isinstance(model.random_state, int) else None,
        "labels": {"kind": labels.dtype.kind, "values": labels.tolist()},
        "known_types": [list(item) for item in model._known_types.items()],
        "features": list(model.column_types_),
        "named": hasattr(model, "feature_names_in_"),
        "n_features_in": model.n_features_in_,
        "n_folds": model.n_folds_,
        "library_versions": getattr(model, "library_versions_", None) or _library_versions(),
    }


def _library_versions() -> dict[str, str]:
    return {name: metadata.version(name) for name in _LIBRARIES}


def _booster_state(booster: Any) -> dict[str, Any] | None:
    """Algorithm and parameters of an unfitted booster; its costs and seed come from the model."""
    if booster is None:
        return None
    from costboost.registry import TRAINABLE, make  # noqa: PLC0415

    if isinstance(booster, str):
        booster = make(booster)
    name = next((name for name, algorithm in TRAINABLE.items() if algorithm.cls is type(booster)), None)
    if name is None:
        raise ValueError(f"{type(booster).__name__} is not a registered algorithm and cannot be stored")
    asked = set(TRAINABLE[name].parameters["properties"])
    params = {key: value for key, value in booster.get_params(deep=False).items() if key in asked}
    given = params.get("estimator")
    if not (given is None or isinstance(given, str | Mapping)):
        return {"algorithm": name, "params": _plain(params | {"estimator": None}), "learner": _learner(given)}
    return {"algorithm": name, "params": _plain(params), "learner": None}


def _learner(estimator: Any) -> dict[str, Any]:
    """A weak learner that was given as an object."""
    from costboost.learners.named import WEAK_LEARNERS  # noqa: PLC0415

    name = next((name for name, cls in WEAK_LEARNERS.items() if cls is type(estimator)), None)
    if name is None:
        raise ValueError(f"weak learners of class {type(estimator).__name__} cannot be stored")
    # Which columns hold categories follows from their types.
    params = {key: value for key, value in estimator.get_params().items() if key != "categorical_features"}
    params = _plain(params)
    return {"name": name, "seed": params.pop("random_state", None), "params": params}


def _plain(params: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _plain_value(name, value) for name, value in params.items()}


def _plain_value(name: str, value: Any) -> Any:
    if isinstance(value, Mapping):
        return _plain(value)
    plain = value.item() if isinstance(value, np.generic) else value
    if not (plain is None or isinstance(plain, bool | int | float | str)):
        raise ValueError(f"parameter {name} holds a {type(plain).__name__}, which cannot be stored")
    if isinstance(plain, float) and not math.isfinite(plain):
        raise ValueError(f"parameter {name} is {plain}, which cannot be stored")
    return plain


def _model_from(state: Mapping[str, Any], scorer: Scorer) -> "CostSensitiveModel":
    from costboost.model import CostSensitiveModel  # noqa: PLC0415
    from costboost.splits import Split  # noqa: PLC0415

    types = dict(state["known_types"])
    if not set(types.values()) <= set(COLUMN_TYPES) or sorted(state["features"]) != list(
        scorer.encoder.types
    ):
        raise ValueError("the columns of the model are not sound")
    labels = np.array(state["labels"]["values"], dtype=_LABEL_DTYPES[state["labels"]["kind"]])
    if tuple(canonical_text(label) for label in labels.tolist()) != scorer.classes:
        raise ValueError("the labels of the model are not its classes")
    model = CostSensitiveModel(
        _booster_from(state["booster"]),
        costs=scorer.costs,
        calibration=state["calibration"],
        decision_rule=scorer.rule,
        threshold_aim=state["threshold_aim"],
        min_recall=state["min_recall"],
        train_costs=state["train_costs"],
        split=None if state["split"] is None else Split(**state["split"]),
        random_state=state["random_state"],
    )
    model.library_versions_ = dict(state["library_versions"])
    model._restore(scorer, labels, types, state["features"], named=state["named"])
    model.n_features_in_, model.n_folds_ = state["n_features_in"], state["n_folds"]
    return model


def _booster_from(state: Mapping[str, Any] | None) -> Any:
    if state is None:
        return None
    from costboost.parameters import check_params  # noqa: PLC0415
    from costboost.registry import TRAINABLE  # noqa: PLC0415

    algorithm = TRAINABLE[state["algorithm"]]
    if check_params(algorithm.cls, state["params"]):
        raise ValueError("the parameters of the algorithm are not sound")
    params = dict(state["params"])
    if state["learner"] is not None:
        params["estimator"] = _learner_from(state["learner"])
    return algorithm.cls(**params)


def _learner_from(state: Mapping[str, Any]) -> Any:
    from costboost.learners.named import WEAK_LEARNERS  # noqa: PLC0415
    from costboost.parameters import check_params  # noqa: PLC0415

    cls, params = WEAK_LEARNERS[state["name"]], dict(state["params"])
    if check_params(cls, params):
        raise ValueError("the parameters of the weak learner are not sound")
    return cls(**params) if state["seed"] is None else cls(**params, random_state=_exact(state["seed"], int))
