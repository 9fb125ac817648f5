"""The Python client against a real service."""

import asyncio
import io
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pandas
import polars
import pyarrow as pa
import pytest

from costboost.client import ApiError, AsyncClient, Client, Job, JobError
from tests.service.conftest import Service, table

COSTS = {"fn": {"per": {"amount": 1}}, "fp": 10}
QUICK = {"algorithm": "cgada", "params": {"n_estimators": 20}}
#: The client cannot tell one database from another.
pytestmark = pytest.mark.parametrize("service", ["sqlite"], indirect=True)

ROW = {"amount": 640.0, "hour": 3, "merchant": "d"}


def address(service: Service) -> str:
    return str(service.http.base_url)


@pytest.fixture(scope="module")
def client(service: Service) -> Iterator[Client]:
    with Client(address(service)) as made:
        yield made


@pytest.fixture(scope="module")
def trained(client: Client, tmp_path_factory: pytest.TempPathFactory) -> Job:
    path = tmp_path_factory.mktemp("client") / "payments.csv"
    path.write_text(table())
    job = client.train("of-the-client", path, COSTS, **QUICK, options={"positive_class": "fraud"})
    assert not job.done
    return job.wait()


def test_a_file_is_trained_on_in_one_request(client: Client, trained: Job) -> None:
    assert trained.succeeded
    assert trained.outcome["version"] == 1
    version = client.version("of-the-client", 1)
    assert version.params["n_estimators"] == 20
    assert isinstance(version.created_at, datetime)
    assert client.model("of-the-client").aliases == {"champion": 1}
    assert client.job(trained.id).status == "succeeded"


def test_what_is_meant_otherwise_is_told_before_anything_is_sent(client: Client) -> None:
    for data in ("orders.csv", "Q3.parquet"):
        with pytest.raises(ValueError, match="for a file say"):
            client.train("m", data, COSTS)
        with pytest.raises(ValueError, match="for a file say"):
            client.predict_batch("m", data)
    with pytest.raises(TypeError, match="is said of the table"):
        client.train("m", pandas.DataFrame({"a": [1]}), COSTS, label="y")
    with pytest.raises(FileNotFoundError, match="there is no file"):
        client.create_dataset("nowhere.csv")


def test_decisions_have_names_and_reasons(client: Client, trained: Job) -> None:
    answer = client.predict("of-the-client", [{"id": "tx-1", **ROW}, {**ROW, "amount": 2.0}], explain=2)
    assert len(answer) == 2
    assert answer[0].id == "tx-1"
    assert answer[0].probabilities is not None
    assert sum(answer[0].probabilities.values()) == pytest.approx(1.0)
    assert answer[0].reasons is not None
    assert len(answer[0].reasons) == 2
    dear = client.predict("of-the-client", [ROW], costs={"fn": 1, "fp": 1000})
    assert dear[0].probabilities == answer[0].probabilities
    assert (answer[0].label, dear[0].label) == ("fraud", "legit")


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow"])
def test_a_data_frame_comes_back_as_one(client: Client, trained: Job, kind: str) -> None:
    rows = {"amount": [640.0, 2.0, 9.5], "hour": [3, 12, None], "merchant": ["d", "a", None]}
    frame: Any = {"pandas": pandas.DataFrame, "polars": polars.DataFrame, "arrow": pa.table}[kind](rows)
    answer = client.predict_table("of-the-client", frame)
    assert type(answer) is type(frame)
    expected = client.predict(
        "of-the-client", [dict(zip(rows, values, strict=True)) for values in zip(*rows.values(), strict=True)]
    )
    column = (
        answer["probability_fraud"].to_pylist() if kind == "arrow" else answer["probability_fraud"].to_list()
    )
    assert column == [one.probabilities and one.probabilities["fraud"] for one in expected]


def test_more_rows_than_a_request_may_have_are_sent_in_parts(client: Client, trained: Job) -> None:
    amounts = [float(i % 700) for i in range(10_500)]
    rows = len(amounts)
    frame = pandas.DataFrame({"amount": amounts, "hour": [3] * rows, "merchant": ["d"] * rows})
    answer = client.predict_table("of-the-client", frame, id_column="amount")
    assert list(answer.columns)[:2] == ["amount", "decision"]
    assert answer["amount"].to_list() == amounts
    with pytest.raises(ValueError, match="no column 'amuont'"):
        client.predict_table("of-the-client", frame, id_column="amuont")


@pytest.mark.parametrize("package", [pandas, polars])
def test_datasets_come_from_data_frames_and_go_back_as_arrow(client: Client, package: Any) -> None:
    columns = {"amount": [1.0, 2.5, 3.0, 4.0], "shop": ["a", "b", None, "a"], "label": ["0", "1", "0", "1"]}
    made = client.create_dataset(
        package.DataFrame(columns), name=f"from-{package.__name__}", positive_class="1"
    )
    assert (made.rows, made.positive_class) == (4, "1")
    assert client.dataset(f"from-{package.__name__}").id == made.id
    assert client.dataset_content(made.id).to_pydict() == columns
    client.delete_dataset(made.id)
    with pytest.raises(ApiError) as caught:
        client.dataset(made.id)
    assert caught.value.status == 404


def test_lists_go_through_all_pages(client: Client) -> None:
    names = [f"page-{i}" for i in range(3)]
    for name in names:
        client.create_cost_spec(name, {"fn": 5, "fp": 1}, currency="EUR")
    wanted = client.__class__.cost_specs.describe(client)
    plan = wanted.page(None, retries=0)
    request = next(plan)
    assert request.params["limit"] == 100
    found = [one.name for one in client.cost_specs()]
    assert [name for name in found if name in names] == names[::-1]


def test_what_is_refused_names_field_and_code(client: Client) -> None:
    with pytest.raises(ApiError) as caught:
        client.create_cost_spec("wrong", {"fn": -5, "fp": 1})
    error = caught.value
    assert (error.status, error.code) == (422, "unreasonable_costs")
    assert error.errors
    assert all(fault.pointer.startswith("/") for fault in error.errors)
    assert error.request_id
    assert error.errors[0].detail in str(error)


def test_models_change_and_aliases_move_without_reading_first(client: Client, trained: Job) -> None:
    changed = client.change_model("of-the-client", description="payments", tags={"team": "fraud"})
    assert (changed.description, changed.tags) == ("payments", {"team": "fraud"})
    for reason in ("made", "moved"):
        assert client.set_alias("of-the-client", "night", 1, reason=reason).reason == reason
    client.delete_alias("of-the-client", "night")
    assert client.model("of-the-client").aliases == {"champion": 1}


def test_a_version_travels_in_a_file(client: Client, trained: Job, tmp_path: Path) -> None:
    file = client.export("of-the-client", 1, tmp_path / "version.zip")
    imported = client.import_version("of-the-client-imported", file)
    assert imported.version == 1
    before, after = (client.predict(name, [ROW])[0].score for name in ("of-the-client", imported.model))
    assert before == after


def test_a_batch_is_a_job_with_a_file(client: Client, trained: Job) -> None:
    job = client.predict_batch("of-the-client", pandas.DataFrame([ROW, ROW])).wait()
    assert job.outcome["rows"] == 2
    assert len(pandas.read_csv(io.BytesIO(client.batch_output(job.id)))) == 2


def test_feedback_and_performance_close_the_loop(client: Client, trained: Job) -> None:
    decided = client.predict("of-the-client", [ROW], record="durable")[0]
    assert decided.prediction_id is not None
    assert client.decision_record(decided.prediction_id)["label"] == decided.label
    seen = datetime.now(UTC)
    counts = client.give_feedback(
        [{"prediction_id": decided.prediction_id, "label": "fraud", "observed_at": seen}]
    )
    assert counts["accepted"] == 1
    told = client.performance("of-the-client", since=seen - timedelta(days=1), window="all")
    assert told["versions"][0]["total"]["labelled"] == 1


def test_simulations_are_in_money(client: Client, trained: Job) -> None:
    told = client.simulate("of-the-client", costs={"fn": 50, "fp": 5})
    assert told["optimum"]["cost"] <= told["current"]["cost"]


def test_a_job_that_fails_or_is_cancelled_raises_its_code(client: Client) -> None:
    job = client.train("cancelled", pa.table(pandas.read_csv(io.StringIO(table(60)))), COSTS)
    job.cancel()
    with pytest.raises(JobError) as caught:
        job.wait(progress=lambda _: None)
    assert caught.value.code == "cancelled"
    assert caught.value.job_id == job.id
    with pytest.raises(JobError, match="when it was last looked at"):
        assert job.outcome


def test_the_async_client_does_the_same(
    service: Service, client: Client, trained: Job, tmp_path: Path
) -> None:
    path = tmp_path / "payments.csv"
    path.write_text(table(200))

    async def story() -> tuple[Any, list[str]]:
        async with AsyncClient(address(service)) as asked:
            job = await (await asked.train("of-async", path, COSTS, **QUICK)).wait(timeout=120)
            assert job.outcome["model"] == "of-async"
            answer = await asked.predict("of-the-client", [ROW])
            return answer[0].probabilities, [model.name async for model in asked.models()]

    probabilities, names = asyncio.run(story())
    assert probabilities == client.predict("of-the-client", [ROW])[0].probabilities
    assert {"of-async", "of-the-client"} <= set(names)
