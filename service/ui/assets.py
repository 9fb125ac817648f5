"""Scripts and styles, ours and others': read once, named by their hash, so that a browser keeps them."""

import gzip
import hashlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from service.domain.errors import NotFoundError

router = APIRouter(include_in_schema=False, tags=["probes"])

_FOLDER: Final = Path(__file__).parent / "static"
_TYPES: Final = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
_HEADERS: Final = {
    "Cache-Control": "public, max-age=31536000, immutable",
    "Vary": "Accept-Encoding",
    "X-Content-Type-Options": "nosniff",
}


@dataclass(frozen=True)
class Asset:
    """A file that a page asks for."""

    body: bytes
    zipped: bytes
    media_type: str


@cache
def assets() -> dict[str, Asset]:
    """All files by name, `vendor/…` those of others."""
    found = {}
    for path in sorted(_FOLDER.rglob("*")):
        if path.suffix in _TYPES:
            body = path.read_bytes()
            name = path.relative_to(_FOLDER).as_posix()
            found[name] = Asset(body, gzip.compress(body, mtime=0), _TYPES[path.suffix])
    return found


@cache
def _revision() -> str:
    """One name for all: our scripts import one another, and shall be of one release."""
    digest = hashlib.sha256()
    for name, asset in assets().items():
        digest.update(name.encode() + b"\0" + asset.body)
    return digest.hexdigest()[:16]


def address_of(name: str) -> str:
    """Where a file is; the address changes with the files."""
    if name not in assets():
        raise KeyError(name)
    return f"/ui/static/{_revision()}/{name}"


@router.get("/ui/static/{revision}/{name:path}")
async def read_asset(request: Request, revision: str, name: str) -> Response:
    """Send a file, compressed to whom that can read."""
    asset = assets().get(name)
    if asset is None:
        raise NotFoundError("file", name)
    headers = dict(_HEADERS)
    if revision != _revision():
        headers["Cache-Control"] = "no-store"  # an older page asks
    if "gzip" in request.headers.get("accept-encoding", ""):
        return Response(
            asset.zipped, headers={**headers, "Content-Encoding": "gzip"}, media_type=asset.media_type
        )
    return Response(asset.body, headers=headers, media_type=asset.media_type)
