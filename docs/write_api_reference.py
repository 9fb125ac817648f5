"""Writes the pages of the reference that follow from the OpenAPI document: operations and shapes."""

import json
from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
FOLDER = HERE / "reference"

Json = dict[str, Any]

#: What a schema forbids, as a reader would say it.
_BOUNDS = {
    "minimum": "at least {}",
    "exclusiveMinimum": "above {}",
    "maximum": "at most {}",
    "exclusiveMaximum": "below {}",
    "minLength": "{} characters or more",
    "maxLength": "{} characters at most",
    "minItems": "{} of them or more",
    "maxItems": "{} of them at most",
    "pattern": "matches `{}`",
}


def pages() -> dict[str, str]:
    """Name of each page and its text."""
    document = json.loads((HERE / "openapi.json").read_text(encoding="utf-8"))
    return {"api.md": "\n".join(_operations(document)), "shapes.md": "\n".join(_shapes(document))}


def _operations(document: Json) -> Iterator[str]:
    yield "# Operations\n"
    yield "Every route, by what it is about. What holds for all of them (keys, idempotency, conditions,"
    yield "lists, media types, problems) is told in [HTTP API](../http.md). A service shows the same under"
    yield "`/docs`.\n"
    for tag in document["tags"]:
        yield f"## {tag['name'].replace('-', ' ').capitalize()}\n\n{tag['description']}\n"
        for path, operations in document["paths"].items():
            for method, operation in operations.items():
                if tag["name"] in operation["tags"]:
                    yield from _operation(method.upper(), path, operation)


def _operation(method: str, path: str, operation: Json) -> Iterator[str]:
    yield f"### {operation['summary']}\n\n`{method} {path}`\n\n{operation.get('description', '')}\n"
    scopes = [scope for one in operation.get("security", []) for scope in one.get("api_key", [])]
    if scopes:
        yield f"Scope of the key: {', '.join(f'`{scope}`' for scope in scopes)}.\n"
    if operation.get("parameters"):
        yield "| parameter | in | type | what it is |\n|---|---|---|---|"
        for one in operation["parameters"]:
            what = _sentence(one.get("description", ""), one["schema"], one.get("required", False))
            yield f"| `{one['name']}` | {one['in']} | {_type(one['schema'])} | {what} |"
        yield ""
    yield from _body(method, path, operation.get("requestBody"))
    yield from _answers(operation["responses"])


def _body(method: str, path: str, body: Json | None) -> Iterator[str]:
    if body is None:
        return
    yield f"**Body.** {body.get('description', '')}\n"
    for kind, content in body["content"].items():
        yield f"* `{kind}`: {_type(content['schema'])}"
    yield ""
    example = body["content"].get("application/json", {}).get("example")
    if example is not None:
        shown = json.dumps(example, ensure_ascii=False, indent=1)
        yield "```bash"
        yield f'curl -X {method} "$COSTBOOST_URL{path}" -H "Authorization: Bearer $COSTBOOST_API_KEY" \\'
        yield f"  -H 'Content-Type: application/json' -d '{shown}'\n```\n"


def _answers(responses: Json) -> Iterator[str]:
    refused = [status for status in responses if status[0] in "45"]
    for status, answer in responses.items():
        if status not in refused:
            schemas = [content.get("schema", {}) for content in answer.get("content", {}).values()]
            kinds = ", ".join(f"`{kind}`" for kind in answer.get("content", {}))
            shapes = dict.fromkeys(
                _type(one) for one in schemas if "$ref" in one or one.get("type") == "array"
            )
            told = "; ".join(filter(None, [kinds, ", ".join(shapes)]))
            yield f"* **{status} {HTTPStatus(int(status)).phrase}**{f': {told}' if told else ''}"
    if refused:
        yield f"* Refused with {', '.join(refused)}: a [problem](problems.md)."
    yield ""


def _shapes(document: Json) -> Iterator[str]:
    yield "# Shapes\n"
    yield "What bodies and answers are made of. `…-Input` is how a shape is sent where it is read"
    yield "otherwise.\n"
    for name, schema in sorted(document["components"]["schemas"].items(), key=lambda pair: pair[0].lower()):
        yield f"## {name}\n\n{schema.get('description', '')}\n"
        if "properties" not in schema:
            yield f"{_type(schema).capitalize()}.\n"
            continue
        yield "| field | type | what it is |\n|---|---|---|"
        for field, own in schema["properties"].items():
            what = _sentence(own.get("description", ""), own, field in schema.get("required", []))
            yield f"| `{field}` | {_type(own)} | {what} |"
        yield ""


def _sentence(description: str, schema: Json, required: bool) -> str:
    """What a field is, whether it must be there, its default and its bounds."""
    parts = [description] if description else []
    bounds = list(_bounds(schema))
    if bounds:
        parts.append(f"{', '.join(bounds).capitalize()}.")
    if required:
        parts.append("Required.")
    elif "default" in schema and schema["default"] is not None:
        parts.append(f"Default: `{json.dumps(schema['default'])}`.")
    return " ".join(parts).replace("\n", " ").replace("|", "\\|")


def _bounds(schema: Json) -> Iterator[str]:
    for one in [schema, *schema.get("anyOf", [])]:
        yield from (
            said.format(f"{one[key]:g}" if isinstance(one[key], float) else one[key])
            for key, said in _BOUNDS.items()
            if key in one
        )


def _type(schema: Json) -> str:
    """A type in words, with a link where it is a shape."""
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[1]
        return f"[{name}](shapes.md#{name.lower()})"
    if "anyOf" in schema:
        return " or ".join(_type(one) for one in schema["anyOf"])
    if "const" in schema or "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema.get("enum", [schema.get("const")]))
    kind = schema.get("type", "any value")
    if kind == "array":
        return f"list of {_type(schema['items'])}" if schema.get("items") else "list"
    if kind == "object" and isinstance(schema.get("additionalProperties"), dict):
        return f"object of {_type(schema['additionalProperties'])}"
    return f"{kind} ({schema['format']})" if "format" in schema else str(kind)


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, text in pages().items():
        (FOLDER / name).write_text(text.rstrip() + "\n", encoding="utf-8")
