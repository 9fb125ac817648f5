"""Every code. Whoever raises a new one adds it to the file of its kind."""

from collections.abc import Mapping
from typing import Final

from service.domain.problems.availability import AVAILABILITY
from service.domain.problems.costs import COSTS
from service.domain.problems.models import MODELS
from service.domain.problems.problem import Problem
from service.domain.problems.requests import REQUESTS
from service.domain.problems.tables import TABLES

KINDS = (REQUESTS, AVAILABILITY, TABLES, COSTS, MODELS)

#: code -> what it means and what to do.
PROBLEMS: dict[str, Problem] = {code: problem for kind in KINDS for code, problem in kind.items()}

#: code -> what to do, said to those who write requests.
REMEDIES: Final[Mapping[str, str]] = {code: problem.remedy for code, problem in PROBLEMS.items()}
