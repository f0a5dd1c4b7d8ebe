"""A run's folder: written once, whole or not at all, readable whenever its writer was killed."""

import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import referencing

from taskpack.errors import Conflict, IntegrityError, NotFound, UsageError
from taskpack.resources import schemas
from taskpack.runs.folder import Header, Unit, create_run, held, note_event, open_run, read_units, slot_name, unit_key, write_unit

from .killed_writer import RESULT, SLOTS, files, unit

ROOT = Path(__file__).parents[2]
RESULTS = sorted((ROOT / "tests" / "cli" / "results").glob("*.json"))


def _schema(kind: str) -> jsonschema.Draft7Validator:
    loaded = {path.name: json.loads(path.read_text(encoding="utf-8")) for path in schemas().glob("*.schema.json")}
    draft = referencing.jsonschema.DRAFT7
    registry: Any = referencing.Registry().with_resources((name, draft.create_resource(schema)) for name, schema in loaded.items())
    jsonschema.Draft7Validator.check_schema(loaded[f"{kind}.schema.json"])
    return jsonschema.Draft7Validator(loaded[f"{kind}.schema.json"], registry=registry)


def _header(*slots: str) -> Header:
    packs = ({"name": "suites/s", "version": "0.1.0", "content": "sha256:0"},)
    return Header("suite", {"suite": "suites/s"}, slots, packs, "targets/cpu", {"quick": True}, {"cores": 2})


def test_what_is_written_is_read(tmp_path: Path) -> None:
    header = _header("local.softmax.2", "local.softmax.1")
    run = create_run(tmp_path / "run", header)
    for attempt in (1, 2):
        kept = Unit(unit_key(RESULT, attempt), RESULT, {"value": 1.5, "partial": False}, {"agent": {"seconds": 2}})
        write_unit(run, slot_name("local/softmax", attempt), kept, {"candidate/a/kernel.cpp": b"int x;"})
    again = open_run(tmp_path / "run")
    assert again.header == header
    assert list(read_units(again)) == ["local.softmax.2", "local.softmax.1"]
    assert read_units(again)["local.softmax.2"] == kept
    assert (tmp_path / "run" / "units" / "local.softmax.1" / "candidate" / "a" / "kernel.cpp").read_bytes() == b"int x;"
    assert kept.key != unit_key(RESULT, 1)


def test_nothing_is_rewritten(tmp_path: Path) -> None:
    run = create_run(tmp_path, _header("a.b.1"))
    write_unit(run, "a.b.1", unit("a.b.1"), {"candidate/k": b"first"})
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    with pytest.raises(Conflict, match=r"a\.b\.1"):
        write_unit(run, "a.b.1", unit("other"), {"candidate/k": b"second"})
    with pytest.raises(Conflict, match="already"):
        create_run(tmp_path, _header())
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_a_leftover_of_a_killed_attempt_is_removed(tmp_path: Path) -> None:
    run = create_run(tmp_path, _header("a.b.1"))
    for name in ("a.b.1", ".a.b.1.x2", ".a.b.1.json.x3"):
        (tmp_path / "units" / name).mkdir()
        (tmp_path / "units" / name / "old").touch()
    assert read_units(run) == {}
    with held(run):
        write_unit(run, "a.b.1", unit("a.b.1"), {"new": b""})
    assert sorted(path.relative_to(tmp_path / "units").as_posix() for path in (tmp_path / "units").rglob("*")) == ["a.b.1", "a.b.1.json", "a.b.1/new"]


def test_readers_ignore_what_they_do_not_know(tmp_path: Path) -> None:
    run = create_run(tmp_path, _header("a.b.1"))
    write_unit(run, "a.b.1", unit("a.b.1"), {})
    for path in (tmp_path / "run.json", tmp_path / "units" / "a.b.1.json"):
        path.write_text(json.dumps({**json.loads(path.read_text()), "tomorrow": 1}))
    assert read_units(open_run(tmp_path))["a.b.1"] == unit("a.b.1")


@pytest.mark.parametrize(
    ("content", "error"),
    [("{", IntegrityError), ("[]", IntegrityError), ('{"format": 1, "kind": "unit"}', IntegrityError), ('{"format": 2}', UsageError), ('"x"', IntegrityError)],
)
def test_a_file_that_cannot_be_read_is_named(content: str, error: type[Exception], tmp_path: Path) -> None:
    run = create_run(tmp_path, _header("a.b.1"))
    (tmp_path / "units" / "a.b.1.json").write_text(content)
    with pytest.raises(error, match=r"a\.b\.1\.json"):
        read_units(run)


def test_a_folder_without_a_run(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="no run in"):
        open_run(tmp_path)


def test_the_journal_grows_by_lines(tmp_path: Path) -> None:
    run = create_run(tmp_path, _header())
    note_event(run, "start", slot="a")
    note_event(run, "end", slot="a")
    assert [json.loads(line)["event"] for line in (tmp_path / "journal.jsonl").read_text().splitlines()] == ["start", "end"]


def test_one_process_at_a_time(tmp_path: Path) -> None:
    run = create_run(tmp_path, _header())
    with held(run), pytest.raises(Conflict, match="another process"), held(run):
        pass
    with held(run):
        pass


def test_a_writer_killed_at_any_moment_leaves_a_folder_that_is_gone_on_with(tmp_path: Path) -> None:
    rng = random.Random(7)
    command = [sys.executable, "-m", "tests.runs.killed_writer", str(tmp_path / "run")]
    begun: list[str] = []
    for _ in range(6):
        writer = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
        assert writer.stdout
        first = writer.stdout.readline()
        time.sleep(rng.random() * 0.05)
        writer.send_signal(signal.SIGKILL)
        begun += [first.strip(), *writer.stdout.read().split()]
        writer.stdout.close()
        writer.wait()
        units = read_units(open_run(tmp_path / "run"))
        assert all(kept == unit(slot) for slot, kept in units.items())
        for slot in units:
            assert {path.name for path in (tmp_path / "run" / "units" / slot).iterdir()} == {"candidate", "diff.patch", "log.txt"}
    subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    assert tuple(read_units(open_run(tmp_path / "run"))) == SLOTS
    for slot in SLOTS:
        assert (tmp_path / "run" / "units" / slot / "candidate" / "kernel.cpp").read_bytes() == files(slot)["candidate/kernel.cpp"]
    assert len({path.name for path in (tmp_path / "run" / "units").iterdir()}) == 2 * len(SLOTS), "something of a killed attempt was left"


@pytest.mark.parametrize("path", RESULTS, ids=lambda path: path.stem)
def test_real_results_are_valid(path: Path) -> None:
    _schema("result").validate(json.loads(path.read_text(encoding="utf-8")))


def test_what_is_written_is_valid(tmp_path: Path) -> None:
    run = create_run(tmp_path, _header("local.softmax.1"))
    write_unit(run, "local.softmax.1", Unit(unit_key(RESULT, 1), RESULT, {"value": None, "partial": True}), {})
    _schema("run").validate(json.loads((tmp_path / "run.json").read_text(encoding="utf-8")))
    _schema("unit").validate(json.loads((tmp_path / "units" / "local.softmax.1.json").read_text(encoding="utf-8")))


@pytest.mark.parametrize(
    ("kind", "path", "value"),
    [
        ("result", ("gates", 0, "verdict"), "maybe"),
        ("result", ("execution",), "imagined"),
        ("result", ("digests",), {}),
        ("result", ("speedup",), {"geomean": 0, "low": 1, "high": 1}),
        ("result", ("format",), 2),
        ("unit", ("result", "gates"), None),
        ("unit", ("unit", "attempt"), 0),
        ("unit", ("slot",), "arena/softmax"),
        ("unit", ("score",), {"value": 1}),
        ("run", ("slots",), ["a", "a"]),
        ("run", ("run",), "walk"),
    ],
)
def test_what_is_not_so_is_not_valid(kind: str, path: tuple[str | int, ...], value: object) -> None:
    kept = Unit(unit_key(RESULT, 1), RESULT, {"value": 1.0, "partial": False})
    documents = {"result": RESULT, "unit": kept.to_dict("local.softmax.1"), "run": _header("a").to_dict()}
    document = json.loads(json.dumps(documents[kind]))
    _schema(kind).validate(document)
    holder = document
    for step in path[:-1]:
        holder = holder[step]
    holder[path[-1]] = value
    assert not _schema(kind).is_valid(document)
