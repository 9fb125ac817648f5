"""Costs, priors, and what is simulated with them."""

from service.domain.problems.problem import Problem

COSTS: dict[str, Problem] = {
    "invalid_costs": Problem(
        "Invalid costs",
        "The costs cannot be used as they are written: two forms were mixed, a cell is missing, or a "
        "column or class is not one of the data.",
        "Use one form: `fn` and `fp`; or `classes`, `matrix` and `orientation`; or `classes`, "
        "`actions` and `costs`. `POST /v1/cost-specs/validate` checks costs without keeping them.",
    ),
    "unknown_cost_spec": Problem(
        "Unknown cost spec",
        "There is no cost spec of this id.",
        "List them with `GET /v1/cost-specs`, or give `costs` in the request.",
    ),
    "unreasonable_costs": Problem(
        "Unreasonable costs",
        "A wrong decision costs no more than the right one, so one decision would always be best. "
        "`errors` names the cells.",
        "Check the cells: `fn` must be larger than `tp`, and `fp` larger than `tn`; in a matrix the "
        "diagonal is the cheapest of its row. A benefit is a negative cost.",
    ),
    "zero_costs": Problem(
        "Zero costs",
        "All costs are zero, so no decision is better than another.",
        "Give at least `fn` and `fp`.",
    ),
    "unserved_class": Problem(
        "Unserved class",
        "It is not clear which class an action is for: its name is none of the classes, and no class "
        "makes it the cheapest. Or all actions are for one class, and the others could never be decided.",
        "Say it with `for`.",
    ),
    "classes_mismatch": Problem(
        "Classes mismatch",
        "The costs have other classes than the data.",
        "Name the classes as the label spells them: `GET /v1/datasets/{dataset}` lists `classes`.",
    ),
    "cost_not_finite": Problem(
        "Cost not finite",
        "The cost of a row is not a finite number, mostly because a column that costs read is missing in it.",
        "Fill the column in that `per` names. `min` and `max` do not stand in for a missing value.",
    ),
    "invalid_priors": Problem(
        "Invalid priors",
        "The priors are no shares of the classes.",
        "Give each class a share between 0 and 1, with sum 1.",
    ),
    "no_review_action": Problem(
        "No review",
        "A capacity for reviews is given, and none of the actions is a review.",
        "Leave `capacity` out, or send costs with a review among their actions, in the form with `actions`: "
        "the example has one.",
    ),
    "no_time_column": Problem(
        "No time column",
        "Reviews are counted per hour, day, week or month, and no column says when a row came.",
        'Say which column it is when the table is uploaded: `roles={"at": "time"}`. Or count per `file`, '
        "which needs no such column.",
    ),
    "no_rows": Problem(
        "No rows",
        "The costs read columns of the rows, and the rows themselves are not kept here.",
        "Use costs that read no column, or name a `dataset`.",
    ),
}
