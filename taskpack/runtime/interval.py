"""The interval of a speedup: a bootstrap over paired blocks of the median log ratio, calibrated on measured noise.

Blocks are resampled one by one. The slopes of one side are autocorrelated (0.1 to 0.9 from block to block on a virtual machine with two cores), as
clocks and neighbours change for seconds at a time; the log ratio within a block is not (-0.4 to 0.3, mean 0), as both sides share them. Replayed on 360
measurements of a kernel against itself, with a look every 5 blocks from the 15th to the 60th and an end at a half width of 1.5 %, the interval held 1.0 in

    nominal level     runs of 1 block   of 3      of 5
    95 %              92.5 %            86.9 %    85.8 %
    98 %              97.5 %            92.8 %    89.4 %
    99 %              98.6 %            96.4 %    92.2 %

so longer runs only lose degrees of freedom, and the many looks (an end at the luckiest) cost some 3 %: a nominal 98 % makes a true 95 % interval.

Where something else runs on one of the cores for seconds at a time, the side that lives there is the slower one for many blocks, and the ratios do hang
together: with bursts of 1 s on one of two cores 4 of 60 intervals missed 1.0, all four with an autocorrelation of the signs of 0.39 to 0.58. So the
interval is widened by what the autocorrelation seen adds to the error of a median (`_widening`): then 60 of 60 held, and where the ratios are
independent (120 measurements, both cores loaded alike or not at all) two in three intervals stayed within 6 % of their width.

`FLOOR` is for what resampling cannot see: a process keeps its address layout for life. Of 150 pairs of fresh processes of one program, with 12 passes each,
3 in 4 agreed within 1 %, four were more than 3 % apart and two more than 10 %; once in 300 measurements one process stayed 1.6 times slower than its twin.
"""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

import torch

RESAMPLES = 2000
LEVEL = 0.98
FLOOR = 0.005
"""Added to the interval at both ends, relative."""
_FEWEST = 3
"""Fewer ratios have no interval."""
_LAGS = 15
"""Blocks: some seconds, as long as a neighbour's burst lasts."""


@dataclass(frozen=True)
class Estimate:
    """A ratio with its 95 % interval."""

    ratio: float
    low: float
    high: float

    @property
    def half_width(self) -> float:
        """Relative to the ratio; the greater of the two."""
        return max(self.high / self.ratio - 1.0, 1.0 - self.low / self.ratio)


def ratio_interval(baseline: Sequence[float], candidate: Sequence[float], rng: random.Random) -> Estimate | None:
    """The median of baseline / candidate over paired slopes, with its interval; None where disturbed blocks leave it open."""
    logs = _log_ratios(baseline, candidate)
    if len(logs) < _FEWEST or math.isinf(statistics.median(logs)):
        return None
    values = torch.tensor(logs, dtype=torch.float64)
    generator = torch.Generator().manual_seed(rng.getrandbits(62))
    drawn = values[torch.randint(0, len(logs), (RESAMPLES, len(logs)), generator=generator)].sort(dim=1).values
    medians = ((drawn[:, (len(logs) - 1) // 2] + drawn[:, len(logs) // 2]) / 2).sort().values
    tail = (1.0 - LEVEL) / 2
    low, high = medians[math.floor(tail * RESAMPLES)].item(), medians[math.ceil((1 - tail) * RESAMPLES) - 1].item()
    if not (math.isfinite(low) and math.isfinite(high)):
        return None
    middle, wider = statistics.median(logs), _widening(logs)
    return Estimate(math.exp(middle), math.exp(middle - wider * (middle - low) - FLOOR), math.exp(middle + wider * (high - middle) + FLOOR))


def _widening(logs: Sequence[float]) -> float:
    """How much wider than of independent values the interval of their median is: sqrt(1 + 2 * sum of the autocorrelations of which side of it they lie on).

    The error of a median is that of the mean of these signs (Bahadur's representation), and the sum ends at the first lag that noise alone could show, as
    in Geyer's initial sequences (Practical Markov chain Monte Carlo, Statistical Science 7, 1992). Resampling few values draws too little spread:
    n / (n - 2) brings independent ones, simulated, from 93 to 95 % at 7 blocks, and adds 2 % of width at 60.
    """
    middle, count = statistics.median(logs), len(logs)
    signs = [(value > middle) - (value < middle) for value in logs]
    square = sum(sign * sign for sign in signs)
    total = 0.0
    for lag in range(1, min(count // 3, _LAGS) + 1):
        correlation = sum(early * late for early, late in zip(signs, signs[lag:], strict=False)) / square if square else 0.0
        if correlation <= 0.5 / math.sqrt(count):
            break
        total += correlation
    return math.sqrt((1.0 + 2.0 * total) * count / (count - 2))


def _log_ratios(baseline: Sequence[float], candidate: Sequence[float]) -> list[float]:
    """log(baseline / candidate) by block; a slope that noise made negative counts as infinitely fast, and a block with two such as nothing."""
    logs = []
    for slow, fast in zip(baseline, candidate, strict=True):
        if slow > 0 and fast > 0:
            logs.append(math.log(slow / fast))
        elif slow > 0 or fast > 0:
            logs.append(math.inf if slow > 0 else -math.inf)
    return logs
