"""Looks at what a service stands on, and says in words how to mend what is missing."""

import os
import platform
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from sqlalchemy import make_url
from sqlalchemy.exc import SQLAlchemyError

from service.db import engine, migrations
from service.db.migrations import DamagedDatabaseError
from service.queue import SQLITE_CURE, sqlite_fault
from service.settings import PREFIX, Settings
from service.wiring import folder_of, open_store

__all__ = ["Finding", "examine"]


@dataclass(frozen=True)
class Finding:
    """What one look found.

    Attributes
    ----------
    name : str
        What was looked at.
    ok : bool
    found : str
        How it is.
    cure : str
        What to do about it; empty if nothing need be done. Of what is ok it says what heals it by itself, or
        ahead of time.
    """

    name: str
    ok: bool
    found: str
    cure: str = ""


def examine(settings: Settings, *, warm: bool = False) -> Iterator[Finding]:
    """Look at everything, the quickest first; nothing is changed, but that kernels may be compiled.

    Parameters
    ----------
    settings : Settings
    warm : bool
        Compile the kernels that are not kept yet.
    """
    looks: tuple[Callable[[Settings], Finding], ...] = (_python, _libraries, _processors, _store, _database)
    for look in looks:
        yield look(settings)
    yield _kernels(warm=warm)


def _python(_settings: Settings) -> Finding:
    wanted, version = metadata.metadata("costboost")["Requires-Python"], platform.python_version()
    if version in SpecifierSet(wanted, prereleases=True):
        return Finding("python", True, version)
    return Finding("python", False, version, f"install it under Python {wanted}")


def _libraries(_settings: Settings) -> Finding:
    faults = []
    for requirement in map(Requirement, metadata.requires("costboost") or ()):
        if requirement.marker and not requirement.marker.evaluate({"extra": "service"}):
            continue
        try:
            version = metadata.version(requirement.name)
        except metadata.PackageNotFoundError:
            faults.append(f"{requirement.name} is not installed")
            continue
        if not requirement.specifier.contains(version, prereleases=True):
            faults.append(f"{requirement.name} is {version}, not {requirement.specifier}")
    if faults:
        return Finding("libraries", False, "; ".join(faults), _INSTALL)
    return Finding("libraries", True, "all installed, in versions that go together")


_INSTALL = (
    "run `pip install -c constraints.txt '.[service]'` in the checkout, for the Python that runs this; "
    "an image is built anew"
)


def _processors(settings: Settings) -> Finding:
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    found = f"{settings.workers} jobs at a time on {count} processors"
    if settings.workers <= count:
        return Finding("processors", True, found)
    return Finding(
        "processors", False, found, f"set {PREFIX}WORKERS to {count} or less: each job keeps one busy"
    )


def _store(settings: Settings) -> Finding:
    url = settings.store_url
    if not url.startswith("s3:") and not (folder := folder_of(url)).exists():
        # To open it would make it, also where its name is mistyped.
        return _not_there("store", str(folder), folder, "STORE_URL")
    try:
        store = open_store(url)
        writable = store.writable()
    except OSError as error:
        return _no_store(f"{url}: {error.strerror}")
    return Finding("store", True, store.where) if writable else _no_store(f"{store.where} cannot be written")


def _no_store(found: str) -> Finding:
    cure = f"let {PREFIX}STORE_URL name a folder that this user may write, on a disk with room, or a bucket"
    return Finding("store", False, found, cure)


def _database(settings: Settings) -> Finding:
    address = settings.database_url.get_secret_value()
    url = make_url(address)
    shown = url.render_as_string(hide_password=True)
    if url.get_backend_name() == "sqlite" and (fault := sqlite_fault()) is not None:
        return Finding("database", False, fault, SQLITE_CURE)
    if url.get_backend_name() == "sqlite" and not Path(url.database or "").exists():
        return _not_there("database", shown, Path(url.database or ""), "DATABASE_URL")
    database = engine.open_database(address, pool=1, wait_seconds=settings.database_wait_seconds)
    try:
        migrated = migrations.is_migrated(database.execution_options(**{engine.READ_ONLY: True}))
    except (SQLAlchemyError, DamagedDatabaseError) as error:
        said = " ".join(str(getattr(error, "orig", error)).split())
        cure = f"start it, or let {PREFIX}DATABASE_URL name one that answers"
        return Finding("database", False, f"{shown}: {said}", cure)
    finally:
        database.dispose()
    if migrated:
        return Finding("database", True, f"{shown}, with the schema of this release")
    return Finding("database", False, f"{shown} has the schema of another release", _MIGRATE)


def _not_there(name: str, shown: str, path: Path, variable: str) -> Finding:
    """A file or folder that the first start makes, where it can."""
    folder = next(parent for parent in path.absolute().parents if parent.exists())
    if folder.is_dir() and os.access(folder, os.W_OK):
        return Finding(name, True, f"{shown} is not there yet", _MADE)
    cure = f"let {PREFIX}{variable} name one in a folder that this user may write"
    return Finding(name, False, f"{shown} is not there, and cannot be made", cure)


_MADE = "`costboost serve` makes it, and so does `costboost migrate`"
_MIGRATE = "run `costboost migrate`; with SQLite `costboost serve` begins with it"


def _kernels(*, warm: bool) -> Finding:
    from service.learning import warming  # noqa: PLC0415 - loads scikit-learn and numba

    if warm:
        warming.warm()
    folder = warming.kernel_folder()
    if warming.is_warm():
        return Finding("kernels", True, f"all kept in {folder}")
    found = f"not all kept in {folder} for this processor"
    if warm or (folder.exists() and not os.access(folder, os.W_OK)):
        cure = "let NUMBA_CACHE_DIR name a folder that this user may write, and run `costboost doctor --warm`"
        return Finding("kernels", False, found, cure)
    cure = "each is compiled at first use, which takes seconds; `costboost doctor --warm` does all ahead"
    return Finding("kernels", True, found, cure)
