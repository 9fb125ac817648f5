"""/predict: rows in, the decision that costs least out; the database is not on the way."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import Any, cast

import anyio
from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from service.api.accept import preferred
from service.api.access import caller_of
from service.api.answers import encode
from service.api.datasets import intake_of
from service.api.decision_counts import count, count_row
from service.api.figures import READ, RECORD, SCORE, UNSHADOWED, WRITE
from service.api.prediction_schema import OPENAPI, PREDICTED
from service.api.prediction_streams import PART_BYTES, answer_in_parts, received
from service.api.prediction_tables import encode_predictions
from service.api.problems import responses
from service.api.raw_headers import header
from service.api.routes import DirectRoute
from service.api.single_answers import encode_row
from service.api.threads import INLINE_BYTES, INLINE_ROWS, in_thread
from service.domain.decision_records import DecisionRecord
from service.domain.errors import (
    FieldError,
    InvalidError,
    NotFoundError,
    pointer,
)
from service.domain.prediction_query import NOTHING_ASKED, from_query, in_query, joined
from service.domain.predictions import PredictBody, PredictOptions, Selector, decode, selected
from service.rows import MEDIA_TYPES, JsonRows, Sent, called_by, decode_typed, media_type_of
from service.rows.media import JSON, NDJSON, MediaType
from service.usecases.control import controlled
from service.usecases.predicting import Priced, predict, price
from service.usecases.recording import Recorder, records_of
from service.usecases.scoring import Loaded, Scoring
from service.usecases.sent_tables import read_sent
from service.usecases.shadowing import Recorded
from service.usecases.single_row import decide_row, is_plain
from service.wiring import Wiring

router = APIRouter(route_class=DirectRoute, tags=["predictions"])

RESPONSES: dict[int | str, dict[str, Any]] = {
    200: PREDICTED,
    **responses(400, 404, 406, 409, 413, 415, 422, 503),
}


@router.post(
    "/predict",
    operation_id="predict",
    summary="Decide rows",
    response_class=Response,
    responses=RESPONSES,
    openapi_extra=OPENAPI,
)
async def predict_rows(request: Request) -> Response:
    """Decide rows with a model named in the body; it may be left out when there is exactly one."""
    return await _answer(request)


@router.post(
    "/v1/predict",
    operation_id="predict_v1",
    summary="Decide rows",
    response_class=Response,
    responses=RESPONSES,
    openapi_extra=OPENAPI,
)
async def predict_rows_v1(request: Request) -> Response:
    """Decide rows; the same as `/predict`."""
    return await _answer(request)


@router.post(
    "/v1/models/{model}/predict",
    operation_id="predict_with_model",
    summary="Decide rows with a model",
    response_class=Response,
    responses=RESPONSES,
    openapi_extra=OPENAPI,
)
async def predict_with_model(request: Request, model: str) -> Response:
    """Decide rows with the model of the path; alias or version in the query or in the body."""
    return await _answer(request, model)


async def _answer(request: Request, model: str | None = None) -> Response:
    if not request.scope["query_string"]:
        return await _answer_to(request, model, NOTHING_ASKED)
    query = from_query(request.query_params.multi_items())
    try:
        return await _answer_to(request, model, query)
    except InvalidError as error:
        raise in_query(error, request.query_params) from None


async def _answer_to(request: Request, model: str | None, query: PredictOptions) -> Response:
    given = media_type_of(header(request.scope, b"content-type") or "")
    wanted = cast(MediaType, preferred(header(request.scope, b"accept") or "", MEDIA_TYPES, given))
    path = _path(caller_of(request.scope).tenant, model, query)
    if given == wanted == NDJSON:
        return await _stream(request, path, query)
    body = await request.body()
    if given != JSON:
        return await _decide_table(request, path, query, body, (given, wanted))
    is_small = len(body) <= INLINE_BYTES
    if is_small:
        wish, sent = _read(body, query, None)
        if wanted == JSON and (alone := _decide_alone(request, path, wish)) is not None:
            return Response(alone + b"\n", media_type=JSON)
    else:
        wish, sent = await in_thread(request, _read, body, query, _likely(request, path))
    selector, loaded, costs = await _found(request, path, wish, wanted)
    is_quick = wish.explain is None or loaded.predictor.explains_quickly
    work = partial(_predict, _Asked(selector, loaded, wish, sent, costs, wanted), request)
    is_inline = is_small and is_quick and len(sent) <= INLINE_ROWS
    answer, recorded = work() if is_inline else await in_thread(request, work)
    await _record(request, recorded)
    return _written(answer, wanted)


async def _decide_table(
    request: Request, path: Selector, query: PredictOptions, body: bytes, media: tuple[MediaType, MediaType]
) -> Response:
    """Read, decide and write a table at one go: it has no room for options, so all that is asked is known."""
    given, wanted = media
    wiring: Wiring = request.app.state.wiring
    wish = PredictOptions()
    joined(query, wish)
    selector, loaded, costs = await _found(request, path, wish, wanted)

    def work() -> tuple[bytes, Recorded]:
        most_rows, columns = wiring.settings.max_predict_rows, loaded.predictor.inputs()
        with READ.time():
            sent = read_sent(intake_of(wiring), body, given, most_rows, columns)
        return _predict(_Asked(selector, loaded, wish, sent, costs, wanted), request)

    answer, recorded = await in_thread(request, work)
    await _record(request, recorded)
    return _written(answer, wanted)


def _written(answer: bytes, media_type: MediaType) -> Response:
    if media_type == JSON:
        return Response(answer + b"\n", media_type=JSON)
    return Response(answer, media_type=media_type, headers={"Vary": "Accept"})


async def _stream(request: Request, path: Selector, query: PredictOptions) -> Response:
    """Answer NDJSON, of which each part is read, decided and recorded before the next one is looked at."""
    wiring: Wiring = request.app.state.wiring
    settings = wiring.settings
    most_rows = settings.max_predict_rows
    wish = PredictOptions()
    joined(query, wish)
    selector, loaded, costs = await _found(request, path, wish, NDJSON)
    body = await received(request, wiring.store)
    is_whole, is_recorded = wish.on_row_error == "fail", wish.record is not False
    limits = f"of more than {most_rows} rows, or {settings.max_predict_bytes} bytes of rows,"

    def decided(part: bytes) -> tuple[bytes, Recorded]:
        if is_recorded and is_whole and not body.is_over:
            detail = f"{limits} those without fault are kept: say on_row_error=null"
            raise InvalidError("invalid", detail, [FieldError("/record", "exclusive", detail)])
        with READ.time():
            sent = read_sent(intake_of(wiring), part, NDJSON, most_rows)
        return _predict(_Asked(selector, loaded, wish, sent, costs, NDJSON), request)

    async def decide(part: bytes) -> tuple[bytes, int]:
        answer, recorded = await in_thread(request, decided, part, is_begun=body.rows > 0)
        await _record(request, recorded)
        return answer, len(recorded.sent)

    # What is recorded only as a whole comes in one part, as large as any other body of predictions.
    most_bytes = settings.max_predict_bytes if is_recorded and is_whole else PART_BYTES
    return await answer_in_parts(
        request,
        body,
        wiring.store,
        decide,
        most_rows=most_rows,
        most_bytes=most_bytes,
        is_whole=is_whole,
    )


async def _found(
    request: Request, path: Selector, wish: PredictOptions, wanted: MediaType
) -> tuple[Selector, Loaded, Priced | None]:
    """Which version decides, and at which costs."""
    if wish.explain is not None and wanted != JSON:
        detail = f"reasons are written as {JSON} only"
        raise InvalidError("invalid", detail, [FieldError("/explain", "exclusive", detail)])
    scoring: Scoring = request.app.state.scoring
    selector = selected(path, wish)
    loaded = scoring.cached(selector)
    if loaded is None:
        loaded = await _load(scoring, selector, path, wish)
    return selector, loaded, await _costs(scoring, loaded, wish)


async def _record(request: Request, recorded: Recorded) -> None:
    """Keep what was decided, and let a shadow decide it too."""
    if not recorded.records:
        return
    await _keep(request.app.state.recorder, recorded.records, durably=recorded.wish.record == "durable")
    if not request.app.state.shadows.offer(recorded):
        UNSHADOWED.inc()


def _path(tenant: str, model: str | None, query: PredictOptions) -> Selector:
    """What the address names."""
    if model is not None and query.model not in (None, model):
        detail = "is another one than that of the path"
        fault = FieldError(pointer("query", "model"), "exclusive", detail)
        raise InvalidError("invalid", "the request is not consistent", [fault])
    return Selector(tenant, model or query.model, query.alias, query.version)


@dataclass(frozen=True)
class _Likely:
    """The version that decides unless the body names another one."""

    path: Selector
    selector: Selector
    loaded: Loaded

    def read(self, body: bytes) -> tuple[PredictOptions, Sent] | None:
        """Rows of this version, when they are plainly that."""
        found = decode_typed(body, self.loaded.predictor.inputs())
        return found if found is not None and selected(self.path, found[0]) == self.selector else None


def _likely(request: Request, path: Selector) -> _Likely | None:
    scoring: Scoring = request.app.state.scoring
    selector = selected(path, NOTHING_ASKED)
    loaded = scoring.cached(selector)
    return None if loaded is None else _Likely(path, selector, loaded)


def _read(body: bytes, query: PredictOptions, likely: _Likely | None) -> tuple[PredictOptions, Sent]:
    """Options and rows of a body of JSON."""
    began = perf_counter()
    wish, sent = (likely and likely.read(body)) or _plain(body)
    if query is not NOTHING_ASKED:
        joined(query, wish)
    READ.observe(perf_counter() - began)
    return wish, sent


def _plain(body: bytes) -> tuple[PredictOptions, Sent]:
    wish = decode(body)
    return wish, JsonRows(wish.rows)


async def _keep(recorder: Recorder, records: Sequence[DecisionRecord], *, durably: bool) -> None:
    if durably:
        await anyio.to_thread.run_sync(recorder.write, records)
    else:
        recorder.keep(records)


async def _load(scoring: Scoring, selector: Selector, path: Selector, wish: PredictOptions) -> Loaded:
    try:
        return await anyio.to_thread.run_sync(scoring.load, selector)
    except NotFoundError as error:
        if getattr(wish, error.kind) is not None:
            raise NotFoundError(error.kind, error.name, pointer(error.kind)) from None
        if error.kind != "model" and getattr(path, error.kind) is not None:
            raise NotFoundError(error.kind, error.name, pointer("query", error.kind)) from None
        raise


@dataclass(frozen=True)
class _Asked:
    """All that an answer follows from."""

    selector: Selector
    loaded: Loaded
    wish: PredictOptions
    sent: Sent
    costs: Priced | None
    wanted: MediaType


def _predict(asked: _Asked, request: Request) -> tuple[bytes, Recorded]:
    loaded, wish, costs = asked.loaded, asked.wish, asked.costs
    sent = called_by(asked.sent, loaded.version.schema.get("id"))
    max_rows = request.app.state.wiring.settings.max_predict_rows
    with SCORE.time():
        review_price = loaded.model.review_price
        subject = None if wish.record is False else loaded.version.schema.get("subject")
        predicted = predict(
            loaded.predictor, wish, sent, costs, max_rows, review_price=review_price, subject=subject
        )
    if wish.record is not False:  # what is not recorded teaches nothing, so chance has no part in it
        predicted = controlled(predicted, loaded)
    count(loaded, predicted)
    records = list[DecisionRecord]()
    if wish.record is not False:
        with RECORD.time():
            records = records_of(loaded, asked.selector, sent, predicted, costs)
    ids = [record.id for record in records]
    with WRITE.time():
        if asked.wanted == JSON:
            answer = encode(loaded, sent, predicted, costs, explained=wish.explain is not None, ids=ids)
        else:
            answer = encode_predictions(loaded, sent, predicted, costs, asked.wanted, ids=ids)
    return answer, Recorded(loaded, wish, sent, predicted.sound, records)


def _decide_alone(request: Request, path: Selector, wish: PredictOptions) -> bytes | None:
    """Answer to a row that comes alone and asks for nothing else, by a version at hand; else None."""
    if not isinstance(wish, PredictBody) or not is_plain(wish):
        return None
    scoring: Scoring = request.app.state.scoring
    if (loaded := scoring.cached(selected(path, wish))) is None:
        return None
    began = perf_counter()
    if (decided := decide_row(loaded, wish)) is None:
        return None
    row = decided.answer.decided
    count_row(loaded, row.expected_cost[row.decision], row.label)
    scored = perf_counter()
    answer = encode_row(loaded, decided)
    SCORE.observe(scored - began)
    WRITE.observe(perf_counter() - scored)
    return answer


async def _costs(scoring: Scoring, loaded: Loaded, wish: PredictOptions) -> Priced | None:
    if (own := wish.own_costs) is not None:
        return price(loaded.predictor, own)
    if wish.cost_spec is None:
        return None
    known = scoring.cached_costs(loaded, wish.cost_spec)
    return known or await anyio.to_thread.run_sync(scoring.load_costs, loaded, wish.cost_spec)
