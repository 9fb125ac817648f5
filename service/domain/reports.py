"""What a report of a version holds: read with these where its bytes come from elsewhere."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, JsonValue, model_validator

#: A number of a page: more digits than these mean nothing to anybody.
Figure = Annotated[float, Field(strict=True, allow_inf_nan=False, ge=-1e18, le=1e18)]
Numbers = Annotated[list[Figure], Field(max_length=512)]
Levels = Annotated[list[Figure | None], Field(max_length=512)]
Text = Annotated[str, Field(max_length=1024)]


class _Whole(BaseModel):
    """Part of a report: nothing else beside the fields."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class _Table(_Whole):
    """Columns of one length."""

    @model_validator(mode="after")
    def _even(self) -> Self:
        if len({len(column) for column in vars(self).values()}) > 1:
            raise ValueError("columns of several lengths")
        return self


class _Roc(_Table):
    fpr: Numbers
    tpr: Numbers
    threshold: Levels


class _Pr(_Table):
    recall: Numbers
    precision: Numbers
    threshold: Levels


class _Calibration(_Table):
    low: Numbers
    high: Numbers
    mean_probability: Numbers
    observed_rate: Numbers
    weight: Numbers


class _Line(_Whole):
    slope: FiniteFloat
    intercept: FiniteFloat
    in_the_large: FiniteFloat


class _Cost(_Table):
    condition: Numbers
    cost: Numbers
    always_positive: Numbers
    always_negative: Numbers


class _NetBenefit(_Table):
    threshold: Numbers
    net_benefit: Numbers
    treat_all: Numbers
    treat_none: Numbers


class _Thresholds(_Table):
    threshold: Numbers
    tp: Numbers
    fp: Numbers
    fn: Numbers
    tn: Numbers
    cost: Numbers


class _OneClass(_Whole):
    roc: _Roc | None
    pr: _Pr | None
    calibration: _Calibration | None
    calibration_line: _Line | None
    cost: _Cost | None
    net_benefit: _NetBenefit | None
    undefined: dict[Text, Text]


class _Binary(_OneClass):
    positive_class: Text
    thresholds: _Thresholds


class _OneOfSeveral(_OneClass):
    class_: Text = Field(alias="class")


class _Several(_Whole):
    positive_class: None
    classes: list[_OneOfSeveral]


class _Curves(_Whole):
    test: _Binary | _Several
    out_of_fold: _Binary | _Several


class _Importance(_Whole):
    feature: Text
    importance: Annotated[FiniteFloat, Field(ge=0.0)]


class _Shape(_Whole):
    feature: Text
    type: Text
    values: dict[Text, list[FiniteFloat]]
    missing: dict[Text, FiniteFloat]
    cuts: list[FiniteFloat] | None = None
    categories: list[Text] | None = None
    other: dict[Text, FiniteFloat] | None = None

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if (self.cuts is None) == (self.categories is None):
            raise ValueError("either cuts or categories")
        places = len(self.cuts) + 1 if self.cuts is not None else len(self.categories or ())
        named = [self.values.keys(), self.missing.keys()]
        named += [] if self.cuts is not None else [(self.other or {}).keys()]
        if any(len(one) != places for one in self.values.values()) or any(one != named[0] for one in named):
            raise ValueError("values of another number")
        return self


class _Trial(_Whole):
    params: Mapping[Text, JsonValue]
    folds: int
    cost: FiniteFloat | None
    error: str | None


class _Search(_Whole):
    strategy: Text
    metric: Text
    best: int
    trials: list[_Trial]


class Report(_Whole):
    """A whole report, see `service.learning.report`."""

    format: Literal[1]
    curves: _Curves
    explained: Literal["log_odds", "score"]
    method: Text
    importance: list[_Importance]
    importance_rows: int
    shapes: list[_Shape] | None
    search: _Search | None
    calibration: Literal["auto", "sigmoid", "isotonic", "none"] | None = None


Count = Annotated[int, Field(strict=True, ge=0, le=10**12)]
#: The same where rows have weights.
Rows = Annotated[float, Field(strict=True, allow_inf_nan=False, ge=0, le=1e18)]


class _Judged(BaseModel):
    """The metrics that pages show; there are others beside them."""

    model_config = ConfigDict(extra="allow", frozen=True, allow_inf_nan=False)

    rows: Count
    expected_cost: Figure
    total_cost: Figure
    savings: Figure | None
    baseline_cost: Figure | None
    baseline_action: Text | None
    savings_ci95: Annotated[list[Figure], Field(min_length=2, max_length=2)] | None = None
    roc_auc: Figure | None = None
    pr_auc: Figure | None = None
    g_mean: Figure | None = None
    recall: Figure | None = None
    precision: Figure | None = None
    specificity: Figure | None = None
    f1: Figure | None = None
    brier: Figure | None = None
    log_loss: Figure | None = None
    base_rate: Figure | None = None
    average_margin: Figure | None = None
    review_rate: Figure | None = None
    unreasonable_rows: Count = 0
    confusion: list[list[Rows]] | None = None
    confusion_columns: list[Text] | None = None
    threshold: Figure | None = None
    undefined: dict[Text, Text] = Field(default_factory=dict)


class Metrics(_Judged):
    """Metrics of a version."""

    out_of_fold: _Judged


class _InputColumn(_Whole):
    name: Text
    type: Literal["number", "category", "boolean", "timestamp", "text"]
    role: Literal["feature", "cost"]
    nullable: bool
    categories: list[Text] | None = None


class InputSchema(BaseModel):
    """What a row to predict looks like; later releases may add to it."""

    model_config = ConfigDict(extra="allow", frozen=True, allow_inf_nan=False)

    columns: list[_InputColumn]
    cost_columns: list[Text]
    classes: list[Text]
    positive_class: Text | None
    actions: list[Text]
    id: Text | None = None
    subject: Text | None = None
    example: dict[Text, Any]

    @model_validator(mode="after")
    def _whole_example(self) -> Self:
        if {column.name for column in self.columns} - set(self.example):
            raise ValueError("an example without some column")
        return self
