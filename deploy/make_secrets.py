"""Make the secrets of a deployment, once.

In the first folder: the password of the database, and the address that holds it. In the second: the key and
the certificate of a Dask cluster, by `openssl`.

Run by docker-compose before anything else. What is there already is kept: it can be run again, and files of
one's own can be put in the folder beforehand.
"""

import os
import secrets
import subprocess
import sys
from pathlib import Path

#: Readers run under other users; the folder is a volume that only they mount.
MODE = 0o444
#: Years or so of a certificate that only its own cluster believes.
DAYS = 3650


def main(folder: Path, cluster: Path) -> None:
    """Write each secret that is not there."""
    certify(cluster)
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


def certify(folder: Path) -> None:
    """Write the one certificate that all of a cluster show and believe, and its key, unless it is there."""
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    if certificate.exists():
        return
    made = [folder / f"{path.name}.new" for path in (key, certificate)]
    kind = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=costboost-cluster"
    usage = ["-addext", "keyUsage=critical,digitalSignature,keyCertSign", "-days", str(DAYS)]
    command = ["openssl", *kind.split(), *usage, "-keyout", str(made[0]), "-out", str(made[1])]
    subprocess.run(command, check=True, capture_output=True)
    # The certificate last: it says that all is done.
    for new, path in zip(made, (key, certificate), strict=True):
        os.replace(new, path)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
