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
_CHARSETS: Final = frozenset({"utf-8", "utf8", "us-ascii", "ascii"})
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
    if found == CSV:
        _check_parameters(content_type)
    return found


def _check_parameters(content_type: str) -> None:
    """Refuse a CSV that says it is another one than is read: in UTF-8, with a header."""
    for parameter in content_type.split(";")[1:]:
        name, _, value = (part.strip(' \t"').lower() for part in parameter.partition("="))
        if name == "charset" and value not in _CHARSETS:
            raise UnsupportedMediaTypeError("unsupported_media_type", "a CSV is read as UTF-8: send it so")
        if name == "header" and value == "absent":
            detail = "a CSV is read with a header, the names of its columns: send one"
            raise UnsupportedMediaTypeError("unsupported_media_type", detail)
