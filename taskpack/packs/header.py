"""What every pack says of itself, and what all the words of an author have in common."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from pydantic_core import PydanticCustomError

from . import names, versions


def _kebab(name: str) -> str:
    return name.replace("_", "-")


class Words(BaseModel):
    """A table of a pack: unknown keys are refused, nothing is converted, nothing changes afterwards."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        strict=True,
        allow_inf_nan=False,
        alias_generator=_kebab,
        use_attribute_docstrings=True,
        defer_build=True,
    )


def spelled(is_right: Callable[[str], object], code: str, message: str, hint: str) -> AfterValidator:
    """A check of a text's form whose failure is the diagnostic `code`; `message` may hold `{text}`."""

    def check(text: str) -> str:
        try:
            right = is_right(text)
        except ValueError:
            right = False
        if not right:
            raise PydanticCustomError(code, message, {"text": text, "hint": hint})
        return text

    return AfterValidator(check)


def pattern(expression: str) -> Any:
    """The form as the JSON Schema has it; `spelled` words it."""
    return Field(json_schema_extra={"pattern": expression})


PackName = Annotated[
    str,
    spelled(names.is_pack_name, "P015", "`{text}` is no name of a pack", "namespace/name, lower-case letters, digits and single hyphens: `local/row-softmax`"),
    pattern(names.PACK_NAME),
]
Version = Annotated[
    str,
    spelled(versions.parse_version, "P016", "`{text}` is no version", "MAJOR.MINOR.PATCH, such as `0.1.0` or `1.0.0-rc.1`"),
    pattern(versions.VERSION),
]
Requirement = Annotated[
    str,
    spelled(versions.parse_requirement, "P017", "`{text}` is no version requirement", "`^1.0` (compatible with 1.0), `~1.2`, `=1.2.3` or `>=1.0, <1.4`"),
    pattern(versions.REQUIREMENT),
]
Identifier = Annotated[
    str,
    spelled(
        names.is_identifier, "P018", "`{text}` cannot be a name here", "a letter, then letters, digits and underscores: it becomes a parameter in Python and C"
    ),
    pattern(names.IDENTIFIER),
]
CaseId = Annotated[
    str,
    spelled(names.is_case_id, "P014", "`{text}` is no id", "lower-case letters and digits with single hyphens or dots, at most 64 characters"),
    pattern(names.CASE_ID),
]
Text = Annotated[str, Field(min_length=1)]
Value = bool | int | float | str
"""A literal of a case: a dimension, a flag, a scalar, or the name of a dtype."""


class Pack(Words):
    """`[pack]`: what a pack says of itself."""

    kind: str
    """What the pack holds."""
    name: PackName
    """`namespace/name`; `local/…` until the pack is published somewhere."""
    version: Version
    """Semantic version, immutable once published. MAJOR: scores are no longer comparable; MINOR: something was added; PATCH: words only.
    Below 1.0 a MINOR may break."""
    summary: Annotated[str, Field(min_length=1, max_length=200)]
    """One line for lists and searches."""
    license: Text
    """An SPDX expression, such as `Apache-2.0`."""
    authors: tuple[Text, ...] = ()
    """Names, with an address if they like."""
    dependencies: Mapping[PackName, Requirement] = Field(default_factory=dict)
    """Other packs that this one needs, each with the versions that will do."""


class PackFile(Words):
    """A whole `pack.toml`; a kind adds its table."""

    format: Literal[1]
    """The version of this file format."""
    pack: Pack
