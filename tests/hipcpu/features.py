"""What each features/NAME.hip must write from its run(in, out, n), computed without it.

As a script: `features.py FOLDER` checks every NAME.so in a folder, for runs whose environment chooses another order of threads.
"""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch

FEATURES = Path(__file__).parent / "features"
N = 1024
X = ((np.arange(N) * 37 % 101) / 8 - 5).astype(np.float32)
IN = (np.arange(N) * 7919 % 1009).astype(np.int32)
T = np.arange(N)
LANE = np.arange(64)


def bf16(a: Any) -> torch.Tensor:
    return torch.tensor(np.asarray(a, dtype=np.float32)).bfloat16()


def half_expression() -> Any:
    a, b = X.astype(np.float16), np.float16(0.1)
    fused = (a.astype(np.float64) * np.float64(b) + np.float64(1) * (a + b).astype(np.float64)).astype(np.float16)
    return fused.astype(np.float32) + (a * b - b).astype(np.float32) + (a > b)


def half_dot() -> Any:
    tile = X[:128].astype(np.float16).reshape(64, 2)
    return (tile * np.float16(2) + tile[::-1]).astype(np.float32).sum(1)


def math_expression() -> Any:
    x = torch.tensor(X).abs() + 0.5
    one = torch.tensor(1.0)
    return (
        torch.exp(-x)
        + x.log()
        + x.rsqrt()
        + 1 / x
        + (2 * x + 1)
        + x.erf()
        + x.tanh()
        + x.sqrt()
        + torch.maximum(x, one)
        + torch.minimum(2 * one, x)
        + x.clamp(0, 1)
        + x.sin()
        + 1 / x
    ).numpy()


def shuffles() -> Any:
    v = IN[:64]
    return np.concatenate(
        [
            np.full(64, v[3]),
            v[LANE ^ 5],
            np.where(LANE >= 2, v[LANE - 2], v),
            np.where(LANE < 57, v[(LANE + 7) % 64], v),
            v[LANE // 8 * 8 + 1],
            np.where(LANE % 16 < 13, v[(LANE + 3) % 64], v),
        ]
    )


def shuffled_types() -> Any:
    down = np.where(LANE < 63, X[(LANE + 1) % 64], X[LANE])
    return X[LANE ^ 1] + 5 + down.astype(np.float16).astype(np.float32)


def subset() -> Any:
    t = np.arange(128)
    return np.where(t % 64 < 16, IN[t ^ 1], IN[:128])


def ballot() -> Any:
    odd = (IN[:128] & 1).reshape(2, 64)
    return (odd.sum(1, keepdims=True) * 1000 + np.cumsum(odd, 1) - odd).ravel()


def atomics() -> Any:
    bits = np.uint32(0)
    for i in range(20):
        bits |= np.uint32(1 << i)
    return np.array([IN.sum(), -N, IN.min(), IN.max(), np.int32(~bits.astype(np.int64)), bits, np.bitwise_xor.reduce(T), N % 100])


def bit_expression() -> Any:
    def one(v: int) -> int:
        reverse = int(f"{v:032b}"[::-1], 2) >> 22
        return (32 - v.bit_length()) + 100 * v.bit_count() + 10000 * ((v & -v).bit_length()) + reverse * 1000000

    return np.array([one(int(v)) for v in IN])


def tiles() -> Any:
    sums = IN[:256].reshape(16, 16).sum(1)
    return sums[np.arange(256) % 16]


def bits_as_half() -> Any:
    with np.errstate(all="ignore"):
        half = (IN.astype(np.uint32) * np.uint32(2654435761)).view(np.float32).astype(np.float16)
    return half.view(np.uint16)


def quiet(halves: Any) -> Any:
    """NaNs without their payload, which the formats' converters treat differently."""
    return np.where(halves & 0x7FFF > 0x7C00, halves & 0x8000 | 0x7E00, halves)


def launches() -> Any:
    return np.concatenate([np.full(64, v) for v in (8, 8, 15, 24)])


def reversed_blocks() -> Any:
    return IN.reshape(-1, 256)[:, ::-1].ravel()


def shared_scalars() -> Any:
    b = IN.reshape(-1, 32)
    return np.repeat(b[:, 0] - b[:, -1], 32)


def sync_votes() -> Any:
    v = IN[:256]
    return np.full(256, 100 * (v > 500).sum() + 1)


def divergent_loop() -> Any:
    return LANE % 4 + 3


def helpers() -> Any:
    return np.concatenate([np.full(64, 16 * (16 + 32 + 48 + 64)), np.where(LANE < 16, 16064, 64), np.full(64, 48)])


def constructed() -> Any:
    return 2 * X[:64] + 4 + (LANE & 3) * 2 + 6 + 1


EXPECTED = {
    "helper_order": helpers(),
    "launch_conversions": np.where(LANE < 32, 12, 13),
    "vector_constructors": constructed(),
    "namespace_shared_casts": 2 * X[:64][::-1],
    "indexing_1d": 2 * X + 1,
    "indexing_3d": (100 * np.arange(2)[:, None, None] + 10 * np.arange(4)[None, :, None] + np.arange(8)).astype(np.int32).ravel(),
    "grid_stride": X * X,
    "static_shared_reverse": reversed_blocks(),
    "shared_2d_transpose": X.reshape(32, 32).T.ravel(),
    "dynamic_shared": IN.reshape(-1, 128).sum(1),
    "dynamic_shared_carved": X[:64][::-1],
    "dynamic_shared_namespace": np.roll(X[:64], -1),
    "dynamic_shared_2d": X[:64].reshape(8, 8).T.ravel(),
    "shared_in_template": np.concatenate([np.roll(IN[:64], -16), np.roll(IN[64:192], -32)]),
    "shared_scalar": shared_scalars(),
    "sync_votes": sync_votes(),
    "early_return": IN[:100][::-1],
    "shfl_forms": shuffles(),
    "shfl_types": shuffled_types(),
    "shfl_sync_subset": subset(),
    "shfl_divergent_loop": divergent_loop(),
    "warp_reduce_block": X.sum(keepdims=True),
    "ballot": ballot(),
    "any_all_activemask": 1000 * 40 * (LANE < 40) + 10 + 1,
    "match_any": np.bincount(IN[:64] % 3)[IN[:64] % 3],
    "atomics_int": atomics(),
    "atomics_float": np.array([X.sum(), X.sum(), N, N / 2], np.float32),
    "atomics_shared_histogram": np.bincount(IN % 16, minlength=16),
    "spin_lock": np.array([1024]),
    "flag_between_threads": np.array([42]),
    "last_block_done": IN.sum(keepdims=True),
    "half_arithmetic": half_expression(),
    "half_rounding": bits_as_half(),
    "half2_dot": half_dot(),
    "bfloat16_arithmetic": (bf16(X) * bf16(1.7) + bf16(0.3)).float().numpy(),
    "float4_loads": 3 * X + np.tile(np.array([1, 2, 3, 4], np.float32), N // 4),
    "own_vector_operator": 2 * X.reshape(-1, 4)[:, ::-1].ravel(),
    "math_functions": math_expression(),
    "bit_functions": bit_expression(),
    "constant_and_device_symbols": ((0.25 * X + 0.5) * X - 2) * X + 1 + 0.5,
    "device_lambda": 3 * X - 1,
    "launch_macro_ggl": X * np.where(T < 64, 5, 3).astype(np.float32),
    "launch_kernel_pointer": -X,
    "launch_syntax": launches(),
    "deduced_template_launch": 2 * X,
    "noinline_device": X[:256] / 16 + 1.875,
    "host_api": IN[:64] + 5,
    "host_thread_local": np.append(63 - np.arange(64), 42),
    "launch_errors": np.array([9, 9, 1, 0]),
    "kernel_trap": np.array([719, 0]),
    "big_stack_frame": np.full(N, 2 * IN.sum()),
    "scan_block": np.cumsum(IN.reshape(-1, 256), 1).ravel(),
    "bitonic_sort": np.sort(IN[:512]),
    "double_and_int64": X.astype(np.float64) * 2 * X + 4 + T,
    "cooperative_tiles": tiles(),
    "matmul_tiled": (X.reshape(32, 32).astype(np.float64) @ X.reshape(32, 32)).ravel(),
}
WARP_OF_64_ONLY = {"helper_order", "shfl_forms", "shfl_types", "shfl_sync_subset", "ballot", "any_all_activemask", "match_any"}


def check(name: str, library: ctypes.CDLL) -> None:
    """Raises AssertionError."""
    want = np.asarray(EXPECTED[name])
    is_float = want.dtype.kind == "f"
    source = torch.tensor(X if is_float else IN)
    out = torch.full((max(N, want.size),), -77, dtype=source.dtype)
    assert library.run(pointer(source), pointer(out), ctypes.c_int(N)) == 0
    got = out.numpy()[: want.size]
    if name == "half_rounding":
        got, want = quiet(got), quiet(want)
    if is_float:
        np.testing.assert_allclose(got, want, rtol=2e-5, atol=2e-4)
    else:
        np.testing.assert_array_equal(got, want)


def pointer(tensor: torch.Tensor) -> ctypes.c_void_p:
    assert tensor.is_contiguous()
    return ctypes.c_void_p(tensor.data_ptr())


if __name__ == "__main__":
    for product in sorted(Path(sys.argv[1]).glob("*.so")):
        if product.stem in EXPECTED:
            check(product.stem, ctypes.CDLL(str(product)))
            print(product.stem)  # noqa: T201
