"""The one typed decoder: bytes of CSV, JSON, NDJSON, Parquet and Arrow to typed columns, and back.

A typed column is a numpy array: number float64 (NaN = missing), boolean float64 of 0/1/NaN, timestamp float64
seconds since 1970 UTC (NaN = missing), category and text object arrays of str or None. What a cell means is
decided in `cells`, once, so the same table is the same columns in every media type.
"""

from service.rows.called import called_by
from service.rows.cells import text_of
from service.rows.columns import TypedArray, chosen
from service.rows.decoding import Decoded, decode_body, decode_row, decode_rows, decode_table
from service.rows.encoding import encode_table, iterate_csv, write_table
from service.rows.intake import Table, missing, read_table
from service.rows.json_reader import read_objects
from service.rows.media import MEDIA_TYPES, media_type_of
from service.rows.parquet import holds_text, read_parquet, read_rows, write_parquet
from service.rows.reading import decode_column, read_raw
from service.rows.sent import JsonRows, Sent, TableRows, plain_row, read_numbers
from service.rows.typed_json import decode_typed

__all__ = [
    "MEDIA_TYPES",
    "Decoded",
    "JsonRows",
    "Sent",
    "Table",
    "TableRows",
    "TypedArray",
    "called_by",
    "chosen",
    "decode_body",
    "decode_column",
    "decode_row",
    "decode_rows",
    "decode_table",
    "decode_typed",
    "encode_table",
    "holds_text",
    "iterate_csv",
    "media_type_of",
    "missing",
    "plain_row",
    "read_numbers",
    "read_objects",
    "read_parquet",
    "read_raw",
    "read_rows",
    "read_table",
    "text_of",
    "write_parquet",
    "write_table",
]
