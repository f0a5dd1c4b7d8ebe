"""Many publishers at once, and publishers that are killed: nothing is lost, nothing is published twice, and others go on."""

import random
import re
import shutil
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from taskpack.registry.archive import content_digest
from taskpack.registry.index import FolderStore, fetch_files
from taskpack.registry.log import Log, read_log, replay

NAME = "demo/many"

_APPENDS = """
import random, sys
from pathlib import Path
from taskpack.digest import digest_bytes
from taskpack.registry.archive import File, content_digest, write_archive
from taskpack.registry.event import Release
from taskpack.registry.index import begin_folder, put_blob
from taskpack.registry.log import append

folder, prefix, count = sys.argv[1:]
store = begin_folder(Path(folder)).store
print("ready", flush=True)
for number in range(int(count)):
    version = f"{prefix}.{number}.0"
    # A few KiB that no compressor makes small, so that there is something to be killed in.
    files = [File("pack.toml", version.encode()), File("data", random.Random(version).randbytes(20_000))]
    blob = write_archive(files)
    release = Release(version, "op", "words", "MIT", content_digest(files), digest_bytes(blob), len(blob), {})

    def decide(log):
        if version in log.releases:
            return None
        put_blob(store, blob)
        return release

    event, _ = append(store, "demo/many", decide)
    print("new" if event else "there", flush=True)
"""

_PUBLISHES = """
import re, sys
from pathlib import Path
from taskpack.errors import Conflict
from taskpack.publishing.publish import PublishRefused, publish
from taskpack.registry.index import begin_folder
from taskpack.registry.log import replay
from taskpack.packs.versions import parse_version

folder, mine, count = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
index, toml = begin_folder(folder), mine / "pack.toml"
done = 0
while done < count:
    log = replay(index.store, "demo/sum")
    patch = max((parse_version(version).patch for version in log.releases), default=-1) + 1
    text = re.sub(r'version = "[^"]*"', f'version = "1.0.{patch}"', toml.read_text(), count=1)
    toml.write_text(re.sub(r'summary = ".*"', f'summary = "{mine.name} {done}"', text))
    try:
        done += publish(mine, index).event is not None
    except (Conflict, PublishRefused):
        continue
"""


def _start(code: str, *words: object) -> "subprocess.Popen[str]":
    return subprocess.Popen([sys.executable, "-c", code, *map(str, words)], stdout=subprocess.PIPE, text=True)


def _is_sound(index: Path, name: str = NAME) -> Log:
    """Everything in the log is valid, can be fetched, and is what the hint leads to."""
    store = FolderStore(index)
    log = replay(store, name)
    assert dict(log.voids) == {}
    for _, release in log.releases.values():
        assert content_digest(fetch_files(store, release)) == release.content
    assert read_log(store, name).releases == log.releases
    return log


def test_four_publishers_lose_nothing(tmp_path: Path) -> None:
    said = [process.communicate()[0].split() for process in [_start(_APPENDS, tmp_path, number, 10) for number in range(4)]]
    assert Counter(word for words in said for word in words) == {"ready": 4, "new": 40}
    assert len(_is_sound(tmp_path).releases) == 40


def test_a_version_is_published_once_however_many_try(tmp_path: Path) -> None:
    said = [process.communicate()[0].split() for process in [_start(_APPENDS, tmp_path, 1, 10) for _ in range(4)]]
    assert Counter(word for words in said for word in words) == {"ready": 4, "new": 10, "there": 30}
    assert _is_sound(tmp_path).seq == 10


def _kill(index: Path, prefix: int, chance: random.Random) -> None:
    """A publisher that is killed somewhere in its work."""
    with _start(_APPENDS, index, prefix, 1000) as process:
        assert process.stdout
        assert process.stdout.readline() == "ready\n"
        time.sleep(chance.uniform(0, 0.03))
        process.kill()


@pytest.mark.parametrize("kills", [12, pytest.param(200, marks=pytest.mark.slow)])
def test_killed_publishers_leave_an_index_that_others_go_on_with(kills: int, tmp_path: Path) -> None:
    chance = random.Random(7)
    for number in range(kills):
        _kill(tmp_path, number, chance)
    before = _is_sound(tmp_path)
    assert before.releases
    said = _start(_APPENDS, tmp_path, 5000, 3).communicate()[0].split()
    assert said == ["ready", "new", "new", "new"]
    assert _is_sound(tmp_path).seq == before.seq + 3


def test_the_first_of_many_begins_the_index(tmp_path: Path) -> None:
    running = [_start(_APPENDS, tmp_path / "index", number, 1) for number in range(4)]
    assert [process.communicate()[0].split() for process in running] == [["ready", "new"]] * 4


@pytest.mark.slow
def test_whole_publishers_take_turns(op: Path, tmp_path: Path) -> None:
    """With all rules: each waits for no one, and asks them again whenever somebody else was quicker."""
    copies = [Path(shutil.copytree(op, tmp_path / f"author-{number}")) for number in range(4)]
    running = [_start(_PUBLISHES, tmp_path / "index", copy, 10) for copy in copies]
    assert [(process.communicate()[0], process.returncode) for process in running] == [("", 0)] * 4
    log = _is_sound(tmp_path / "index", "demo/sum")
    assert list(log.releases) == [f"1.0.{number}" for number in range(40)]
    authors = Counter(re.sub(r" \d+", "", release.summary) for _, release in log.releases.values())
    assert set(authors.values()) == {10}
