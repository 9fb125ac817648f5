import os
from typing import Any

import pytest
from hypothesis import Phase, settings
from numpy.typing import NDArray

from tests.costboost.boosters import noisy_rows, three_classes

# The first example of a test may import or compile something; a deadline would make it flaky.
# Drawn anew by whoever looks for faults, the same each time where a run decides what lands.
settings.register_profile("costboost", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("costboost")
# A mutant is tried by few examples, the same in every run; that one fails is enough (`make mutation`).
settings.register_profile(
    "mutation",
    deadline=None,
    derandomize=True,
    database=None,
    max_examples=25,
    phases=(Phase.explicit, Phase.generate),
)


@pytest.fixture(name="rows")
def rows_of_two_classes() -> tuple[NDArray[Any], NDArray[Any]]:
    """Noisy rows of two classes, which most tests of boosters learn from."""
    return noisy_rows()


@pytest.fixture(name="three")
def rows_of_three_classes() -> tuple[NDArray[Any], NDArray[Any]]:
    """Rows of three classes."""
    return three_classes()
