"""HIP on the CPU: unmodified HIP sources, compiled by g++ or clang++ and run on the cores of this machine, for their results and not for speed.

`hip/` holds the headers that a source includes, `src/` the small library that runs a grid (blocks on the threads of the operating system, a block's
threads as fibers of one of them), `rewrite` turns the few constructs that are not C++ into C++, `toolchain` compiles.
"""
