"""What is chosen: the one place that knows which database and which store are in use."""

from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from sqlalchemy import Engine
from sqlalchemy.orm import Session, sessionmaker

from service.artifacts.folder import FolderStore
from service.db import engine
from service.queue import JobQueue
from service.settings import Settings


@dataclass(frozen=True)
class Wiring:
    """What use cases are given.

    Attributes
    ----------
    sessions : sessionmaker
        For transactions that may write.
    readers : sessionmaker
        For transactions that only read; on SQLite they neither wait for a writer nor hold one up.
    """

    settings: Settings
    database: Engine
    sessions: sessionmaker[Session]
    readers: sessionmaker[Session]
    store: FolderStore
    queue: JobQueue


def wire(settings: Settings) -> Wiring:
    """Choose and open what the settings name; nothing is connected before it is used."""
    database = engine.open_database(
        settings.database_url.get_secret_value(),
        pool=settings.database_pool,
        wait_seconds=settings.database_wait_seconds,
    )
    return Wiring(
        settings=settings,
        database=database,
        sessions=engine.sessions(database),
        readers=engine.readers(database),
        store=open_store(settings.store_url),
        queue=JobQueue(database),
    )


def open_store(url: str) -> FolderStore:
    """Open the artifact store: `file:///absolute/folder` or `file:relative/folder`."""
    return FolderStore(Path(unquote(urlsplit(url).path)).absolute())
