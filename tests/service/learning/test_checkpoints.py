"""What attempts leave to their successors: written now and then, read only by the same training."""

import numpy as np
import pytest

from service.learning import checkpoints, fit
from service.learning.checkpoints import Checkpoints, stamp_of

SCORES = np.array([[0.5], [np.nan], [-2.0]])


def test_what_one_writes_the_next_finds_once():
    written = []
    first = Checkpoints("stamp", [], written.append, 0.0)
    first.keep("fold 0", SCORES)
    first.keep("fold 1", 2 * SCORES)
    assert len(written) == 2
    second = Checkpoints("stamp", written, written.append, 0.0)
    assert second.known == ["fold 0", "fold 1"]
    assert second.find("fold 1").tobytes() == (2 * SCORES).tobytes()
    assert second.find("fold 1") is None
    assert second.find("fold 2") is None


def test_fits_that_are_soon_done_share_an_artifact():
    now, written = 100.0, []
    kept = Checkpoints("stamp", [], written.append, 10.0, clock=lambda: now)
    kept.keep("fold 0", SCORES)
    now += 9.0
    kept.keep("fold 1", SCORES)
    assert written == []
    now += 1.0
    kept.keep("fold 2", SCORES)
    now += 1.0
    kept.keep("fold 3", SCORES)
    assert [Checkpoints("stamp", [data], written.append, 10.0).known for data in written] == [
        ["fold 0", "fold 1", "fold 2"]
    ]


def test_long_trainings_are_kept_in_few_pieces():
    now, written = 0.0, []
    kept = Checkpoints("stamp", [], written.append, 10.0, clock=lambda: now)
    for number in range(20_000):
        now += 5.0
        if kept.is_due:
            kept.keep(f"all rows, rounds from {number}", SCORES)
    assert 1000 < len(written) < 1500  # not 10,000


def test_another_training_finds_nothing():
    written = []
    Checkpoints(stamp_of("job_1", {"spec": 1}), [], written.append, 0.0).keep("fold 0", SCORES)
    for stamp in (stamp_of("job_2", {"spec": 1}), stamp_of("job_1", {"spec": 2})):
        assert Checkpoints(stamp, written, written.append, 0.0).known == []
    assert Checkpoints(stamp_of("job_1", {"spec": 1}), written, written.append, 0.0).known == ["fold 0"]


def test_there_is_an_end_to_what_is_kept(monkeypatch):
    monkeypatch.setattr(checkpoints, "MOST_BYTES", 2 * SCORES.nbytes)
    written = []
    kept = Checkpoints("stamp", [], written.append, 0.0)
    for fold in range(4):
        kept.keep(f"fold {fold}", SCORES)
    assert len(written) == 2


@pytest.mark.parametrize("search", [None, {"params": {"n_estimators": {"low": 2, "high": 9}}, "trials": 2}])
def test_a_training_that_goes_on_makes_the_same_bytes(table, spec, spelled, search):
    dataset, columns = table()
    more = {} if search is None else {"search": search}
    job, costs = spec(algorithm="cgada", split={"folds": 3}, **more), spelled({"fn": 50, "fp": 5})
    whole, written = fit(job, dataset, columns, costs), []
    fit(job, dataset, columns, costs, checkpoints=Checkpoints("stamp", [], written.append, 0.0))
    known = Checkpoints("stamp", written, list.copy, 0.0)
    assert len([name for name in known.known if "rounds" not in name]) == 3 + (0 if search is None else 6)
    assert known.fits[:4] == ["all rows", "fold 0", "fold 1", "fold 2"]
    for count in (len(written) // 2, len(written) - 1):
        resumed = Checkpoints("stamp", written[:count], lambda _data: None, 0.0)
        again = fit(job, dataset, columns, costs, checkpoints=resumed)
        assert not [name for name in resumed.known if "all rows" in name or "rounds" not in name]
        assert (again.artifact, again.report, again.test_part) == (
            whole.artifact,
            whole.report,
            whole.test_part,
        )
        assert again.search == whole.search
