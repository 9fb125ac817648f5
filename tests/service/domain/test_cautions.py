"""What must be known before figures are relied on."""

import pytest

from service.domain.cautions import cautions_of_test

ENOUGH = {"no": 500, "yes": 500}


@pytest.mark.parametrize(
    ("confusion", "codes"),
    [
        ([[480, 20], [30, 470]], []),
        ([[500, 0], [500, 0]], ["one_decision"]),
        ([[0, 500, 0], [0, 500, 0]], ["one_decision"]),
        ([[500, 0, 0], [400, 0, 100]], []),
    ],
)
def test_one_decision_for_all_rows_is_told(confusion: list[list[int]], codes: list[str]) -> None:
    found = cautions_of_test(ENOUGH, {"confusion": confusion, "savings_ci95": [0.1, 0.3]})
    assert [code for code, _ in found] == codes


def test_savings_that_are_not_proven_and_classes_of_few_rows_are_told() -> None:
    found = cautions_of_test({"no": 500, "yes": 9}, {"savings_ci95": [-0.1, 0.3]})
    assert [code for code, _ in found] == ["few_rows", "unproven_savings"]


def test_savings_without_an_interval_are_not_proven() -> None:
    found = cautions_of_test(ENOUGH, {"savings": 1.0, "savings_ci95": None})
    assert [code for code, _ in found] == ["unproven_savings"]
