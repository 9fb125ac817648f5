"""Make the secrets of a deployment, once: the password of the database, and the address that holds it.

Run by docker-compose before anything else. What is there already is kept: it can be run again, and files of
one's own can be put in the folder beforehand.
"""

import os
import secrets
import sys
from pathlib import Path

#: Readers run under other users; the folder is a volume that only they mount.
MODE = 0o444


def main(folder: Path) -> None:
    """Write each secret that is not there."""
    password = folder / "postgres_password"
    write(password, secrets.token_hex(32))
    address = f"postgresql://costboost:{password.read_text().strip()}@postgres/costboost"
    write(folder / "database_url", address)


def write(path: Path, text: str) -> None:
    """Write a file whole or not at all, unless it is there."""
    if path.exists():
        return
    new = path.with_suffix(".new")
    new.write_text(text)
    new.chmod(MODE)
    os.replace(new, path)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
