"""What-if: what decisions would cost at other prices, shares of classes or numbers of reviewers."""

from typing import Annotated

from pydantic import Field

from service.domain.cost_cells import STRICT
from service.domain.costs import Capacity, Costs
from service.domain.training import Name
from service.domain.wording import Telling

Share = Annotated[float, Field(strict=True, ge=0.0, le=1.0, allow_inf_nan=False)]


class SimulationSpec(Telling):
    """What shall be different; what is left out stays as in training."""

    model_config = STRICT

    dataset: str | None = Field(
        default=None,
        description="Id or name of a dataset to try it on; left out: the rows set aside in training.",
    )
    costs: Costs | None = Field(default=None, description="Not together with `cost_spec`.")
    cost_spec: str | None = Field(default=None, description="Id or name of stored costs.")
    priors: dict[str, Share] | None = Field(
        default=None, description="Share of each class where decisions will be taken."
    )
    capacity: Capacity | None = Field(
        default=None, description="Reviews that can be done; left out: the capacity of the costs."
    )


class ModelSimulationSpec(SimulationSpec):
    """What shall be different, and for which version."""

    model: Name | None = Field(default=None, description="May be left out when there is exactly one.")
    alias: Name | None = Field(default=None, description="champion when neither alias nor version is given.")
    version: Annotated[int, Field(ge=1, lt=2**31)] | None = None
