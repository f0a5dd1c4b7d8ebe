"""A new task pack from a template: one that builds, runs and passes before anything in it is changed."""

from __future__ import annotations

import builtins
import json
import keyword
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from taskpack import resources
from taskpack.errors import Conflict, NotFound, UsageError
from taskpack.made import MADE, furnish
from taskpack.packs.load import Loaded
from taskpack.packs.names import is_pack_name
from taskpack.packs.shelf import Shelf
from taskpack.packs.suggest import did_you_mean
from taskpack.packs.task import FAMILIES, Baseline, Family, TaskPack

NAMESPACE = "local"
"""Where a pack lives until it is published somewhere."""
_SHARED = "shared"
"""Below `templates/new`: what the families' templates include."""
_USED = frozenset({"torch", "triton", "tl", "log_softmax_rows"})
"""Names in the code of the templates."""
_LONGEST_SUMMARY = 200


@dataclass(frozen=True)
class _Shipped:
    """A task that ships: the new one takes over its baseline's files, and how they are called."""

    folder: Path
    pack: TaskPack

    @property
    def side(self) -> Baseline:
        return self.pack.task.baseline


def scaffold(family: str, name: str, folder: Path, shelf: Shelf, *, op: str | None = None) -> str | None:
    """Writes the task `local/NAME` into `folder`, which must not be there yet; returns the name of the op that was taken from the shelf.

    `op` is a name such as `softmax` or `ops/softmax`; left out, an op of the name NAME is taken where the shelf has one, and otherwise the
    pack holds an example op of its own. Raises UsageError for answers that cannot be, NotFound for an op or code that the shelf lacks, and
    Conflict where something is in the way.
    """
    _check_answers(family, name)
    if folder.exists() or folder.is_symlink():
        raise Conflict(f"{folder} is there already", hint="nothing is overwritten: choose another NAME, or another place with --folder")
    if not folder.parent.is_dir():
        raise NotFound(f"there is no folder {folder.parent}")
    known = _find_op(name, op, shelf)
    own = {"name": f"{NAMESPACE}/{name}", "folder": name, "symbol": _symbol(name)}
    with tempfile.TemporaryDirectory(prefix=f".{folder.name}-", dir=folder.parent) as scratch:
        if known:
            baseline, start = _find_code(FAMILIES[family], known, shelf)
            made = _render(family, own | _taken(family, known, baseline, start or baseline, shelf), Path(scratch))
            _copy_files(baseline, made)
            if start:
                _copy_files(start, made / "start")
        else:
            made = _render(family, own, Path(scratch))
        furnish(made / MADE, "task")
        _put(made, folder)
    return known.name if known else None


def families() -> tuple[str, ...]:
    """The families that have a template."""
    return tuple(sorted(path.parent.name for path in (resources.templates() / "new").glob("*/cookiecutter.json")))


def _check_answers(family: str, name: str) -> None:
    if family not in families():
        raise UsageError(f"there is no family `{family}`", hint=did_you_mean(family, families()) or f"families: {', '.join(families())}")
    if not is_pack_name(f"{NAMESPACE}/{name}"):
        raise UsageError(f"`{name}` cannot be a pack's name", hint="lower-case letters, digits and single hyphens, a letter first: `row-softmax`")


def _find_op(name: str, op: str | None, shelf: Shelf) -> Loaded | None:
    wanted = op or name
    full = wanted if "/" in wanted else f"ops/{wanted}"
    if op is None and shelf.find(full) is None:
        return None
    found = shelf.fetch(full)
    if found.kind != "op":
        raise UsageError(f"`{full}` is of the kind `{found.kind}`, not an op")
    return found


def _find_code(family: Family, op: Loaded, shelf: Shelf) -> tuple[_Shipped, _Shipped | None]:
    """The baseline, and a task to start from where the candidate speaks another language; raises NotFound where nobody wrote it."""
    subject = op.name.partition("/")[2]
    candidates = dict.fromkeys((family.candidate, *(other.candidate for other in FAMILIES.values())))
    baseline = _first([f"arena/{family.baseline}2{language}-{subject}" for language in candidates], shelf)
    start = None if family.baseline == family.candidate else _first([f"arena/{family.candidate}2{family.candidate}-{subject}"], shelf)
    if baseline is None or (start is None and family.baseline != family.candidate):
        able = [other for other in families() if shelf.find(f"arena/{other}-{subject}")]
        hint = f"another NAME makes a task with an op of its own; families with code for it: {', '.join(able) or 'none'}"
        raise NotFound(f"no pack that ships has code for `{op.name}` from which a {family.name} task could start", hint=hint)
    return baseline, start


def _first(names: list[str], shelf: Shelf) -> _Shipped | None:
    """The first of these tasks that there is."""
    for name in names:
        if shelf.find(name) is not None:
            loaded = shelf.fetch(name)
            if isinstance(loaded.document, TaskPack):
                return _Shipped(loaded.folder, loaded.document)
    return None


def _taken(family: str, op: Loaded, baseline: _Shipped, start: _Shipped, shelf: Shelf) -> dict[str, str]:
    """What the template is told where op and code come from the shelf."""
    same = _first([f"arena/{family}-{op.name.partition('/')[2]}"], shelf)
    summary = same.pack.pack.summary if same else f"{op.document.pack.summary}: {FAMILIES[family].summary}"
    return {
        "op": op.name,
        "op_requirement": "^" + ".".join(op.version.split(".")[:2]),
        "summary": _toml_text(summary[:_LONGEST_SUMMARY]),
        "doc": _toml_text((same or start).pack.task.doc),
        **_called("baseline", baseline.side),
        **_called("candidate", start.side),
    }


def _called(role: str, side: Baseline) -> dict[str, str]:
    return {
        f"{role}_files": json.dumps(side.files),
        f"{role}_entry": side.entry,
        f"{role}_arguments": json.dumps(side.arguments),
        f"{role}_style": side.style,
    }


def _toml_text(text: str) -> str:
    """The inside of a TOML string, whose escapes are those of JSON."""
    return json.dumps(text, ensure_ascii=False)[1:-1].replace("\x7f", "\\u007f")


def _symbol(name: str) -> str:
    """A name for functions in Python and C that hides nothing in the template's code."""
    symbol = name.replace("-", "_")
    return f"{symbol}_op" if keyword.iskeyword(symbol) or hasattr(builtins, symbol) or symbol in _USED else symbol


def _render(family: str, answers: Mapping[str, str], scratch: Path) -> Path:
    """The folder that cookiecutter makes from the family's template, with nothing asked, no hooks run and none of its own folders touched."""
    from cookiecutter.generate import generate_context, generate_files
    from cookiecutter.prompt import prompt_for_config

    new = resources.templates() / "new"
    template = scratch / "template"
    shutil.copytree(new / family, template)
    shutil.copytree(new / _SHARED, template / "templates" / _SHARED)  # where cookiecutter looks for what a template includes
    own = {key: answers[key] for key in ("name", "folder", "symbol")}
    context = generate_context(str(template / "cookiecutter.json"), extra_context=own)
    filled: dict[str, Any] = prompt_for_config(context, no_input=True) | dict(answers) | {"_new_lines": "\n"}
    made = generate_files(template, {"cookiecutter": filled}, output_dir=scratch / "made", accept_hooks=False)
    return Path(made)


def _copy_files(shipped: _Shipped, folder: Path) -> None:
    for file in shipped.side.files:
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(shipped.folder / file, folder / file)


def _put(made: Path, folder: Path) -> None:
    """The folder appears whole, or not at all."""
    try:
        made.rename(folder)
    except OSError as error:
        if folder.exists():
            raise Conflict(f"{folder} has appeared meanwhile") from error
        raise
