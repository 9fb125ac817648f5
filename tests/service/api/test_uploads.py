"""What an uploaded table is called where nobody says so."""

import pytest

from service.api.uploads import called_by
from service.domain.datasets import MAX_DATASET_NAME
from tests.service.conftest import Service, table


@pytest.mark.parametrize(
    ("filename", "called"),
    [
        ("payments-q3.csv", "payments-q3"),
        ("C:\\data\\payments.v2.parquet", "payments.v2"),
        ("../../etc/passwd.csv", "passwd"),
        ("a\nb\x00.csv", "ab"),
        (f"{'x' * 300}.csv", "x" * MAX_DATASET_NAME),
        ("table", None),
        (".csv", None),
        ("", None),
        (None, None),
    ],
)
def test_a_table_is_called_as_its_file(filename: str | None, called: str | None) -> None:
    assert called_by(filename) == called


def test_a_name_that_is_given_counts_before_that_of_the_file(sqlite_service: Service) -> None:
    def named(**options: str) -> str:
        file = ("called-so.csv", table(40).encode(), "text/csv")
        answer = sqlite_service.http.post("/v1/datasets", data=options, files={"file": file})
        assert answer.status_code == 201, answer.text
        return str(answer.json()["name"])

    assert named() == "called-so"
    assert named(name="said") == "said"
    assert named(options='{"name": "in JSON"}') == "in JSON"
