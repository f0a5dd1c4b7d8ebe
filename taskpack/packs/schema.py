"""The JSON Schema of each kind, for editors: made from the models, so that both say the same."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pydantic.json_schema import GenerateJsonSchema

from .kinds import KINDS, Kind

DIALECT = "http://json-schema.org/draft-07/schema#"
"""The draft that Taplo, and so editors, understand."""


def schema_of(kind: Kind) -> dict[str, Any]:
    """The schema of a whole pack.toml of that kind."""
    made = kind.document.model_json_schema(schema_generator=_ForEditors, ref_template="#/definitions/{model}")
    made["definitions"] = made.pop("$defs")
    made["definitions"]["Pack"]["properties"]["kind"]["const"] = kind.name
    made["definitions"].get("Init", {}).update(minProperties=1, maxProperties=1)
    made["properties"]["pack"]["description"] = made["definitions"]["Pack"]["description"]
    return {"$schema": DIALECT, "title": f"taskpack {kind.name}", **_tidied(made)}


def schema_text(kind: Kind) -> str:
    """The content of `<kind>.schema.json`."""
    return json.dumps(schema_of(kind), indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def write_schemas(folder: Path) -> None:
    """Writes `<kind>.schema.json` for every kind into `folder`, which is made if need be."""
    folder.mkdir(parents=True, exist_ok=True)
    for kind in KINDS.values():
        (folder / f"{kind.name}.schema.json").write_text(schema_text(kind), encoding="utf-8", newline="\n")


class _ForEditors(GenerateJsonSchema):
    """Without titles, which would repeat the keys."""

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002
        return False


def _tidied(value: Any) -> Any:
    """As draft 7 has it, without models' titles, defaults that say nothing, and line breaks in descriptions."""
    if isinstance(value, list):
        return [_tidied(item) for item in value]
    if not isinstance(value, dict):
        return value
    if "anyOf" in value:
        value = {key: item for key, item in value.items() if key != "anyOf"} | _one_of(value["anyOf"])
    if "prefixItems" in value:
        value = {key: item for key, item in value.items() if key != "prefixItems"} | {"items": value["prefixItems"]}
    return {key: _words(item) if key == "description" else _tidied(item) for key, item in value.items() if not _says_nothing(key, item)}


def _one_of(options: list[dict[str, Any]]) -> dict[str, Any]:
    """Several types in one word where they are nothing but types; what is left out in TOML is no value, so null goes."""
    options = [option for option in options if option != {"type": "null"}]
    if len(options) == 1:
        return options[0]
    if all(set(option) == {"type"} for option in options):
        types = [option["type"] for option in options]
        listed = [name for name in types if not (name == "integer" and "number" in types)]
        return {"type": listed if len(listed) > 1 else listed[0]}
    return {"anyOf": options}


def _says_nothing(key: str, item: Any) -> bool:
    return (key == "title" and isinstance(item, str)) or (key == "default" and item in (None, "", [], {}))


def _words(text: Any) -> Any:
    return " ".join(text.split()) if isinstance(text, str) else _tidied(text)
