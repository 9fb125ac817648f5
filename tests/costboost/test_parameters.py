"""Parameters: one signature gives the check in fit, the JSON Schema and the check of a client's JSON."""

import math
from typing import Annotated, Any, Literal

import pytest

from costboost.parameters import Range, check_parameters, check_params, parameter_schema


class Machine:
    """A machine.

    Parameters
    ----------
    rounds : int
        How often it turns,
        at least once.
    rate : float
        Speed.

    Attributes
    ----------
    kind : str
        Not a parameter's description.
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        rounds: Annotated[int, Range(minimum=1)] = 5,
        rate: Annotated[float, Range(exclusive_minimum=0, maximum=2)] = 1.0,
        tau: Annotated[float, Range(exclusive_minimum=0, maximum=math.inf)] = 50.0,
        kind: Literal["red", "blue"] = "red",
        share: Literal["all"] | Annotated[float, Range(maximum=1)] = "all",
        limit: Annotated[int, Range(exclusive_maximum=9)] | None = None,
        warm: bool = False,
        name: str = "",
        cost_fn: float = 1.0,
        random_state: Any = None,
    ) -> None:
        vars(self).update({key: value for key, value in locals().items() if key != "self"})


def test_schema_is_what_the_signature_says() -> None:
    assert parameter_schema(Machine) == {
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "rounds": {
                "type": "integer",
                "minimum": 1,
                "default": 5,
                "description": "How often it turns, at least once.",
            },
            "rate": {
                "type": "number",
                "exclusiveMinimum": 0,
                "maximum": 2,
                "default": 1.0,
                "description": "Speed.",
            },
            "tau": {"type": "number", "exclusiveMinimum": 0, "default": 50.0},
            "kind": {"enum": ["red", "blue"], "default": "red"},
            "share": {"anyOf": [{"enum": ["all"]}, {"type": "number", "maximum": 1}], "default": "all"},
            "limit": {
                "anyOf": [{"type": "integer", "exclusiveMaximum": 9}, {"type": "null"}],
                "default": None,
            },
            "warm": {"type": "boolean", "default": False},
            "name": {"type": "string", "default": ""},
        },
    }


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"rounds": 0}, "must be an integer at least 1"),
        ({"rounds": 2.0}, "must be an integer at least 1"),
        ({"rounds": True}, "must be an integer at least 1"),
        ({"rounds": "7"}, "must be an integer at least 1"),
        ({"rounds": None}, "must be an integer at least 1"),
        ({"limit": 10**400}, "must be an integer below 9, or null"),
        ({"rate": 10**400}, "must be a finite number above 0 and at most 2"),
        ({"rate": 0}, "must be a finite number above 0 and at most 2"),
        ({"rate": 2.5}, "must be a finite number above 0 and at most 2"),
        ({"rate": math.nan}, "must be a finite number above 0 and at most 2"),
        ({"rate": -math.inf}, "must be a finite number above 0 and at most 2"),
        ({"kind": "green"}, "must be 'red' or 'blue'"),
        ({"kind": ["red"]}, "must be 'red' or 'blue'"),
        ({"share": "some"}, "must be 'all', or a finite number at most 1"),
        ({"limit": 9}, "must be an integer below 9, or null"),
        ({"warm": 1}, "must be true or false"),
        ({"name": 1}, "must be a text"),
        ({"cost_fn": 2.0}, "is not a parameter of this algorithm"),
        ({"estimator": None}, "is not a parameter of this algorithm"),
        ({"random_state": 1}, "is not a parameter of this algorithm"),
    ],
)
def test_a_wrong_value_is_named(params: dict[str, Any], message: str) -> None:
    assert check_params(Machine, params) == [((next(iter(params)),), message)]


def test_right_values_pass() -> None:
    right: dict[str, Any] = {
        "rounds": 1,
        "rate": 2,
        "kind": "blue",
        "share": 0.5,
        "limit": None,
        "warm": True,
        "name": "x",
    }
    assert check_params(Machine, right) == []
    check_parameters(Machine(**right, tau=math.inf, random_state="whatever"))


def test_every_problem_is_reported() -> None:
    assert [name for name, _ in check_params(Machine, {"rate": 9, "colour": 1, "rounds": 0})] == [
        ("rate",),
        ("colour",),
        ("rounds",),
    ]


def test_an_estimator_with_a_wrong_parameter_is_refused() -> None:
    with pytest.raises(ValueError, match=r"Machine: rate must be .* at most 2, got 3"):
        check_parameters(Machine(rate=3))
    with pytest.raises(ValueError, match="Machine: cost_fn must be a finite number"):
        check_parameters(Machine(cost_fn=math.inf))
