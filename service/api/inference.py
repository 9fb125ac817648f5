"""/v2: the Open Inference Protocol, so that clients written for other servers can ask for decisions.

Its errors are `{"error": …}`, see `problems`. The protocol has a document of its own, so these routes are not
in ours.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

import anyio.to_thread
import msgspec
from fastapi import APIRouter
from numpy.typing import NDArray
from starlette.requests import Request
from starlette.responses import Response

from service.api.access import caller_of
from service.api.context import Tenant, Wired
from service.api.decision_counts import count
from service.api.probes import readyz
from service.api.routes import DirectRoute, StrictRoute
from service.api.threads import INLINE_BYTES, INLINE_ROWS, in_thread
from service.domain import inference
from service.domain.binary_tensors import binary_outputs, decode_binary, encode_binary
from service.domain.errors import MalformedError
from service.domain.inference import InferBody
from service.domain.predictions import PredictOptions, Selector
from service.learning import Answers
from service.rows import JsonRows
from service.usecases.models import version_numbers
from service.usecases.predicting import predict
from service.usecases.scoring import Loaded, Scoring
from service.wiring import Wiring

router = APIRouter(route_class=StrictRoute, tags=["inference"], include_in_schema=False)
#: What must be quick.
direct = APIRouter(route_class=DirectRoute, tags=["inference"], include_in_schema=False)
probes = APIRouter(route_class=StrictRoute, tags=["probes"], include_in_schema=False)

MODEL: Final = "/v2/models/{model}"
#: Bytes of JSON at the beginning of a body that has binary tensors.
HEAD: Final = "inference-header-content-length"
VERSION: Final = "/v2/models/{model}/versions/{version}"


@probes.get("/v2")
async def server(request: Request) -> dict[str, Any]:
    """Name the server."""
    return {"name": "costboost", "version": request.app.version, "extensions": ["binary_tensor_data"]}


@probes.get("/v2/health/live")
async def live() -> dict[str, bool]:
    """Answer at once."""
    return {"live": True}


@probes.get("/v2/health/ready")
async def ready(wired: Wired, response: Response) -> dict[str, bool]:
    """Look as `/readyz` does; a worker is not needed to infer."""
    found = await readyz(wired, response)
    return {"ready": found.database and found.storage}


@router.get(MODEL)
@router.get(VERSION)
async def model_metadata(
    *, request: Request, wired: Wired, tenant: Tenant, model: str, version: str | None = None
) -> dict[str, Any]:
    """Name inputs and outputs of a version; without one of the champion."""
    loaded = await _loaded(request, tenant, model, version)
    numbers = await anyio.to_thread.run_sync(version_numbers, wired.readers, loaded.model)
    return {
        "name": loaded.model.name,
        "versions": [str(number) for number in numbers],
        "platform": "costboost",
        "inputs": inference.described(loaded.predictor.inputs()),
        "outputs": _outputs(loaded),
    }


@router.get(MODEL + "/ready")
@router.get(VERSION + "/ready")
async def model_ready(
    *, request: Request, tenant: Tenant, model: str, version: str | None = None
) -> dict[str, Any]:
    """Answer once the version is loaded."""
    loaded = await _loaded(request, tenant, model, version)
    return {"name": loaded.model.name, "ready": True}


@direct.post(MODEL + "/infer", response_class=Response)
@direct.post(VERSION + "/infer", response_class=Response)
async def infer(request: Request, model: str, version: str | None = None) -> Response:
    """Decide the rows of the tensors."""
    body, head = await request.body(), request.headers.get(HEAD)
    is_small = len(body) <= INLINE_BYTES
    read = partial(inference.decode, body) if head is None else partial(decode_binary, body, head)
    asked = read() if is_small else await in_thread(request, read)
    loaded = await _loaded(request, caller_of(request.scope).tenant, model, version)
    work: Callable[[], dict[str, Any]] = partial(_inferred, request.app.state.wiring, loaded, asked)
    rows = max((tensor.shape[0] for tensor in asked.inputs if tensor.shape), default=0)
    answer = work() if is_small and rows <= INLINE_ROWS else await in_thread(request, work)
    if not (binary := binary_outputs(asked)):
        return Response(msgspec.json.encode(answer) + b"\n", media_type="application/json")
    content, length = encode_binary(answer, binary)
    return Response(content, media_type="application/octet-stream", headers={HEAD: str(length)})


async def _loaded(request: Request, tenant: str, model: str, version: str | None) -> Loaded:
    scoring: Scoring = request.app.state.scoring
    selector = Selector(tenant, model, None if version else "champion", _number(version))
    known = scoring.cached(selector)
    return await anyio.to_thread.run_sync(scoring.load, selector) if known is None else known


def _number(version: str | None) -> int | None:
    if version is None:
        return None
    if not (version.isascii() and version.isdigit() and 1 <= int(version[:12]) < 2**31 and len(version) < 12):
        raise MalformedError("malformed", "a version is a whole number from 1 on")
    return int(version)


def _inferred(wiring: Wiring, loaded: Loaded, asked: InferBody) -> dict[str, Any]:
    rows = inference.rows_of(asked.inputs, loaded.predictor.inputs(), wiring.settings.max_predict_rows)
    if not rows:
        raise MalformedError("malformed", "at least one row is needed")
    predicted = predict(
        loaded.predictor, PredictOptions(), JsonRows(rows), None, wiring.settings.max_predict_rows
    )
    count(loaded, predicted)
    assert predicted.answers is not None
    tensors = _tensors(predicted.answers)
    answer = {
        "model_name": loaded.model.name,
        "model_version": str(loaded.version.number),
        "outputs": [{"name": name, **tensors[name]} for name in asked.wanted],
    }
    return answer if asked.id is None else {"id": asked.id, **answer}


def _tensors(answers: Answers) -> Mapping[str, dict[str, Any]]:
    decided = [answers.actions[decision] for decision in answers.decision.tolist()]
    return {
        "decision": {"shape": [len(decided)], "datatype": "BYTES", "data": decided},
        "probabilities": _numbers(answers.probabilities),
        "score": _numbers(answers.score),
        "expected_cost": _numbers(answers.expected_cost),
    }


def _numbers(values: NDArray[Any]) -> dict[str, Any]:
    return {"shape": list(values.shape), "datatype": "FP64", "data": values.ravel().tolist()}


def _outputs(loaded: Loaded) -> list[dict[str, Any]]:
    classes, actions = len(loaded.predictor.classes), len(loaded.predictor.costs.actions)
    shapes = ([-1], [-1, classes], [-1] if classes == 2 else [-1, classes], [-1, actions])
    return [
        {"name": name, "datatype": "BYTES" if name == "decision" else "FP64", "shape": shape}
        for name, shape in zip(inference.OUTPUTS, shapes, strict=True)
    ]
