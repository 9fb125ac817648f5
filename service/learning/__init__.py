"""The door to the library: the only room of the service, beside the command line, that imports `costboost`.

What needs scikit-learn and numba (algorithms, fitting) is imported when it is first asked for, so that a
process that only scores stays light.
"""

from costboost.realised import RealisedCost
from service.learning.algorithms import AlgorithmInfo, algorithm, algorithms, settle
from service.learning.answers import Answers, joined, taken, unseen
from service.learning.checking import check, check_costs
from service.learning.checkpoints import Checkpoints, stamp_of
from service.learning.division import Division, division_columns, rehearse
from service.learning.drift import ClassDrift, InputDrift, class_drifts, input_drifts
from service.learning.fitting import Trained, fit
from service.learning.groups import by_class, by_group, figures
from service.learning.held_out import TestPart, load_test_part, total_cost
from service.learning.judging import judge_answers
from service.learning.outcome_tables import outcome_tables
from service.learning.outcomes import Outcomes, outcomes_of, outcomes_of_pairs
from service.learning.pairing import Pairing, pair
from service.learning.partitioned import PartitionedTraining, check_partitioned, fit_partitioned
from service.learning.parts import Asked, predict_parts
from service.learning.pricing import (
    PricedCosts,
    checks,
    consequences,
    cost_spec,
    count_unreasonable,
    describe,
    threshold_at,
)
from service.learning.report import load_report
from service.learning.scoring import Explanation, Predictor, RowAnswer, load
from service.learning.searching import candidates
from service.learning.simulating import (
    Case,
    Circumstances,
    case_of_answers,
    case_of_test_part,
    prices_of,
    prices_of_test_part,
    simulate,
    within_capacity,
)

__all__ = [
    "AlgorithmInfo",
    "Answers",
    "Asked",
    "Case",
    "Checkpoints",
    "Circumstances",
    "ClassDrift",
    "Division",
    "Explanation",
    "InputDrift",
    "Outcomes",
    "Pairing",
    "PartitionedTraining",
    "Predictor",
    "PricedCosts",
    "RealisedCost",
    "RowAnswer",
    "TestPart",
    "Trained",
    "algorithm",
    "algorithms",
    "by_class",
    "by_group",
    "candidates",
    "case_of_answers",
    "case_of_test_part",
    "check",
    "check_costs",
    "check_partitioned",
    "checks",
    "class_drifts",
    "consequences",
    "cost_spec",
    "count_unreasonable",
    "describe",
    "division_columns",
    "figures",
    "fit",
    "fit_partitioned",
    "input_drifts",
    "joined",
    "judge_answers",
    "load",
    "load_report",
    "load_test_part",
    "outcome_tables",
    "outcomes_of",
    "outcomes_of_pairs",
    "pair",
    "predict_parts",
    "prices_of",
    "prices_of_test_part",
    "rehearse",
    "settle",
    "simulate",
    "stamp_of",
    "taken",
    "threshold_at",
    "total_cost",
    "unseen",
    "warm",
    "within_capacity",
]
