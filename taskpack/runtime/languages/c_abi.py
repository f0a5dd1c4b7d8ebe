"""Calls extern "C" symbols of a shared object on raw pointers, through ctypes.

A bound call is one `functools.partial` over arguments converted beforehand by `from_param`, which ctypes passes on without making anything: 0.2 to 0.4 µs with
two arguments and 0.6 with eight on a 2.1 GHz Xeon (ctypes objects such as `c_int64(3)` are converted in every call: 1.1 with eight).
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from ..contract import Argument, Bind, Call, CompileFailed, EntryMissing, Source

SCALARS: dict[str, Any] = {"float64": ctypes.c_double, "float32": ctypes.c_float, "int64": ctypes.c_int64, "int32": ctypes.c_int32, "bool": ctypes.c_int32}
"""C type of a scalar argument by dtype; bool travels as int32_t, like a flag."""

TENSORS = ("input", "inout", "output")

Loaded = Callable[[dict[str, str], tuple[Argument, ...]], Bind]


def load(source: Source, product: Path) -> Loaded:
    """Opens the shared object; the result finds the symbol for given dtypes and knows how to bind its arguments.

    Raises CompileFailed when the object cannot be opened (an undefined symbol); the result raises EntryMissing.
    """
    try:
        library = ctypes.CDLL(str(product))
    except OSError as error:
        raise CompileFailed("the built library cannot be loaded", str(error).replace(f"{product.parent}/", "")) from error

    def entry(dtypes: dict[str, str], arguments: tuple[Argument, ...]) -> Bind:
        symbol = source.symbol(dtypes)
        try:
            function = library[symbol]
        except AttributeError as error:
            raise EntryMissing(_missing_words(symbol, product)) from error
        function.restype = None
        return partial(_bind, function, arguments)

    return entry


def _bind(function: Any, arguments: tuple[Argument, ...], values: Sequence[object]) -> Call:
    if len(values) != len(arguments):
        raise ValueError(f"{len(values)} values for {len(arguments)} arguments")
    call = partial(function, *(_convert(argument, value) for argument, value in zip(arguments, values, strict=True)))
    call.tensors = values  # type: ignore[attr-defined]  # pointers alone would not keep them alive
    return call


def _convert(argument: Argument, value: Any) -> Any:
    """`value` as ctypes passes it, with exactly the width that the C declaration has."""
    if argument.role in TENSORS:
        if not value.is_contiguous():
            raise ValueError(f"`{argument.name}` is not contiguous")
        if str(value.dtype) != f"torch.{argument.dtype}":
            raise ValueError(f"`{argument.name}` is {value.dtype}, want {argument.dtype}")
        return ctypes.c_void_p.from_param(value.data_ptr())
    if argument.role == "stream":
        return ctypes.c_void_p.from_param(value)
    if argument.role == "dim":
        return ctypes.c_int64.from_param(value)
    if argument.role == "flag":
        return ctypes.c_int32.from_param(int(value))
    kind = SCALARS[argument.dtype]
    return kind.from_param(float(value) if kind in (ctypes.c_double, ctypes.c_float) else int(value))


def _missing_words(symbol: str, product: Path) -> str:
    """Says so when the function is there under its C++ name (Itanium mangling: _Z, length, name)."""
    if f"_Z{len(symbol)}{symbol}".encode() in product.read_bytes():
        return f'`{symbol}` is a C++ function; declare it extern "C"'
    return f'there is no extern "C" function `{symbol}`'
