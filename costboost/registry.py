"""The algorithms by name: one line each, and they appear wherever algorithms are listed or tested."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from costboost.boosting._base import CostSensitiveBooster
from costboost.boosting.ada_boost import AdaBoostClassifier, AdaMECClassifier, CGAdaClassifier
from costboost.boosting.ada_boost_nu import AdaBoostNuClassifier
from costboost.boosting.ada_c import AdaCClassifier
from costboost.boosting.ada_cost import AdaCostClassifier
from costboost.boosting.ada_u_boost import AdaUBoostClassifier
from costboost.boosting.asym_boost import AsymBoostClassifier
from costboost.boosting.cs_ada_boost import CSAdaBoostClassifier
from costboost.boosting.csb import CSBClassifier
from costboost.boosting.gentle import (
    GCADAClassifier,
    GentleAdaBoostClassifier,
    MarginPruningBoostClassifier,
    MCADAClassifier,
)
from costboost.boosting.lp_boost import LPBoostClassifier
from costboost.boosting.modest import ModestAdaBoostClassifier
from costboost.boosting.pcada import PCADAClassifier
from costboost.boosting.penalized import PenalizedAdaBoostClassifier
from costboost.boosting.soft_band_boost import SoftBandBoostClassifier
from costboost.boosting.soft_boost import SoftBoostClassifier
from costboost.costs import CostMatrix
from costboost.mixture.classifier import MixtureClassifier
from costboost.parameters import Path, parameter_schema
from costboost.parameters import check_params as check_each

__all__ = [
    "ALGORITHMS",
    "DEFAULT_ALGORITHM",
    "MIXTURE",
    "TRAINABLE",
    "Algorithm",
    "check_params",
    "find",
    "make",
]

Task: TypeAlias = Literal["binary", "multiclass"]


@dataclass(frozen=True)
class Algorithm:
    """What is fitted, and how it is presented.

    Parameters
    ----------
    name : str
        Lower case, without separators.
    cls : type
    title : str
    reference : str
        The paper; for formulas written without it at hand the class says so.
    tasks : tuple of {"binary", "multiclass"}

    Examples
    --------
    >>> algorithm = ALGORITHMS["adacost"]
    >>> algorithm.cls.__name__, algorithm.reference
    ('AdaCostClassifier', 'Fan, Stolfo, Zhang, Chan (1999), ICML')
    >>> algorithm.parameters["properties"]["n_estimators"]["default"]
    50
    """

    name: str
    cls: type[CostSensitiveBooster] | type[MixtureClassifier]
    title: str
    reference: str
    tasks: tuple[Task, ...] = ("binary", "multiclass")

    @property
    def parameters(self) -> dict[str, Any]:
        """JSON Schema of the parameters a training job may set."""
        return parameter_schema(self.cls)


_BOTH_ENDS = "Nikolaou, Edakunni, Kull, Flach, Brown (2016), Machine Learning 104:359-384"
_PENALIZED_COST = "Lu, Zhang, Zhai (2023), doi 10.16356/j.1005-2615.2023.02.020"

ALGORITHMS: dict[str, Algorithm] = {
    algorithm.name: algorithm
    for algorithm in (
        Algorithm(
            "adaboost",
            AdaBoostClassifier,
            "AdaBoost",
            "Freund, Schapire (1997), J. Comput. Syst. Sci. 55:119-139",
        ),
        Algorithm(
            "adaboostnu",
            AdaBoostNuClassifier,
            "AdaBoost*_ν",
            "Rätsch, Warmuth (2005), J. Machine Learning Research 6:2131-2152",
        ),
        Algorithm(
            "adac",
            AdaCClassifier,
            "AdaC1, AdaC2, AdaC3",
            "Sun, Kamel, Wong, Wang (2007), Pattern Recognition 40:3358-3378",
        ),
        Algorithm("adacost", AdaCostClassifier, "AdaCost", "Fan, Stolfo, Zhang, Chan (1999), ICML"),
        Algorithm("adamec", AdaMECClassifier, "AdaMEC", _BOTH_ENDS),
        Algorithm("adauboost", AdaUBoostClassifier, "AdaUBoost", "Karakoulas, Shawe-Taylor (1998), NIPS"),
        Algorithm("asymboost", AsymBoostClassifier, "AsymBoost", "Viola, Jones (2002), NIPS"),
        Algorithm("cgada", CGAdaClassifier, "CGAda", _BOTH_ENDS),
        Algorithm(
            "csadaboost",
            CSAdaBoostClassifier,
            "CS-AdaBoost",
            "Cost-sensitive AdaBoost with class-averaged error",
        ),
        Algorithm("csb", CSBClassifier, "CSB0, CSB1, CSB2", "Ting, Zheng (1998), ECML; Ting (2000), ICML"),
        Algorithm("gcada", GCADAClassifier, "GCADA", _PENALIZED_COST),
        Algorithm(
            "gentle",
            GentleAdaBoostClassifier,
            "Gentle AdaBoost",
            "Friedman, Hastie, Tibshirani (2000), Annals of Statistics 28:337-374",
        ),
        Algorithm(
            "lpboost",
            LPBoostClassifier,
            "LPBoost",
            "Demiriz, Bennett, Shawe-Taylor (2002), Machine Learning 46:225-254",
        ),
        Algorithm(
            "marginpruning",
            MarginPruningBoostClassifier,
            "Margin-pruning Boost (reconstructed)",
            "after Wu, Nagahashi (2013), Int. Conf. Graphic and Image Processing",
        ),
        Algorithm("mcada", MCADAClassifier, "MCADA", _PENALIZED_COST),
        Algorithm(
            "modest", ModestAdaBoostClassifier, "Modest AdaBoost", "Vezhnevets, Vezhnevets (2005), Graphicon"
        ),
        Algorithm("pcada", PCADAClassifier, "PCADA", _PENALIZED_COST),
        Algorithm(
            "penalized",
            PenalizedAdaBoostClassifier,
            "Penalized AdaBoost",
            "Wu, Nagahashi (2015), IEICE Trans. Inf. Syst. E98-D:1906-1915",
        ),
        Algorithm(
            "softbandboost",
            SoftBandBoostClassifier,
            "SoftBandBoost (reconstructed)",
            "in the manner of SMLBoost: Chen, Duan, Yang et al. (2020), Knowledge-Based Systems 195:105705",
        ),
        Algorithm("softboost", SoftBoostClassifier, "SoftBoost", "Warmuth, Glocer, Rätsch (2007), NIPS"),
    )
}

#: Not one formula but several learners, so it is kept apart from the boosters.
MIXTURE = Algorithm(
    "mixture",
    MixtureClassifier,
    "Mixture of trees, a kernel and a linear model",
    "Wolpert (1992), Neural Networks 5:241-259; Breiman (1996), Machine Learning 24:49-64",
)
#: What "auto" stands for.
DEFAULT_ALGORITHM = MIXTURE.name
#: All that can be trained.
TRAINABLE: dict[str, Algorithm] = {MIXTURE.name: MIXTURE} | ALGORITHMS


def find(name: str) -> Algorithm:
    """Find an algorithm, whatever the case and however "-", "_" and blanks are used; "auto" is the default
    one.

    Raises
    ------
    ValueError
        If there is none of that name.

    Examples
    --------
    >>> find("CS-AdaBoost").name, find("auto").name
    ('csadaboost', 'mixture')
    """
    plain = name.lower().translate({ord(mark): None for mark in "-_ "})
    algorithm = TRAINABLE.get(DEFAULT_ALGORITHM if plain == "auto" else plain)
    if algorithm is None:
        raise ValueError(f"there is no such algorithm; known are {', '.join(TRAINABLE)}")
    return algorithm


def make(
    name: str,
    params: Mapping[str, Any] | None = None,
    costs: CostMatrix | None = None,
    random_state: int | None = None,
) -> CostSensitiveBooster | MixtureClassifier:
    """Make an unfitted booster, or a mixture.

    Parameters
    ----------
    name : str
    params : mapping, optional
        Parameters of its constructor.
    costs : CostMatrix, optional
        Two classes: the positive one last.
    random_state : int, optional

    Raises
    ------
    ValueError
        If there is no such algorithm or parameter.
    """
    estimator = find(name).cls(cost_matrix=costs, random_state=random_state)
    estimator.set_params(**dict(params or {}))
    return estimator


def check_params(name: str, params: Mapping[str, Any]) -> list[tuple[Path, str]]:
    """Check a client's JSON values: each by itself, and whether they go together.

    Parameters
    ----------
    name : str
        Of an algorithm.
    params : mapping
        Values by name, as decoded from JSON.

    Returns
    -------
    list of (path, message)
        As from :func:`costboost.parameters.check_params`.

    Raises
    ------
    ValueError
        If there is no such algorithm.

    Examples
    --------
    >>> check_params("adacost", {"response": "proba", "estimator": "tree"})
    []
    >>> check_params("adacost", {"response": "proba", "estimator": "stump"})
    [(('response',), 'this response needs a weak learner with predict_proba')]
    """
    problems = check_each(find(name).cls, params)
    return problems or [((parameter,), message) for parameter, message in make(name, params).conflicts()]
