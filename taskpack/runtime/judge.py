"""A run from the harness's bytes to its result: processes, secrets, gates, evidence."""

from __future__ import annotations

import errno
import json
import os
import platform
import random
import secrets
import shutil
import stat
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from . import gates, languages, library, memory, probe, targets, weakness, zygote
from .archive import Archive, sha256
from .domains import Allowance, Failed, Worker
from .evidence import Result
from .question import Case, Expressions, PackFault, Question, Unusable
from .run import Run

_FULL_BUDGET_S, _QUICK_BUDGET_S = 4.0, 1.2
_LARGEST_SOURCE = 16 << 20
_SIDES = ("baseline", "candidate")


@dataclass(frozen=True)
class Options:
    """What the command line says."""

    candidate: Path | None = None
    seed: str | None = None
    is_quick: bool = False
    scale: str | None = None
    against: Path | None = None
    """Another candidate, which takes the baseline's place."""


@dataclass
class Court:
    """The processes and folders of one run; `close` leaves nothing of them."""

    archive: Archive
    plan: dict[str, Any]
    root: Path
    parent: zygote.Zygote
    workers: list[Worker] = field(default_factory=list)

    def open_worker(self, role: str, files: dict[str, bytes]) -> Worker:
        """A worker whose scratch folder holds the files in `source/`."""
        scratch = self.root / f"{role}-{len(self.workers)}"
        _write_files(scratch / "source", files)
        limits = self.plan["limits"]
        process = self.parent.spawn(role, scratch, limits["memory_mib"])
        worker = Worker(process, Allowance(limits["memory_mib"], limits["output_mib"]))
        self.workers.append(worker)
        return worker

    def open_reference(self) -> Worker:
        """The reference's worker, loaded; raises PackFault."""
        declared = self.plan["reference"]
        functions = [("reference", declared["file"], declared["entry"])] if declared["file"] else []
        if declared["generator"]:
            functions.append(("generator", *declared["generator"].split(":")))
        worker = self.open_worker("reference", self.archive.read_below("pack/reference"))
        device = self.plan["target"]["device"]
        where = {"home": memory.home(device), "is_single_threaded": device == "cpu"}
        try:
            worker.ask("load", 4 * self.plan["limits"]["call_s"], functions=functions, module=self.plan.get("module"), **where)
        except Failed as error:
            raise PackFault(f"the reference {error.reason}") from error
        return worker

    def close(self) -> None:
        for worker in self.workers:
            with suppress(OSError):
                worker.close()
        self.parent.close()
        for folder in (self.root, _private_cache(self.root)):
            shutil.rmtree(folder, ignore_errors=True)


def open_court(archive: Archive, plan: dict[str, Any], forget: Callable[[], None], *, has_sides: bool = True) -> Court:
    """Forks the warm parent; to be called before anything secret exists. `forget` clears the caller's frames in it. Without sides, for the reference alone."""
    root = Path(tempfile.mkdtemp(prefix="taskpack-"))
    names = tuple(dict.fromkeys(plan[side]["language"] for side in _SIDES)) if has_sides else ()
    return Court(archive, plan, root, zygote.start(root, (archive.path,), names, plan["target"]["device"], forget))


def judge(court: Court, expressions: Expressions, options: Options, harness_digest: str, note: Callable[..., None]) -> Result:
    """Runs every gate. Raises Unusable and targets.Absent before the first one."""
    plan = court.plan
    candidate, missing = _candidate_files(court, options)
    targets.require(plan["target"], [plan[side]["language"] for side in _SIDES])
    for module in _modules(plan):
        library.require(module)
    if plan["target"]["device"] == "cpu":
        torch.set_num_threads(1)  # threads that wait for the judge's next operation would take time from what is measured
    cache = _cache_folder(court.root)
    question = _question(court, expressions, options)
    _write_files(question.folder, {name: content for name, content in court.archive.read_below("pack/reference").items() if not name.endswith(".py")})
    for side in _SIDES:
        languages.language(plan[side]["language"]).warm(question.device, question.warp_size, cache, lambda text: note("note", text=text))
    seed = _seed(options)
    baseline = _baseline_files(court, options)
    sources = {"baseline": baseline, "candidate": candidate}
    opened: list[Worker] = []

    def reference() -> Worker:
        if not opened:
            opened.append(court.open_reference())
        return opened[0]

    run = Run(
        question,
        rng=random.Random(f"{seed}/checks"),
        open_side=lambda side: court.open_worker(side, sources[side]),
        reference=reference,
        unsupported=lambda case: _unsupported(question, case),
        note=note,
        cache=cache,
        timing_rng=random.Random(f"{seed}/timing"),
        timing_budget_s=_QUICK_BUDGET_S if options.is_quick else _FULL_BUDGET_S,
        is_quick=options.is_quick,
        missing_files=missing,
        sources=candidate,
        swaps=_given_swaps(plan, candidate),
    )
    gates.run_gates(run)
    header = _header(court, harness_digest, seed, sources, options)
    header |= run.facts
    findings = tuple(finding.to_dict() for finding in run.findings) if "rules" in plan["gates"] else None
    return Result(header, tuple(run.gates), tuple(run.cases), tuple(run.timing), run.speedup, _testimony(run), findings)


def probe_task(court: Court, expressions: Expressions, options: Options, note: Callable[..., None]) -> dict[str, Any]:
    """What wrong answers the task refuses: the reference alone is run. Raises Unusable, PackFault and what `judge` raises of a library."""
    plan = court.plan
    if "model" in plan:
        raise Unusable("a model is judged by a measured noise floor, and has no tolerance that mutants could be held against")
    if plan["target"]["device"] != "cpu":
        raise Unusable("a task is probed on a CPU: build it for targets/cpu")
    for module in _modules(plan):
        library.require(module)
    torch.set_num_threads(1)
    question = _question(court, expressions, options)
    _write_files(question.folder, {name: content for name, content in court.archive.read_below("pack/reference").items() if not name.endswith(".py")})
    seed = _seed(options)
    found = weakness.Prober(question, court.open_reference(), random.Random(f"{seed}/checks")).probe(note)
    return {"format": 1, "kind": "probe", "task": plan["task"], "version": plan["version"], "target": plan["target"]["name"], "seed": seed, **found}


def _question(court: Court, expressions: Expressions, options: Options) -> Question:
    question = Question(court.plan, expressions, court.root / "data", options.scale)
    if not question.seen_cases():
        raise Unusable(f"{court.plan['target']['name']} is asked no case of the scale `{options.scale}`")
    return question


def _candidate_files(court: Court, options: Options) -> tuple[dict[str, bytes], list[str]]:
    """The files of the candidate that is judged, and what is wrong with the others, in words that continue "the candidate"."""
    names, start = court.plan["candidate"]["files"], court.plan["candidate"]["start"]
    if options.candidate is None:
        if start is None:
            raise Unusable("this task has no candidate of its own: say which one with --candidate DIR")
        return {name: court.archive.read(f"pack/{start}/{name}") for name in names}, []
    if not options.candidate.is_dir():
        raise Unusable(f"--candidate: {options.candidate} is not a folder")
    read = {name: _read_source(options.candidate / name) for name in names}
    found = {name: content for name, content in read.items() if isinstance(content, bytes)}
    if "model" in court.plan:
        if not found:
            raise Unusable(f"nothing is replaced: {options.candidate} holds none of {', '.join(swap['folder'] for swap in court.plan['model']['swaps'])}")
        names = [name for name in names if (options.candidate / name).parent.is_dir()]
    return found, [why.format(f"`{name}`") for name, why in read.items() if isinstance(why, str) and name in names]


def put_against(plan: dict[str, Any]) -> dict[str, Any]:
    """The plan with another candidate in the baseline's place: written, called and run as a candidate is."""
    side = plan["candidate"]
    return {**plan, "baseline": {key: value for key, value in side.items() if key != "start"}, "execution": side["execution"]}


def _baseline_files(court: Court, options: Options) -> dict[str, bytes]:
    if options.against is None:
        return {name: court.archive.read(f"pack/baseline/{name}") for name in court.plan["baseline"]["files"]}
    read = {name: _read_source(options.against / name) for name in court.plan["candidate"]["files"]}
    for name, why in read.items():
        if isinstance(why, str):
            raise Unusable(f"--against: {options.against} {why.format(f'`{name}`')}")
    return {name: content for name, content in read.items() if isinstance(content, bytes)}


def _given_swaps(plan: dict[str, Any], candidate: dict[str, bytes]) -> list[dict[str, Any]]:
    """Of a model: those swaps of which there are files."""
    return [swap for swap in plan["model"]["swaps"] if any(name.startswith(f"{swap['folder']}/") for name in candidate)] if "model" in plan else []


def _read_source(path: Path) -> bytes | str:
    """A regular file's content, or why there is none; a link might lead to what a candidate must not hold."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        return "has no file {}"
    except OSError as error:
        return (
            "has a link in the place of {}, and a candidate's files are its own"
            if error.errno == errno.ELOOP
            else f"has a file {{}} that cannot be read: {error.strerror}"
        )
    try:
        state = os.fstat(descriptor)
        if not stat.S_ISREG(state.st_mode):
            return f"has {'a folder' if stat.S_ISDIR(state.st_mode) else 'no regular file'} in the place of {{}}"
        if state.st_size > _LARGEST_SOURCE:
            return f"has a file {{}} of {state.st_size >> 20} MiB, and {_LARGEST_SOURCE >> 20} MiB are the most"
        with os.fdopen(os.dup(descriptor), "rb") as file:
            return file.read()
    finally:
        os.close(descriptor)


def _seed(options: Options) -> str:
    """128 bits in hexadecimal, drawn after the warm parent was forked."""
    if options.seed is None:
        return secrets.token_hex(16)
    try:
        return bytes.fromhex(options.seed).hex()
    except ValueError:
        raise Unusable(f"--seed: `{options.seed}` is not hexadecimal") from None


def _cache_folder(root: Path) -> Path:
    """Outlives the run where the home folder can be written."""
    base = os.environ.get("TASKPACK_CACHE") or Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser(), "taskpack")
    cache = Path(base).absolute() / "runtime"
    with suppress(OSError):
        cache.mkdir(parents=True, exist_ok=True)
    if not os.access(cache, os.W_OK):
        cache = _private_cache(root)
        cache.mkdir()
    return cache


def _private_cache(root: Path) -> Path:
    """Beside the run's folder, of which workers see only their own part."""
    return root.with_name(f"{root.name}-cache")


def _unsupported(question: Question, case: Case) -> str | None:
    """What the candidate's language says of the dtypes of a case."""
    ask = getattr(languages.language(question.plan["candidate"]["language"]), "unsupported", None)
    if ask is None:
        return None
    dtypes = sorted({question.dtype(a, case) for a in question.tensors()})
    return next((why for dtype in dtypes if (why := ask(dtype, question.device))), None)


def _is_same(plan: dict[str, Any], sources: dict[str, dict[str, bytes]]) -> bool:
    baseline, candidate = ((sources[side], plan[side]["language"], plan[side]["entry"], plan[side]["style"]) for side in _SIDES)
    return baseline == candidate


def _header(court: Court, harness_digest: str, seed: str, sources: dict[str, dict[str, bytes]], options: Options) -> dict[str, Any]:
    plan = court.plan
    device = plan["target"]["device"]
    toolchain = {"python": platform.python_version()}
    for side in _SIDES:
        toolchain |= languages.language(plan[side]["language"]).toolchain(device)
    toolchain |= {module["provider"]: library.installed_version(module) for module in _modules(plan)}
    digests = {
        "task": plan["digests"]["task"],
        "harness": harness_digest,
        "cases": {case["id"]: case["digest"] for case in plan["cases"]},
        "candidate": _digest_files(sources["candidate"]),
        "seed": sha256(bytes.fromhex(seed)),
    }
    if options.against:
        digests["against"] = _digest_files(sources["baseline"])
    return {
        "task": plan["task"],
        "version": plan["version"],
        "target": plan["target"]["name"],
        "family": plan["family"],
        "digests": digests,
        "seed": seed,
        "execution": plan["execution"],
        "isolation": court.parent.isolation,
        "candidate_is_baseline": _is_same(plan, sources),
        "probe": probe.probe(gpus=device != "cpu"),
        "toolchain": toolchain,
    }


def _modules(plan: dict[str, Any]) -> list[dict[str, Any]]:
    """The library's classes that the plan names."""
    swaps = plan["model"]["swaps"] if "model" in plan else []
    return [*([plan["module"]] if "module" in plan else []), *(swap["module"] for swap in swaps)]


def _digest_files(files: dict[str, bytes]) -> str:
    """Of the canonical JSON of path → digest."""
    table = {name: sha256(content) for name, content in files.items()}
    return sha256(json.dumps(table, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode())


def _testimony(run: Run) -> dict[str, str]:
    stdout, stderr = run.workers["candidate"].testimony() if "candidate" in run.workers else ("", "")
    return {"stdout": stdout, "stderr": stderr, "log": run.log}


def _write_files(folder: Path, files: dict[str, bytes]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
