"""A pack as one file, `.tpk`: canonical ustar in gzip, and a reader that believes none of it.

There is one way to write a set of files, and the reader accepts no other: what it has parsed must encode to the bytes that it was given.
"""

from __future__ import annotations

import hashlib
import re
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from taskpack.digest import canonical_json, digest_bytes
from taskpack.errors import IntegrityError, UsageError
from taskpack.packs.names import FILE

_BLOCK = 512
_END = bytes(2 * _BLOCK)
_GZIP_HEAD = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff"
"""No name, no time, unknown system: Python's own header differs from one version to the next."""
_MODES = {0o644: b"0000644\0", 0o755: b"0000755\0"}
_SIZE = re.compile(rb"[0-7]{11}\0")

_COMPONENT = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._+-]*")
_NAME, _PREFIX, _PATH, _DEPTH = 100, 155, 200, 16
"""The widths of ustar's fields, the longest path, and how many components it may have."""
_DEVICES = frozenset({"con", "prn", "aux", "nul", *(f"{port}{number}" for port in ("com", "lpt") for number in range(1, 10))})
"""What Windows takes for a device, whatever suffix follows."""
_KINDS = {
    b"1": "a hard link",
    b"2": "a symbolic link",
    b"3": "a character device",
    b"4": "a block device",
    b"5": "a folder",
    b"6": "a pipe",
    b"7": "a contiguous file",
    b"x": "a PAX header",
    b"g": "a global PAX header",
    b"L": "a GNU long name",
    b"K": "a GNU long link",
    b"S": "a GNU sparse file",
}


class FileRefused(UsageError):
    """A file that cannot be part of a pack."""


class ArchiveInvalid(IntegrityError):
    """Bytes that are no archive of a pack, or not the only way to write one."""


@dataclass(frozen=True, order=True)
class File:
    """A regular file of a pack; orders by its path."""

    path: str
    """From the pack's folder, with forward slashes."""
    content: bytes
    mode: int = 0o644
    """0o644 or 0o755."""


@dataclass(frozen=True)
class Limits:
    """What an archive may take, in bytes and counts."""

    blob: int = 32 << 20
    inflated: int = 256 << 20
    file: int = 64 << 20
    files: int = 10_000
    ratio: int = 200
    """Inflated bytes for a byte that travels, beyond the first MiB."""


LIMITS = Limits()


def content_list(files: Iterable[File]) -> bytes:
    """What a pack is, whatever carries it: the canonical list of path, mode, size and sha256."""
    rows = [[file.path, f"{file.mode:04o}", len(file.content), hashlib.sha256(file.content).hexdigest()] for file in sorted(files)]
    return canonical_json({"format": 1, "files": rows})


def content_digest(files: Iterable[File]) -> str:
    """The digest of `content_list`: independent of tar and of the compressor."""
    return digest_bytes(content_list(files))


def write_archive(files: Iterable[File]) -> bytes:
    """The archive of `files`; raises FileRefused for paths and sizes that no archive holds.

    The tar inside is the same everywhere; the bytes of deflate are those of this machine's zlib.
    """
    ordered = sorted(files)
    if wrong := set_problem([file.path for file in ordered]) or _size_problem(ordered, LIMITS):
        raise FileRefused(wrong)
    tar = b"".join(part for file in ordered for part in (_header(file.path, len(file.content), file.mode), file.content, _padding(len(file.content)))) + _END
    deflate = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    return _GZIP_HEAD + deflate.compress(tar) + deflate.flush() + _trailer(tar)


def read_archive(blob: bytes, limits: Limits = LIMITS) -> tuple[File, ...]:
    """The files of an archive, in order; raises ArchiveInvalid. The caller has compared the digest of `blob` before."""
    tar = _inflate(blob, limits)
    files = _parse(tar, limits)
    paths = [file.path for file in files]
    if paths != sorted(set(paths)):
        raise ArchiveInvalid("the archive's files are not in order, or one is there twice")
    if wrong := set_problem(paths) or _size_problem(files, limits):
        raise ArchiveInvalid(f"the archive cannot be used: {wrong}")
    return files


def path_problem(path: str) -> str:
    """Why no pack may hold a file of this path, on whatever system it is written; empty where it may."""
    parts = path.split("/")
    shown = ascii(path)
    if len(path) > _PATH or len(parts) > _DEPTH or len(parts[-1]) > _NAME or not _split(path):
        return f"{shown[:120]} is too long or too deep: {_PATH} characters and {_DEPTH} folders at most"
    for part in parts:
        if not _COMPONENT.fullmatch(part) or part.endswith("."):
            return f"{shown} is no portable path: letters, digits and `._+-`, no part that starts or ends with a dot"
        if part.partition(".")[0].lower() in _DEVICES:
            return f"{shown} names a device on Windows"
    return ""


def set_problem(paths: Sequence[str]) -> str:
    """Why these paths cannot be the files of one pack; empty where they can."""
    if wrong := next(filter(None, map(path_problem, paths)), ""):
        return wrong
    spellings: dict[str, tuple[str, bool]] = {}
    for path in paths:
        parts = path.split("/")
        for depth in range(1, len(parts) + 1):
            this = ("/".join(parts[:depth]), depth == len(parts))
            known = spellings.setdefault(this[0].lower(), this)
            if known != this:
                return f"{path!a} and {known[0]!a} are the same place on some systems"
    return "" if FILE in paths else f"there is no {FILE} among the files"


def _size_problem(files: Sequence[File], limits: Limits) -> str:
    if len(files) > limits.files:
        return f"there are {len(files)} files, and {limits.files} may be"
    for file in files:
        if len(file.content) > limits.file:
            return f"{file.path!a} is larger than {limits.file >> 20} MiB"
    return ""


def _header(path: str, size: int, mode: int) -> bytes:
    """The one ustar header of such a file: no owner, no time."""
    prefix, name = _split(path) or ("", path)
    head = name.encode().ljust(_NAME, b"\0") + _MODES[mode] + b"0000000\0" * 2 + b"%011o\0" % size + b"0" * 11 + b"\0"
    tail = b"0" + bytes(100) + b"ustar\00000" + bytes(64) + b"0000000\0" * 2 + prefix.encode().ljust(_PREFIX, b"\0") + bytes(12)
    checksum = sum(head) + sum(b" " * 8) + sum(tail)
    return head + b"%06o\0 " % checksum + tail


def _split(path: str) -> tuple[str, str] | None:
    """Prefix and name: the whole path as the name where it fits, else the shortest prefix that will do; None where none will."""
    if len(path) <= _NAME:
        return "", path
    slash = path.find("/", len(path) - _NAME - 1)
    return (path[:slash], path[slash + 1 :]) if 0 < slash <= _PREFIX else None


def _padding(size: int) -> bytes:
    return bytes(-size % _BLOCK)


def _trailer(tar: bytes) -> bytes:
    return zlib.crc32(tar).to_bytes(4, "little") + (len(tar) & 0xFFFFFFFF).to_bytes(4, "little")


def _inflate(blob: bytes, limits: Limits) -> bytes:
    """The tar in a gzip frame as we write it; never more than `limits` allow, however much is promised."""
    if len(blob) > limits.blob:
        raise ArchiveInvalid(f"the archive is larger than {limits.blob >> 20} MiB")
    if not blob.startswith(_GZIP_HEAD):
        raise ArchiveInvalid("the archive does not start as one does: gzip without name, time, comment or extra field")
    allowed = min(limits.inflated, max(1 << 20, limits.ratio * len(blob)))
    inflate = zlib.decompressobj(-zlib.MAX_WBITS)
    try:
        tar = inflate.decompress(blob[len(_GZIP_HEAD) :], allowed + 1)
    except zlib.error:
        raise ArchiveInvalid("the archive's compressed data is broken") from None
    if len(tar) > allowed:
        raise ArchiveInvalid(f"the archive inflates to more than {allowed >> 20} MiB: {limits.ratio} times its size, {limits.inflated >> 20} MiB at most")
    if not inflate.eof:
        raise ArchiveInvalid("the archive is cut off")
    if inflate.unused_data != _trailer(tar):
        raise ArchiveInvalid("the archive's checksum is wrong, or something follows it")
    return tar


def _parse(tar: bytes, limits: Limits) -> tuple[File, ...]:
    end = len(tar) - len(_END)
    if end < 0 or end % _BLOCK or tar[end:] != _END:
        raise ArchiveInvalid("the archive does not end in two empty blocks, or something follows them")
    files: list[File] = []
    at = 0
    while at < end:
        if len(files) == limits.files:
            raise ArchiveInvalid(f"the archive holds more than {limits.files} files")
        file = _parse_file(tar, at, end)
        files.append(file)
        at += _BLOCK + len(file.content) + len(_padding(len(file.content)))
    return tuple(files)


def _parse_file(tar: bytes, at: int, end: int) -> File:
    """The file whose header starts at `at`; the header and the padding are those that `write_archive` gives it."""
    header = tar[at : at + _BLOCK]
    kind = header[156:157]
    name = header[345:500].rstrip(b"\0") + b"/" + header[:100].rstrip(b"\0")
    shown = ascii(name.strip(b"/").decode("latin-1"))[:120]
    if not header.strip(b"\0"):
        raise ArchiveInvalid("an empty block stands between the archive's files")
    if kind != b"0":
        raise ArchiveInvalid(f"{shown} is {_KINDS.get(kind, 'of an unknown kind')}: a pack holds plain files only")
    mode = next((mode for mode, spelled in _MODES.items() if header[100:108] == spelled), None)
    if mode is None:
        raise ArchiveInvalid(f"the mode of {shown} is neither 0644 nor 0755")
    if not _SIZE.fullmatch(header[124:136]):
        raise ArchiveInvalid(f"the size of {shown} is not written as eleven octal digits")
    size = int(header[124:135], 8)
    stop = at + _BLOCK + size
    if stop + len(_padding(size)) > end:
        raise ArchiveInvalid(f"{shown} is cut off")
    try:
        path = name.removeprefix(b"/").decode("ascii")
    except UnicodeDecodeError:
        raise ArchiveInvalid(f"{shown} is no portable path") from None
    if wrong := path_problem(path):
        raise ArchiveInvalid(wrong)
    if header != _header(path, size, mode) or tar[stop : stop + len(_padding(size))].strip(b"\0"):
        raise ArchiveInvalid(f"the entry of {shown} is not the one that such a file has: its checksum, owner, time or padding")
    return File(path, tar[at + _BLOCK : stop], mode)
