"""`taskpack publish`: what is printed, and the exit codes."""

import json
import shutil
from pathlib import Path

from .conftest import PACKS, Taskpack


def _pack(to: Path) -> Path:
    shutil.copytree(PACKS / "ops/reduce-sum", to, ignore=shutil.ignore_patterns(".taskpack"))
    _edit(to, "ops/reduce-sum", "demo/sum")
    return to


def _edit(pack: Path, old: str, new: str) -> None:
    file = pack / "pack.toml"
    assert old in file.read_text()
    file.write_text(file.read_text().replace(old, new))


def test_a_dry_run_and_the_real_one_say_the_same(taskpack: Taskpack, tmp_path: Path) -> None:
    pack = _pack(tmp_path / "sum")
    tried = taskpack("publish", "--index", tmp_path / "index", "--dry-run", "--json", cwd=pack)
    assert tried.code == 0
    assert not (tmp_path / "index").exists()
    done = taskpack("publish", "--index", tmp_path / "index", "--json", cwd=pack)
    assert done.code == 0
    said, did = json.loads(tried.out), json.loads(done.out)
    for document in (said, did):
        document["event"].pop("at")
        document.pop("status")
    assert said == did
    assert json.loads((tmp_path / "index/pkg/demo/sum/log/00000001.json").read_text())["content"] == did["content"]
    again = taskpack("publish", pack, "--index", tmp_path / "index")
    assert (again.code, again.out.splitlines()[-1]) == (0, "demo/sum 1.0.0: already published, with the same content")


def test_exit_codes(taskpack: Taskpack, tmp_path: Path) -> None:
    pack, index = _pack(tmp_path / "sum"), tmp_path / "index"
    assert taskpack("publish", pack, "--index", index).code == 0
    _edit(pack, "rows = 96", "rows = 97")
    other = taskpack("publish", pack, "--index", index)
    assert other.code == 4
    assert "`pack.toml` differs" in other.err
    _edit(pack, '"1.0.0"', '"1.0.1"')
    refused = taskpack("publish", pack, "--index", index, "--json")
    assert refused.code == 1
    assert json.loads(refused.out)["status"] == "refused"
    assert "case `square` changed" in refused.err
    assert taskpack("publish", pack, "--index", tmp_path / "sum").code == 2
    assert taskpack("publish", "demo/none", "--index", index).code == 3
    (pack / "pack.toml").write_text("format = 1\n")
    broken = taskpack("publish", pack, "--index", index)
    assert broken.code == 2
    assert "error[P011]" in broken.err
