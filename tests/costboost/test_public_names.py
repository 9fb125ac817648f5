"""The names of the library: each can be had, and asking for one loads no more than it needs."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import costboost

LIGHT = [
    "calibration",
    "cost_ranges",
    "costs",
    "curves",
    "decisions",
    "features",
    "libm",
    "metrics",
    "persistence",
    "reliability",
    "review",
    "scorer",
    "splits",
]


def loaded_after(statement):
    """Which of the heavy packages a new process has loaded."""
    show = "print([name for name in ('numpy', 'sklearn', 'numba', 'joblib') if name in sys.modules])"
    script = f"import sys\n{statement}\n{show}"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return ast.literal_eval(done.stdout)


@pytest.mark.parametrize("name", costboost.__all__)
def test_every_public_name_can_be_had(name):
    assert name in dir(costboost)
    value = getattr(costboost, name)
    assert name.isupper() or (value.__name__ == name and value.__module__.startswith("costboost."))


@pytest.mark.parametrize("name", costboost.__all__)
def test_every_public_class_has_an_example(name):
    value = getattr(costboost, name)
    assert not isinstance(value, type) or ">>> " in value.__doc__


def test_type_checkers_see_the_names_that_exist():
    tree = ast.parse(Path(costboost.__file__).read_text(encoding="utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    homes = {alias.name: node.module for node in block.body for alias in node.names}
    assert {name: f"costboost.{home}" for name, home in costboost._HOME_OF.items()} == homes
    assert sorted(homes) == sorted(costboost.__all__)


def test_other_names_are_unknown():
    with pytest.raises(AttributeError, match="no attribute 'AdaBust'"):
        _ = costboost.AdaBust


def test_importing_the_package_loads_nothing():
    assert loaded_after("import costboost") == []


def test_scoring_loads_numpy_alone():
    modules = "\n".join(f"import costboost.{name}" for name in LIGHT)
    assert loaded_after(modules) == ["numpy"]
