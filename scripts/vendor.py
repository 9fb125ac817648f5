"""Fetches what the pages bring along from other projects, through npm, and checks every byte of it.

`service/ui/static/vendor/vendor.json` says what: packages with version and the hash of their archive, and the
files that are kept, each with its hash. `make vendor` writes those files; it changes nothing else. To take a
newer release, write its version and hashes there (`npm view NAME@VERSION dist.integrity`).
"""

import base64
import hashlib
import json
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

FOLDER = Path(__file__).parent.parent / "service" / "ui" / "static" / "vendor"


def main() -> int:
    """Fetch all packages; 0 when every hash is as it is written down."""
    npm = shutil.which("npm")
    if npm is None:
        print("npm is needed to fetch packages; on Debian: apt-get install npm", file=sys.stderr)
        return 1
    for package in json.loads((FOLDER / "vendor.json").read_text()):
        with TemporaryDirectory() as folder:
            archive = _fetch(npm, package, Path(folder))
            faults = _keep(package, archive)
        if faults:
            print("\n".join(faults), file=sys.stderr)
            return 1
        print(f"{package['name']} {package['version']}: as written down")
    return 0


def _fetch(npm: str, package: dict[str, Any], folder: Path) -> Path:
    """Download the archive of a release."""
    wanted = f"{package['name']}@{package['version']}"
    subprocess.run([npm, "pack", "--silent", wanted], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    return next(folder.glob("*.tgz"))


def _keep(package: dict[str, Any], archive: Path) -> list[str]:
    """Write the files that are kept, if archive and files are what they should be; else tell what is not."""
    found = "sha512-" + base64.b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode()
    if found != package["integrity"]:
        return [f"{archive.name}: the archive has the hash {found}, not {package['integrity']}"]
    files: dict[str, bytes] = {}
    with tarfile.open(archive) as tar:
        for one in package["files"]:
            member = tar.extractfile(f"package/{one['source']}")
            files[one["file"]] = b"" if member is None else member.read()
    faults = [
        f"{one['file']}: not the bytes that are written down"
        for one in package["files"]
        if hashlib.sha256(files[one["file"]]).hexdigest() != one["sha256"]
    ]
    for name, content in {} if faults else files.items():
        FOLDER.joinpath(name).write_bytes(content)
    return faults


if __name__ == "__main__":
    sys.exit(main())
