"""Bundles: the same bytes from the same files, and a manifest that tells of every one of them."""

import io
import json
import subprocess
import sys
import zipfile

from hypothesis import given
from hypothesis import strategies as st

from taskpack.compiler.bundle import SHEBANG, bundle_files, read_runtime
from taskpack.digest import digest_bytes

FILES = {"harness.py": b"HARNESS = 'here'\n", "plan.json": b"{}\n", "pack/reference/reference.py": b"x = 1\r\n"}
RUNTIME = {"__init__.py": b"", "main.py": b"def main(harness):\n    print('ran', harness)\n    return 5\n"}


def _members(content: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_the_manifest_names_every_other_file():
    bundle = bundle_files(FILES, RUNTIME)
    members = _members(bundle.content)
    manifest = json.loads(members["MANIFEST.json"])
    assert manifest["format"] == 1
    assert manifest["files"] == {name: digest_bytes(content) for name, content in members.items() if name != "MANIFEST.json"}
    assert bundle.harness_digest == digest_bytes(members["MANIFEST.json"])


def test_carriage_returns_travel_as_they_are():
    assert _members(bundle_files(FILES, RUNTIME).content)["pack/reference/reference.py"] == b"x = 1\r\n"


def test_the_archive_bears_no_trace_of_its_maker():
    content = bundle_files(FILES, RUNTIME).content
    assert content.startswith(SHEBANG)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        entries = archive.infolist()
    assert [entry.filename for entry in entries] == sorted(entry.filename for entry in entries)
    assert {(entry.date_time, entry.create_system, entry.external_attr >> 16, entry.compress_type) for entry in entries} == {
        ((1980, 1, 1, 0, 0, 0), 3, 0o100644, zipfile.ZIP_STORED)
    }


def test_it_runs(tmp_path):
    path = tmp_path / "x.pyz"
    path.write_bytes(bundle_files(FILES, RUNTIME).content)
    ran = subprocess.run([sys.executable, path], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout) == (5, "ran here\n"), ran.stderr


@given(st.permutations(sorted(FILES)), st.permutations(sorted(RUNTIME)))
def test_the_order_of_files_changes_nothing(files, runtime):
    shuffled = bundle_files({name: FILES[name] for name in files}, {name: RUNTIME[name] for name in runtime})
    assert shuffled == bundle_files(FILES, RUNTIME)


@given(st.sampled_from(sorted(FILES)), st.binary(min_size=1, max_size=8))
def test_any_other_byte_is_another_digest(name, extra):
    changed = bundle_files(FILES | {name: FILES[name] + extra}, RUNTIME)
    assert changed.harness_digest != bundle_files(FILES, RUNTIME).harness_digest


def test_the_runtime_travels_without_what_python_leaves_behind(tmp_path):
    for path in ("main.py", "languages/cpp.py", "hipcpu/include/hip.h", "__pycache__/main.pyc", "languages/__pycache__/x.pyc", ".main.py.swp"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(path.encode())
    assert read_runtime(tmp_path) == {path: path.encode() for path in ("hipcpu/include/hip.h", "languages/cpp.py", "main.py")}
