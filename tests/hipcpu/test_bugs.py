"""Each bugs/NAME.hip is a wrong program; here stands which mode of running it shows that, and what it then says."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from taskpack.runtime.hipcpu.toolchain import Toolchain

BUGS = Path(__file__).parent / "bugs"


@dataclass(frozen=True)
class Case:
    bug: str
    says: str  # what the output holds; "" when the program must run through with exit status 0
    sanitizer: str = ""
    env: dict[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        mode = "-".join([self.sanitizer, *(f"{k}={v}" for k, v in self.env.items())]).strip("-") or "plain"
        return f"{self.bug}-{mode}{'' if self.says else '-unseen'}"


REVERSE, RANDOM = {"HIPCPU_SHUFFLE": "1"}, {"HIPCPU_SHUFFLE": "5"}
RACE = "ThreadSanitizer: data race"
CASES = [
    Case("oob_global", "heap-buffer-overflow", "address"),
    Case("oob_shared_static", "out of bounds for type", "address"),
    Case("oob_shared_dynamic", "heap-buffer-overflow", "address"),
    Case("oob_shared_row", "out of bounds for type", "address"),
    Case("missing_barrier", ""),
    Case("missing_barrier", "wrong", env=REVERSE),
    Case("missing_barrier", "wrong", env=RANDOM),
    Case("missing_barrier", RACE, "thread"),
    Case("missing_second_barrier", "wrong", env=REVERSE),
    Case("missing_second_barrier", RACE, "thread"),
    Case("shared_race_update", "", env=RANDOM),
    Case("shared_race_update", RACE, "thread"),
    Case("race_between_blocks", RACE, "thread"),
    Case("lockstep_assumed", RACE, "thread"),
    Case("divergent_barrier", "divergent __syncthreads"),
    Case("barrier_after_exit", ""),
    Case("barrier_after_exit", "some threads have returned", env={"HIPCPU_STRICT": "1"}),
    Case("sync_mask_not_reached", ""),
    Case("sync_mask_not_reached", "does not reach it", env={"HIPCPU_STRICT": "1"}),
    Case("barrier_and_shuffle_mixed", "does not reach it"),
    Case("uninitialised_shared", "nan"),
    Case("uninitialised_shared", "", env={"HIPCPU_POISON": "0"}),
    Case("unwritten_output", "nan"),
    Case("livelock", "livelock", env={"HIPCPU_LIVELOCK_SECONDS": "1"}),
    Case("deep_recursion", "stack-overflow", "address"),
]


def test_every_bug_has_a_case() -> None:
    assert {path.stem for path in BUGS.glob("*.hip")} == {case.bug for case in CASES}


@pytest.mark.parametrize("case", [pytest.param(case, id=str(case), marks=[pytest.mark.slow] if case.sanitizer else []) for case in CASES])
def test_bug(case: Case, toolchain: Callable[..., Toolchain], build: Callable[..., Path], tmp_path: Path) -> None:
    program = build(toolchain(sanitizer=case.sanitizer, optimisation="-O1"), BUGS / f"{case.bug}.hip", tmp_path / case.bug, is_program=True)
    command = [str(program)]
    if case.sanitizer == "thread":
        if shutil.which("setarch") is None:
            pytest.skip("no setarch (util-linux), without which older ThreadSanitizers do not start where addresses are widely random")
        command = ["setarch", "-R", *command]
    env = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0", **case.env}
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, env=env, check=False)
    output = done.stdout + done.stderr
    if case.says:
        assert case.says in output
        assert done.returncode != 0
    else:
        assert done.returncode == 0, output
