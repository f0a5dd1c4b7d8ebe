"""Hostile archives: each a name, how it is made, and a word of the error that it must get."""

import gzip
import io
import tarfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass

from taskpack.registry.archive import File, write_archive

HEAD = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff"
PACK = File("pack.toml", b"format = 1\n")
HONEST = write_archive([PACK, File("kernel.py", b"x = 1\n")])


@dataclass(frozen=True)
class Attack:
    name: str
    blob: Callable[[], bytes]
    word: str


def framed(tar: bytes) -> bytes:
    """A tar in a gzip frame like ours."""
    deflate = zlib.compressobj(9, zlib.DEFLATED, -15)
    body = deflate.compress(tar) + deflate.flush()
    return HEAD + body + zlib.crc32(tar).to_bytes(4, "little") + (len(tar) & 0xFFFFFFFF).to_bytes(4, "little")


def inside(blob: bytes) -> bytes:
    return gzip.decompress(blob)


def entry(name: str, content: bytes = b"x", **fields: object) -> bytes:
    """One plain ustar entry as we write it, but for `fields` of its TarInfo."""
    info = tarfile.TarInfo(name)
    info.size, info.mode = len(content), 0o644
    for field, value in fields.items():
        setattr(info, field, value)
    # Python leaves the numbers of devices empty where there is no device.
    return patched(info.tobuf(tarfile.USTAR_FORMAT), 329, b"0000000\0" * 2) + content + bytes(-len(content) % 512)


def tar(*parts: bytes) -> bytes:
    return b"".join(parts) + bytes(1024)


def library(build: Callable[[tarfile.TarFile], None], form: int) -> bytes:
    """What Python's tarfile writes, without its padding to ten KiB."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=form) as made:
        build(made)
    return out.getvalue().rstrip(b"\0").ljust((len(out.getvalue().rstrip(b"\0")) + 511) // 512 * 512, b"\0") + bytes(1024)


def patched(header: bytes, at: int, field: bytes) -> bytes:
    """An entry with other bytes at an offset of its header, and a checksum that is right again."""
    changed = bytearray(header)
    changed[at : at + len(field)] = field
    changed[148:156] = b" " * 8
    changed[148:156] = b"%06o\0 " % sum(changed[:512])
    return bytes(changed)


def link(name: str, to: str, kind: bytes) -> bytes:
    return entry(name, b"", type=kind, linkname=to)


def _pax(record: dict[str, str]) -> bytes:
    def build(made: tarfile.TarFile) -> None:
        info = tarfile.TarInfo("a")
        info.pax_headers = record
        made.addfile(info)

    return library(build, tarfile.PAX_FORMAT)


def _global_pax() -> bytes:
    return entry("g", b"20 path=elsewhere.py\n", type=tarfile.XGLTYPE)


def _long_name() -> bytes:
    return patched(entry("././@LongLink", b"", type=tarfile.GNUTYPE_LONGNAME), 124, b"%011o\0" % (1 << 30))


def _path_max() -> bytes:
    """The chain of links behind CVE-2025-4517."""
    parts, path = [], ""
    for step in "abcdefghijklmnop":
        parts += [entry(f"{path}{'d' * 90}", b"", type=tarfile.DIRTYPE), link(f"{path}{step}", "d" * 90, tarfile.SYMTYPE)]
    return tar(*parts, link("escape", "../" * 16, tarfile.SYMTYPE))


def _pair(first: str, second: str) -> bytes:
    return tar(*(entry(name) for name in sorted((first, second, "pack.toml"))))


def _raw(name: bytes) -> bytes:
    return tar(patched(entry("pack.toml"), 0, name.ljust(100, b"\0")))


def _gz_flag(flag: int, field: bytes) -> bytes:
    return HEAD[:3] + bytes([flag]) + HEAD[4:] + field + HONEST[10:]


def _bomb() -> bytes:
    return framed(tar(entry("pack.toml"), entry("z", bytes(60 << 20))))


def _million() -> bytes:
    block, digits = entry("f00000", b""), (b"%05d" % number for number in range(11_000))
    noise = b"".join(zlib.compress(number) for number in digits)
    return framed(tar(entry("a", noise), *(patched(block, 1, b"%05d" % number) for number in range(11_000))))


ODD_NAMES = {
    "dot-dot": "../evil",
    "dot-dot-inside": "a/../../evil",
    "absolute": "/etc/evil",
    "drive": "C:\\x",
    "drive-relative": "C:x",
    "unc": "\\\\server\\share",
    "backslashes": "b\\..\\c",
    "device": "nul",
    "device-with-suffix": "sub/con.txt",
    "port": "COM7.toml",
    "ends-in-a-dot": "a.",
    "ends-in-a-space": "a ",
    "empty-part": "a//b",
    "dot-part": "a/./b",
    "hidden": ".git/config",
    "newline": "a\nb",
    "escape-sequence": "a\x1b[31m",
    "dash": "-rf",
    "300-levels": "/".join("d" * 30),
}

PLAIN = [
    Attack("symlink-out", lambda: framed(tar(link("l", "..", tarfile.SYMTYPE), entry("l/evil"))), "a symbolic link"),
    Attack("symlink-inside", lambda: framed(tar(entry("a/x"), link("l", "a", tarfile.SYMTYPE))), "a symbolic link"),
    Attack("path-max-chain", lambda: framed(_path_max()), "a folder"),
    Attack("hard-link-out", lambda: framed(tar(link("h", "../../etc/passwd", tarfile.LNKTYPE))), "a hard link"),
    Attack("pipe", lambda: framed(tar(link("p", "", tarfile.FIFOTYPE))), "a pipe"),
    Attack("character-device", lambda: framed(tar(link("p", "", tarfile.CHRTYPE))), "a character device"),
    Attack("block-device", lambda: framed(tar(link("p", "", tarfile.BLKTYPE))), "a block device"),
    Attack("contiguous", lambda: framed(tar(entry("p", type=tarfile.CONTTYPE))), "a contiguous file"),
    Attack("unknown-kind", lambda: framed(tar(entry("p", type=b"Z"))), "of an unknown kind"),
    Attack("old-kind", lambda: framed(tar(entry("p", type=b"\0"))), "of an unknown kind"),
    Attack("folder", lambda: framed(tar(entry("d", b"", type=tarfile.DIRTYPE))), "a folder"),
    Attack("gnu-long-name-of-a-gib", lambda: framed(tar(_long_name())), "a GNU long name"),
    Attack("pax-path", lambda: framed(_pax({"path": "../evil"})), "a PAX header"),
    Attack("pax-size", lambda: framed(_pax({"size": "1"})), "a PAX header"),
    Attack("pax-linkpath", lambda: framed(_pax({"linkpath": "x"})), "a PAX header"),
    Attack("pax-hdrcharset", lambda: framed(_pax({"hdrcharset": "BINARY"})), "a PAX header"),
    Attack("pax-global", lambda: framed(tar(_global_pax())), "a global PAX header"),
    Attack("gnu-sparse", lambda: framed(tar(entry("s", type=tarfile.GNUTYPE_SPARSE))), "a GNU sparse file"),
    Attack("gnu-magic", lambda: framed(tar(patched(entry("pack.toml"), 257, b"ustar  \0"))), "not the one"),
    Attack("same-name-twice", lambda: framed(tar(entry("pack.toml", b"1"), entry("pack.toml", b"2"))), "there twice"),
    Attack("out-of-order", lambda: framed(tar(entry("pack.toml"), entry("a"))), "not in order"),
    Attack("file-then-folder", lambda: framed(_pair("a", "a/b")), "same place"),
    Attack("two-cases", lambda: framed(_pair("A", "a")), "same place"),
    Attack("two-cases-of-a-folder", lambda: framed(_pair("A/x", "a/y")), "same place"),
    Attack("nfc", lambda: framed(_raw("é".encode())), "no portable path"),
    Attack("right-to-left", lambda: framed(_raw("a\u202eb".encode())), "no portable path"),
    Attack("nul-inside", lambda: framed(_raw(b"a\0b")), "no portable path"),
    Attack("path-of-40-kb", lambda: framed(library(lambda made: made.addfile(tarfile.TarInfo("p" * 40_000)), tarfile.GNU_FORMAT)), "a GNU long name"),
    Attack("setuid", lambda: framed(tar(entry("pack.toml", mode=0o4755))), "the mode"),
    Attack("mode-0", lambda: framed(tar(entry("pack.toml", mode=0))), "the mode"),
    Attack("negative-size", lambda: framed(tar(patched(entry("pack.toml"), 124, b"\xff" * 12))), "eleven octal digits"),
    Attack("base-256-size", lambda: framed(tar(patched(entry("pack.toml"), 124, b"\x80" + bytes(10) + b"\1"))), "eleven octal digits"),
    Attack("size-with-spaces", lambda: framed(tar(patched(entry("pack.toml"), 124, b"          1\0"))), "eleven octal digits"),
    Attack("size-beyond-the-end", lambda: framed(tar(patched(entry("pack.toml"), 124, b"77777777777\0"))), "cut off"),
    Attack("checksum", lambda: framed(tar(entry("pack.toml")[:148] + b"000000\0 " + entry("pack.toml")[156:])), "not the one"),
    Attack("owner", lambda: framed(tar(entry("pack.toml", uid=1000))), "not the one"),
    Attack("owner-name", lambda: framed(tar(entry("pack.toml", uname="root"))), "not the one"),
    Attack("time", lambda: framed(tar(entry("pack.toml", mtime=1))), "not the one"),
    Attack("padding", lambda: framed(tar(entry("pack.toml")[:-1] + b"!")), "not the one"),
    Attack("link-name-of-a-file", lambda: framed(tar(entry("pack.toml", linkname="../x"))), "not the one"),
    Attack("no-end", lambda: framed(entry("pack.toml")), "does not end"),
    Attack("half-a-block", lambda: framed(tar(entry("pack.toml")) + b"x" + bytes(1023)), "does not end"),
    Attack("data-after-the-end", lambda: framed(tar(entry("pack.toml")) + entry("evil")), "does not end"),
    Attack("second-archive-after-the-end", lambda: framed(tar(entry("pack.toml")) + tar(entry("evil"))), "an empty block"),
    Attack("padding-to-10-kib", lambda: framed(tar(entry("pack.toml")) + bytes(8192)), "an empty block"),
    Attack("empty-block-inside", lambda: framed(tar(bytes(512), entry("pack.toml"))), "an empty block"),
    Attack("empty", lambda: framed(bytes(1024)), "no pack.toml"),
    Attack("no-manifest", lambda: framed(tar(entry("kernel.py"))), "no pack.toml"),
    Attack("no-bytes", lambda: b"", "does not start"),
    Attack("html", lambda: b"<html>sign in</html>", "does not start"),
    Attack("gzip-of-python", lambda: gzip.compress(inside(HONEST)), "does not start"),
    Attack("gzip-name", lambda: _gz_flag(8, b"name\0"), "does not start"),
    Attack("gzip-endless-name", lambda: _gz_flag(8, b"n" * 100_000), "does not start"),
    Attack("gzip-comment", lambda: _gz_flag(16, b"words\0"), "does not start"),
    Attack("gzip-extra-field", lambda: _gz_flag(4, b"\xff\xff"), "does not start"),
    Attack("gzip-twice", lambda: HONEST + HONEST, "something follows"),
    Attack("gzip-trailing-byte", lambda: HONEST + b"\0", "something follows"),
    Attack("gzip-crc", lambda: HONEST[:-8] + bytes([HONEST[-8] ^ 1]) + HONEST[-7:], "checksum"),
    Attack("gzip-size", lambda: HONEST[:-1] + bytes([HONEST[-1] ^ 1]), "checksum"),
    Attack("gzip-cut-off", lambda: HONEST[: len(HONEST) // 2], "cut off"),
    Attack("gzip-without-trailer", lambda: HONEST[:-8], "checksum"),
    Attack("gzip-noise", lambda: HEAD + b"\xff" * 100, "broken"),
    Attack("gzip-in-gzip", lambda: framed(HONEST), "does not end"),
    Attack("bomb", _bomb, "inflates to more"),
    Attack("a-million-files", _million, "more than 10000 files"),
    Attack("33-mib", lambda: HONEST + bytes(33 << 20), "larger than"),
]

_ODD = "no portable path|a device on Windows|too deep"
ATTACKS = [*PLAIN, *(Attack(name, lambda odd=odd: framed(_raw(odd.encode())), _ODD) for name, odd in ODD_NAMES.items())]
