"""pydantic's complaints about a document, in our words, with codes, places and hints."""

from __future__ import annotations

import datetime as dt
import typing
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast

from pydantic import BaseModel
from pydantic_core import ErrorDetails

from .codes import CODES
from .findings import Finding
from .spans import Path
from .suggest import hint_among

_TYPES = {
    "string_type": "a text",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "tuple_type": "a list",
    "dict_type": "a table",
    "mapping_type": "a table",
    "model_type": "a table",
    "model_attributes_type": "a table",
    "int_parsing_size": "a smaller whole number",
}
"""pydantic's type of an error → the type that was wanted."""


def word_errors(errors: Iterable[ErrorDetails], document: Mapping[str, Any], model: type[BaseModel]) -> Iterator[Finding]:
    """A finding for each mistake; the several complaints about a value that may have one of several types are one mistake."""
    grouped: dict[Path, list[ErrorDetails]] = {}
    for error in errors:
        grouped.setdefault(existing_path(document, error["loc"]), []).append(error)
    for path, group in grouped.items():
        wrong_types = [error for error in group if error["type"] in _TYPES]
        if wrong_types:
            yield _wrong_type(path, wrong_types)
        for error in group:
            if error["type"] not in _TYPES and not (wrong_types and error["type"] == "literal_error"):
                yield _worded(path, error, model)


def existing_path(document: object, loc: Iterable[str | int]) -> Path:
    """The part of an error's location that exists in the document: pydantic adds names of types and of missing keys."""
    path: Path = ()
    for step in loc:
        is_key = isinstance(document, dict) and step in document
        if is_key or (isinstance(document, list | tuple) and isinstance(step, int) and step < len(document)):
            document = cast("Any", document)[step]
            path += (step,)
    return path


def table_name(path: Path) -> str:
    """`[op.input]` and the like, as the author wrote it."""
    names = [str(step) for step in path if isinstance(step, str)]
    return f"`[{'.'.join(names)}]`" if names else "the file"


def describe(value: object) -> str:
    """A value in words, for `not …`."""
    match value:
        case bool():
            return "`true`" if value else "`false`"
        case int() | float():
            return f"`{value}`"
        case str():
            return f'"{value}"' if len(value) <= 40 else "a longer text"
        case list() | tuple():
            return "a list"
        case dict():
            return "a table"
        case dt.date() | dt.time():
            return "a date (without quotes)"
        case _:
            return "this"


def _wrong_type(path: Path, errors: list[ErrorDetails]) -> Finding:
    wanted = list(dict.fromkeys(_TYPES[error["type"]] for error in errors))
    if "a number" in wanted and "a whole number" in wanted:
        wanted.remove("a whole number")
    listed = " or ".join([", ".join(wanted[:-1]), wanted[-1]] if len(wanted) > 1 else wanted)
    return Finding("P012", path, f"`{_last_key(path)}` wants {listed}, not {describe(errors[0]['input'])}")


def _worded(path: Path, error: ErrorDetails, model: type[BaseModel]) -> Finding:
    kind, context = error["type"], error.get("ctx", {})
    if kind in CODES:
        return Finding(kind, path, error["msg"], str(context.get("hint", "")), on_key=error["loc"][-1] == "[key]")
    match kind:
        case "extra_forbidden":
            keys = _keys(_model_at(model, path[:-1]))
            return Finding("P010", path, f"unknown key `{path[-1]}` in {table_name(path[:-1])}", hint_among(str(path[-1]), keys, "keys"), on_key=True)
        case "missing" if isinstance(error["loc"][-1], int):
            return Finding("P014", path, f"`{_last_key(path)}` wants two numbers, lowest and highest")
        case "missing":
            key = str(error["loc"][-1])
            return Finding("P011", path, f"{table_name(path)} lacks `{key}`", _doc(_model_at(model, path), key), on_key=True)
        case "literal_error":
            return _choice(path, error)
        case _:
            return Finding("P014", path, _range(_last_key(path), error))


def _choice(path: Path, error: ErrorDetails) -> Finding:
    choices = [word.strip("'") for word in str(error.get("ctx", {}).get("expected", "")).replace(" or ", ", ").split(", ")]
    message = f"`{_last_key(path)}` cannot be {describe(error['input'])}"
    return Finding("P013", path, message, hint_among(str(error["input"]), choices, "choices"))


def _range(key: str, error: ErrorDetails) -> str:
    context = error.get("ctx", {})
    match error["type"]:
        case "greater_than":
            return f"`{key}` must be more than {context['gt']}, not {error['input']}"
        case "greater_than_equal":
            return f"`{key}` must be at least {context['ge']}, not {error['input']}"
        case "less_than_equal":
            return f"`{key}` must be at most {context['le']}, not {error['input']}"
        case "string_too_short" | "too_short":
            return f"`{key}` is empty"
        case "string_too_long":
            return f"`{key}` is longer than {context['max_length']} characters"
        case "too_long" if key == "range":
            return f"`{key}` wants two numbers, lowest and highest"
        case "too_long":
            return f"`{key}` holds more than {context['max_length']}"
        case "finite_number":
            return f"`{key}` must be a finite number"
        case _:
            return f"`{key}`: {error['msg']}"


def _last_key(path: Path) -> str:
    """The nearest key above a value, with the value's place in a list."""
    for index in range(len(path) - 1, -1, -1):
        if isinstance(path[index], str):
            return str(path[index]) + "".join(f"[{step}]" for step in path[index + 1 :])
    return "the file"


def _model_at(model: type[BaseModel] | None, path: Path) -> type[BaseModel] | None:
    """The model of the table at `path`."""
    for step in path:
        if model is None:
            return None
        annotation = _annotations(model).get(str(step)) or typing.get_type_hints(model).get("__pydantic_extra__")
        if isinstance(step, str) and annotation:
            model = next(_models(annotation), None)
    return model


def _annotations(model: type[BaseModel]) -> dict[str, Any]:
    return {field.alias or name: field.annotation for name, field in model.model_fields.items()}


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    if not typing.get_args(annotation) and isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in typing.get_args(annotation):
        yield from _models(argument)


def _keys(model: type[BaseModel] | None) -> list[str]:
    return list(_annotations(model)) if model else []


def _doc(model: type[BaseModel] | None, key: str) -> str:
    """The first sentence of a key's description."""
    for name, field in model.model_fields.items() if model else ():
        if key in (field.alias, name):
            sentence = (field.description or "").replace("\n", " ").partition(". ")[0].rstrip(".")
            return f"`{key}`: {sentence[:1].lower()}{sentence[1:]}" if sentence else ""
    return ""
