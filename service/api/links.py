"""Links of the OpenAPI document: which answer names what which request needs, from a table to a decision."""

from typing import Any, Final

#: Operation and status of the answer -> name of the link -> what it leads to.
_LINKS: Final[dict[tuple[str, str], dict[str, dict[str, Any]]]] = {
    ("create_dataset", "201"): {
        "dataset": {"operationId": "read_dataset", "parameters": {"dataset": "$response.body#/id"}},
        "profile": {"operationId": "profile_dataset", "parameters": {"dataset": "$response.body#/id"}},
        "train": {"operationId": "create_training_job", "requestBody": {"dataset": "$response.body#/id"}},
    },
    ("create_cost_spec", "201"): {
        "cost_spec": {"operationId": "read_cost_spec", "parameters": {"cost_spec": "$response.body#/id"}},
    },
    ("create_training_job", "202"): {
        "job": {"operationId": "read_training_job", "parameters": {"job": "$response.body#/id"}},
        "cancel": {"operationId": "cancel_training_job", "parameters": {"job": "$response.body#/id"}},
        "events": {"operationId": "watch_training_job", "parameters": {"job": "$response.body#/id"}},
    },
    ("read_training_job", "200"): {
        "predict": {
            "operationId": "predict_with_model",
            "parameters": {"model": "$response.body#/result/model"},
        },
        "version": {
            "operationId": "read_version",
            "parameters": {
                "model": "$response.body#/result/model",
                "version": "$response.body#/result/version",
            },
        },
    },
}


def add_links(built: dict[str, Any]) -> None:
    """Add to each answer the requests that it leads to."""
    operations = {one["operationId"]: one for methods in built["paths"].values() for one in methods.values()}
    for (operation, status), links in _LINKS.items():
        operations[operation]["responses"][status]["links"] = links
