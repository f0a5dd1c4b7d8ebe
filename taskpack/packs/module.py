"""`[op.module]`: a class of an installed library as the reference, and how it is constructed and called."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Discriminator, Tag

from taskpack.runtime.signature import Signature, parse_signature

from .header import Identifier, Requirement, Text, Value, Words, pattern, spelled
from .names import CLASS, FINGERPRINT, STATE_KEY

ClassPath = Annotated[
    str,
    spelled(lambda text: re.fullmatch(CLASS.strip("^$"), text), "P322", "`{text}` is not `package.module:Class`", "the module's full name, a colon, the class"),
    pattern(CLASS),
]
Fingerprint = Annotated[
    str,
    spelled(
        lambda text: re.fullmatch(FINGERPRINT.strip("^$"), text),
        "P323",
        "`{text}` is no fingerprint",
        "`sha256:` and 64 hexadecimal digits; write 64 zeros, and `taskpack build` says what it must be",
    ),
    pattern(FINGERPRINT),
]
StateKey = Annotated[
    str,
    spelled(lambda text: re.fullmatch(STATE_KEY.strip("^$"), text), "P018", "`{text}` is no key of a state_dict", "as torch has it: `gate_proj.weight`"),
    pattern(STATE_KEY),
]


Field = Annotated[
    Annotated[Value, Tag("value")] | Annotated[tuple[Value, ...], Tag("list")], Discriminator(lambda value: "list" if isinstance(value, tuple) else "value")
]


class Built(Words):
    """An argument that is an object, such as a configuration."""

    target: ClassPath
    """`package.module:Class` of the library, called with the fields by keyword; its defaults fill in the rest."""
    fields: Mapping[Identifier, Field]
    """Field → literal, or expression over dimensions, dtype variables, flags and scalars, or a list of these."""


Given = Annotated[
    Annotated[Value, Tag("value")] | Annotated[Built, Tag("built")],
    Discriminator(lambda value: "built" if isinstance(value, dict | Built) else "value"),
]


class Module(Words):
    """`[op.module]`: the reference is a class of an installed library, a `torch.nn.Module`; a candidate is a drop-in for it."""

    provider: Text
    """The library as pip names it, such as `transformers`."""
    target: ClassPath
    """The class: `transformers.models.llama.modeling_llama:LlamaRMSNorm`."""
    requires: Requirement
    """Versions of the library that will do."""
    fingerprint: Fingerprint
    """Of the class's syntax, as `taskpack build` prints it: a library in which the class has changed is refused as drift."""
    precision: Literal["float64", "float32"] = "float64"
    """In which the class answers as the reference; `float32` where it cannot compute in float64, as its own code says `float()`."""
    constructor: Text
    """The constructor's signature without `self`, annotations left out: `(hidden_size, eps=1e-6)`."""
    forward: Text
    """The signature of `forward`; its tensors are the op's inputs, passed by keyword."""
    arguments: Mapping[Identifier, Given]
    """Parameter of the constructor → literal, or expression over dimensions, dtype variables, flags and scalars, or an object."""

    def signatures(self) -> dict[str, Signature]:
        """`constructor` and `forward`; raises ValueError for words that spell no signature."""
        return {"constructor": parse_signature(self.constructor), "forward": parse_signature(self.forward)}
