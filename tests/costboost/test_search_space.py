"""What is drawn: within the bounds, evenly, never twice, and the same for the same seed."""

import numpy as np
import pytest

from costboost.search_space import Choices, Interval, draw_params


def test_bounds_belong_to_it():
    whole = Interval(2, 5, whole=True)
    shares = np.arange(1000) / 1000
    assert {whole.at(share) for share in shares} == {2, 3, 4, 5}
    assert all(isinstance(whole.at(share), int) for share in (0.0, 0.999))
    counts = np.bincount([whole.at(share) for share in shares])
    assert np.abs(counts[2:] - 250).max() <= 1
    log = Interval(0.01, 100.0, log=True)
    assert (log.at(0.0), log.at(0.25), log.at(0.5)) == (0.01, 0.1, 1.0)
    assert Interval(1.0, 1.0).at(0.7) == 1.0


@pytest.mark.parametrize(
    "bounds",
    [{"low": 2, "high": 1}, {"low": 0, "high": 1, "log": True}, {"low": 0, "high": float("inf")}],
)
def test_what_is_no_interval(bounds):
    with pytest.raises(ValueError, match="interval"):
        Interval(**bounds)
    with pytest.raises(ValueError, match="choose"):
        Choices(())


def test_the_seed_alone_decides():
    space = {"x": Interval(0.0, 1.0), "n": Interval(1, 1000, log=True, whole=True)}
    drawn = draw_params(space, 20, seed=3)
    assert drawn == draw_params(dict(reversed(space.items())), 20, seed=3)
    assert drawn != draw_params(space, 20, seed=4)
    assert drawn[:5] == draw_params(space, 5, seed=3)


def test_nothing_is_drawn_twice_and_what_does_not_go_together_not_at_all():
    space = {"x": Choices((1, 2, 3)), "y": Choices(("p", "q"))}
    assert len(draw_params(space, 50, seed=0)) == 6
    found = draw_params(space, 50, seed=0, allowed=lambda params: params["x"] != 2)
    assert sorted(one["x"] for one in found) == [1, 1, 3, 3]
    assert draw_params(space, 50, seed=0, allowed=lambda _: False) == []
