"""What the service installs, under which licences: an SBOM (CycloneDX 1.6) from what is installed, offline.

    python scripts/inventory.py build/sbom.json

Ends with 1 where a licence is not among those that were looked at.
"""

import json
import re
import sys
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = "costboost"
EXTRAS = ("service", "otel")
#: Licences under which the service may be passed on together with what it stands on. Of the LGPL only for
#: psycopg, which is used as it is and can be replaced.
ALLOWED = frozenset(
    {
        *("0BSD", "Apache-2.0", "Apache-2.0 WITH LLVM-exception", "BSD-2-Clause", "BSD-3-Clause", "BSL-1.0"),
        *("CC0-1.0", "ISC", "MIT", "MIT-0", "MPL-2.0", "PSF-2.0", "Unlicense", "Zlib"),
    }
)
LGPL = frozenset({"psycopg", "psycopg-binary"})
#: What classifiers and the older free field say, in the identifiers of SPDX.
SPELLINGS = {
    "apache software license": "Apache-2.0",
    "apache 2.0": "Apache-2.0",
    "bsd": "BSD-3-Clause",
    "bsd license": "BSD-3-Clause",
    "isc license (iscl)": "ISC",
    "mit license": "MIT",
    "mozilla public license 2.0 (mpl 2.0)": "MPL-2.0",
    "python software foundation license": "PSF-2.0",
}


def installed(name: str = ROOT, extras: tuple[str, ...] = EXTRAS) -> dict[str, Distribution]:
    """What a distribution and its extras need, itself included; what this machine does not need is absent."""
    found: dict[str, Distribution] = {}
    todo, seen = [(name, extra) for extra in ("", *extras)], set[tuple[str, str]]()
    while todo:
        name, extra = one = todo.pop()
        if one in seen:
            continue
        seen.add(one)
        try:
            found[canonicalize_name(name)] = package = distribution(name)
        except PackageNotFoundError:
            continue
        for needed in map(Requirement, package.requires or ()):
            if needed.marker is None or needed.marker.evaluate({"extra": extra}):
                todo += [(needed.name, more) for more in ("", *needed.extras)]
    return found


def licence(package: Distribution) -> str:
    """Tell the licence as an expression of SPDX, or in the words of the package where it names none."""
    told = package.metadata
    if "License-Expression" in told:
        return told["License-Expression"]
    names = [
        one.rpartition(" :: ")[2] for one in told.get_all("Classifier") or () if one.startswith("License")
    ]
    names = [one for one in names if one != "OSI Approved"] or [
        (told.get_all("License") or [""])[0].partition("\n")[0]
    ]
    return " OR ".join(sorted({SPELLINGS.get(one.lower(), one) for one in names}))


def is_allowed(name: str, expression: str) -> bool:
    """Whether one of the licences to choose from, and each that comes along, was looked at."""
    if name in LGPL and expression == "LGPL-3.0-only":
        return True
    words = {"AND": "and", "OR": "or", "(": "(", ")": ")", "": ""}
    parts = (part.strip() for part in re.split(r"( AND | OR |[()])", expression))
    # Only truth values, `and`, `or` and brackets are left, which bind as in SPDX.
    return bool(expression) and bool(eval(" ".join(words.get(one, str(one in ALLOWED)) for one in parts)))


def refused(packages: dict[str, Distribution]) -> Iterator[tuple[str, str]]:
    """Name and licence of each package whose licence was not looked at."""
    for name, package in packages.items():
        if not is_allowed(name, licence(package)):
            yield name, licence(package)


def sbom(packages: dict[str, Distribution]) -> dict[str, Any]:
    """Write the packages down as CycloneDX does; the same packages give the same document."""

    def component(name: str) -> dict[str, Any]:
        package = packages[name]
        purl = f"pkg:pypi/{name}@{package.version}"
        told = licence(package)
        is_expression = told in ALLOWED or " " in told or told == "LGPL-3.0-only"
        licences = [{"expression": told}] if is_expression else [{"license": {"name": told}}]
        kind = "application" if name == ROOT else "library"
        return {
            **{"type": kind, "bom-ref": purl, "name": name, "version": package.version},
            **{"purl": purl, "licenses": licences},
        }

    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": component(ROOT)},
        "components": [component(name) for name in sorted(packages) if name != ROOT],
    }


def main() -> int:
    """Write the document, and tell what is refused."""
    packages = installed()
    path = Path(sys.argv[1])
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(sbom(packages), indent=2) + "\n")
    print(f"{path}: {len(packages) - 1} packages")
    wrong = list(refused(packages))
    for name, told in wrong:
        print(f"{name}: licence {told or 'unknown'} was not looked at", file=sys.stderr)
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
