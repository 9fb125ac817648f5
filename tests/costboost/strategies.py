"""Hypothesis strategies for costs, probabilities and labelled rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray

from costboost.cost_cells import CostCell
from costboost.cost_specs import CostSpec
from costboost.costs import CostMatrix

money = st.floats(-1e6, 1e6, allow_nan=False, width=32)
"""Amounts with 24 bits, so that adding two of one size is exact."""

positive_money = st.floats(1 / 64, 1e6, width=32)


@st.composite
def probabilities(draw: st.DrawFn, n_classes: int, max_rows: int = 20) -> NDArray[np.float64]:
    """(n, K), each row a distribution; 0 and 1 occur."""
    n = draw(st.integers(1, max_rows))
    shares = draw(hnp.arrays(np.float64, (n, n_classes), elements=st.floats(0, 1, width=32)))
    shares[shares.sum(axis=1) < 1e-6] = 1.0
    return shares / shares.sum(axis=1, keepdims=True)


@st.composite
def cost_matrices(draw: st.DrawFn, n_classes: int) -> CostMatrix:
    """Reasonable constant costs."""
    right = draw(hnp.arrays(np.float64, n_classes, elements=money))
    regret = draw(hnp.arrays(np.float64, (n_classes, n_classes), elements=positive_money))
    costs = right[:, None] + regret
    np.fill_diagonal(costs, right)
    return CostMatrix.from_matrix(costs)


@st.composite
def row_costs(draw: st.DrawFn, n: int, n_classes: int, n_actions: int) -> NDArray[np.float64]:
    """(n, K, A), reasonable or not."""
    return draw(hnp.arrays(np.float64, (n, n_classes, n_actions), elements=money))


cells = st.builds(
    CostCell,
    fixed=money,
    per=st.dictionaries(st.sampled_from(["amount", "fee", "days"]), money, max_size=2),
    min=st.none() | st.floats(-1e6, 0, width=32),
    max=st.none() | st.floats(1, 1e6, width=32),
)


@st.composite
def binary_specs(draw: st.DrawFn) -> CostSpec:
    """Two classes with any cells, the positive one first or second."""
    fn, fp, tp, tn = (draw(cells) for _ in range(4))
    return CostSpec.binary(fn, fp, tp, tn, classes=("legit", "fraud"), positive=draw(st.integers(0, 1)))


@st.composite
def labelled_rows(draw: st.DrawFn, n_classes: int = 2, max_rows: int = 60) -> dict[str, NDArray[Any]]:
    """Rows with at least three of each class; features repeat, so that equal rows occur."""
    n = draw(st.integers(3 * n_classes, max_rows))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    y = rng.permutation(np.concatenate([np.repeat(np.arange(n_classes), 3), rng.integers(0, n_classes, n)]))[
        :n
    ]
    y[: 3 * n_classes] = np.repeat(np.arange(n_classes), 3)
    y = rng.permutation(y)
    X = rng.integers(0, draw(st.sampled_from([2, 5, 1000])), size=(n, 2)).astype(np.float64)
    X[rng.random((n, 2)) < 0.1] = np.nan
    return {
        "X": X,
        "y": y,
        "groups": rng.integers(0, draw(st.integers(4, 30)), n),
        "times": rng.integers(0, draw(st.integers(3, 30)), n).astype(np.float64),
        "id": np.arange(n, dtype=np.float64),
    }
