"""The media types tables are read and written in."""

from typing import Final, Literal, get_args

from service.domain.errors import UnsupportedMediaTypeError

MediaType = Literal[
    "text/csv",
    "application/json",
    "application/x-ndjson",
    "application/vnd.apache.parquet",
    "application/vnd.apache.arrow.stream",
]
MEDIA_TYPES: Final[tuple[MediaType, ...]] = get_args(MediaType)
CSV, JSON, NDJSON, PARQUET, ARROW = MEDIA_TYPES

#: Their names, and others the same forms travel under.
_NAMES: Final[dict[str, MediaType]] = {
    **{name: name for name in MEDIA_TYPES},
    "application/csv": "text/csv",
    "application/ndjson": "application/x-ndjson",
    "application/jsonl": "application/x-ndjson",
    "application/x-parquet": "application/vnd.apache.parquet",
}
_SUFFIXES: Final[dict[str, MediaType]] = {
    "csv": "text/csv",
    "json": "application/json",
    "ndjson": "application/x-ndjson",
    "jsonl": "application/x-ndjson",
    "parquet": "application/vnd.apache.parquet",
    "arrow": "application/vnd.apache.arrow.stream",
    "arrows": "application/vnd.apache.arrow.stream",
}


def media_type_of(content_type: str, filename: str | None = None) -> MediaType:
    """Media type that a `Content-Type` names; for a form's file without a telling one, by its suffix.

    Raises
    ------
    UnsupportedMediaTypeError
        It is none of `MEDIA_TYPES`.
    """
    essence = content_type.partition(";")[0].strip().lower()
    suffix = (filename or "").rpartition(".")[2].lower()
    found = _NAMES.get(essence) or _SUFFIXES.get(suffix)
    if found is None:
        raise UnsupportedMediaTypeError(
            "unsupported_media_type",
            f"send `Content-Type: ` and one of {', '.join(MEDIA_TYPES)}: a table is read as these",
        )
    return found
