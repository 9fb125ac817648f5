"""JSON Schemas as tables of fields: type, bounds, default, meaning; and examples made from them."""

from collections.abc import Iterator, Mapping
from html import escape
from typing import Any, Final

from service.api.markup import prose, table, words, written

Schema = Mapping[str, Any]
Schemas = Mapping[str, Schema]

_FIELD_HEAD: Final = ("field", "type", "", "meaning")
_PLACEHOLDERS: Final[dict[str, Any]] = {
    "string": "…",
    "integer": 1,
    "number": 0.5,
    "boolean": True,
    "null": None,
}
#: Deeper than this, an example shows an empty object: schemas may hold themselves.
_DEEPEST: Final = 6


def fields(schema: Schema) -> str:
    """The table of an object's fields; for any other schema its type."""
    rows = list(_rows(schema, ""))
    return table(_FIELD_HEAD, rows) if rows else f"<p>{kind(schema)}</p>{prose(_bounds_of(schema))}"


def section(name: str, schema: Schema) -> str:
    """A schema with its anchor."""
    told = prose(schema.get("description", ""))
    closed = '<p class="note">Other fields are refused.</p>' if _is_closed(schema) else ""
    title = f'<h3 id="schema-{escape(name)}"><code>{escape(name)}</code></h3>'
    return f"{title}{told}{fields(schema)}{closed}"


def kind(schema: Schema) -> str:
    """The type of a value as markup, other schemas as links."""
    if "$ref" in schema:
        name = escape(schema["$ref"].rpartition("/")[2])
        return f'<a href="#schema-{name}">{name}</a>'
    if "enum" in schema:
        return " or ".join(f"<code>{escape(written(value))}</code>" for value in schema["enum"])
    if "const" in schema:
        return f"<code>{escape(written(schema['const']))}</code>"
    for key in ("anyOf", "oneOf"):
        if key in schema:
            return " or ".join(dict.fromkeys(kind(one) for one in schema[key]))
    named = schema.get("type", "any JSON value")
    return _plain_kind(named, schema) if isinstance(named, str) else " or ".join(named)


def _plain_kind(named: str, schema: Schema) -> str:
    if named == "array":
        return f"list of {kind(schema.get('items', {}))}"
    extra = schema.get("additionalProperties")
    if named == "object" and isinstance(extra, Mapping):
        return f"object of name to {kind(extra)}"
    form = {"binary": "bytes", "date-time": "time"}.get(schema.get("format", ""))
    return form or escape(named)


def _rows(schema: Schema, prefix: str) -> Iterator[tuple[str, ...]]:
    """One row a field; fields of an object that has no name of its own follow it, with a dot."""
    required = schema.get("required", ())
    for name, field in schema.get("properties", {}).items():
        full = f"{prefix}{name}"
        need = "<b>required</b>" if name in required else _default(field)
        about = "; ".join(part for part in (need, escape(_bounds_of(field))) if part)
        yield f"<code>{escape(full)}</code>", kind(field), about, words(field.get("description", ""))
        yield from _rows(field, f"{full}.")
        yield from _rows(field.get("items", {}), f"{full}[].")


def _default(field: Schema) -> str:
    if field.get("default") is None:
        return "optional"
    return f"default <code>{escape(written(field['default']))}</code>"


def _bounds_of(schema: Schema) -> str:
    found = [*_bounds(schema)]
    for one in (*schema.get("anyOf", ()), *schema.get("oneOf", ())):
        found += _bounds(one)
    return ", ".join(dict.fromkeys(found))


def _bounds(schema: Schema) -> Iterator[str]:
    marks = {"minimum": "≥", "exclusiveMinimum": ">", "maximum": "≤", "exclusiveMaximum": "<"}
    for key, mark in marks.items():
        if key in schema:
            yield f"{mark} {schema[key]:.15g}"
    sizes = (("minItems", "maxItems", "items"), ("minLength", "maxLength", "characters"))
    for least, most, unit in (*sizes, ("minProperties", "maxProperties", "names")):
        if least in schema and most in schema:
            yield f"{schema[least]} to {schema[most]} {unit}"
        elif least in schema:
            yield f"at least {schema[least]} {unit}"
        elif most in schema:
            yield f"at most {schema[most]} {unit}"
    if "pattern" in schema:
        yield f"matches {schema['pattern']}"


def _is_closed(schema: Schema) -> bool:
    return schema.get("additionalProperties") is False


def example(schema: Schema, schemas: Schemas, depth: int = 0) -> Any:
    """A value of a schema: the one it gives, else one put together from its fields."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return example(schemas.get(name, {}), schemas, depth) if depth <= _DEEPEST else {}
    if "example" in schema:
        return schema["example"]
    for key in ("examples", "enum", "anyOf", "oneOf"):
        if schema.get(key):
            first = schema[key][0]
            return example(first, schemas, depth + 1) if key in ("anyOf", "oneOf") else first
    if "const" in schema or schema.get("default") is not None:
        return schema.get("const", schema.get("default"))
    return _made(schema, schemas, depth)


def _made(schema: Schema, schemas: Schemas, depth: int) -> Any:
    if "properties" in schema:
        inside = schema["properties"].items()
        return {name: example(field, schemas, depth + 1) for name, field in inside}
    named = schema.get("type", "object")
    first = named if isinstance(named, str) else named[0]
    if first == "array":
        return [example(schema["items"], schemas, depth + 1)] if "items" in schema else []
    if schema.get("format") == "date-time":
        return "2026-01-05T09:30:00Z"
    return _PLACEHOLDERS.get(first, {})
