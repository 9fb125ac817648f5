"""What is chosen: the one place that knows which database and which store are in use."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from sqlalchemy import Engine
from sqlalchemy.orm import Session, sessionmaker

from service.artifacts.folder import FolderStore
from service.artifacts.store import ArtifactStore
from service.compute import Compute, at_once
from service.db import engine, migrations
from service.outbound import Outbound
from service.processes.nursery import Nursery
from service.queue import JobQueue, migrate_engine
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
    nursery : Nursery
        Runs what must be guarded in child processes; starts with its first child, or by `warm()`.
    outbound : Outbound
        The way to addresses that users name.
    """

    settings: Settings
    database: Engine
    sessions: sessionmaker[Session]
    readers: sessionmaker[Session]
    store: ArtifactStore
    queue: JobQueue
    nursery: Nursery
    outbound: Outbound

    @property
    def is_shared(self) -> bool:
        """Whether processes of other machines may use the database too."""
        return self.database.dialect.name == "postgresql"

    def close(self) -> None:
        """End children and connections."""
        self.nursery.close()
        self.database.dispose()


def wire(
    settings: Settings, preload: Sequence[str] = (), environment: Mapping[str, str] | None = None
) -> Wiring:
    """Choose and open what the settings name; nothing is connected before it is used.

    Parameters
    ----------
    settings : Settings
    preload : sequence of str
        Modules that children shall find loaded, see `Nursery`.
    environment : mapping, optional
        Added to the environment of children.
    """
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
        nursery=Nursery(preload, environment),
        outbound=Outbound(frozenset(filter(None, settings.webhook_allow.replace(" ", "").split(",")))),
    )


def migrate(wiring: Wiring) -> None:
    """Bring our tables and those of the job engine to the schema of this release."""
    migrations.migrate(wiring.database)
    migrate_engine(wiring.settings.database_url.get_secret_value())


def ensure_schema(wiring: Wiring) -> None:
    """Migrate a file of SQLite; of PostgreSQL only check the schema.

    A file belongs to this machine alone. PostgreSQL is shared with processes of other releases and machines:
    when its schema changes is decided by who runs `costboost migrate`, not by which process starts first.

    Raises
    ------
    SchemaError
    """
    if wiring.is_shared:
        migrations.require_migrated(wiring.database)
    else:
        migrate(wiring)


def choose_compute(settings: Settings) -> Compute:
    """Where the folds of a job are fitted, as its child is told."""
    return Compute(
        settings.compute,
        at_once(settings.workers),
        settings.compute_ca_file,
        settings.compute_cert_file,
        settings.compute_key_file,
    )


def open_store(url: str) -> ArtifactStore:
    """Open the artifact store: `file:///absolute/folder`, `file:relative/folder` or `s3://bucket/prefix`."""
    if url.startswith("s3:"):
        from service.artifacts.bucket import BucketStore  # noqa: PLC0415  who has a folder needs none of it

        return BucketStore(url)
    return FolderStore(folder_of(url))


def folder_of(url: str) -> Path:
    """The folder of a store in one."""
    return Path(unquote(urlsplit(url).path)).absolute()
