"""The documentation is true: code in guides runs and answers as written, and no algorithm is left out."""

import doctest
import re
import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from costboost.decisions import decide
from costboost.metrics.evaluation import evaluate
from costboost.registry import ALGORITHMS

DOCS = Path(__file__).parent.parent / "docs"
#: Guides that tell their story in Python; others tell it in commands.
GUIDES = sorted(page for page in (DOCS / "guide").glob("*.md") if "```python" in page.read_text())
ALGORITHMS_PAGE = (DOCS / "algorithms.md").read_text()


def run_blocks(page: Path) -> int:
    """Run the Python blocks of a page one after the other; in sessions each answer must be as printed."""
    names: dict[str, Any] = {"__name__": "guide"}
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.IGNORE_EXCEPTION_DETAIL)
    count = 0
    for block in re.finditer(r"^```python\n(.*?)^```$", page.read_text(), flags=re.DOTALL | re.MULTILINE):
        code, line = block[1], page.read_text()[: block.start(1)].count("\n")
        if ">>> " in code:
            test = doctest.DocTestParser().get_doctest(code, names, page.name, str(page), line)
            runner.run(test, clear_globs=False)
            names.update(test.globs)
        else:
            exec(compile("\n" * line + code, str(page), "exec"), names)
        count += 1
    assert runner.failures == 0, f"{runner.failures} answers in {page.name} are not as printed"
    return count


#: How-tos that ask a service are run with one, beside the examples.
LOCAL = sorted(page for page in (DOCS / "how-to").glob("*.md") if "costboost.client" not in page.read_text())


@pytest.mark.parametrize("page", LOCAL, ids=lambda page: page.name)
def test_how_tos_run_as_written(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(DOCS.parent)
    assert run_blocks(page) > 1


@pytest.mark.parametrize("writer", ["write_reference.py", "write_api_reference.py"])
def test_the_reference_is_what_the_code_says(writer: str) -> None:
    pages = runpy.run_path(str(DOCS / writer))["pages"]()
    for name, text in pages.items():
        written = (DOCS / "reference" / name).read_text()
        assert text.rstrip() + "\n" == written, f"write it anew: python docs/{writer}"


def test_every_metric_is_explained() -> None:
    told = set(re.findall(r"`(\w+)`", (DOCS / "reference" / "metrics.md").read_text()))
    costs, serves = np.array([[0.0, 1.0], [9.0, 0.0]]), (0, 1)
    probabilities = np.array([[0.9, 0.1], [0.2, 0.8]])
    decisions = decide(probabilities, costs, serves=serves)
    assert evaluate(np.array([0, 1]), probabilities, costs, serves, 1, decisions).keys() <= told


def test_every_page_is_in_the_navigation_and_every_snippet_is_there() -> None:
    nav = (DOCS.parent / "mkdocs.yml").read_text()
    missing = [name for page in DOCS.glob("[!a]*/*.md") if (name := str(page.relative_to(DOCS))) not in nav]
    assert missing == []
    shown = [
        name
        for page in (DOCS / "tutorials").glob("*.md")
        for name in re.findall(r'^--8<-- "(.+)"$', page.read_text(), flags=re.MULTILINE)
    ]
    assert sorted(shown) == sorted(
        f"examples/{path.name}" for path in (DOCS.parent / "examples").glob("*.py")
    )


@pytest.mark.parametrize("page", GUIDES, ids=lambda page: page.name)
def test_guides_run_as_written(page: Path) -> None:
    assert run_blocks(page) > 5


def tables() -> list[list[list[str]]]:
    """Cells of the tables whose first column is an algorithm's name."""
    rows = [line.strip("|").split(" | ") for line in ALGORITHMS_PAGE.splitlines() if line.startswith("|")]
    cells = [[cell.strip(" |") for cell in row] for row in rows]
    starts = [i - 1 for i, row in enumerate(cells) if row[0].startswith("---")]
    ends = [*starts[1:], len(cells)]
    found = [cells[start:end] for start, end in zip(starts, ends, strict=True)]
    return [table[2:] for table in found if table[0][0] == "name"]


def test_every_registered_algorithm_is_in_every_table_and_no_other() -> None:
    found = tables()
    assert len(found) == 3
    for table in found:
        assert [row[0] for row in table] == [f"`{name}`" for name in sorted(ALGORITHMS)]
        assert all(cell for row in table for cell in row)


def test_references_are_those_of_the_registry() -> None:
    given = {row[0].strip("`"): row[2] for row in tables()[0]}
    assert given == {name: algorithm.reference for name, algorithm in ALGORITHMS.items()}


def test_what_is_not_the_published_algorithm_says_so() -> None:
    told = {row[0].strip("`"): row[3] for row in tables()[0]}
    for name, algorithm in ALGORITHMS.items():
        assert ("reconstruct" in (algorithm.cls.__doc__ or "")) == ("reconstructed" in told[name]), name
        if "common literature" in (algorithm.cls.__doc__ or ""):
            assert "literature" in told[name], name
