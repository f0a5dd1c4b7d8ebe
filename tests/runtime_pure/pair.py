"""Two processes that run C++ kernels over shared memory, for the clock to measure: what the judge and its workers are, without isolation."""

from __future__ import annotations

import ctypes
import mmap
import os
import socket
import subprocess
import time
from functools import partial
from pathlib import Path

KERNELS = r"""
#include <cmath>
#include <cstdint>
extern "C" void soft(const float* x, float* y, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r) {
    float m = -INFINITY, s = 0;
    for (int64_t c = 0; c < cols; ++c) m = fmaxf(m, x[r * cols + c]);
    for (int64_t c = 0; c < cols; ++c) s += y[r * cols + c] = expf(x[r * cols + c] - m);
    for (int64_t c = 0; c < cols; ++c) y[r * cols + c] /= s;
  }
}
extern "C" void soft_half(const float* x, float* y, int64_t rows, int64_t cols) { soft(x, y, rows / 2, cols); }
extern "C" void copy(const float* x, float* y, int64_t rows, int64_t cols) {
  for (int64_t i = 0; i < rows * cols; ++i) y[i] = 2 * x[i];
}
extern "C" void copy_half(const float* x, float* y, int64_t rows, int64_t cols) { copy(x, y, rows / 2, cols); }
"""


def compile_kernels(folder: Path) -> Path:
    source, product = folder / "kernels.cpp", folder / "kernels.so"
    source.write_text(KERNELS, encoding="utf-8")
    subprocess.run(["g++", "-O2", "-march=native", "-shared", "-fPIC", str(source), "-o", str(product)], check=True)
    return product


class Pair:
    """Baseline and candidate, each in a forked process, over one shared block of `sets` inputs and outputs of rows x cols float32."""

    def __init__(self, library: Path, baseline: str, candidate: str, rows: int, cols: int, sets: int) -> None:
        self.rows, self.cols, self.sets = rows, cols, sets
        self.size = rows * cols * 4
        self.fill = 0
        self.memory = mmap.mmap(-1, 2 * self.size * sets)
        self.start = ctypes.addressof(ctypes.c_char.from_buffer(self.memory))
        self.sockets: dict[str, socket.socket] = {}
        self.children: list[int] = []
        for side, symbol in (("baseline", baseline), ("candidate", candidate)):
            ours, theirs = socket.socketpair()
            self.sockets[side] = ours
            if not (pid := os.fork()):
                self._serve(theirs, library, symbol)
            theirs.close()
            self.children.append(pid)

    def _serve(self, requests: socket.socket, library: Path, symbol: str) -> None:
        try:
            for other in self.sockets.values():
                other.close()  # else no process would see the end of its own
            function = ctypes.CDLL(str(library))[symbol]
            function.restype = None
            pointer, dim = ctypes.c_void_p, ctypes.c_int64
            outputs = self.start + self.size * self.sets
            calls = [
                partial(function, pointer(self.start + i * self.size), pointer(outputs + i * self.size), dim(self.rows), dim(self.cols))
                for i in range(self.sets)
            ]
            while message := requests.recv(8):
                for call in calls[: int.from_bytes(message, "little")]:
                    call()
                requests.sendall(b".")
        finally:
            os._exit(0)

    def pass_of(self, side: str, count: int) -> float:
        requests = self.sockets[side]
        message = count.to_bytes(8, "little")
        begin = time.perf_counter()
        requests.sendall(message)
        requests.recv(1)
        return time.perf_counter() - begin

    def refill(self, count: int) -> None:
        self.fill = self.fill % 60 + 1  # floats of one repeated byte, all between 2e-38 and 0.5, others each time
        ctypes.memset(self.start, self.fill, count * self.size)
        ctypes.memset(self.start + self.size * self.sets, 0xFF, count * self.size)

    def close(self) -> None:
        for requests in self.sockets.values():
            requests.close()
        for pid in self.children:
            os.waitpid(pid, 0)
