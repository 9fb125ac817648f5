"""Versions as files: /v1/models/{model}/versions/{version}/export, and taking such a file in."""

import functools
import hashlib
from typing import Annotated, Any

import anyio.to_thread
from fastapi import APIRouter
from fastapi import Path as InPath
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from service.api.conditions import IMMUTABLE, is_unchanged, unchanged
from service.api.context import Receipted, Sender, Tenant, Wired
from service.api.datasets import intake_limiter
from service.api.downloads import chunks
from service.api.problems import responses
from service.api.routes import StrictRoute
from service.api.uploads import receive_file
from service.api.versions import PATH, Number, VersionOut
from service.domain.errors import UnsupportedMediaTypeError
from service.domain.exports import MEDIA_TYPE
from service.domain.training import NAME_PATTERN
from service.usecases import exchange

router = APIRouter(route_class=StrictRoute, tags=["models"])

_BINARY = {"schema": {"type": "string", "format": "binary"}}
_FILE: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "description": "The file that `…/export` gave, here or elsewhere.",
        "content": {MEDIA_TYPE: _BINARY},
    }
}


@router.get(
    PATH + "/export",
    operation_id="export_version",
    summary="Download a version as one file",
    response_class=StreamingResponse,
    responses={
        200: {"description": "The file.", "content": {MEDIA_TYPE: _BINARY}},
        **responses(404, 409, 422, 503),
    },
)
def export_version(
    *, request: Request, wired: Wired, tenant: Tenant, model: str, version: Number
) -> Response:
    """Download model, report, test part and all that is known about them; another installation imports it.

    It holds no row of the dataset, but of those of the test part their classes, probabilities and costs.
    """
    with wired.store.spool() as path:
        exchange.export(wired.readers, wired.store, tenant, model, version, target=path)
        file = path.open("rb")
        size = path.stat().st_size
    etag = f'"{hashlib.file_digest(file, "sha256").hexdigest()[:32]}"'
    file.seek(0)
    headers = {
        "ETag": etag,
        "Cache-Control": IMMUTABLE,
        "Content-Length": str(size),
        "Content-Disposition": f'attachment; filename="{model}-{version}.zip"',
    }
    if is_unchanged(request, etag):
        file.close()
        return unchanged(headers)
    return StreamingResponse(chunks(file), headers=headers, media_type=MEDIA_TYPE)


@router.post(
    "/v1/models/{model}/versions",
    operation_id="import_version",
    summary="Take in a version from a file",
    status_code=201,
    response_model=VersionOut,
    responses=responses(400, 413, 415, 422, 503),
    openapi_extra=_FILE,
)
async def import_version(
    *,
    request: Request,
    response: Response,
    wired: Wired,
    sender: Sender,
    receipt: Receipted,
    model: Annotated[str, InPath(pattern=NAME_PATTERN, examples=["card-fraud"])],
) -> VersionOut:
    """Make the next version of the model, or the first, out of an exported one.

    Hashes and every part are checked before anything is kept, and nothing of the file is executed.
    """
    given = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if given != MEDIA_TYPE:
        raise UnsupportedMediaTypeError(
            "unsupported_media_type", f"send `Content-Type: {MEDIA_TYPE}`: a version is read as that"
        )
    with wired.store.spool() as path:
        await receive_file(request, path)
        version = await anyio.to_thread.run_sync(
            functools.partial(
                exchange.import_version,
                wired.sessions,
                wired.readers,
                wired.store,
                sender.tenant,
                model,
                source=path,
                by=sender.actor,
                receipt=receipt,
            ),
            limiter=intake_limiter(request),
        )
    request.app.state.scoring.forget(sender.tenant, model)
    response.headers["Location"] = f"/v1/models/{model}/versions/{version.number}"
    return VersionOut.of(model, version)
