import numpy as np
import pytest

from costboost.cost_specs import CostSpec
from costboost.labels import codes_of_classes, ordered_classes

X = {"x": np.arange(6.0)}


def test_classes_are_sorted_or_in_the_order_of_the_costs():
    classes, y = ordered_classes(np.array([2, 1, 2]), None)
    assert (classes.tolist(), y.tolist()) == ([1, 2], [1, 0, 1])
    classes, y = ordered_classes(np.array([2.0, 1.0, 2.0]), CostSpec.binary(1, 1, classes=("2", "1")))
    assert (classes.tolist(), y.tolist()) == ([2.0, 1.0], [0, 1, 0])
    classes, y = ordered_classes(np.array([True, False]), CostSpec.binary(1, 1, classes=("false", "true")))
    assert (classes.tolist(), y.tolist()) == ([False, True], [1, 0])


def test_other_classes_than_those_of_the_costs_are_refused():
    with pytest.raises(ValueError, match="costs are for the classes"):
        ordered_classes(np.array(["a", "b"]), CostSpec.binary(1, 1))
    with pytest.raises(ValueError, match="at least two classes"):
        ordered_classes(np.array(["a", "a"]), None)


def test_codes_follow_from_the_positive_class_or_from_size_then_content():
    assert codes_of_classes(X, np.array([0, 1, 0, 1, 0, 1]), 0).tolist() == [1, 0]
    assert codes_of_classes(X, np.array([0, 0, 0, 1, 2, 2]), None).tolist() == [2, 0, 1]
    y = np.array([0, 1, 2, 0, 1, 2])
    codes = codes_of_classes(X, y, None)
    renamed = np.array([2, 0, 1])  # class k is now called renamed[k]
    assert codes_of_classes(X, renamed[y], None)[renamed].tolist() == codes.tolist()
