"""Checks of what an op means, except for its cases."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator

from . import names
from .check_files import check_function, check_path
from .findings import Finding
from .inits import Init
from .op import Input, OutputTolerance, Tensor
from .spans import Path
from .subject import OpSubject, read_expression
from .suggest import hint_among

OpCheck = Callable[[OpSubject], Iterator[Finding]]

_INTEGER_INITS = frozenset({"partition", "index", "unique-index", "permutation", "routing", "paged", "csr"})
_FLOATING_INITS = frozenset({"normal"})


def declared_names(subject: OpSubject) -> Iterator[tuple[str, Path, bool]]:
    """Every name that the op declares, where, and whether it is a key there."""
    op = subject.op
    for table, keys in (("dims", op.dims), ("dtypes", op.dtypes), ("flags", op.flags)):
        yield from ((name, ("op", table, name), True) for name in keys)
    yield from ((tensor.name, (*path, "name"), False) for tensor, path in tensors(subject))
    yield from ((scalar.name, ("op", "scalar", index, "name"), False) for index, scalar in enumerate(op.scalars))


def tensors(subject: OpSubject) -> Iterator[tuple[Tensor, Path]]:
    """Every tensor and the path of its table."""
    op = subject.op
    for table, things in (("input", op.inputs), ("inout", op.inouts), ("state", op.state), ("output", op.outputs)):
        yield from ((thing, ("op", table, index)) for index, thing in enumerate(things))


def inputs(subject: OpSubject) -> Iterator[tuple[Input, Path]]:
    """Every tensor with an init, in the order in which values are made, and the path of its table."""
    yield from ((tensor, path) for tensor, path in tensors(subject) if isinstance(tensor, Input))


def check_names(subject: OpSubject) -> Iterator[Finding]:
    """P020, P021: names are given once and do not mean something else."""
    seen: set[str] = set()
    for name, path, on_key in declared_names(subject):
        if name in seen:
            yield Finding("P020", path, f"`{name}` is declared a second time", on_key=on_key)
        elif name in names.RESERVED and path[1] != "state":  # keys of a state stand in no expression
            yield Finding("P021", path, f"`{name}` has a meaning of its own", "choose another name", on_key=on_key)
        seen.add(name)


def check_reference(subject: OpSubject) -> Iterator[Finding]:
    """P040 to P045 for the reference and the generator."""
    op = subject.op
    values = {*subject.scope()}
    if op.reference is not None:
        yield from check_function(subject.folder, op.reference, ("op", "reference"), values | {tensor.name for tensor in op.given()})
    if op.generator is not None:
        yield from check_function(subject.folder, op.generator, ("op", "generator"), values | {"seed"})


def check_dtypes(subject: OpSubject) -> Iterator[Finding]:
    """P022, P020: dtype variables list known dtypes, each once, and tensors use them."""
    op = subject.op
    for variable, listed in op.dtypes.items():
        for index, dtype in enumerate(listed):
            path: Path = ("op", "dtypes", variable, index)
            if dtype not in names.DTYPES:
                yield _unknown_dtype(dtype, path, names.DTYPES)
            elif dtype in listed[:index]:
                yield Finding("P020", path, f"`{dtype}` stands in the list twice")
    for tensor, path in tensors(subject):
        if tensor.dtype not in op.dtypes and tensor.dtype not in names.DTYPES and tensor.dtype not in subject.lost:
            yield _unknown_dtype(tensor.dtype, (*path, "dtype"), (*op.dtypes, *names.DTYPES))


def _unknown_dtype(dtype: str, path: Path, known: Collection[str]) -> Finding:
    if dtype in names.RESERVED_DTYPES:
        return Finding("P022", path, f"`{dtype}` is reserved for a later version", "use `float16` or `bfloat16` tensors for now")
    return Finding("P022", path, f"unknown dtype `{dtype}`", hint_among(dtype, known, "known"))


def check_shapes(subject: OpSubject) -> Iterator[Finding]:
    """P030 to P032, P014: sizes are whole numbers."""
    for tensor, path in tensors(subject):
        for index, size in enumerate(tensor.shape):
            yield from _check_size((*path, "shape", index), size, subject)


def _check_size(path: Path, size: int | str, subject: OpSubject) -> Iterator[Finding]:
    if isinstance(size, int):
        if size < 0:
            yield Finding("P014", path, f"a size cannot be {size}")
        return
    yield from _check_expression(path, size, subject, {"int"})


def _check_expression(path: Path, text: str, subject: OpSubject, wanted: Collection[str], *, with_tensors: bool = False) -> Iterator[Finding]:
    found = read_expression(path, text, subject.tensor_scope() if with_tensors else subject.scope())
    if isinstance(found, Finding):
        yield found
    elif found.type not in {*wanted, "any"}:
        yield _wrong_type(path, text, found.type, wanted)


def _wrong_type(path: Path, text: str, kind: str, wanted: Collection[str]) -> Finding:
    words = {"int": "a whole number", "float": "a number", "bool": "a condition", "tensor": "a tensor", "dtype": "a dtype", "str": "a text"}
    hint = "`//` and `ceil_div` give whole numbers" if kind == "float" and "float" not in wanted else ""
    want = "a number" if "float" in wanted else words[next(iter(wanted))]
    return Finding("P032", path, f"this must be {want}, not {words[kind]}", hint, part=(0, len(text)))


def check_expressions(subject: OpSubject) -> Iterator[Finding]:
    """P030 to P032 for costs, reductions, constraints and invariants."""
    op = subject.op
    if op.cost:
        for key in ("bytes", "flops"):
            yield from _check_expression(("op", "cost", key), getattr(op.cost, key), subject, {"int", "float"})
    for tolerance, path in _tolerances(subject):
        if tolerance.reduction is not None:
            yield from _check_expression((*path, "reduction"), tolerance.reduction, subject, {"int", "float"})
    for index, text in enumerate(op.constraints):
        yield from _check_expression(("op", "constraints", index), text, subject, {"bool"})
    for index, text in enumerate(op.invariants):
        yield from _check_expression(("op", "invariants", index), text, subject, {"bool"}, with_tensors=True)


def _tolerances(subject: OpSubject) -> Iterator[tuple[OutputTolerance, Path]]:
    tolerance = subject.op.tolerance
    yield tolerance, ("op", "tolerance")
    yield from ((said, ("op", "tolerance", "output", name)) for name, said in tolerance.output.items())


def check_tolerances(subject: OpSubject) -> Iterator[Finding]:
    """P056, P057: an override has its reason, and an output to hold for."""
    written = [tensor.name for tensor in subject.op.written()]
    for tolerance, path in _tolerances(subject):
        overridden = [key for key in ("rtol", "atol") if getattr(tolerance, key) is not None]
        if overridden and not tolerance.reason.strip():
            yield Finding(
                "P056", (*path, overridden[0]), f"`{overridden[0]}` is set without a `reason`", 'say why the default does not do: `reason = "…"`', on_key=True
            )
    for name in subject.op.tolerance.output:
        if name not in written and name not in subject.lost:
            yield Finding("P057", ("op", "tolerance", "output", name), f"`{name}` is no output", hint_among(name, written, "outputs"), on_key=True)


def check_outputs(subject: OpSubject) -> Iterator[Finding]:
    """P050, P054: something is computed, and counts are integer outputs."""
    op = subject.op
    if not op.outputs and not op.inouts:
        yield Finding("P050", ("op",), "the op computes nothing", "add an `[[op.output]]`")
    counters = {output.name: output for output in op.outputs if output.shape == () and set(op.dtypes_of(output)) <= {"int32", "int64"}}
    for index, output in enumerate(op.outputs):
        path: Path = ("op", "output", index, "count")
        if output.count is None or output.count in subject.lost:
            continue
        if output.count not in counters or output.count == output.name:
            yield Finding("P054", path, f"`{output.count}` is no output that counts", 'it must be an output with `shape = []` and dtype `"int32"` or `"int64"`')
        elif not output.shape:
            yield Finding("P054", path, f"`{output.name}` has no rows to count", "its shape needs a first axis")


def check_scalars(subject: OpSubject) -> Iterator[Finding]:
    """P058: a scalar's value is one of its dtype's."""
    for index, scalar in enumerate(subject.op.scalars):
        if not is_scalar_value(scalar.value, scalar.dtype):
            yield Finding("P058", ("op", "scalar", index, "value"), f"`{scalar.name}` is {scalar.dtype}, which has no such value")


def is_scalar_value(value: object, dtype: str) -> bool:
    """Whether a dtype of scalars has the value; whole numbers are floating values, too."""
    if dtype == "bool":
        return isinstance(value, bool)
    if isinstance(value, bool):
        return False
    if dtype in ("int32", "int64"):
        bits = int(dtype[3:]) - 1
        return isinstance(value, int) and -(2**bits) <= value < 2**bits
    return isinstance(value, int | float) and abs(value) <= (3.4028235e38 if dtype == "float32" else 1.8e308)


def check_inits(subject: OpSubject) -> Iterator[Finding]:
    """P030 to P032, P040, P041, P051, P052: inits say one thing, and it goes with the tensor."""
    earlier: dict[str, Input] = {}
    for tensor, path in inputs(subject):
        if len(tensor.init.model_fields_set) != 1:
            yield Finding(
                "P051", (*path, "init"), f"`init` says {len(tensor.init.model_fields_set)} things", "exactly one key, as in `{ normal = { std = 3.0 } }`"
            )
        else:
            yield from _check_init(tensor, path, earlier, subject)
        earlier[tensor.name] = tensor


def _check_init(tensor: Input, path: Path, earlier: dict[str, Input], subject: OpSubject) -> Iterator[Finding]:
    kind, where = tensor.init.kind, (*path, "init", tensor.init.kind)
    dtypes = subject.op.dtypes_of(tensor)
    if kind in _INTEGER_INITS and any(dtype in names.FLOATING or dtype == "bool" for dtype in dtypes):
        yield Finding("P052", where, f"`{kind}` makes whole numbers, and `{tensor.name}` is {dtypes[0]}", "an integer dtype, such as `int32`", on_key=True)
    if kind in _FLOATING_INITS and not any(dtype in names.FLOATING for dtype in dtypes):
        yield Finding(
            "P052", where, f"`{kind}` makes floating values, and `{tensor.name}` is {dtypes[0]}", "`uniform` or `index` for whole numbers", on_key=True
        )
    if kind == "partition" and len(tensor.shape) != 1:
        yield Finding("P052", where, "a partition of something into n parts has the shape `[n + 1]`", on_key=True)
    yield from _check_bounds(tensor.init, where)
    yield from _check_init_words(tensor, where, earlier, subject)


def _check_bounds(init: Init, where: Path) -> Iterator[Finding]:
    said = init.uniform or init.sorted
    if said and said.low > said.high:
        yield Finding("P052", (*where, "low"), f"no value lies between {said.low} and {said.high}")


def _check_init_words(tensor: Input, where: Path, earlier: dict[str, Input], subject: OpSubject) -> Iterator[Finding]:
    init = tensor.init
    if init.derive:
        known = {**subject.scope(), **dict.fromkeys(earlier, "tensor")}
        found = read_expression((*where, "expression"), init.derive.expression, known)  # type: ignore[arg-type]
        if isinstance(found, Finding):
            yield found
        elif found.type in ("dtype", "str"):
            yield _wrong_type((*where, "expression"), init.derive.expression, found.type, {"tensor"})
        return
    for key in init.expressions():
        yield from _check_size((*where, key), init.arguments()[key], subject)
    if init.file:
        yield from check_path(subject.folder, init.file.path, (*where, "path"))
    if init.csr and init.csr.indptr not in subject.lost:
        rows = earlier.get(init.csr.indptr)
        if rows is None or any(dtype not in names.INTEGERS for dtype in subject.op.dtypes_of(rows)):
            hint = hint_among(init.csr.indptr, [name for name, other in earlier.items() if other.init.partition], "partitions")
            yield Finding("P052", (*where, "indptr"), f"`{init.csr.indptr}` is no integer input declared before", hint)


def check_generator(subject: OpSubject) -> Iterator[Finding]:
    """P053: a generator and inits that use it."""
    wanting = [path for tensor, path in inputs(subject) if tensor.init.generator]
    if wanting and subject.op.generator is None:
        yield Finding("P053", (*wanting[0], "init", "generator"), "the op has no `generator`", 'generator = "inputs.py:make"', on_key=True)
    if subject.op.generator is not None and not wanting:
        yield Finding("P053", ("op", "generator"), "no input asks for the generator", "`init = { generator = true }` for the inputs that it makes", on_key=True)


def check_edges(subject: OpSubject) -> Iterator[Finding]:
    """P055, P020: edge distributions go with floating tensors, each once."""
    for tensor, path in inputs(subject):
        if tensor.edges and not any(dtype in names.FLOATING for dtype in subject.op.dtypes_of(tensor)):
            yield Finding("P055", (*path, "edges"), f"`{tensor.name}` is no floating tensor", on_key=True)
        for edge, times in Counter(tensor.edges).items():
            if times > 1:
                yield Finding("P020", (*path, "edges", len(tensor.edges) - 1 - tensor.edges[::-1].index(edge)), f"`{edge}` stands in the list twice")


OP_CHECKS: tuple[OpCheck, ...] = (
    check_names,
    check_dtypes,
    check_reference,
    check_outputs,
    check_shapes,
    check_inits,
    check_generator,
    check_edges,
    check_scalars,
    check_expressions,
    check_tolerances,
)
"""All of them run, each on every op."""
