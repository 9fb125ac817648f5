import pytest

from costboost.progress import FoldProgress, rounds_of


def test_rounds_of_one_fit_are_progress_of_the_whole():
    seen = []
    report = rounds_of(lambda *step: seen.append(step), "boosting", 2, 4)
    assert report is not None
    assert report(5, 10, {"error": 0.25}) is None
    assert seen == [("boosting", 5, 10, pytest.approx(0.625), {"error": 0.25})]
    assert rounds_of(None, "boosting", 0, 1) is None


def test_of_folds_side_by_side_the_first_that_is_not_through_is_heard():
    seen = []
    told = FoldProgress(lambda *step: seen.append(step[1:4]), 2)
    first, second = told.rounds_of(0), told.rounds_of(1)
    first(1, 4, {})
    second(2, 4, {})
    first(4, 4, {})
    second(3, 4, {})
    told.end(0)
    told.end(1)
    # Round, rounds, and the share of three fits: the two folds and the one on all rows.
    assert seen == [
        (1, 4, pytest.approx(0.25 / 3)),
        (4, 4, pytest.approx(1.5 / 3)),
        (3, 4, pytest.approx(1.75 / 3)),
        (1, 2, pytest.approx(1.75 / 3)),
        (2, 2, pytest.approx(2 / 3)),
    ]
