"""Readable pages without scripts or CDN: /docs, made from the OpenAPI document, and /problems/<code>."""

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse

from service.api.markup import code as block
from service.api.markup import page, problem_link, prose, table, words
from service.api.reference import reference
from service.domain.errors import NotFoundError
from service.domain.problems.examples import EXAMPLES
from service.domain.problems.problem import Problem
from service.domain.problems.registry import PROBLEMS

router = APIRouter(include_in_schema=False)


@router.get("/docs/")
async def lead_to_docs() -> RedirectResponse:
    """Lead a browser to the documentation."""
    return RedirectResponse("/docs")


@router.get("/problems/")
async def lead_to_problems() -> RedirectResponse:
    """Lead to the list."""
    return RedirectResponse("/problems")


@router.get("/docs")
async def docs(request: Request) -> HTMLResponse:
    """Show every operation with its parameters, bodies, answers and problems, and every schema."""
    state = request.app.state
    if not hasattr(state, "docs"):  # the document never changes while the service runs
        state.docs = page("Costboost API", reference(request.app.openapi()))
    shown: HTMLResponse = state.docs
    return shown


@router.get("/problems")
async def list_problems() -> HTMLResponse:
    """List the codes of errors."""
    rows = ((problem_link(code), words(one.meaning)) for code, one in sorted(PROBLEMS.items()))
    return page("Problems", table(("code", "meaning"), rows))


@router.get("/problems/{code}")
async def show_problem(code: str) -> HTMLResponse:
    """Say what a code means and what to do."""
    problem = PROBLEMS.get(code)
    if problem is None:
        raise NotFoundError("problem", code)
    return page(problem.title, _problem(code, problem))


def _problem(code: str, problem: Problem) -> str:
    example = EXAMPLES.get(code)
    shown = ""
    if example is not None:
        shown = f"<h2>Wrong</h2>{block(example.wrong, 'wrong')}<h2>Right</h2>{block(example.right, 'right')}"
    return (
        f"<p><code>{code}</code></p><h2>What it means</h2>{prose(problem.meaning)}"
        f"<h2>What to do</h2>{prose(problem.remedy)}{shown}"
        '<p><a href="/problems">All problems</a> · <a href="/docs">API</a></p>'
    )
