"""Every folder of tests/cheats: an attack fools the naive harness and is stopped by the gate that it names, a honest twin passes, and nothing is left."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from harnesses import Warm

sys.path.insert(0, str(Path(__file__).parents[1] / "cheats"))

import folders
import redteam

QUICK = {
    *("caches-by-pointer", "drops-tail", "exits-politely", "forges-answers", "hip-drops-tail", "lies-about-equality", "overreads", "patches-the-worker"),
    *("scans-memory", "triton-drops-tail", "walks-the-frames", "writes-input"),
    *("honest", "honest-cache-by-shape", "honest-hip", "honest-threads", "honest-torch", "honest-triton"),
    *("does-not-compile", "eats-memory", "segfault", "hip-divergent-barrier"),
}
"""What the quick tests ask; the others are slow together."""

FAR_BELOW = 0.5
"""A time is fake when it is this part of an honest one, or its inverse."""


def _every(*kinds: str) -> Iterator[object]:
    """One test each of the quick ones, and of those that are broken; the others are asked together."""
    for kind in kinds:
        for cheat in folders.read(kind):
            if cheat.name in QUICK or kind == "broken":
                yield pytest.param(cheat, id=f"{kind}-{cheat.name}", marks=[] if cheat.name in QUICK else [pytest.mark.slow])


@pytest.mark.parametrize("cheat", list(_every("attacks", "broken", "honest")))
def test_cheat(cheat: folders.Cheat, warm: Warm, tmp_path: Path) -> None:
    if why := redteam.missing(cheat):
        pytest.skip(why)
    judged = redteam.judge(cheat, warm, tmp_path)
    assert not judged.fault, judged.outcome.stderr
    assert judged.outcome.seconds < 60


@pytest.mark.slow
@pytest.mark.alone
@pytest.mark.timeout(900)
def test_every_attack_and_every_honest_candidate(capfd: pytest.CaptureFixture[str]) -> None:
    assert redteam.main([]) == 0, capfd.readouterr().out


def _is_straw(cheat: folders.Cheat, honest: folders.Naive) -> str:
    """What the naive harness said, where the attack does not fool it."""
    naive = folders.ask_naive(cheat)
    is_fake = naive.us < FAR_BELOW * honest.us or naive.baseline_us > honest.baseline_us / FAR_BELOW
    return "" if naive.is_accepted and (is_fake or cheat.told["fools"] != "clock") else naive.output


@pytest.mark.slow
@pytest.mark.alone
@pytest.mark.timeout(900)
def test_no_attack_is_a_straw_man(honest_times: dict[str, folders.Naive]) -> None:
    able = [cheat for cheat in folders.read("attacks") if not redteam.missing(cheat)]
    timed, others = ([cheat for cheat in able if (cheat.told["fools"] == "clock") == is_timed] for is_timed in (True, False))
    with ThreadPoolExecutor(2) as pool:
        words = list(pool.map(lambda cheat: _is_straw(cheat, honest_times[cheat.language]), others))
    words += [_is_straw(cheat, honest_times[cheat.language]) for cheat in timed]
    straw = {cheat.name: said for cheat, said in zip([*others, *timed], words, strict=True) if said}
    assert not straw


@pytest.fixture(scope="module")
def honest_times() -> dict[str, folders.Naive]:
    """What the naive harness says of an honest candidate of each language, which it accepts."""
    by_name = {cheat.name: cheat for cheat in folders.read("honest")}
    names = {"cpp": "honest", "hip": "honest-hip", "torch": "honest-torch", "triton": "honest-triton"}
    asked = {language: folders.ask_naive(by_name[name]) for language, name in names.items() if not redteam.missing(by_name[name])}
    assert all(naive.is_accepted for naive in asked.values())
    return asked


@pytest.mark.parametrize("cheat", [pytest.param(cheat, id=cheat.name) for cheat in folders.read("attacks")])
def test_the_attack_says_what_it_is(cheat: folders.Cheat) -> None:
    told = cheat.told
    assert {"language", "class", "fools", "stopped-by", "reason", "summary"} <= set(told)
    assert told["fools"] in ("correctness", "clock", "machinery")
    assert told["stopped-by"] in folders.GATES
    assert bool(told.get("open")) == ("why-open" in told)
