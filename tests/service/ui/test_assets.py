"""Scripts and styles: those of others are the bytes that were written down; all are kept by browsers."""

import hashlib
import json
from pathlib import Path

from service.ui import assets
from tests.service.conftest import Service

VENDOR = Path(assets.__file__).parent / "static" / "vendor"


def test_what_comes_from_others_is_what_was_written_down() -> None:
    packages = json.loads((VENDOR / "vendor.json").read_text())
    written = {one["file"]: one["sha256"] for package in packages for one in package["files"]}
    found = {one.name: hashlib.sha256(one.read_bytes()).hexdigest() for one in VENDOR.iterdir()}
    assert found.pop("vendor.json")
    assert found == written
    assert all(f"{one['name'].rpartition('/')[2].split('.')[0]}.LICENSE" in found for one in packages)


def test_they_are_sent_packed_and_kept(sqlite_service: Service) -> None:
    http = sqlite_service.http
    address = assets.address_of("pages.css")
    packed = http.get(address)
    assert packed.headers["content-encoding"] == "gzip"
    assert packed.headers["cache-control"] == "public, max-age=31536000, immutable"
    plain = http.get(address, headers={"Accept-Encoding": "identity"})
    assert "content-encoding" not in plain.headers
    assert plain.content == packed.content == (VENDOR.parent / "pages.css").read_bytes()


def test_nothing_else_of_the_disk_is_sent(sqlite_service: Service) -> None:
    for name in ("../app.py", "vendor/../../app.py", "vendor/vendor.json", "nothing.js"):
        assert sqlite_service.http.get(f"/ui/static/0/{name}").status_code == 404
