"""Every algorithm from outside, over a learner that plays back hypotheses, against formulas row by row."""

import math
import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import brentq, linprog

from costboost.registry import ALGORITHMS
from tests.costboost import naive_boosters as naive
from tests.costboost.naive_two_part import Naive as NaiveTwoPart
from tests.costboost.playback import Tape, row_numbers

ROUNDS = 5
#: Of the class of each algorithm that votes alpha · h: its formula, and the parameters tried.
FORMULAS: dict[str, tuple[Any, list[dict[str, Any]]]] = {
    "adaboost": (naive.AdaBoost, [{}]),
    "adamec": (naive.AdaBoost, [{}]),
    "cgada": (naive.CGAda, [{}]),
    "asymboost": (naive.AsymBoost, [{}]),
    "csadaboost": (
        naive.CSAdaBoost,
        [
            {},
            {"fit_weights": "raw"},
            {"error": "literal"},
            {"confusion": "weighted"},
            {"normalize_costs": False},
        ],
    ),
    "adacost": (
        naive.AdaCost,
        [
            {},
            {"cost_scale": 1.0, "alpha_rule": "r"},
            {"alpha_rule": "error"},
            {"beta": "karakoulas", "v": 0.4},
        ],
    ),
    "csb": (naive.CSB, [{"variant": 0}, {"variant": 1}, {"variant": 2}]),
    "adac": (naive.AdaC, [{"variant": 1}, {"variant": 2}, {"variant": 3}]),
    "adauboost": (naive.AdaUBoost, [{"v": 0.35}]),
    "adaboostnu": (naive.AdaBoostNu, [{"nu": 0.1}, {"nu": 0.01}]),
    "softbandboost": (naive.SoftBand, [{"band": 0.2, "boost": 2.0}]),
}
SAY_PROBABILITIES = {"adacost"}
CASES = [
    pytest.param(name, parameters, id="-".join([name, *map(str, parameters.values())]))
    for name, (_, tried) in FORMULAS.items()
    for parameters in tried
]


class Player:
    """No estimator of scikit-learn's: nothing but what a booster must ask for."""

    def __init__(self, tape: Tape) -> None:
        self.tape = tape

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        return {"tape": self.tape}

    def set_params(self, **params: Any) -> "Player":
        self.tape = params.get("tape", self.tape)
        return self

    def fit(self, X: Any, y: Any, sample_weight: Any) -> "Player":
        assert not hasattr(self, "hypothesis"), "cloned once per round"
        self.hypothesis = self.tape.left.pop(0)
        self.tape.weights.append(np.array(sample_weight))
        self.tape.labels.append(y)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        answers: NDArray[Any] = self.hypothesis[np.asarray(X)[:, 0].astype(int)]
        return answers


class RealPlayer(Player):
    def predict_proba(self, X: Any) -> NDArray[Any]:
        h = super().predict(X)
        return np.column_stack([(1 - h) / 2, (1 + h) / 2])


class Play:
    """Labels, weights, costs of the classes and hypotheses, degenerate ones among them."""

    def __init__(self, seed: int, real: bool = False) -> None:
        rng = np.random.default_rng(seed)
        self.n = n = int(rng.integers(4, 16))
        self.y = np.where(rng.random(n) < rng.choice([0.2, 0.5]), 1, -1)
        self.y[:2] = [1, -1]
        self.weights = np.ones(n) if rng.random() < 0.5 else rng.uniform(0.2, 3.0, n)
        self.fn, self.fp = float(rng.choice([0.5, 1.0, 3.0, 20.0])), float(rng.choice([1.0, 2.0]))
        self.hypotheses = [self._hypothesis(rng) for _ in range(ROUNDS + 1)]
        if real:
            sizes = rng.uniform(0.0, 1.0, (ROUNDS + 1, n)).round(2)
            self.hypotheses = [h * size for h, size in zip(self.hypotheses, sizes, strict=True)]

    def _hypothesis(self, rng: np.random.Generator) -> NDArray[Any]:
        kind = rng.choice(["usual", "perfect", "wrong", "positive", "negative", "any"], p=[0.7] + [0.06] * 5)
        usual = np.where(rng.random(self.n) < 0.25, -self.y, self.y)
        any_one = rng.choice([-1, 1], self.n)
        played: dict[str, NDArray[Any]] = {
            "usual": usual,
            "perfect": self.y.copy(),
            "wrong": -self.y,
            "positive": np.ones(self.n, dtype=int),
            "negative": -np.ones(self.n, dtype=int),
            "any": any_one,
        }
        return played[str(kind)]

    @property
    def cost(self) -> NDArray[Any]:
        return np.where(self.y > 0, self.fn, self.fp)


seeds = st.integers(0, 2**32 - 1)


def fit(name: str, play: Play, **parameters: Any) -> Any:
    """Fit with public parameters alone."""
    player = RealPlayer if name in SAY_PROBABILITIES else Player
    model = ALGORITHMS[name].cls(
        player(Tape(play.hypotheses)), n_estimators=ROUNDS, record=True, **parameters
    )
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*kept no hypothesis|.*of the training rows")
        return model.fit(row_numbers(play.n), play.y, sample_weight=play.weights)


def assert_constant(model: Any, play: Play) -> None:
    """What is left without a hypothesis is the cheaper prediction; a tie goes to the negative one."""
    cost = play.cost * play.weights
    negatives = math.fsum(cost[play.y < 0])
    cheaper = 1.0 if math.fsum(cost[play.y > 0]) > negatives * (1 + 1e-12) else -1.0
    assert np.array_equal(np.sign(model.decision_function(row_numbers(play.n))), np.full(play.n, cheaper))
    assert np.array_equal(model.predict(row_numbers(play.n)), np.full(play.n, cheaper))


def assert_history(model: Any, history: list[dict[str, Any]], stop: str) -> None:
    assert model.stop_reason_ == stop
    assert len(model.estimators_) == len(model.history_) == len(history)
    np.testing.assert_allclose(model.estimator_weights_, [r["alpha"] for r in history], rtol=1e-8, atol=1e-10)
    for ours, theirs in zip(model.history_, history, strict=True):
        np.testing.assert_allclose(ours["D"], theirs["D"], rtol=1e-8, atol=1e-13)
        if "D_next" in theirs:
            np.testing.assert_allclose(ours["D_next"], theirs["D_next"], rtol=1e-8, atol=1e-13)


@pytest.mark.parametrize(("name", "parameters"), CASES)
@settings(max_examples=40)
@given(seed=seeds, rate=st.sampled_from([1.0, 0.5]))
def test_votes_weights_and_ends_are_those_of_the_formula(
    name: str, parameters: dict[str, Any], seed: int, rate: float
) -> None:
    play = Play(seed, real=name in SAY_PROBABILITIES)
    model = fit(name, play, cost_fn=play.fn, cost_fp=play.fp, learning_rate=rate, **parameters)
    options = parameters | {"cells": (play.fn, play.fp, 0.0, 0.0)}
    formula = FORMULAS[name][0](
        play.y.tolist(), play.weights.tolist(), play.cost.tolist(), ROUNDS, rate, options
    )
    history, stop = formula.rounds([h.tolist() for h in play.hypotheses])
    assert_history(model, history, stop)
    tape = model.estimator.tape
    for shown in tape.weights:
        assert math.isclose(shown.mean(), 1.0, rel_tol=1e-12)
    if not history:
        assert_constant(model, play)
        return
    F = [math.fsum(values["alpha"] * values["h"][i] for values in history) for i in range(play.n)]
    score = model.decision_function(row_numbers(play.n))
    np.testing.assert_allclose(score, F, rtol=1e-8, atol=1e-10)
    assert np.array_equal(model.predict(row_numbers(play.n)), np.where(score > model.vote_threshold_, 1, -1))


TWO_PART = {
    "gentle": ("gentle", None, False),
    "modest": ("modest", None, False),
    "marginpruning": ("gentle", 50.0, False),
    "penalized": ("penalized", 50.0, False),
    "gcada": ("gentle", None, True),
    "mcada": ("gentle", 50.0, True),
    "pcada": ("penalized", 50.0, True),
}


@pytest.mark.parametrize("name", TWO_PART)
@settings(max_examples=40)
@given(seed=seeds)
def test_outputs_weights_and_ends_are_those_of_the_two_part_formula(name: str, seed: int) -> None:
    play = Play(seed)
    output, tau, priced = TWO_PART[name]
    more = {"reset_to": "cost"} if name == "pcada" else {}
    ratio = play.fn / play.fp
    if play.fn == play.fp == 1.0:  # costs that nobody gave
        ratio = math.fsum(play.weights[play.y < 0]) / math.fsum(play.weights[play.y > 0])

    def price(i: int, U: float) -> float:
        if not priced or play.y[i] < 0:
            return 1.0
        adaptive = 1 + 1 / (1 + math.exp((1 + U) ** 2)) if name == "pcada" else 1.0
        return ratio * adaptive

    model = fit(name, play, cost_fn=play.fn, cost_fp=play.fp)
    formula = NaiveTwoPart(output, play.y.tolist(), play.weights.tolist(), price, tau, **more)
    history, stop = formula.rounds([h.tolist() for h in play.hypotheses[:ROUNDS]])
    assert model.stop_reason_ == stop
    assert len(model.history_) == len(history)
    for ours, theirs in zip(model.history_, history, strict=True):
        for key in ("D", "U", "D_next"):
            np.testing.assert_allclose(ours[key], theirs[key], rtol=1e-8, atol=1e-12)
    if not history:
        assert_constant(model, play)
        return
    F = np.sum([values["U"] for values in history], axis=0)
    score = model.decision_function(row_numbers(play.n))
    np.testing.assert_allclose(score, F, rtol=1e-8, atol=1e-10)
    assert np.array_equal(model.predict(row_numbers(play.n)), np.where(score > 0, 1, -1))


def largest_soft_margin(agreement: NDArray[Any], caps: NDArray[Any]) -> float:
    """Maximise ``ρ - Σ caps ξ`` with ``agreement α >= ρ - ξ``, ``Σα = 1``, one row each."""
    n, T = agreement.shape
    solution = linprog(
        np.concatenate([[-1.0], np.zeros(T), caps]),
        A_ub=np.column_stack([np.ones(n), -agreement, -np.eye(n)]),
        b_ub=np.zeros(n),
        A_eq=np.concatenate([[0.0], np.ones(T), np.zeros(n)])[None],
        b_eq=[1.0],
        bounds=[(None, None)] + [(0, None)] * (T + n),
    )
    assert solution.status == 0
    return -float(solution.fun)


def soft_margin_of(votes: NDArray[Any], agreement: NDArray[Any], caps: NDArray[Any]) -> float:
    """Return the same for given votes: the best ρ is one of the margins."""
    margins = agreement @ votes
    return max(rho - float((caps * np.maximum(rho - margins, 0.0)).sum()) for rho in margins)


@settings(max_examples=40)
@given(seed=seeds, nu=st.sampled_from([0.1, 0.4, 1.0]))
def test_lpboost_is_the_optimum_of_its_program(seed: int, nu: float) -> None:
    play = Play(seed)
    model = fit("lpboost", play, cost_fn=play.fn, cost_fp=play.fp, nu=nu)
    share = play.weights * play.cost / (play.weights * play.cost).sum()
    D, b, stop, kept = share, None, "max_rounds", []
    for number in range(ROUNDS):
        agreement = play.y * play.hypotheses[number]
        edge = float(D @ agreement)
        if edge <= 1e-10:
            stop = "weak_learner_no_better_than_chance"
            break
        if b is not None and edge <= b + 1e-6:
            stop = "converged"
            break
        kept.append(agreement)
        b = largest_soft_margin(np.column_stack(kept), share / nu)
        values = model.history_[number]
        np.testing.assert_allclose(values["D"], D, atol=1e-12)
        np.testing.assert_allclose(values["b"], b, atol=1e-8)
        # The next weights need not be unique: any that keep to the bounds and to b are an optimum.
        D = values["D_next"]
        assert abs(D.sum() - 1.0) <= 1e-9
        assert (D >= 0).all()
        assert (share / nu + 1e-9 >= D).all()
        assert max(float(D @ column) for column in kept) <= b + 1e-8
        if (agreement > 0).all():
            stop = "perfect"
            break
    assert (model.stop_reason_, len(model.history_)) == (stop, len(kept))
    if not kept:
        assert_constant(model, play)
        return
    votes = model.estimator_weights_
    assert (votes >= 0).all()
    assert abs(votes.sum() - 1.0) <= 1e-9
    assert soft_margin_of(votes, np.column_stack(kept), share / nu) == pytest.approx(b, abs=1e-8)


def projected(prior: NDArray[Any], agreement: NDArray[Any], bound: float, limit: float) -> NDArray[Any]:
    """Nearest weights in relative entropy, edges and ratios bounded: one multiplier at a time."""
    beta = np.zeros(agreement.shape[1])

    def weights() -> NDArray[Any]:
        power = np.exp(-agreement @ beta)

        def excess(log_k: float) -> float:
            return float((prior * np.minimum(limit, math.exp(log_k) * power)).sum()) - 1.0

        log_k = brentq(excess, -200.0, 200.0, xtol=1e-14) if limit > 1.0 else 200.0
        u: NDArray[Any] = prior * np.minimum(limit, math.exp(log_k) * power)
        return u

    def edge_at(t: int, value: float) -> float:
        beta[t] = value
        return float(weights() @ agreement[:, t]) - bound

    for _ in range(300):
        before = beta.copy()
        for t in range(len(beta)):
            if edge_at(t, 0.0) > 0:
                beta[t] = brentq(lambda value, t=t: edge_at(t, value), 0.0, 80.0, xtol=1e-13)
        if np.abs(beta - before).max() < 1e-11:
            break
    return weights()


@pytest.mark.parametrize("nu", [0.2, 0.5])
@pytest.mark.parametrize("seed", range(6))
def test_softboost_projects_and_then_votes_for_the_largest_soft_margin(seed: int, nu: float) -> None:
    play = Play(seed)
    delta = 0.15
    model = fit("softboost", play, nu=nu, delta=delta)
    share = play.weights / play.weights.sum()
    D, least, stop, kept = share, 1.0, "max_rounds", []
    for number in range(ROUNDS):
        agreement = play.y * play.hypotheses[number]
        edge = float(D @ agreement)
        if edge <= 1e-10:
            stop = "weak_learner_no_better_than_chance"
            break
        np.testing.assert_allclose(model.history_[number]["D"], D, rtol=1e-6, atol=1e-7)
        kept.append(agreement)
        least = min(least, edge)
        if (agreement > 0).all():
            stop = "perfect"
            break
        matrix = np.column_stack(kept)
        if largest_soft_margin(matrix, share / nu) > least - delta + 1e-7:
            stop = "infeasible"
            break
        D = projected(share, matrix, least - delta, 1.0 / nu)
    assert (model.stop_reason_, len(model.history_)) == (stop, len(kept))
    if kept:
        matrix = np.column_stack(kept)
        best = largest_soft_margin(matrix, share / nu)
        assert soft_margin_of(model.estimator_weights_, matrix, share / nu) == pytest.approx(best, abs=1e-8)


def test_every_algorithm_is_played() -> None:
    assert set(FORMULAS) | set(TWO_PART) | {"lpboost", "softboost"} == set(ALGORITHMS)
