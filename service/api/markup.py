"""The shell of the readable pages: one style, no scripts, nothing from another server."""

import base64
import hashlib
import json
import re
from collections.abc import Iterable, Iterator
from html import escape
from itertools import zip_longest
from typing import Any

from starlette.responses import HTMLResponse

STYLE = """
:root { color-scheme: light dark; --line: #8884; --soft: #8881; --link: #0b57d0; }
@media (prefers-color-scheme: dark) { :root { --link: #8ab4f8; } }
* { box-sizing: border-box; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 64rem; margin: 0 auto; padding: 1rem 1rem 4rem;
  overflow-wrap: anywhere; }
a { color: var(--link); }
code, pre { font: 14px/1.45 ui-monospace, monospace; }
code { background: var(--soft); border-radius: 4px; padding: .05em .25em; }
pre { overflow-x: auto; overflow-wrap: normal; padding: .75rem; border: 1px solid var(--line);
  border-radius: 6px; margin: .5rem 0 1rem; max-height: 32rem; }
h2 { margin-top: 3rem; }
h3 { margin: 2.5rem 0 .25rem; padding-top: 1rem; border-top: 1px solid var(--line); }
h4 { margin: 1.25rem 0 .25rem; }
h3 code, h4 code { font-size: inherit; }
.method { display: inline-block; min-width: 4.5rem; }
.wrong { border-left: 4px solid #c5221f; }
.right { border-left: 4px solid #188038; }
.note { opacity: .75; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .35rem .75rem .35rem 0;
  border-bottom: 1px solid var(--line); }
th { overflow-wrap: break-word; }
td:first-child { min-width: 8rem; }
@media (min-width: 45rem) { .index td:first-child { width: 55%; } }
@media (max-width: 45rem) {
  table, tbody, tr, td { display: block; width: 100%; }
  th { display: none; }
  td { border: 0; padding: .1rem 0; }
  td[data-column]:not(:first-child)::before { content: attr(data-column) ": "; opacity: .75; }
  td:empty { display: none; }
  tr { padding: .5rem 0; border-bottom: 1px solid var(--line); }
}
"""

_HASH = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
HEADERS = {
    "Content-Security-Policy": f"default-src 'none'; style-src 'sha256-{_HASH}'; img-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
}


def page(title: str, content: str) -> HTMLResponse:
    """Make a page of its title and content."""
    return HTMLResponse(
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,">'
        f"<style>{STYLE}</style></head><body><main><h1>{escape(title)}</h1>{content}</main></body></html>",
        headers=HEADERS,
    )


def words(text: str) -> str:
    """Text of one line, in which what stands between backticks is code."""
    return re.sub(r"`+([^`]+)`+", r"<code>\1</code>", escape(text))


def prose(text: str) -> str:
    """Paragraphs, divided by empty lines."""
    return "".join(f"<p>{words(part)}</p>" for part in text.split("\n\n") if part.strip())


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table of cells that are markup already; nothing, if it has no rows.

    Each cell also says its column itself: on a telephone it stands below the others, without the head.
    """
    names = [escape(name) for name in head]
    body = "".join(f"<tr>{''.join(_cells(names, row))}</tr>" for row in rows)
    top = f"<tr>{''.join(f'<th>{name}</th>' for name in names)}</tr>" if names else ""
    return f"<table>{top}{body}</table>" if body else ""


def _cells(names: list[str], row: Iterable[str]) -> Iterator[str]:
    for name, cell in zip_longest(names, row, fillvalue=""):
        yield f'<td data-column="{name}">{cell}</td>' if name else f"<td>{cell}</td>"


def code(text: str, kind: str = "") -> str:
    """A block of text to copy."""
    return f'<pre class="{kind}">{escape(text)}</pre>' if kind else f"<pre>{escape(text)}</pre>"


def written(value: Any) -> str:
    """A JSON value as one writes it: short ones in one line."""
    line = json.dumps(value, ensure_ascii=False)
    return line if len(line) <= 72 else json.dumps(value, indent=2, ensure_ascii=False)


def problem_link(name: str) -> str:
    """A link to the page of a problem."""
    return f'<a href="/problems/{escape(name)}"><code>{escape(name)}</code></a>'
