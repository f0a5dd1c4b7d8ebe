"""What is made from the models is fresh, and says the same as they do."""

import json
from pathlib import Path

import jsonschema
import pytest
import tomli

from taskpack.packs.codes import CODES
from taskpack.packs.generate import generate
from taskpack.packs.kinds import KINDS
from taskpack.packs.names import FUNCTION
from taskpack.packs.reference_pages import pages
from taskpack.packs.schema import schema_of, schema_text, write_schemas
from taskpack.resources import schemas, shipped_packs

ROOT = Path(__file__).parents[2]
PACKS = sorted([*shipped_packs().glob("*/*/pack.toml"), *(ROOT / "tests" / "formats").glob("*/*/pack.toml")])


@pytest.mark.parametrize("kind", KINDS)
def test_schemas_are_fresh(kind):
    assert (schemas() / f"{kind}.schema.json").read_text(encoding="utf-8") == schema_text(KINDS[kind]), "run `make generate`"


@pytest.mark.parametrize("name", ["kinds.md", "expressions.md", "errors.md", *(f"{kind}.md" for kind in KINDS)])
def test_pages_are_fresh(name):
    assert (ROOT / "docs" / "reference" / name).read_text(encoding="utf-8") == pages(ROOT / "tests" / "bad")[name], "run `make generate`"


def test_generate_writes_both(tmp_path):
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "bad").symlink_to(ROOT / "tests" / "bad")
    generate(tmp_path)
    assert (tmp_path / "schemas" / "op.schema.json").read_bytes() == (ROOT / "schemas" / "op.schema.json").read_bytes()
    assert (tmp_path / "docs" / "reference" / "op.md").read_bytes() == (ROOT / "docs" / "reference" / "op.md").read_bytes()


def test_write_schemas(tmp_path):
    write_schemas(tmp_path / "made")
    assert {path.name for path in (tmp_path / "made").iterdir()} == {f"{kind}.schema.json" for kind in KINDS}


@pytest.mark.parametrize("kind", KINDS)
def test_schemas_are_schemas_in_kebab_case_with_descriptions(kind):
    schema = json.loads(schema_text(KINDS[kind]))
    jsonschema.Draft7Validator.check_schema(schema)
    assert schema["title"] == f"taskpack {kind}"
    for name, definition in schema["definitions"].items():
        assert definition["description"], name
        for key, value in definition.get("properties", {}).items():
            assert "_" not in key
            assert "$ref" in value or value.get("description") or value.get("items"), (name, key)


@pytest.mark.parametrize("path", PACKS, ids=lambda path: f"{path.parent.parent.name}/{path.parent.name}")
def test_packs_are_valid_by_their_schema(path):
    document = tomli.loads(path.read_text(encoding="utf-8"))
    jsonschema.Draft7Validator(schema_of(KINDS[document["pack"]["kind"]])).validate(document)


@pytest.mark.parametrize("name", ["P003-unknown-kind", "P010-key-misspelled", "P011-no-init", "P013-scale", "P015-upper-case", "P051-two-inits"])
def test_packs_with_mistakes_of_form_are_not(name):
    document = tomli.loads((ROOT / "tests" / "bad" / name / "pack.toml").read_text(encoding="utf-8"))
    assert not jsonschema.Draft7Validator(schema_of(KINDS["op"])).is_valid(document)


def test_every_key_and_every_init_has_words():
    for kind in KINDS:
        for line in pages(ROOT / "tests" / "bad")[f"{kind}.md"].splitlines():
            assert not line.endswith("|  |"), line


def test_codes_are_well_named():
    for code, entry in CODES.items():
        assert len(code) == 4
        assert entry.title == entry.title.strip(".")
        assert entry.explanation.endswith(".")
    assert FUNCTION.startswith("^")
