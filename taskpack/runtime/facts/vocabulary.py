"""The words of rules: what a rule can be about, and every fact with its type; a rule that uses another word is a mistake of its pack."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Word:
    """A fact."""

    type: str
    """A type of the expression language: `int`, `bool` or `str`."""
    meaning: str


@dataclass(frozen=True)
class About:
    """What a rule can be about."""

    languages: tuple[str, ...]
    meaning: str
    facts: Mapping[str, Word]


_KERNEL = Word("str", "its name")

SUBJECTS: dict[str, About] = {
    "kernel": About(
        ("triton", "hip"),
        "a kernel: a `@triton.jit` function, or a `__global__` one",
        {
            "kernel": _KERNEL,
            "uses_float64": Word("bool", "whether it names a 64-bit floating type"),
            "has_launch_bounds": Word("bool", "whether it says `__launch_bounds__`"),
            "launch_bounds": Word("int", "the first argument of `__launch_bounds__`"),
            "shared_bytes": Word("int", "bytes of its static `__shared__` arrays, with those of the functions that it calls"),
        },
    ),
    "launch": About(
        ("hip",),
        "a launch of a kernel from the host",
        {
            "kernel": _KERNEL,
            "block_threads": Word("int", "threads of a block"),
            "has_launch_bounds": Word("bool", "whether the kernel says `__launch_bounds__`"),
            "launch_bounds": Word("int", "the first argument of the kernel's `__launch_bounds__`"),
        },
    ),
    "configuration": About(
        ("triton",),
        "a kernel with the values of its constexprs: one for each `triton.Config` and each launch",
        {
            "kernel": _KERNEL,
            "values": Word("str", "the configuration in words, such as `ROWS=64, num_warps=8`"),
            "is_autotuned": Word("bool", "whether it stands in an autotune list"),
            "num_warps": Word("int", "warps of a program; 4 where nothing is said"),
            "num_stages": Word("int", "stages of software pipelining, where they are said"),
            "num_ctas": Word("int", "blocks of a cluster; 1 where nothing is said"),
            "says_warp_size": Word("bool", "whether a warp size is asked for"),
            "asked_warp_size": Word("int", "the warp size that is asked for"),
            "grf_mode": Word("str", "the register mode, `default` where nothing is said"),
            "tile_elements": Word("int", "elements of the largest tile"),
            "odd_length": Word("int", "a length of `tl.arange` that is no power of two; 0 if there is none"),
            "dots": Word("int", "how many `tl.dot` stand in the kernel"),
            "dot_m": Word("int", "rows of the smallest product"),
            "dot_n": Word("int", "columns of the smallest product"),
            "dot_k": Word("int", "depth of the smallest product"),
            "accumulator_bytes": Word("int", "bytes of the largest product, at 4 bytes an element"),
            "operand_elements": Word("int", "elements of both operands of the largest product"),
        },
    ),
    "autotune": About(
        ("triton",),
        "an `@triton.autotune` above a kernel",
        {
            "kernel": _KERNEL,
            "configs": Word("int", "how many configurations it holds"),
            "key": Word("str", "the names in its `key`"),
            "missing": Word("str", "sizes that bound loops or masks of the kernel and are not in the key"),
            "missing_count": Word("int", "how many those are"),
            "redefined": Word("str", "tuned names that a launch passes as well"),
            "redefined_count": Word("int", "how many those are"),
            "has_atomics": Word("bool", "whether the kernel adds to memory atomically"),
            "restores": Word("bool", "whether it says `reset_to_zero`, `restore_value` or `pre_hook`"),
        },
    ),
    "access": About(
        ("triton",),
        "a load, a store or an atomic operation",
        {
            "kernel": _KERNEL,
            "operation": Word("str", "`load`, `store`, `atomic_add`, …"),
            "is_tile": Word("bool", "whether it is of many elements, and not of one"),
            "is_block_pointer": Word("bool", "whether it goes through `tl.make_block_ptr`"),
            "is_descriptor": Word("bool", "whether it goes through a tensor descriptor"),
            "has_mask": Word("bool", "whether it is given a `mask`"),
            "has_boundary_check": Word("bool", "whether it is given a `boundary_check`"),
        },
    ),
    "offset": About(
        ("triton",),
        "a product of an index and a run-time size that is made in 32 bits",
        {"kernel": _KERNEL, "expression": Word("str", "the product, as it is written")},
    ),
    "call": About(
        ("triton",),
        "a call, in a kernel or around it",
        {
            "call": Word("str", "what is called: `tl.load`, `torch.empty`, `.item` of a value"),
            "function": Word("str", "the function in which it stands"),
            "in_kernel": Word("bool", "whether that function is a kernel"),
        },
    ),
}
"""`about` of a rule → what it sees, beside the facts of the device and of the cases."""

CASES: dict[str, Word] = {
    "largest_tensor_elements": Word("int", "elements of the largest tensor of any seen case"),
    "largest_element_bytes": Word("int", "bytes of an element of the widest floating input or output of any seen case"),
}
"""Facts of the task, which are unknown without one."""
