"""What can be trained, as the API lists it."""

import subprocess
import sys

import pytest

from service.learning import algorithm, algorithms


def test_all_of_the_registry_are_listed():
    found = algorithms()
    assert [one.name for one in found] == sorted(one.name for one in found)
    assert {"adacost", "cgada", "csadaboost"} <= {one.name for one in found}
    for one in found:
        assert one.params["type"] == "object"
        assert one.params["properties"]
        assert set(one.tasks) <= {"binary", "multiclass"}
        assert one.title
        assert one.reference


@pytest.mark.parametrize("name", ["adacost", "AdaCost", "ada-cost", "ADA_COST"])
def test_spellings(name):
    found = algorithm(name)
    assert found is not None
    assert found.name == "adacost"


def test_unknown():
    assert algorithm("deep-thought") is None


def test_a_process_that_only_scores_stays_light():
    heavy = "[name for name in ('sklearn', 'numba', 'joblib') if name in sys.modules]"
    code = f"import sys, service.learning, service.rows; print({heavy})"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
