"""The OpenAPI document as a page: each operation with fields, examples and problems, then all schemas."""

import re
from collections.abc import Iterator, Mapping
from html import escape
from typing import Any, Final

from service.api.markup import code, problem_link, prose, table, words, written
from service.api.schema_tables import Schemas, example, fields, kind, section

Operation = Mapping[str, Any]

#: Codes of whole answers by their status; the codes of single faults stand in `errors`.
CODES: Final[dict[str, tuple[str, ...]]] = {
    "400": ("malformed", "unknown_parameter"),
    "401": ("unauthorized",),
    "403": ("insufficient_scope", "foreign_origin"),
    "404": ("not_found",),
    "406": ("not_acceptable",),
    "408": ("body_stalled",),
    "409": (
        "conflict",
        "idempotency_in_progress",
        "alias_in_use",
        "dataset_in_use",
        "artifact_missing",
        "artifact_corrupt",
        "no_report",
    ),
    "412": ("precondition_failed",),
    "413": ("body_too_large", "too_many_rows"),
    "415": ("unsupported_media_type",),
    "422": ("invalid", "idempotency_mismatch"),
    "428": ("precondition_required",),
    "429": ("rate_limited", "too_many_jobs"),
    "503": ("busy", "database_unavailable", "storage_full", "storage_unavailable"),
}
#: What else 422 answers, by the tag of the operation.
INVALID: Final[dict[str, tuple[str, ...]]] = {
    "datasets": ("invalid_table", "dataset_too_large"),
    "cost-specs": ("invalid_costs", "unreasonable_costs"),
    "training-jobs": ("invalid_data", "unreasonable_costs", "unknown_cost_spec"),
    "batch-predictions": (
        "model_required",
        "invalid_rows",
        "invalid_table",
        "unreasonable_costs",
        "invalid_priors",
        "no_time_column",
        "no_review_action",
    ),
    "simulations": (
        "model_required",
        "unreasonable_costs",
        "invalid_priors",
        "cost_not_finite",
        "no_time_column",
        "no_review_action",
        "no_rows",
    ),
    "predictions": ("model_required", "invalid_rows", "invalid_costs", "invalid_priors", "cost_not_finite"),
}


def reference(document: Mapping[str, Any]) -> str:
    """Write the whole page."""
    schemas = document["components"]["schemas"]
    parts = [
        prose(document["info"].get("description", "")),
        '<p><a href="/openapi.json">openapi.json</a> · <a href="/problems">all problems</a> · '
        '<a href="#schemas">all schemas</a></p>',
    ]
    parts += _index(document)
    for tag, operations in _by_tag(document).items():
        parts.append(f'<h2 id="{escape(tag)}">{escape(tag)}</h2>{prose(_told(document, tag))}')
        parts += [_operation(*one, schemas) for one in operations]
    parts.append('<h2 id="schemas">Schemas</h2>')
    parts += [section(name, schema) for name, schema in sorted(schemas.items())]
    return "".join(parts)


def _by_tag(document: Mapping[str, Any]) -> dict[str, list[tuple[str, str, Operation]]]:
    found: dict[str, list[tuple[str, str, Operation]]] = {one["name"]: [] for one in document.get("tags", ())}
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            tag = operation.get("tags", ["other"])[0]
            found.setdefault(tag, []).append((method.upper(), path, operation))
    return {tag: operations for tag, operations in found.items() if operations}


def _told(document: Mapping[str, Any], tag: str) -> str:
    return "".join(one["description"] for one in document.get("tags", ()) if one["name"] == tag)


def _index(document: Mapping[str, Any]) -> Iterator[str]:
    for tag, operations in _by_tag(document).items():
        yield f'<h4><a href="#{escape(tag)}">{escape(tag)}</a></h4><div class="index">'
        yield table(
            (),
            (
                (
                    f'<a href="#{operation["operationId"]}"><code>{method} {escape(path)}</code></a>',
                    words(operation.get("summary", "")),
                )
                for method, path, operation in operations
            ),
        )
        yield "</div>"


def _operation(method: str, path: str, operation: Operation, schemas: Schemas) -> str:
    title = f'<span class="method">{method}</span> <code>{escape(path)}</code>'
    parts = [f'<h3 id="{escape(operation["operationId"])}">{title}</h3>']
    parts.append(f"<p><b>{words(operation.get('summary', ''))}</b></p>")
    parts.append(prose(operation.get("description", "")))
    parts.append(_parameters(operation.get("parameters", [])))
    parts += _bodies(method, path, operation.get("requestBody", {}), schemas)
    parts += _answers(operation["responses"], schemas)
    parts.append(_problems(operation))
    return "".join(parts)


def _parameters(parameters: list[dict[str, Any]]) -> str:
    rows = table(
        ("parameter", "in", "type", "meaning"),
        (
            (
                f"<code>{escape(one['name'])}</code>",
                escape(one["in"]) + (", <b>required</b>" if one.get("required") else ""),
                kind(one.get("schema", {})),
                words(one.get("description", "")),
            )
            for one in parameters
        ),
    )
    return f"<h4>Parameters</h4>{rows}" if rows else ""


def _bodies(method: str, path: str, body: Mapping[str, Any], schemas: Schemas) -> Iterator[str]:
    if body:
        yield f"<h4>Body</h4>{prose(body.get('description', ''))}"
    for media_type, content in body.get("content", {}).items():
        yield f"<p><code>{escape(media_type)}</code></p>{_shape(content, schemas)}"
        for shown in _examples(content, schemas):
            yield code(f"{method} {path}\nContent-Type: {media_type}\n\n{shown}")


def _answers(answers: Mapping[str, Any], schemas: Schemas) -> Iterator[str]:
    for status, answer in answers.items():
        if status < "400":
            yield f"<h4>Answer {escape(status)}</h4>{prose(_named(status, answer))}"
            for media_type, content in answer.get("content", {}).items():
                yield f"<p><code>{escape(media_type)}</code></p>{_shape(content, schemas)}"
                yield "".join(code(shown) for shown in _examples(content, schemas))


def _named(status: str, answer: Mapping[str, Any]) -> str:
    plain = {"200": "Done.", "201": "Made; `Location` says where.", "202": "Taken on; `Location` is the job."}
    told: str = answer["description"]
    return plain.get(status, told) if told == "Successful Response" else told


def _shape(content: Mapping[str, Any], schemas: Schemas) -> str:
    schema = content.get("schema", {})
    if "$ref" not in schema:
        return fields(schema) if schema.get("format") != "binary" and schema else ""
    name = schema["$ref"].rpartition("/")[2]
    return f"<p>{kind(schema)}</p>{fields(schemas.get(name, {}))}"


def _examples(content: Mapping[str, Any], schemas: Schemas) -> Iterator[str]:
    """Text of each example: the given ones, else one made from the schema of an object."""
    given = [one["value"] for one in content.get("examples", {}).values()]
    if "example" in content:
        given = [content["example"]]
    schema = content.get("schema", {})
    if not given and ("$ref" in schema or "anyOf" in schema):
        given = [example(schema, schemas)]
    for value in given:
        yield value if isinstance(value, str) else written(value)


def _problems(operation: Operation) -> str:
    refused = {s: one for s, one in operation["responses"].items() if re.fullmatch(r"[45]\d\d", s)}
    tag = operation.get("tags", [""])[0]
    rows = table(
        ("status", "", "codes"),
        (
            (status, words(one["description"]), ", ".join(map(problem_link, _codes(status, tag))))
            for status, one in refused.items()
        ),
    )
    return f"<h4>Problems</h4>{rows}" if rows else ""


def _codes(status: str, tag: str) -> tuple[str, ...]:
    return CODES.get(status, ()) + (INVALID.get(tag, ()) if status == "422" else ())
