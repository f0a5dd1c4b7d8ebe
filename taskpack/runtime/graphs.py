"""Calls recorded as CUDA graphs, which are launched as one."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch


def capture(calls: Sequence[Callable[[], object]]) -> torch.cuda.CUDAGraph:
    """The calls as one graph, launched once. Raises what a call raises that does more than launch, such as looking at a value."""
    calls[0]()  # what compiles or tunes itself at the first call on new shapes does it now
    torch.cuda.synchronize()
    graph, stream = torch.cuda.CUDAGraph(), torch.cuda.Stream()  # type: ignore[no-untyped-call]
    try:
        with torch.cuda.stream(stream):
            graph.capture_begin(capture_error_mode="thread_local")
            try:
                for call in calls:
                    call()
            finally:
                graph.capture_end()
    except BaseException:
        # A capture that fails leaves the generator of random numbers in the state of a capture (torch 2.11); a copy of its state is in none.
        generator = torch.cuda.default_generators[torch.cuda.current_device()]
        generator.graphsafe_set_state(generator.clone_state())
        raise
    graph.replay()
    torch.cuda.synchronize()
    return graph
