"""Moments there and back: each way gives the same float, and a second time changes nothing."""

from datetime import UTC, datetime

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from service.rows import times

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@given(st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30), timezones=st.just(UTC)))
def test_every_way_is_the_same_and_stays(moment):
    seconds = times.seconds_since(moment - EPOCH)
    micro = times.to_microseconds(np.array([seconds]))
    assert times.to_seconds(micro).tolist() == [seconds]
    assert times.rounded_second(seconds) == seconds
    assert times.rounded(np.array([seconds])).tolist() == [seconds]
    exact = (moment - EPOCH) // moment.resolution
    assert times.to_seconds(np.array([exact])).tolist() == [seconds]


def test_missing_moments_stay_missing():
    assert np.isnan(times.rounded(np.array([np.nan]))).all()
