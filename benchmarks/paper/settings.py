"""What is run: for each column of the table a fixed setting, and for some a small grid around it.

Everything here was fixed before the first run and does not follow from the paper's numbers. The paper does
not print its settings.
"""

from dataclasses import dataclass, field
from typing import Any

from published import Kernel

from costboost.boosting.gentle import GCADAClassifier, MCADAClassifier
from costboost.boosting.pcada import PCADAClassifier
from costboost.boosting.penalized import PenalizedAdaBoostClassifier
from costboost.boosting.soft_band_boost import SoftBandBoostClassifier
from costboost.learners.svm import WeightedSVM

__all__ = ["COLUMNS", "KERNELS", "PRINTED", "REPAIRED", "Setting", "rounds", "settings"]

KERNELS: tuple[Kernel, Kernel] = ("linear", "rbf")
PRINTED, REPAIRED = "PCADA as printed", "PCADA repaired"

#: Our columns, and the paper's that stands beside each.
COLUMNS = {
    "PADA": "PADA",
    "GCADA": "GCADA",
    "MCADA": "MCADA",
    "SoftBand": "SMLBoost",
    PRINTED: "PCADA",
    REPAIRED: "PCADA",
}

#: Rounds with the kernel, where a round costs O(n²), by the rows of the set; linear machines get the first.
ROUNDS, ROUNDS_ABOVE = 50, ((10_000, 10), (2_000, 20))

#: Sets of more rows try one gamma only.
MANY_ROWS = 10_000


@dataclass(frozen=True)
class Setting:
    """One way to fill a column.

    Parameters
    ----------
    column : str
        A key of `COLUMNS`.
    kernel : {"linear", "rbf"}
    lambda2 : float
    gamma : "scale" or float
    p : float
        Of PCADA as printed only; 0 for the others.
    """

    column: str
    kernel: Kernel
    lambda2: float
    gamma: str | float = "scale"
    p: float = 0.0
    n_estimators: int = field(default=ROUNDS, kw_only=True)

    def __str__(self) -> str:
        parts = [f"lambda2={self.lambda2:g}"]
        parts += [f"gamma={self.gamma}"] if self.kernel == "rbf" else []
        parts += [f"p={self.p:g}"] if self.column == PRINTED else []
        return ", ".join(parts)

    def booster(self, seed: int) -> Any:
        """Return the unfitted classifier."""
        rounds: dict[str, Any] = {"n_estimators": self.n_estimators, "random_state": seed}
        machine: dict[str, Any] = {"lambda2": self.lambda2, "gamma": self.gamma, "p": self.p}
        if self.column in (PRINTED, REPAIRED):
            return PCADAClassifier(base=self.kernel, literal=self.column == PRINTED, **machine, **rounds)
        if self.column == "PADA":
            return PenalizedAdaBoostClassifier(WeightedSVM(self.kernel, solver="sgd", **machine), **rounds)
        svm = WeightedSVM(self.kernel, **machine)
        if self.column == "GCADA":
            return GCADAClassifier(svm, **rounds)
        if self.column == "MCADA":
            return MCADAClassifier(svm, **rounds)
        return SoftBandBoostClassifier(svm, oversample=True, **rounds)


def rounds(kernel: Kernel, n: int) -> int:
    """Rounds for a set of n rows."""
    if kernel == "linear":
        return ROUNDS
    return next((count for most, count in ROUNDS_ABOVE if n > most), ROUNDS)


def settings(column: str, kernel: Kernel, n: int) -> list[Setting]:
    """Settings of a column for a set of n rows; the first is the fixed one."""
    lambda2 = 0.1 if kernel == "linear" else 1.0
    grid = [(lambda2, "scale", 0.5 if column == PRINTED else 0.0)]
    if column == PRINTED and kernel == "linear":
        grid += [(lambda2, "scale", p) for p in (0.0, 1.0)]
    elif column == REPAIRED and kernel == "linear":
        grid += [(other, "scale", 0.0) for other in (0.01, 1.0, 10.0)]
    elif column == REPAIRED:
        gammas: list[Any] = ["scale"] if n > MANY_ROWS else ["scale", 0.5]
        grid += [(other, gamma, 0.0) for gamma in gammas for other in (1.0, 0.1, 10.0)][1:]
    count = rounds(kernel, n)
    return [Setting(column, kernel, *values, n_estimators=count) for values in grid]
