"""What a worker may see and use: namespaces where the kernel lends them, limits, a scrubbed environment, and death on every path."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import os
import platform
import resource
import signal
import sys
import tempfile
import time
import types
import zipimport
from collections.abc import Iterable, Iterator
from pathlib import Path

NAMESPACES, PROCESS = "namespaces", "process"
"""The levels of isolation, as the evidence names them."""

_libc = ctypes.CDLL(None, use_errno=True)
# linux/sched.h, linux/mount.h, linux/prctl.h
_NEW_USER, _NEW_MOUNT, _NEW_PID, _NEW_NET, _NEW_IPC = 0x10000000, 0x00020000, 0x20000000, 0x40000000, 0x08000000
_NOSUID, _NODEV, _NOEXEC, _BIND, _REC, _PRIVATE = 0x2, 0x4, 0x8, 0x1000, 0x4000, 1 << 18
_SYS_MOUNT_SETATTR, _AT_FDCWD, _AT_RECURSIVE, _ATTR_RDONLY = 442, -100, 0x8000, 1
_SYS_KEYCTL, _KEYCTL_JOIN_SESSION = {"x86_64": 250, "aarch64": 219}, 1
_PR_SET_PDEATHSIG, _PR_CAPBSET_DROP, _PR_SET_SUBREAPER, _PR_SET_NO_NEW_PRIVS = 1, 24, 36, 38
_CAPABILITY_VERSION_3 = 0x20080522

_KEPT = frozenset({"PATH", "LANG", "LANGUAGE", "TZ", "CC", "CXX", "LD_LIBRARY_PATH", "PYTHONHASHSEED", "PYTHONWARNINGS"})
_KEPT |= {"CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "LIBRARY_PATH"}
_KEPT_PREFIXES = ("LC_", "OMP_", "MKL_", "OPENBLAS_", "KMP_", "GOMP_", "CUDA_", "HIP_", "ROCM_", "ROCR_", "HSA_", "ZE_", "ONEAPI_", "NVIDIA_", "TRITON_")


class _MountAttributes(ctypes.Structure):
    """struct mount_attr of linux/mount.h."""

    _fields_ = (("set", ctypes.c_uint64), ("clear", ctypes.c_uint64), ("propagation", ctypes.c_uint64), ("userns", ctypes.c_uint64))


def enter_namespaces() -> None:
    """New user, mount, pid, net and ipc namespaces, the user keeping its id; the next fork is process 1. Needs a process with one thread. Raises OSError."""
    uid, gid = os.geteuid(), os.getegid()
    _must(_libc.unshare(_NEW_USER | _NEW_MOUNT | _NEW_PID | _NEW_NET | _NEW_IPC), "unshare")
    Path("/proc/self/setgroups").write_text("deny", encoding="ascii")
    Path("/proc/self/uid_map").write_text(f"{uid} {uid} 1", encoding="ascii")
    Path("/proc/self/gid_map").write_text(f"{gid} {gid} 1", encoding="ascii")


def mount_worker_view(root: Path, scratch: Path, hidden: Iterable[Path], memory_mib: int) -> None:
    """As process 1: everything read-only but `scratch`, nothing else of `root` to be seen, `hidden` files empty, /proc and /dev/shm its own.

    Raises OSError.
    """
    _mount("none", "/", None, _REC | _PRIVATE)
    kept = os.open(scratch, os.O_PATH | os.O_DIRECTORY)
    _set_attributes("/", _ATTR_RDONLY, 0, _AT_RECURSIVE)
    _mount("tmpfs", str(root), "tmpfs", _NOSUID | _NODEV, "size=1m,mode=700")
    scratch.mkdir()
    _mount(f"/proc/self/fd/{kept}", str(scratch), None, _BIND)
    os.close(kept)
    _set_attributes(str(scratch), 0, _ATTR_RDONLY)
    _set_attributes(str(root), _ATTR_RDONLY, 0)
    _mount("proc", "/proc", "proc", _NOSUID | _NODEV | _NOEXEC)
    _mount("/proc/sys", "/proc/sys", None, _BIND)
    _set_attributes("/proc/sys", _ATTR_RDONLY, 0)
    if Path("/dev/shm").is_dir():
        _mount("tmpfs", "/dev/shm", "tmpfs", _NOSUID | _NODEV, f"size={memory_mib}m")
    for path in hidden:
        if path.is_file():
            _mount("/dev/null", str(path), None, _BIND)


def drop_privileges(level: str) -> None:
    """No new privileges through exec; inside namespaces also no capabilities, so that what is mounted stays mounted."""
    if level == NAMESPACES:
        capability = 0
        while _libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0) == 0:
            capability += 1
        header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
        _must(_libc.capset(header, (ctypes.c_uint32 * 6)()), "capset")
    _must(_libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")


def limit_resources(level: str, memory_mib: int) -> None:
    """Per-process limits; memory as a whole is watched from outside, as address sanitizers reserve terabytes."""
    limits = [(resource.RLIMIT_CORE, 0), (resource.RLIMIT_NOFILE, 1024), (resource.RLIMIT_FSIZE, memory_mib << 20)]
    if level == NAMESPACES:  # elsewhere the count is that of all the user's processes
        limits.append((resource.RLIMIT_NPROC, 1024))
    for kind, value in limits:
        _, hard = resource.getrlimit(kind)
        lower = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (lower, lower))
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000", encoding="ascii")


def die_with_parent(parent: int) -> None:
    """SIGKILL when the parent ends; at once if it already has. `parent` is its id as this process sees it."""
    _must(_libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0), "pdeathsig")
    if os.getppid() != parent:
        os._exit(70)


def adopt_orphans() -> None:
    """Descendants whose parents end become children of this process, not of the machine's first."""
    _must(_libc.prctl(_PR_SET_SUBREAPER, 1, 0, 0, 0), "subreaper")


def ignore_signals() -> None:
    """For processes that end when a descriptor is closed, and not by Ctrl-C."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE):
        signal.signal(number, signal.SIG_IGN)


def default_signals() -> None:
    """As a program finds them that was started afresh."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE):
        signal.signal(number, signal.SIG_DFL)


def children(pid: int) -> list[int]:
    """The direct children of a process, as /proc tells; empty when it has ended."""
    return [int(word) for _, words in threads(pid, "children") for word in words.split()]


def threads(pid: int, table: str) -> Iterator[tuple[str, bytes]]:
    """A table of proc(5) for each thread of a process: (thread, content); none of threads that have ended."""
    found: list[str] = []
    with contextlib.suppress(OSError):
        found = os.listdir(f"/proc/{pid}/task")  # noqa: PTH208  as below
    for thread in found:
        with contextlib.suppress(OSError), open(f"/proc/{pid}/task/{thread}/{table}", "rb", buffering=0) as file:  # noqa: PTH123  twice as fast, and asked after each call
            yield thread, file.read()


def descendants(pid: int) -> list[int]:
    """Children, their children, and so on."""
    found: list[int] = []
    queue = children(pid)
    while queue:
        found += queue
        queue = [child for parent in queue for child in children(parent)]
    return found


def kill_descendants(patience_s: float = 10.0) -> dict[int, int]:
    """Kills and reaps all descendants of this process (which adopts orphans); returns the wait statuses of those that were its children."""
    statuses: dict[int, int] = {}
    ends = time.monotonic() + patience_s
    while time.monotonic() < ends:
        for pid in descendants(os.getpid()):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        try:
            while (reaped := os.waitpid(-1, os.WNOHANG))[0]:
                statuses[reaped[0]] = reaped[1]
        except ChildProcessError:
            break
        time.sleep(0.001)
    return statuses


def uses_more_memory(pid: int, limit_bytes: int) -> bool:
    """Whether a process and its descendants hold more anonymous and shared-memory pages; file pages (libraries) are the machine's.

    Resident sizes are cheap to read but count pages that forks share once for each, so they only say when to look closer.
    """
    tree = (pid, *descendants(pid))
    if sum(_kilobytes(f"/proc/{each}/status", ("RssAnon:", "RssShmem:")) for each in tree) <= limit_bytes >> 10:
        return False
    return sum(_kilobytes(f"/proc/{each}/smaps_rollup", ("Pss_Anon:", "Pss_Shmem:")) for each in tree) > limit_bytes >> 10


def _kilobytes(table: str, rows: tuple[str, ...]) -> int:
    try:
        lines = Path(table).read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:  # it has ended
        return 0
    return sum(int(line.split()[1]) for line in lines if line.startswith(rows))


def scrub_environment(scratch: Path) -> None:
    """Keeps what compilers and devices need, points every cache at `scratch`, and blanks the words the process was started with (they may hold a seed)."""
    kept = {name: value for name, value in os.environ.items() if name in _KEPT or name.startswith(_KEPT_PREFIXES)}
    for name in ("HOME", "TMPDIR", "XDG_CACHE_HOME", "TRITON_CACHE_DIR", "TORCHINDUCTOR_CACHE_DIR", "TORCH_EXTENSIONS_DIR"):
        kept[name] = str(scratch)
    os.environ.clear()
    _libc.clearenv()
    blank_words()
    os.environ.update(kept)
    tempfile.tempdir = None  # it remembers the judge's


def blank_words() -> None:
    """Blanks the words that this process was started with, and its first environment, where /proc shows them."""
    fields = Path("/proc/self/stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()
    for start, end in ((int(fields[45]), int(fields[46])), (int(fields[47]), int(fields[48]))):  # arg_start … env_end, proc(5)
        if start and end > start:
            ctypes.memset(start, 0, end - start)


def forget_keyring() -> None:
    """A session's keyring of its own: what a worker put into the judge's would outlive the run, for the next one to find. Kernels without keys have none."""
    _libc.syscall(_SYS_KEYCTL.get(platform.machine(), -1), ctypes.c_int(_KEYCTL_JOIN_SESSION), None)


def forget_harness() -> None:
    """Takes the harness out of the interpreter as far as a forked process can: main module, arguments, import path, loaders."""
    archives = {entry for entry in sys.path if Path(entry).is_file()}
    sys.path[:] = [entry for entry in sys.path if entry not in archives]
    sys.argv, sys.orig_argv = [""], []
    sys.modules["__main__"] = types.ModuleType("__main__")
    sys.modules.pop("harness", None)
    for archive in archives:
        sys.path_importer_cache.pop(archive, None)
    zipimport._zip_directory_cache.clear()  # type: ignore[attr-defined]  # keeps the table of the archive's files
    for name in [name for name, module in sys.modules.items() if isinstance(getattr(module, "__loader__", None), zipimport.zipimporter)]:
        module = sys.modules[name]
        module.__loader__ = module.__spec__ = None
        for trace in ("__file__", "__cached__"):  # gone, not None: `inspect` looks at the file of every module that has one
            module.__dict__.pop(trace, None)
        if hasattr(module, "__path__"):
            module.__path__ = []
    gc.collect()


def _must(result: int, what: str) -> None:
    if result:
        code = ctypes.get_errno()
        raise OSError(code, f"{what}: {os.strerror(code)}")


def _mount(source: str, where: str, kind: str | None, flags: int, options: str | None = None) -> None:
    words = [word.encode() if word is not None else None for word in (source, where, kind)]
    _must(_libc.mount(*words, ctypes.c_ulong(flags), options.encode() if options else None), f"mount {where}")


def _set_attributes(where: str, add: int, clear: int, flags: int = 0) -> None:
    attributes = _MountAttributes(add, clear, 0, 0)
    result = _libc.syscall(_SYS_MOUNT_SETATTR, _AT_FDCWD, where.encode(), ctypes.c_uint(flags), ctypes.byref(attributes), ctypes.c_size_t(32))
    _must(result, f"mount_setattr {where}")
