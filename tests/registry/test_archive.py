"""Archives: one way to write them, and no other is read."""

import gzip
import hashlib
import io
import os
import subprocess
import sys
import tarfile
import threading
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taskpack.errors import Exit, IntegrityError
from taskpack.registry.archive import ArchiveInvalid, File, FileRefused, Limits, content_digest, path_problem, read_archive, write_archive
from taskpack.registry.extract import COMPLETE, extract, verify
from taskpack.registry.gather import choose_files, read_files

from .attacks import ATTACKS, HONEST, PACK, Attack, framed, inside

FILES = (File("kernel.cpp", b"int x;\n"), PACK, File("sub/run", b"#!/bin/sh\n", 0o755), File(f"{'deep-' * 19}/{'name-' * 19}x.py", b""))


def test_what_is_written_is_read() -> None:
    assert read_archive(write_archive(FILES)) == tuple(sorted(FILES))
    assert write_archive(reversed(FILES)) == write_archive(FILES)


def test_others_read_it_too(tmp_path: Path) -> None:
    with tarfile.open(fileobj=io.BytesIO(write_archive(FILES)), mode="r:gz") as tar:
        assert {member.name: tar.extractfile(member).read() for member in tar} == {file.path: file.content for file in FILES}  # type: ignore[union-attr]
    (tmp_path / "x.tpk").write_bytes(write_archive(FILES))
    assert len(subprocess.run(["tar", "tzf", tmp_path / "x.tpk"], capture_output=True, text=True, check=True).stdout.splitlines()) == len(FILES)


def test_the_tar_inside_is_the_same_for_ever() -> None:
    """Golden: a changed byte would change nothing that is published, and make it unreadable."""
    assert hashlib.sha256(gzip.decompress(HONEST)).hexdigest() == "277d6312fe906e05e0ca8470eba1fc0a52f492b1b88298510f08dac38b84c6f9"
    assert content_digest(FILES) == "sha256:096ea4fa46ddb58677cb9fbcaa4c3ec71592a0ddb58d9546c8ff176d209992db"


def test_the_content_is_framed_and_knows_modes() -> None:
    one = content_digest([PACK, File("a", b"bc")])
    assert len({one, content_digest([PACK, File("ab", b"c")]), content_digest([PACK, File("a", b"bc", 0o755)]), content_digest([PACK])}) == 4


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_attacks_get_a_named_error_at_once(attack: Attack) -> None:
    blob = attack.blob()
    started = time.process_time()
    with pytest.raises(ArchiveInvalid, match=attack.word) as caught:
        read_archive(blob)
    assert time.process_time() - started < 1
    assert caught.value.exit_code == Exit.INTEGRITY
    assert caught.value.message.isprintable()


def test_limits_are_counted_before_they_are_reached() -> None:
    blob = write_archive(FILES)
    for limits in (Limits(blob=10), Limits(inflated=1000), Limits(files=3), Limits(file=3)):
        with pytest.raises(ArchiveInvalid):
            read_archive(blob, limits)


def _mutate(data: st.DataObject, content: bytes) -> bytes:
    """Some bytes changed, cut out, or repeated."""
    changed = bytearray(content)
    for _ in range(data.draw(st.integers(1, 4))):
        at, length = data.draw(st.integers(0, len(changed) - 1)), data.draw(st.sampled_from([1, 1, 1, 8, 512]))
        match data.draw(st.sampled_from(["set", "set", "set", "cut", "repeat"])):
            case "set":
                changed[at : at + length] = data.draw(st.binary(min_size=length, max_size=length))
            case "cut" if len(changed) > length:
                del changed[at : at + length]
            case _:
                changed[at:at] = changed[at : at + length]
    return bytes(changed)


def _is_refused_or_means_the_same(blob: bytes) -> None:
    """Or holds other files, of which these are the only archive: then somebody wrote it so, and its digest is another."""
    try:
        files = read_archive(blob)
    except ArchiveInvalid:
        return
    assert inside(write_archive(files)) == inside(blob)
    assert not any(path_problem(file.path) for file in files)


@settings(max_examples=300)
@given(st.data())
def test_mutated_archives_are_refused_or_canonical(data: st.DataObject) -> None:
    is_deep = data.draw(st.booleans())
    _is_refused_or_means_the_same(framed(_mutate(data, inside(HONEST))) if is_deep else _mutate(data, HONEST))


@pytest.mark.slow
@pytest.mark.timeout(1200)
@settings(max_examples=20_000)
@given(st.data())
def test_many_mutated_archives(data: st.DataObject) -> None:
    is_deep = data.draw(st.booleans())
    _is_refused_or_means_the_same(framed(_mutate(data, inside(HONEST))) if is_deep else _mutate(data, HONEST))


@given(st.text(max_size=30))
def test_paths_that_do_are_portable(path: str) -> None:
    if not path_problem(path):
        assert path.isascii()
        assert not {".", ".."} & set(path.split("/"))


def _pack(folder: Path, **files: bytes) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "pack.toml").write_bytes(PACK.content)
    for name, content in files.items():
        (folder / name.replace("__", "/").replace("_", ".")).write_bytes(content)
    return folder


def test_what_travels_is_named_one_by_one(tmp_path: Path) -> None:
    folder = _pack(tmp_path / "p", kernel_py=b"x = 1\n", kernel_pyc=b"", old_py=b"")
    for hidden in (".taskpack/build", ".git", "__pycache__", "sub"):
        (folder / hidden).mkdir(parents=True)
        (folder / hidden / "thing").write_text("x")
    (folder / ".env").write_text("TOKEN=1")
    chosen = choose_files(folder)
    assert chosen.paths == ("kernel.py", "old.py", "pack.toml", "sub/thing")
    assert chosen.left_out == (".env", ".git/", ".taskpack/", "__pycache__/", "kernel.pyc")


def test_what_git_ignores_stays(tmp_path: Path) -> None:
    folder = _pack(tmp_path / "p", kernel_py=b"", notes_txt=b"")
    (folder / "data").mkdir()
    (folder / "data" / "x").write_text("x")
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    (tmp_path / ".gitignore").write_text("notes.txt\ndata/\n")
    assert choose_files(folder).paths == ("kernel.py", "pack.toml")
    (tmp_path / ".gitignore").write_text("p/\n")
    assert len(choose_files(folder).paths) == 4, "a pack that is ignored as a whole is still a pack"


@pytest.mark.parametrize("name", ["key.pem", "id_rsa", "prod.env", "credentials.json"])
def test_files_that_look_like_secrets_are_refused(name: str, tmp_path: Path) -> None:
    folder = _pack(tmp_path)
    (folder / name).write_text("x")
    with pytest.raises(FileRefused, match="secret"):
        choose_files(folder)


@pytest.mark.parametrize("content", ["-----BEGIN " + "RSA PRIVATE KEY-----", "a = '" + "AKIA" + "ABCDEFGHIJKLMNOP'", "ghp" + "_" + "a" * 36])
def test_content_that_looks_like_a_secret_is_refused(content: str, tmp_path: Path) -> None:
    folder = _pack(tmp_path, config_py=content.encode())
    with pytest.raises(FileRefused, match="looks like a secret"):
        read_files(folder, ["config.py"])


def test_links_and_pipes_are_refused(tmp_path: Path) -> None:
    folder = _pack(tmp_path / "p")
    (folder / "link").symlink_to("/etc/hostname")
    with pytest.raises(FileRefused, match="symbolic link"):
        choose_files(folder)
    (folder / "link").unlink()
    (folder / "link").symlink_to("/etc")
    for path in ("link/hostname", "link"):
        with pytest.raises(FileRefused, match="no plain file"):
            read_files(folder, [path])
    os.mkfifo(folder / "pipe")
    with pytest.raises(FileRefused, match="no plain file"):
        read_files(folder, ["pipe"])


def test_hard_links_are_files(tmp_path: Path) -> None:
    folder = _pack(tmp_path, a_py=b"x")
    (folder / "b.py").hardlink_to(folder / "a.py")
    assert [file.content for file in read_files(folder, ["a.py", "b.py"])] == [b"x", b"x"]


def test_crlf_is_refused_in_text_only(tmp_path: Path) -> None:
    folder = _pack(tmp_path, a_bin=b"a\r\n", a_py=b"a\nb\r\n")
    read_files(folder, ["a.bin"])
    with pytest.raises(FileRefused, match="line 2 in CRLF"):
        read_files(folder, ["a.py"])


def test_a_file_that_changes_while_it_is_read(tmp_path: Path) -> None:
    folder = _pack(tmp_path, big_bin=bytes(20 << 20))
    done = threading.Event()

    def write() -> None:
        with (folder / "big.bin").open("r+b") as file:
            while not done.is_set():
                file.seek(0)
                file.write(os.urandom(8))
                file.flush()

    writer = threading.Thread(target=write)
    writer.start()
    try:
        with pytest.raises(FileRefused, match="changed while"):
            read_files(folder, ["big.bin"] * 100)
    finally:
        done.set()
        writer.join()


def test_writing_refuses_what_reading_would(tmp_path: Path) -> None:
    for files in ([File("a.py", b"")], [PACK, File("nul", b"")], [PACK, File("A", b""), File("a", b"")]):
        with pytest.raises(FileRefused):
            write_archive(files)


def test_equal_bytes_on_other_machines(tmp_path: Path) -> None:
    """Other times, umask, zone, locale and order of folders: the same bytes."""
    blobs = set()
    code = "import sys, pathlib; from taskpack.registry import archive, gather; f = pathlib.Path(sys.argv[1])\n"
    code += "sys.stdout.buffer.write(archive.write_archive(gather.read_files(f, gather.choose_files(f).paths)))"
    for number, (umask, zone) in enumerate([(0o022, "UTC"), (0o077, "Asia/Tokyo")]):
        old = os.umask(umask)
        folder = _pack(tmp_path / str(number), **dict(sorted({"b_py": b"1", "a_py": b"2"}.items(), reverse=bool(number))))
        os.utime(folder / "a.py", (number, number))
        env = os.environ | {"TZ": zone, "PYTHONHASHSEED": str(number), "LC_ALL": "C"}
        blobs.add(subprocess.run([sys.executable, "-c", code, folder], env=env, capture_output=True, check=True).stdout)
        os.umask(old)
    assert len(blobs) == 1


def test_extraction_is_whole_and_can_be_verified(tmp_path: Path) -> None:
    target = tmp_path / "cache" / "x"
    extract(FILES, target)
    verify(target, content_digest(FILES))
    assert sorted(path.name for path in target.iterdir()) == [COMPLETE, "deep-" * 19, "kernel.cpp", "pack.toml", "sub"]
    assert (target / "sub/run").stat().st_mode & 0o111
    extract(FILES, target)
    assert [path.name for path in target.parent.iterdir()] == ["x"], "nothing is left beside it"


@pytest.mark.parametrize("harm", ["flip", "add", "remove", "marker", "list", "link"])
def test_a_folder_that_was_altered_is_not_used(harm: str, tmp_path: Path) -> None:
    target = tmp_path / "x"
    extract(FILES, target)
    match harm:
        case "flip":
            (target / "kernel.cpp").write_bytes(b"int y;\n")
        case "add":
            (target / "sub" / "new.py").write_bytes(b"")
        case "remove":
            (target / "kernel.cpp").unlink()
        case "marker":
            (target / COMPLETE).unlink()
        case "list":
            (target / COMPLETE).write_bytes(b"{}")
        case "link":
            target.rename(tmp_path / "y")
            target.symlink_to(tmp_path / "y")
    with pytest.raises(IntegrityError, match="altered"):
        verify(target, content_digest(FILES))
    with pytest.raises(IntegrityError, match="altered"):
        extract(FILES, target)


def test_extraction_does_not_write_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "x").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(IntegrityError):
        extract(FILES, tmp_path / "x")
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_many_extract_the_same(tmp_path: Path) -> None:
    code = "import sys, pathlib; from taskpack.registry import archive, extract\n"
    code += "extract.extract(archive.read_archive(sys.stdin.buffer.read()), pathlib.Path(sys.argv[1]))"
    running = [subprocess.Popen([sys.executable, "-c", code, tmp_path / "c" / "x"], stdin=subprocess.PIPE) for _ in range(4)]
    for process in running:
        assert process.stdin
        process.stdin.write(write_archive(FILES))
        process.stdin.close()
    assert [process.wait() for process in running] == [0] * 4
    verify(tmp_path / "c" / "x", content_digest(FILES))
    assert len(list((tmp_path / "c").iterdir())) == 1
