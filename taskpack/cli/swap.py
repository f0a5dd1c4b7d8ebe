"""`taskpack swap`: judges candidates in their place in a whole model."""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path
from typing import Any

import click

from taskpack.errors import UsageError

from .places import runs_folder, shown
from .walls import Walls, wall_options

_SCALES = {"tiny": "small", "full": "full"}


@click.command("swap")
@click.argument("model", metavar="MODEL")
@click.option("--with", "pairs", multiple=True, metavar="TASK=DIR", help="A task that replaces modules of the model, and a candidate for it; repeat for more.")
@click.option("--config", type=click.Choice(list(_SCALES)), help="Only this configuration. Default: tiny on a CPU, both on a GPU.")
@click.option("--target", default="auto", show_default=True, metavar="NAME", help="Where to judge, such as cpu or h200; auto: the machine's GPU, or its CPU.")
@click.option("--seed", metavar="HEX", help="Repeat a run: the seed of its result.")
@click.option("--quick", is_flag=True, help="Measure briefly: wider intervals.")
@wall_options
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def command(model: str, pairs: tuple[str, ...], config: str | None, target: str, seed: str | None, quick: bool, walls: Walls, as_json: bool) -> int:
    """Judge candidates inside a model of a library.

    Gates: compile, interface, state-dict, parity with the library's model (its verdict is `silent-drift`), stack (`graph-break` under torch.compile) and
    throughput (`slower-in-situ`). Exits 0 if every gate passed or was left out for a stated reason, 1 if one did not. The run is kept in .taskpack/runs/.
    """
    from taskpack.models.candidates import gather
    from taskpack.packs.load import load_pack
    from taskpack.reports.text import render_result
    from taskpack.runs.judging import judge, require_torch

    from .building import build
    from .progress import Progress
    from .subjects import find_subjects

    require_torch()
    subjects = find_subjects((model,))
    if len(subjects.folders) != 1:
        raise UsageError(f"swap is for one model, and {len(subjects.folders)} packs were named")
    (folder,) = subjects.folders
    loaded = load_pack(folder)
    with tempfile.TemporaryDirectory(prefix="taskpack-") as scratch:
        gather(loaded, _split(pairs), subjects.shelf, Path(scratch))
        built = build(folder, target, subjects.shelf)
        words = ["--candidate", scratch, *(["--seed", seed] if seed else []), *(["--quick"] if quick else [])]
        words += ["--scale", _SCALES[config]] if config else []
        words += walls.words(folder, subjects.shelf)
        with Progress(loaded.name) as progress:
            result, code = judge(built.path, words, progress.hear)
        kept = _keep(result, folder, {"with": list(pairs), "config": config, "quick": quick}, Path(scratch))
    if as_json:
        click.echo(json.dumps(result, indent=1, ensure_ascii=False))
    else:
        click.echo(render_result(result, colour=True, width=max(shutil.get_terminal_size((120, 24)).columns, 72)))
        click.echo(f"kept in {shown(kept)}", err=True)
    return code


def _split(pairs: tuple[str, ...]) -> dict[str, Path]:
    given = {}
    for pair in pairs:
        task, equals, folder = pair.partition("=")
        if not (task and equals and folder):
            raise UsageError(f"--with: `{pair}` is not TASK=DIR")
        if task in given:
            raise UsageError(f"--with: `{task}` is given twice")
        given[task] = Path(folder)
    return given


def _keep(result: dict[str, Any], folder: Path, options: dict[str, Any], candidate: Path) -> Path:
    """Writes a run with one unit: the model, with what was swapped into it."""
    from taskpack.runs.folder import Header, Unit, create_run, new_folder, slot_name, unit_key, write_unit

    slot = slot_name(result["task"], 1)
    pack = {"name": result["task"], "version": result["version"]}
    header = Header("model", {"model": result["task"]}, (slot,), (pack,), result["target"], options, result["probe"])
    run = create_run(new_folder(runs_folder(folder)), header)
    files = {path.relative_to(candidate).as_posix(): path.read_bytes() for path in sorted(candidate.rglob("*")) if path.is_file()}
    write_unit(run, slot, Unit(unit_key(result, 1), result), files)
    return run.folder
