"""A file becomes a pack, or every mistake in it at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import tomli
from pydantic import ValidationError

from taskpack.errors import Diagnostic, NotFound, PackInvalid

from .agent import AgentPack
from .findings import Finding, Page, overlaps, without_repeats
from .header import Pack
from .kinds import KINDS, Document, Kind
from .knowledge import KnowledgePack
from .meaning import Parts, check_meaning
from .model import ModelPack
from .names import FILE
from .op import OpPack
from .pipeline import PipelinePack
from .salvage import Salvaged, frozen, salvage
from .suggest import did_you_mean
from .suite import SuitePack
from .target import TargetPack
from .task import TaskPack
from .wording import describe, word_errors

__all__ = ["FILE", "FORMAT", "Loaded", "load_pack"]

FORMAT = 1
_LARGEST = 256 << 10
_DEEPEST = 32


@dataclass(frozen=True)
class Loaded:
    """A pack that says what it must."""

    folder: Path
    file: Path
    document: Document
    text: str
    """The file's text, lines ending in LF."""
    warnings: tuple[Diagnostic, ...] = ()

    @property
    def name(self) -> str:
        return self.document.pack.name

    @property
    def version(self) -> str:
        return self.document.pack.version

    @property
    def kind(self) -> str:
        return self.document.pack.kind

    @property
    def page(self) -> Page:
        return Page(self.file.as_posix(), self.text)


def load_pack(path: Path) -> Loaded:
    """The pack at `path`, a folder or its `pack.toml`.

    Raises PackInvalid with every mistake that can be seen without other packs, and NotFound where there is no such file.
    """
    file = path / FILE if path.is_dir() else path
    try:
        content = file.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        raise NotFound(f"there is no {file}", hint="a pack is a folder with a pack.toml; `taskpack new` makes one") from None
    page, raw = _parse(file, content)
    kind = _kind(page, raw)
    try:
        document = cast("Document", kind.document.model_validate(frozen(raw)))
    except ValidationError as error:
        raise PackInvalid(_all_mistakes(page, raw, kind, file.parent, error)) from None
    diagnostics = page.place(without_repeats(check_meaning(_parts(document, file.parent))))
    if any(not diagnostic.is_warning for diagnostic in diagnostics):
        raise PackInvalid(diagnostics)
    return Loaded(file.parent, file, document, page.text, diagnostics)


def _parse(file: Path, content: bytes) -> tuple[Page, dict[str, Any]]:
    """The text and its TOML; raises PackInvalid with the first place that is not TOML."""
    name = file.as_posix()
    if len(content) > _LARGEST:
        raise PackInvalid((Diagnostic(name, 0, 0, "P001", f"the file is larger than {_LARGEST >> 10} KiB"),))
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise PackInvalid((Diagnostic(name, line, 1, "P001", f"not UTF-8: byte 0x{content[error.start]:02x} at offset {error.start}"),)) from None
    page = Page(name, text.replace("\r\n", "\n"))
    try:
        raw = tomli.loads(page.text)
    except tomli.TOMLDecodeError as error:
        message = error.msg[:1].lower() + error.msg[1:]
        found = Finding("P001", (), message, _toml_hint(text, error))
        raise PackInvalid((page.at(min(error.pos, len(page.text)), 1, found),)) from None
    except (ValueError, RecursionError) as error:
        raise PackInvalid((Diagnostic(name, 0, 0, "P001", f"it cannot be read: {error}"),)) from None
    if _is_too_deep(raw):
        raise PackInvalid((Diagnostic(name, 0, 0, "P001", f"tables and lists are nested more than {_DEEPEST} deep"),))
    return page, raw


def _is_too_deep(raw: dict[str, Any]) -> bool:
    """Whether walking through the document could exhaust the stack."""
    level: list[object] = [raw]
    for _ in range(_DEEPEST):
        level = [item for value in level if isinstance(value, dict | list) for item in (value.values() if isinstance(value, dict) else value)]
        if not level:
            return False
    return True


def _toml_hint(text: str, error: tomli.TOMLDecodeError) -> str:
    if text.startswith("\ufeff"):
        return "the file starts with a byte order mark: save it as UTF-8 without one"
    if error.msg.startswith("Illegal character '\\n'"):
        return "a text ends on the line on which it begins"
    if error.msg in ("Cannot overwrite a value", "Cannot declare ('pack',) twice"):
        return "the key stands there already"
    return "a text stands in quotes" if error.msg == "Invalid value" else ""


def _kind(page: Page, raw: dict[str, Any]) -> Kind:
    """The row of the pack's kind; raises PackInvalid where the format or kind is none that can be read."""
    said = raw.get("format")
    if type(said) is int and said != FORMAT:
        hint = "a newer taskpack can read it" if said > FORMAT else ""
        raise PackInvalid(page.place([Finding("P002", ("format",), f"the format is {said}, and this taskpack reads format {FORMAT}", hint)]))
    header = raw.get("pack")
    kind = header.get("kind") if isinstance(header, dict) else None
    if isinstance(kind, str) and kind in KINDS:
        return KINDS[kind]
    raise PackInvalid(page.place([*_format_findings(raw), *_kind_findings(raw, header, kind)]))


def _format_findings(raw: Mapping[str, Any]) -> Iterator[Finding]:
    if "format" not in raw:
        yield Finding("P002", (), "`format` is missing", f"start the file with `format = {FORMAT}`")
    elif type(raw["format"]) is not int:
        yield Finding("P002", ("format",), f"`format` is a whole number, not {describe(raw['format'])}", f"`format = {FORMAT}`")


def _kind_findings(raw: Mapping[str, Any], header: object, kind: object) -> Iterator[Finding]:
    kinds = ", ".join(f"`{name}`" for name in KINDS)
    if not isinstance(header, dict):
        yield Finding("P011", ("pack",), "the file lacks `[pack]`", "its `kind` says what the pack holds")
    elif kind is None:
        yield Finding("P011", ("pack",), "`[pack]` lacks `kind`", f"kinds: {kinds}")
        yield from _header_findings(raw)
    else:
        hint = (did_you_mean(kind, KINDS) if isinstance(kind, str) else "") or f"kinds: {kinds}"
        yield Finding("P003", ("pack", "kind"), f"there is no kind {describe(kind)}", hint)
        yield from _header_findings(raw)


def _header_findings(raw: Mapping[str, Any]) -> Iterator[Finding]:
    """What is wrong with `[pack]`, where no more of the pack can be judged; its kind aside."""
    try:
        Pack.model_validate(frozen({**raw["pack"], "kind": "op"}))
    except ValidationError as error:
        errors = [{**details, "loc": ("pack", *details["loc"])} for details in error.errors(include_url=False)]
        yield from word_errors(cast("Any", errors), raw, KINDS["op"].document)


def _parts(document: Document, folder: Path) -> Parts:
    match document:
        case ModelPack():
            return Parts(folder, document.pack, op=document.op, model=document.model, has_op_table=True)
        case OpPack():
            return Parts(folder, document.pack, op=document.op)
        case TaskPack():
            return Parts(folder, document.pack, op=document.op, task=document.task, has_op_table=document.op is not None)
        case TargetPack():
            return Parts(folder, document.pack, target=document.target)
        case SuitePack():
            return Parts(folder, document.pack, suite=document.suite)
        case AgentPack():
            return Parts(folder, document.pack, agent=document.agent)
        case PipelinePack():
            return Parts(folder, document.pack, pipeline=document.pipeline)
        case KnowledgePack():
            return Parts(folder, document.pack, knowledge=document.knowledge)


def _all_mistakes(page: Page, raw: dict[str, Any], kind: Kind, folder: Path, error: ValidationError) -> tuple[Diagnostic, ...]:
    """Mistakes of form, and those of meaning in what is sound."""
    details = [one for one in error.errors(include_url=False) if one["loc"] != ("format",)]
    form = [*_format_findings(raw), *word_errors(details, raw, kind.document)]
    return page.place(without_repeats([*form, *_meaning_of_rest(raw, kind, folder)]))


def _meaning_of_rest(raw: dict[str, Any], kind: Kind, folder: Path) -> Iterator[Finding]:
    tables: dict[str, type[Any]] = {"pack": Pack, **kind.tables}
    saved: dict[str, Salvaged[Any]] = {name: salvage(model, raw.get(name)) for name, model in tables.items() if name in raw}
    models = {name: table.model for name, table in saved.items()}
    if overlaps(("dependencies",), saved["pack"].removed if "pack" in saved else ()):
        # Whether a dependency is declared cannot be told from what is left.
        models["pack"] = None
    op = models.get("op")
    lost = _names_declared(raw.get("op")) - _names_declared(op.model_dump(by_alias=True) if op else {})
    for found in check_meaning(Parts(folder, **models, has_op_table="op" in raw, lost=frozenset(lost))):
        table = str(found.path[0])
        path = (table, *saved[table].original(found.path[1:]))
        removed = [(table, *gone) for gone in saved[table].removed]
        if not overlaps(path, removed):
            yield Finding(found.code, path, found.message, found.hint, found.on_key, found.part, found.elsewhere)


def _names_declared(op: object) -> set[str]:
    """Every name that a table `[op]` seems to declare, whatever else is wrong with it."""
    if not isinstance(op, dict):
        return set()
    names = {str(name) for table in ("dims", "dtypes", "flags") if isinstance(op.get(table), dict) for name in op[table]}
    for table in ("input", "inout", "output", "scalar"):
        rows = op.get(table)
        things = rows if isinstance(rows, list | tuple) else ()
        names |= {thing["name"] for thing in things if isinstance(thing, dict) and isinstance(thing.get("name"), str)}
    return names
