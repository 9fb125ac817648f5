"""Datasets over HTTP, on both databases: in, listed, out again, deleted; what is refused leaves nothing."""

import gzip
import hashlib
import io
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from service.db.tables import DatasetRow, TrainingJobRow
from service.domain.ids import new_id
from service.domain.training import TrainingSpec
from tests.service.conftest import Service, problem, running, settings_for

CSV = {"Content-Type": "text/csv"}
PARQUET = "application/vnd.apache.parquet"
TABLE = "amount,city,when,label\n" + "".join(
    f"{i * 1.5},{'=ab'[i % 3]},2024-01-{i % 28 + 1:02},{int(i % 5 == 0)}\n" for i in range(50)
)
FILE = ("t.csv", TABLE.encode(), "text/csv")


def post(service: Service, body, content_type="text/csv", **options):
    content = body if isinstance(body, bytes) else body.encode()
    headers = {"Content-Type": content_type} if content_type else {}
    return service.http.post("/v1/datasets", params=options, content=content, headers=headers)


def post_form(service: Service, options, file=FILE):
    return service.http.post("/v1/datasets", data=options, files={"file": file})


def left(service: Service):
    """Everything that a refused upload could leave: rows, stored files, files on their way in."""
    with service.wiring.readers() as session:
        rows = session.query(DatasetRow.id).count()
    root = service.wiring.store.root
    return rows, sorted(path for path in root.rglob("*") if path.is_file())


def test_a_table_comes_in(service):
    answer = post(service, TABLE, name="card-q3", label="label", positive_class="1")
    assert answer.status_code == 201
    dataset = answer.json()
    assert answer.headers["location"] == f"/v1/datasets/{dataset['id']}"
    assert dataset["id"].startswith("ds_")
    assert dataset["name"] == "card-q3"
    assert dataset["sha256"] == hashlib.sha256(TABLE.encode()).hexdigest()
    assert (dataset["bytes"], dataset["rows"], dataset["label"]) == (len(TABLE), 50, "label")
    assert (dataset["classes"], dataset["class_counts"]) == (["0", "1"], {"0": 40, "1": 10})
    assert (dataset["positive_class"], dataset["positive_class_inferred"]) == ("1", False)
    assert dataset["columns"][0] == {
        "name": "amount",
        "type": "number",
        "role": "feature",
        "missing": 0,
        "distinct": 50,
    }
    assert service.http.get(answer.headers["location"]).json() == dataset


def test_a_dataset_never_changes(service):
    location = post(service, TABLE).headers["location"]
    answer = service.http.get(location)
    assert "immutable" in answer.headers["cache-control"]
    again = service.http.get(location, headers={"If-None-Match": answer.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


@pytest.mark.parametrize(
    "options",
    [
        {"label": "label", "positive_class": "0", "roles": '{"city": "ignore"}', "classes": ["1", "0"]},
        {"label": "label", "positive_class": "0", "roles": '{"city": "ignore"}', "classes": '["1", "0"]'},
        {"options": '{"label":"label","positive_class":0,"roles":{"city":"ignore"},"classes":[1,0]}'},
    ],
)
def test_options_of_a_form(service, options):
    answer = post_form(service, options)
    assert answer.status_code == 201, answer.text
    dataset = answer.json()
    assert (dataset["positive_class"], dataset["classes"]) == ("0", ["1", "0"])
    assert [column["role"] for column in dataset["columns"]] == ["feature", "ignore", "feature", "label"]
    assert dataset["sha256"] == hashlib.sha256(TABLE.encode()).hexdigest()


def test_the_file_of_a_form_is_known_by_its_suffix(service):
    assert post_form(service, {}, ("t.csv", TABLE.encode(), "application/octet-stream")).status_code == 201


def test_options_in_the_query(service):
    options = {
        "roles": json.dumps({"city": "ignore"}),
        "types": json.dumps({"amount": "category"}),
        "classes": ["1", "0"],
    }
    dataset = post(service, TABLE, **options).json()
    assert dataset["columns"][0]["type"] == "category"
    assert dataset["classes"] == ["1", "0"]


def test_a_byte_order_mark_and_crlf_are_fine(service):
    assert post(service, b"\xef\xbb\xbf" + TABLE.replace("\n", "\r\n").encode()).json()["rows"] == 50


def test_content_as_parquet_and_csv(service):
    dataset = post(service, TABLE).json()
    path = f"/v1/datasets/{dataset['id']}/content"
    answer = service.http.get(path)
    assert answer.headers["content-type"] == PARQUET
    stored = pq.read_table(io.BytesIO(answer.content))
    assert stored.schema.field("when").type == pa.timestamp("us", tz="UTC")
    assert stored["amount"].to_pylist() == [i * 1.5 for i in range(50)]
    text = service.http.get(path, headers={"Accept": "text/csv"})
    assert text.headers["content-type"].startswith("text/csv")
    lines = text.text.splitlines()
    assert lines[:3] == [
        "amount,city,when,label",
        "0.0,'=,2024-01-01T00:00:00Z,1",
        "1.5,a,2024-01-02T00:00:00Z,0",
    ]
    assert service.http.get(path, headers={"Accept": "text/csv;q=0.5, */*;q=0.1"}).text == text.text
    problem(service.http.get(path, headers={"Accept": "image/png"}), 406, "not_acceptable")


def test_what_came_out_comes_in_again(service):
    first = post(service, TABLE).json()
    content = service.http.get(f"/v1/datasets/{first['id']}/content").content
    second = post(service, content, PARQUET).json()
    assert (second["columns"], second["class_counts"]) == (first["columns"], first["class_counts"])


def test_profile(service):
    dataset = post(service, TABLE, roles='{"when": "id"}').json()
    profile = service.http.get(f"/v1/datasets/{dataset['id']}/profile").json()
    amount, city, when, label = profile["columns"]
    assert profile["rows"] == 50
    assert (amount["quantiles"]["0"], amount["quantiles"]["0.5"], amount["quantiles"]["1"]) == (
        0.0,
        36.75,
        73.5,
    )
    ones = amount["by_class"]["1"]
    assert (ones["rows"], ones["missing"], ones["quartiles"]) == (10, 0, [16.875, 33.75, 50.625])
    assert len(amount["histogram"]["edges"]) == 21
    assert sum(amount["histogram"]["counts"]) == 50
    both = (amount["by_class"][name]["counts"] for name in ("0", "1"))
    assert [sum(pair) for pair in zip(*both, strict=True)] == amount["histogram"]["counts"]
    assert city["top"] == [
        {"value": "=", "count": 17},
        {"value": "a", "count": 17},
        {"value": "b", "count": 16},
    ]
    assert sum(city["by_class"]["0"]["counts"]) == 40
    assert "top" not in when
    assert "quantiles" not in when
    assert label["top"][0] == {"value": "0", "count": 40}


def test_the_profile_of_numbers_near_the_largest_float_is_finite(service):
    rows = "".join(f"{'-' if i % 3 else ''}1e308,{i % 2}\n" for i in range(60))
    made = post(service, "b,label\n" + rows).json()
    answer = service.http.get(f"/v1/datasets/{made['id']}/profile")
    assert answer.status_code == 200
    quantiles = answer.json()["columns"][0]["quantiles"]
    assert (quantiles["0"], quantiles["1"]) == (-1e308, 1e308)


def test_lists_are_newest_first_and_paged(fresh_service):
    made = [post(fresh_service, TABLE, name=f"t{i}").json()["id"] for i in range(5)]
    seen, url = [], "/v1/datasets?limit=2"
    while url:
        answer = fresh_service.http.get(url)
        page = answer.json()
        seen += [dataset["id"] for dataset in page["data"]]
        url = answer.links["next"]["url"] if page["has_more"] else None
        if len(seen) == 2:
            post(fresh_service, TABLE)  # what comes in meanwhile repeats and hides nothing
    assert seen == made[::-1]
    problem(fresh_service.http.get("/v1/datasets?nosuch=1"), 400, "unknown_parameter")


def test_a_deleted_dataset_is_gone_with_its_bytes(fresh_service):
    before = left(fresh_service)
    dataset = post(fresh_service, TABLE).json()
    path = f"/v1/datasets/{dataset['id']}"
    post(fresh_service, TABLE)
    assert fresh_service.http.delete(path).status_code == 204
    for answer in (
        fresh_service.http.get(path),
        fresh_service.http.get(f"{path}/content"),
        fresh_service.http.delete(path),
    ):
        problem(answer, 404, "not_found")
    rows, files = left(fresh_service)
    assert (rows, len(files)) == (before[0] + 1, len(before[1]) + 1)


def test_a_dataset_of_a_training_job_stays(fresh_service):
    dataset = post(fresh_service, TABLE).json()
    spec = TrainingSpec.model_validate({"model": "m", "dataset": dataset["id"], "costs": {"fn": 5, "fp": 1}})
    with fresh_service.wiring.sessions() as session:
        job = TrainingJobRow(
            id=new_id("job"),
            tenant_id="default",
            model="m",
            dataset_id=dataset["id"],
            spec=spec,
            status="queued",
        )
        job.created_at = session.query(DatasetRow.created_at).scalar()
        session.add(job)
        session.commit()
    problem(fresh_service.http.delete(f"/v1/datasets/{dataset['id']}"), 409, "dataset_in_use")
    assert fresh_service.http.get(f"/v1/datasets/{dataset['id']}/content").status_code == 200


@pytest.mark.parametrize("path", ["", "/content", "/profile"])
def test_an_unknown_dataset(service, path):
    problem(service.http.get(f"/v1/datasets/ds_nosuch{path}"), 404, "not_found")


BAD = [
    ("", {}, 422, "empty_body", "/file", None),
    ("a,label\n1,0\n2\n", {}, 422, "ragged_row", "/file", 3),
    ("a,a,label\n1,2,0\n", {}, 422, "duplicate_header", "/file", 1),
    ("a,,label\n1,2,0\n", {}, 422, "empty_header", "/file", 1),
    ("a,label\n1,0\n\0,1\n", {}, 422, "nul", "/file", 3),
    (b"a,label\n1,0\n\xe9,1\n", {}, 422, "encoding", "/file", 3),
    ('a,label\n1,0\n"2,1\n', {}, 422, "unclosed_quote", "/file", 3),
    ("a,label\n1,0\n2,\n", {}, 422, "missing_label", "/file", 3),
    ("a,label\n1,0\n2,0\n", {}, 422, "too_few_classes", "/file", None),
    ("a,label\ninf,0\n2,1\n", {}, 422, "not_finite", "/file", 2),
    ("a,label\n1,nan\n2,0\n3,1\n", {}, 422, "missing_label", "/file", 2),
    ("a,label\n1,0\n2,1e400\n3,1\n", {}, 422, "not_finite", "/file", 3),
    ("a,label\n1,0\n2,-inf\n3,1\n", {}, 422, "not_finite", "/file", 3),
    ("a,b\n1,0\n2,1\n", {}, 422, "label_absent", "/label", None),
    ("a,label\n1,0\n2,1\n", {"label": "nosuch"}, 422, "label_absent", "/label", None),
    ("a,label\n1,0\n2,1\n", {"roles": '{"a": "ignore"}'}, 422, "no_feature", "/roles", None),
    ("a,label\n1,0\n2,1\n", {"roles": '{"b": "id"}'}, 422, "unknown_column", "/roles/b", None),
    ("a,label\n1,0\n2,1\n", {"roles": '{"a": "target"}'}, 422, "invalid", "/roles/a", None),
    ("a,label\n1,0\n2,1\n", {"roles": "{"}, 400, "malformed", "/roles", None),
    ("a,label\n1,0\n2,1\n", {"types": '{"label": "number"}'}, 422, "wrong_type", "/types/label", None),
    ("a,label\n1,0\n2,1\n", {"types": "[]"}, 422, "invalid", "/types", None),
    ("a,label\n1,0\n2,1\n", {"positive_class": "2"}, 422, "unknown_class", "/positive_class", None),
    ("a,label\n1,0\n2,1\n", {"name": "x" * 1000}, 422, "invalid", "/name", None),
    ("a,label\n1,0\n2,1\n", {"nosuch": "1"}, 400, "unknown_parameter", "/query/nosuch", None),
]


@pytest.mark.parametrize(("body", "options", "status", "code", "pointer", "line"), BAD)
def test_refused_tables_leave_nothing_behind(service, body, options, status, code, pointer, line):
    before = left(service)
    found = problem(post(service, body, **options), status, code)
    fault = found["errors"][0]
    assert (fault["pointer"], fault.get("line")) == (pointer, line)
    assert left(service) == before


@pytest.mark.parametrize(
    ("body", "content_type", "status", "code"),
    [
        ("[{]", "application/json", 400, "malformed"),
        ('[{"a":NaN,"label":0}]', "application/json", 400, "malformed"),
        (
            '{"a":1,"label":0}\n{"a":"x","label":1}\n{"a":2,"label":1}',
            "application/x-ndjson",
            422,
            "mixed_types",
        ),
        (b"PAR1" + b"\0" * 100 + b"PAR1", PARQUET, 400, "malformed"),
        (b"\xff\xff\xff\xff", "application/vnd.apache.arrow.stream", 400, "malformed"),
        (gzip.compress(TABLE.encode()), "text/csv", 422, "encoding"),
        (TABLE, "text/html", 415, "unsupported_media_type"),
        (TABLE, "application/octet-stream", 415, "unsupported_media_type"),
        (TABLE, None, 415, "unsupported_media_type"),
    ],
)
def test_bodies_that_are_no_tables(service, body, content_type, status, code):
    before = left(service)
    problem(post(service, body, content_type), status, code)
    assert left(service) == before


@pytest.mark.parametrize(
    ("options", "file", "status", "code"),
    [
        ({"nosuch": "1"}, FILE, 422, "invalid"),
        ({"options": "["}, FILE, 400, "malformed"),
        ({"options": "[]"}, FILE, 422, "invalid"),
        ({"label": ["a", "b"]}, FILE, 422, "invalid"),
        ({}, ("t.zip", TABLE.encode(), "application/zip"), 415, "unsupported_media_type"),
        ({}, ("t.csv", b"", "text/csv"), 422, "empty_body"),
    ],
)
def test_refused_forms(service, options, file, status, code):
    before = left(service)
    problem(post_form(service, options, file), status, code)
    assert left(service) == before


def test_a_form_without_a_file(service):
    answer = service.http.post("/v1/datasets", files={"other": ("t.csv", TABLE.encode(), "text/csv")})
    found = problem(answer, 422, "invalid")
    assert found["errors"][0]["pointer"] == "/file"


def test_a_compressed_body(service):
    headers = CSV | {"Content-Encoding": "gzip"}
    answer = service.http.post("/v1/datasets", content=gzip.compress(TABLE.encode()), headers=headers)
    problem(answer, 415, "unsupported_media_type")


@pytest.fixture
def small(sqlite_url, tmp_path):
    """A service with small limits."""
    limits = {"max_upload_bytes": 4096, "max_rows": 100, "max_columns": 5, "max_decoded_bytes": 16_384}
    with running(settings_for(sqlite_url, tmp_path, **limits), with_worker=False) as found:
        yield found


def test_a_body_over_the_limit_is_cut_off(small):
    def endless():
        while True:
            yield b"1,2\n" * 256

    before = left(small)
    problem(post(small, "a,label\n" + "1,0\n" * 2000), 413, "body_too_large")
    problem(post_form(small, {}, ("t.csv", b"1,0\n" * 2000, "text/csv")), 413, "body_too_large")
    problem(small.http.post("/v1/datasets", content=endless(), headers=CSV), 413, "body_too_large")
    assert left(small) == before
    assert post(small, "a,label\n1,0\n2,1\n").status_code == 201


@pytest.mark.parametrize(
    "body",
    [
        "a,label\n" + "1,0\n" * 101,
        "a,b,c,d,e,label\n1,1,1,1,1,0\n",
        ",".join(f"c{i}" for i in range(800)) + "\n1\n",
    ],
)
def test_tables_over_the_limits(small, body):
    before = left(small)
    problem(post(small, body), 422, "dataset_too_large")
    assert left(small) == before


def test_a_parquet_file_that_grows(small):
    sink = io.BytesIO()
    pq.write_table(pa.table({"a": ["x" * 400] * 90, "label": [0, 1] * 45}), sink, store_schema=False)
    assert len(sink.getvalue()) < 4096
    problem(post(small, sink.getvalue(), PARQUET), 422, "dataset_too_large")


def test_reading_takes_only_so_long(sqlite_url, tmp_path):
    with running(settings_for(sqlite_url, tmp_path, intake_seconds=0.01), with_worker=False) as slow:
        large = "a,b,label\n" + "1,x,0\n2,y,1\n" * 50_000
        answer = post(slow, large)
        assert (answer.status_code, answer.json()["status"]) == (202, "queued")
        assert answer.headers["location"] == f"/v1/intake-jobs/{answer.json()['id']}"
        assert "preference-applied" not in answer.headers
        assert slow.http.get("/v1/datasets").json()["data"] == []


DEMO = sorted((Path(__file__).parents[3] / "demo" / "data").glob("*.csv.gz"))


@pytest.mark.parametrize("path", DEMO, ids=lambda path: path.name)
def test_bundled_data(service, path):
    body = gzip.decompress(path.read_bytes())
    header = body[: body.index(b"\n")].decode().strip().split(",")
    roles = {name: "cost" for name in header if name.startswith("cost_")}
    answer = post(service, body, label="label", positive_class="1", roles=json.dumps(roles))
    assert answer.status_code == 201, answer.text
    assert answer.json()["rows"] == body.count(b"\n") - 1
