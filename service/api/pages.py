"""Readable pages without scripts or CDN: /docs, made from the OpenAPI document, and /problems/<code>."""

import json
from collections.abc import Iterator
from html import escape
from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import HTMLResponse

from service.domain.errors import PROBLEMS, NotFoundError, Problem

router = APIRouter(include_in_schema=False)

HEADERS = {"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'"}

STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
code, pre { font: 14px/1.45 ui-monospace, monospace; }
pre { overflow-x: auto; padding: .75rem; border: 1px solid #8886; border-radius: 6px; }
summary { cursor: pointer; padding: .3rem 0; }
summary b { display: inline-block; min-width: 4.5rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .25rem .75rem .25rem 0; }
th, td { border-bottom: 1px solid #8884; }
h2 { margin-top: 2rem; }
"""


@router.get("/docs")
async def docs(request: Request) -> HTMLResponse:
    """Show every operation with its parameters, bodies and answers."""
    return _page("Costboost API", "".join(_operations(request.app.openapi())))


@router.get("/problems")
async def list_problems() -> HTMLResponse:
    """List the codes of errors."""
    rows = (
        f"<tr><td>{_link(code)}</td><td>{escape(one.meaning)}</td></tr>"
        for code, one in sorted(PROBLEMS.items())
    )
    return _page("Problems", f"<table><tr><th>code</th><th>meaning</th></tr>{''.join(rows)}</table>")


@router.get("/problems/{code}")
async def show_problem(code: str) -> HTMLResponse:
    """Say what a code means and what to do."""
    problem = PROBLEMS.get(code)
    if problem is None:
        raise NotFoundError("problem", code)
    return _page(problem.title, _problem(code, problem))


def _page(title: str, content: str) -> HTMLResponse:
    return HTMLResponse(
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f'<meta name="viewport" content="width=device-width"><style>{STYLE}</style></head>'
        f"<body><main><h1>{escape(title)}</h1>{content}</main></body></html>",
        headers=HEADERS,
    )


def _link(code: str) -> str:
    return f'<a href="/problems/{escape(code)}"><code>{escape(code)}</code></a>'


def _problem(code: str, problem: Problem) -> str:
    return (
        f"<p><code>{escape(code)}</code></p><p>{escape(problem.meaning)}</p><p>{escape(problem.remedy)}</p>"
        '<p><a href="/problems">All problems</a></p>'
    )


def _operations(document: dict[str, Any]) -> Iterator[str]:
    yield f"<p>{escape(document['info'].get('description', ''))}</p>"
    yield '<p><a href="/openapi.json">openapi.json</a> · <a href="/problems">problems</a></p>'
    tag = None
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            if operation.get("tags", [""])[0] != tag:
                tag = operation.get("tags", [""])[0]
                yield f"<h2>{escape(tag)}</h2>"
            yield _operation(method, path, operation)


def _operation(method: str, path: str, operation: dict[str, Any]) -> str:
    parts = [f"<p>{escape(operation.get('description', ''))}</p>"]
    parts += _parameters(operation.get("parameters", []))
    for media_type, content in operation.get("requestBody", {}).get("content", {}).items():
        parts.append(f"<p>Body: <code>{escape(media_type)}</code></p>{_json(_example(content))}")
    parts += ["<table>", *_responses(operation["responses"]), "</table>"]
    head = f"<b>{method.upper()}</b> <code>{escape(path)}</code> — {escape(operation.get('summary', ''))}"
    anchor = escape(operation["operationId"])
    return f"<details id='{anchor}'><summary>{head}</summary>{''.join(parts)}</details>"


def _parameters(parameters: list[dict[str, Any]]) -> Iterator[str]:
    if parameters:
        rows = (
            f"<tr><td><code>{escape(one['name'])}</code></td><td>{escape(one['in'])}</td>"
            f"<td>{escape(one.get('description', one['schema'].get('description', '')))}</td></tr>"
            for one in parameters
        )
        yield f"<table><tr><th>parameter</th><th>in</th><th></th></tr>{''.join(rows)}</table>"


def _responses(responses: dict[str, Any]) -> Iterator[str]:
    for status, response in responses.items():
        shown = "".join(
            _json(_example(content)) if status.startswith("2") else ""
            for content in response.get("content", {}).values()
        )
        yield f"<tr><td>{escape(status)}</td><td>{escape(response['description'])}{shown}</td></tr>"


def _example(content: dict[str, Any]) -> Any:
    return content.get("example", content.get("schema", {}))


def _json(value: Any) -> str:
    return f"<pre>{escape(json.dumps(value, indent=1, ensure_ascii=False))}</pre>" if value else ""
