"""Tables that are taken in, and the line and column of what makes one refused."""

import io
import json
from datetime import UTC, datetime

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from service.domain.datasets import IntakeLimits, IntakeOptions
from service.domain.errors import InvalidError, MalformedError
from service.rows import read_table
from service.rows.media import ARROW, CSV, JSON, NDJSON, PARQUET

LIMITS = IntakeLimits(rows=10_000, columns=50, decoded_bytes=1 << 22)


@pytest.fixture
def read(tmp_path):
    def read(body, media_type=CSV, limits=LIMITS, **options):
        path = tmp_path / "body"
        path.write_bytes(body if isinstance(body, bytes) else body.encode())
        return read_table(path, media_type, IntakeOptions.model_validate(options), limits)

    return read


@pytest.fixture
def refused(read):
    def refused(body, media_type=CSV, limits=LIMITS, **options):
        with pytest.raises((InvalidError, MalformedError)) as caught:
            read(body, media_type, limits, **options)
        return caught.value

    return refused


def described(table):
    return {column.name: (column.type, column.role) for column in table.described}


def test_types_are_inferred(read):
    body = (
        "n,b,t,c,code,gap,label\n"
        "1,true,2024-01-01,x,01234,,0\n"
        "2.5,false,2024-01-02,y,98765,,1\n"
        "NA,,2024-01-03T10:00:00Z,,00001,,0\n"
    )
    table = read(body)
    assert described(table) == {
        "n": ("number", "feature"),
        "b": ("boolean", "feature"),
        "t": ("timestamp", "feature"),
        "c": ("category", "feature"),
        "code": ("category", "feature"),
        "gap": ("number", "feature"),
        "label": ("category", "label"),
    }
    assert table.columns["code"].tolist() == ["01234", "98765", "00001"]
    assert [column.missing for column in table.described] == [1, 1, 0, 1, 0, 3, 0]
    assert [column.distinct for column in table.described] == [2, 2, 3, 2, 3, 0, 2]


def test_few_numbers_among_words_are_a_category(read):
    doors = "".join(f"{door},{i % 2}\n" for i, door in enumerate(["2", "3", "4", "5more"] * 10))
    assert described(read("doors,label\n" + doors))["doors"] == ("category", "feature")


def test_long_texts_that_hardly_repeat_are_text(read):
    rows = "".join(f"the quick brown fox number {i},{i % 2}\n" for i in range(20))
    assert described(read("note,label\n" + rows))["note"] == ("text", "feature")


def test_declared_types_and_roles_win(read):
    table = read(
        "zip,amount,w,label\n01234,1,1,a\n98765,2,0.5,b\n",
        types={"zip": "text"},
        roles={"amount": "cost", "w": "weight"},
    )
    assert described(table) == {
        "zip": ("text", "feature"),
        "amount": ("number", "cost"),
        "w": ("number", "weight"),
        "label": ("category", "label"),
    }
    assert table.columns["zip"].tolist() == ["01234", "98765"]


@pytest.mark.parametrize(
    ("body", "media_type"),
    [
        ("x,label\n1,1\n2,1.0\n3,0\n", CSV),
        ('[{"x":1,"label":1},{"x":2,"label":1.0},{"x":3,"label":"0"}]', JSON),
        ('{"x":1,"label":"1"}\n\n{"x":2,"label":"1.0"}\n{"x":3,"label":0}\n', NDJSON),
    ],
)
def test_labels_have_one_spelling(read, body, media_type):
    table = read(body, media_type)
    assert table.labels.counts == {"0": 1, "1": 2}
    assert (table.labels.positive, table.labels.positive_inferred) == ("0", True)


def test_truth_values_as_labels(read):
    table = read('[{"x":1,"label":true},{"x":2,"label":false},{"x":3,"label":false}]', JSON)
    assert table.labels.counts == {"false": 2, "true": 1}


@pytest.mark.parametrize(
    ("labels", "order"),
    [
        (["10", "9", "-1"], ["-1", "9", "10"]),
        (["b", "a", "10"], ["10", "a", "b"]),
        (["1.5", "0.5", "10"], ["0.5", "1.5", "10"]),
    ],
)
def test_class_order(read, labels, order):
    body = "x,label\n" + "".join(f"{i},{label}\n" for i, label in enumerate(labels * 2))
    assert list(read(body).labels.counts) == order


def test_given_class_order_and_positive_class(read):
    labels = read(
        "x,y\n1,good\n2,bad\n3,bad\n", label="y", classes=["good", "bad"], positive_class="bad"
    ).labels
    assert list(labels.counts.items()) == [("good", 1), ("bad", 2)]
    assert (labels.positive, labels.positive_inferred) == ("bad", False)


def test_equally_frequent_classes_still_have_a_positive_one(read):
    assert read("x,label\n1,a\n2,b\n").labels.positive == "b"


@pytest.mark.parametrize(
    "body", ["\ufeffx,label\r\n1,0\r\n2,1\r\n", "x,label\n1,0\r\n2,1", 'x,label\n"1",0\n\n"2","1"\n']
)
def test_marks_and_line_ends_do_not_matter(read, body):
    assert read(body).columns["x"].tolist() == [1.0, 2.0]


def test_quoted_cells_keep_their_line_ends(read):
    table = read('x,label\n"a\nb",0\n"c ""d""",1\n')
    assert table.columns["x"].tolist() == ["a\nb", 'c "d"']


def test_formulas_are_text(read):
    assert read("x,label\n=cmd(),=a\n=cmd(),+b\n").labels.counts == {"+b": 1, "=a": 1}


def test_constant_columns_are_accepted(read):
    assert read("x,label\n1,0\n1,1\n").described[0].distinct == 1


HEADER = "a,b,label\n"
ROWS = "".join(f"{i},{i},{i % 2}\n" for i in range(20))


@pytest.mark.parametrize(
    ("body", "code", "line", "column"),
    [
        ("", "empty_body", None, None),
        ("\n\n", "empty_body", None, None),
        (HEADER, "empty_body", None, None),
        (HEADER + "1,2,0\n1,2\n", "ragged_row", 3, None),
        (HEADER + '"x\ny",2,0\n1,2,3,4\n', "ragged_row", 4, None),
        ("a,a,label\n1,2,0\n", "duplicate_header", 1, "a"),
        ("a,,label\n1,2,0\n", "empty_header", 1, None),
        ("a, ,label\n1,2,0\n", "empty_header", 1, None),
        ("a\x07,b,label\n1,2,0\n", "column_name", 1, None),
        (f"{'a' * 10_000},b,label\n1,2,0\n", "column_name", 1, None),
        (HEADER + "1,2,0\n1,\0,1\n", "nul", 3, None),
        (HEADER.encode() + b"1,\xe9,0\n", "encoding", 2, None),
        (HEADER.encode() + b"1,2,0\n1,\xc0\xaf,0\n", "encoding", 3, None),
        (HEADER.encode() + b"1,\xed\xa0\x80,0\n", "encoding", 2, None),
        ((HEADER + ROWS).encode("utf-16"), "encoding", 1, None),
        (HEADER + '1,2,0\n1,"2,0\n3,4,1\n', "unclosed_quote", 3, None),
        (HEADER + '1,"2"x,0\n', "csv_quote", 2, None),
        (HEADER + "1,2\r3,0\n", "csv_syntax", 2, None),
        (HEADER + ROWS + "1,2,\n", "missing_label", 22, "label"),
        (HEADER + ROWS + "inf,2,0\n", "not_finite", 22, "a"),
        (HEADER + ROWS + "1,-Infinity,0\n", "not_finite", 22, "b"),
        (HEADER + ROWS + "1,1e999,0\n", "not_finite", 22, "b"),
        (HEADER + ROWS + "1,two,0\n", "mixed_types", 22, "b"),
        (HEADER + "1,2024-01-05,0\n" * 20 + "1,2024-13-05,0\n", "mixed_types", 22, "b"),
        (HEADER + "1,2,0\n3,4,0\n", "too_few_classes", None, "label"),
        (HEADER + "".join(f"1,2,{i}\n" for i in range(101)), "too_many_classes", None, "label"),
        (HEADER + "1," + "x" * (1 << 24) + ",0\n", "line_too_long", 2, None),
    ],
)
def test_csv_refused(refused, body, code, line, column):
    error = refused(body, limits=IntakeLimits(10_000, 50, 1 << 26))
    assert error.code == code
    assert (error.errors[0].pointer, error.errors[0].line, error.errors[0].column) == ("/file", line, column)


@pytest.mark.parametrize(
    ("options", "code", "pointer"),
    [
        ({"label": "nosuch"}, "label_absent", "/label"),
        ({"roles": {"a": "label"}}, "too_many_classes", "/file"),
        ({"roles": {"a": "label"}, "label": "label"}, "conflict", "/roles/label"),
        ({"roles": {"a": "ignore", "b": "cost"}}, "no_feature", "/roles"),
        ({"roles": {"nosuch": "id"}}, "unknown_column", "/roles/nosuch"),
        ({"types": {"no/such": "text"}}, "unknown_column", "/types/no~1such"),
        ({"roles": {"a": "weight", "b": "weight"}}, "duplicate_role", "/roles/b"),
        ({"roles": {"a": "cost"}, "types": {"a": "text"}}, "wrong_type", "/types/a"),
        ({"positive_class": "2"}, "unknown_class", "/positive_class"),
        ({"classes": ["0", "1", "2"]}, "unknown_class", "/classes/2"),
        ({"classes": ["0"]}, "missing_class", "/classes"),
        ({"classes": ["0", "1", "1"]}, "duplicate", "/classes"),
    ],
)
def test_options_refused(refused, options, code, pointer):
    if options == {"roles": {"a": "label"}, "label": "label"}:
        options = {"roles": {"label": "id"}, "label": "label"}
    body = HEADER + "".join(f"{i},{i},{i % 2}\n" for i in range(150))
    error = refused(body, **options)
    assert (error.errors[0].code, error.errors[0].pointer) == (code, pointer)


@pytest.mark.parametrize(
    ("role", "cell", "code"),
    [
        ("weight", "-1", "negative_weight"),
        ("weight", "", "missing_value"),
        ("group", "", "missing_value"),
        ("time", "", "missing_value"),
    ],
)
def test_roles_that_need_a_value(refused, role, cell, code):
    error = refused(f"a,r,label\n1,1,0\n2,{cell},1\n3,2,1\n", roles={"r": role})
    assert (error.code, error.errors[0].line, error.errors[0].column) == (code, 3, "r")


@pytest.mark.parametrize("role", ["weight", "cost", "time"])
def test_roles_that_need_numbers(refused, role):
    assert refused("a,r,label\n1,x,0\n2,y,1\n", roles={"r": role}).code == "wrong_type"


def test_three_classes_have_no_positive_one(refused, read):
    body = "x,label\n1,a\n2,b\n3,c\n"
    assert read(body).labels.positive is None
    assert refused(body, positive_class="a").code == "not_binary"


def test_what_nobody_computes_with_may_be_mixed(read):
    body = "id,x,label\n" + "".join(f"{i},{i},{i % 2}\n" for i in range(20)) + "tx-9,1,0\n"
    assert described(read(body, roles={"id": "id"}))["id"] == ("category", "id")


def test_the_first_twenty_faults_are_listed_and_all_are_counted(refused):
    error = refused(HEADER + "1,2,0\n" * 5 + "1,2\n" * 100)
    assert len(error.errors) == 20
    assert error.errors_total == 100
    assert [fault.line for fault in error.errors[:2]] == [7, 8]


def test_faults_never_hold_values(refused):
    error = refused(HEADER + ROWS + "1,s3cret,0\n")
    assert "s3cret" not in repr(error.errors) + error.detail


@pytest.mark.parametrize(
    ("body", "code", "pointer"),
    [
        ("[]", "empty_body", "/file"),
        ("[1]", "wrong_type", "/rows/0"),
        ('[{"x":1,"label":0},{"x":1}]', "ragged_row", "/rows/1/label"),
        ('[{"x":1,"label":0},{"x":1,"y":2,"label":0}]', "ragged_row", "/rows/1"),
        ('[{"x":1,"x":2,"label":0}]', "duplicate_header", "/file"),
        ('[{"x":[1],"label":0},{"x":[2],"label":1}]', "wrong_type", "/rows/0/x"),
        ('[{"x":1,"label":0},{"x":2,"label":1},{"x":"a","label":1}]', "mixed_types", "/rows/2/x"),
        (
            '[{"x":"2024-01-05","label":0},{"x":"2024-02-30","label":1},{"x":"2024-01-07","label":1},'
            '{"x":null,"label":1},{"x":"2024-01-08","label":1}]',
            "mixed_types",
            "/rows/1/x",
        ),
        ('[{"x":1,"label":0},{"x":1e999,"label":1}]', "not_finite", "/rows/1/x"),
        ('[{"x":"a\\u0000","label":0},{"x":"b","label":1}]', "nul", "/rows/0/x"),
        ('[{"x":"\\ud800","label":0},{"x":"b","label":1}]', "encoding", "/rows/0/x"),
        ('[{"x":1,"label":null},{"x":2,"label":1}]', "missing_label", "/rows/0/label"),
        ('[{"":1,"label":0}]', "empty_header", "/file"),
        (b'[{"x":"\xe9","label":0}]', "encoding", "/file"),
    ],
)
def test_json_refused(refused, body, code, pointer):
    error = refused(body, JSON)
    assert (error.code, error.errors[0].pointer) == (code, pointer)


@pytest.mark.parametrize(
    "body",
    [
        "{",
        "[",
        '[{"x":1}',
        '[{"x":1},]',
        '[{"x":1}] 2',
        '{"rows":[{"x":1}]',
        '{"rows":[{"x":1}],"more":1}',
        '[{"x":NaN}]',
        '[{"x":Infinity}]',
        "[" * 100_000,
        '[{"x":' + "9" * 5000 + "}]",
        "3",
    ],
)
def test_json_malformed(refused, body):
    error = refused(body, JSON)
    assert isinstance(error, MalformedError)
    assert error.code == "malformed"


def test_json_rows_object(read):
    table = read('{"rows": [{"x": 1, "label": 0}, {"x": null, "label": 1}]}', JSON)
    assert np.array_equal(table.columns["x"], [1.0, np.nan], equal_nan=True)


def test_ndjson_refused_with_its_line(refused):
    error = refused('{"x":1,"label":0}\n\n{"x":1,"label":0\n', NDJSON)
    assert (error.code, error.errors[0].line) == ("malformed", 3)
    error = refused('{"x":1,"label":0}\n{"x":2}\n', NDJSON)
    assert (error.code, error.errors[0].line, error.errors[0].column) == ("ragged_row", 2, "label")


def parquet(table):
    sink = io.BytesIO()
    pq.write_table(table, sink)
    return sink.getvalue()


def arrow(table):
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


WRITERS = [(PARQUET, parquet), (ARROW, arrow)]


def test_times_as_labels_are_the_same_classes_in_every_media_type(read):
    moments = [datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 2, 3, 4, 5, 600_000, tzinfo=UTC)]
    texts = ["2026-01-01 00:00:00Z", "2026-01-02T05:04:05.600+02:00"]
    rows = [{"a": row, "label": text} for row, text in enumerate(texts)]
    bodies = [
        (CSV, ("a,label\n" + "".join(f"{row['a']},{row['label']}\n" for row in rows)).encode()),
        (JSON, json.dumps(rows).encode()),
        (NDJSON, "".join(json.dumps(row) + "\n" for row in rows).encode()),
        *((media_type, write(pa.table({"a": [0, 1], "label": moments}))) for media_type, write in WRITERS),
    ]
    for media_type, body in bodies:
        found = read(body, media_type)
        assert found.labels.counts == {"2026-01-01": 1, "2026-01-02T03:04:05.600000Z": 1}, media_type
    dates = pa.table({"a": [0, 1], "label": pa.array([0, 1], pa.date32())})
    for media_type, body in (
        (CSV, b"a,label\n0,1970-01-01\n1,1970-01-02\n"),
        *((kind, write(dates)) for kind, write in WRITERS),
    ):
        assert read(body, media_type).labels.counts == {"1970-01-01": 1, "1970-01-02": 1}, media_type


@pytest.mark.parametrize(("media_type", "write"), WRITERS)
def test_arrow_types(read, media_type, write):
    table = pa.table(
        {
            "i": pa.array([1, None], pa.int8()),
            "f": pa.array([0.5, float("nan")], pa.float32()),
            "d": pa.array(["1.25", "2.50"]).cast(pa.decimal128(5, 2)),
            "b": pa.array([True, None]),
            "c": pa.array(["x", "y"]).dictionary_encode(),
            "t": pa.array([0, 1_500], pa.timestamp("ms")),
            "day": pa.array([1, 2], pa.date32()),
            "label": pa.array([0, 1], pa.int64()),
        }
    )
    found = read(write(table), media_type)
    kinds = {name: kind for name, (kind, _) in described(found).items()}
    assert kinds == {
        "i": "number",
        "f": "number",
        "d": "number",
        "b": "boolean",
        "c": "category",
        "t": "timestamp",
        "day": "timestamp",
        "label": "category",
    }
    assert found.columns["t"].tolist() == [0.0, 1.5]
    assert found.columns["day"].tolist() == [86400.0, 172800.0]
    assert found.columns["d"].tolist() == [1.25, 2.5]
    assert found.labels.counts == {"0": 1, "1": 1}


@pytest.mark.parametrize(("media_type", "write"), WRITERS)
@pytest.mark.parametrize(
    ("column", "code"),
    [
        (pa.array([[1], [2]]), "wrong_type"),
        (pa.array([b"a", b"b"]), "wrong_type"),
        (pa.array([1.0, float("inf")]), "not_finite"),
        (pa.array(["a\0", "b"]), "nul"),
    ],
)
def test_arrow_refused(refused, media_type, write, column, code):
    error = refused(write(pa.table({"x": column, "label": [0, 1]})), media_type)
    assert error.code == code


@pytest.mark.parametrize(("media_type", "write"), WRITERS)
def test_broken_arrow_files_are_malformed(refused, media_type, write):
    whole = write(pa.table({"x": list(range(1000)), "label": [0, 1] * 500}))
    for body in (b"PAR1", b"nonsense", whole[: len(whole) // 2]):
        assert isinstance(refused(body, media_type), MalformedError)


def test_nothing_follows_the_end_of_an_arrow_stream(refused):
    whole = arrow(pa.table({"x": [1, 2], "label": [0, 1]}))
    for more in (whole, b"x"):
        assert "follows the end" in refused(whole + more, ARROW).detail


@pytest.mark.parametrize(("media_type", "write"), WRITERS)
def test_a_small_file_that_decodes_to_much_is_cut_off(refused, media_type, write):
    # 400 distinct texts of 4 KB, repeated: a few KB as a dictionary, 400 MB of cells.
    words = pa.DictionaryArray.from_arrays(
        pa.array(np.tile(np.arange(400, dtype=np.int16), 250)),
        pa.array(["x" * 4096 + str(i) for i in range(400)]),
    )
    body = write(pa.table({"x": words, "label": np.arange(100_000) % 2}))
    assert len(body) < 3 << 20
    error = refused(body, media_type, IntakeLimits(1_000_000, 50, 1 << 24))
    assert error.code == "dataset_too_large"


@pytest.mark.parametrize(
    ("limits", "media_type"),
    [
        (limits, media_type)
        for limits in [(9, 50, 1 << 20), (100, 1, 1 << 20), (100, 50, 64)]
        for media_type in (CSV, JSON)
    ],
)
def test_limits(refused, limits, media_type):
    rows = [{"x": i, "label": i % 2} for i in range(10)]
    bodies = {CSV: "x,label\n" + "".join(f"{r['x']},{r['label']}\n" for r in rows), JSON: json.dumps(rows)}
    assert refused(bodies[media_type], media_type, IntakeLimits(*limits)).code == "dataset_too_large"


def test_a_million_columns_are_refused_quickly(refused):
    assert refused(",".join(f"c{i}" for i in range(1_000_000)) + "\n1\n").code == "dataset_too_large"


@pytest.mark.parametrize("cell", ["€ {}.50", "{}.50 EUR", '"1,23{}.50"', '"{},50"', "{} %", "$1 23{}"])
def test_amounts_as_people_write_them_are_told(read, cell):
    body = "paid,label\n" + "".join(f"{cell.format(i % 7)},{i % 2}\n" for i in range(20))
    (doubts,) = (column.doubts for column in read(body).described if column.name == "paid")
    assert "such as 54.67" in doubts["looks_like_amounts"]


def test_classes_that_differ_in_case_or_spaces_alone_are_told(read):
    table = read("x,label\n" + "".join(f"{i},{('yes', 'Yes', 'no', 'NO way')[i % 4]}\n" for i in range(20)))
    (doubts,) = (column.doubts for column in table.described if column.doubts)
    assert "(Yes, yes)" in doubts["similar_classes"]
    plain = read("x,label\n" + "".join(f"{i},{('yes', 'no')[i % 2]}\n" for i in range(20)))
    assert not any(column.doubts for column in plain.described)


@pytest.mark.parametrize("cell", ["{}.05.2026", "AB{}", "0{}", "{} days", "EUR", '"a,{}"'])
def test_words_and_codes_are_no_amounts(read, cell):
    body = "paid,label\n" + "".join(f"{cell.format(i % 7)},{i % 2}\n" for i in range(20))
    assert all("looks_like_amounts" not in column.doubts for column in read(body).described)
