"""Packs in every format that there has been load for ever: nothing in tests/formats/1 may change, only be added."""

from pathlib import Path

import pytest

from taskpack.packs.check import check_pack
from taskpack.packs.inits import Init
from taskpack.packs.knowledge import KnowledgePack, Rule, RuleExample, Scope
from taskpack.packs.load import load_pack
from taskpack.packs.module import Module
from taskpack.packs.op import Op, OpPack
from taskpack.packs.shelf import Shelf
from taskpack.packs.task import TaskPack

FORMATS = Path(__file__).parents[1] / "formats"
PACKS = sorted(path.parent for path in FORMATS.glob("*/*/pack.toml"))


@pytest.mark.parametrize("folder", PACKS, ids=lambda folder: f"{folder.parent.name}/{folder.name}")
def test_it_loads(folder):
    loaded = load_pack(folder)
    assert check_pack(loaded, Shelf([folder.parent])) == ()
    assert loaded.document.pack.name == loaded.name


def test_everything_that_a_rule_can_say_is_said():
    document = load_pack(FORMATS / "1" / "knowledge-with-everything").document
    assert isinstance(document, KnowledgePack)
    first = document.knowledge.rules[0]
    assert first.model_fields_set == set(Rule.model_fields)
    assert first.scope.model_fields_set == set(Scope.model_fields)
    assert first.examples[1].model_fields_set == set(RuleExample.model_fields)


def test_everything_that_an_op_can_say_is_said():
    document = load_pack(FORMATS / "1" / "op-with-everything").document
    assert isinstance(document, OpPack)
    op = document.op
    assert op.model_fields_set == set(Op.model_fields) - {"module", "state"}
    assert {key for tensor in op.given() for key in tensor.init.model_fields_set} == set(Init.model_fields)


def test_everything_that_a_module_can_say_is_said():
    document = load_pack(FORMATS / "1" / "task-of-a-module").document
    assert isinstance(document, TaskPack)
    assert document.task.is_module
    assert document.op
    assert document.op.module
    assert document.op.module.model_fields_set == set(Module.model_fields)
    assert [tensor.name for tensor in document.op.given()] == ["x", "scale", "inner.shift"]


def test_what_an_op_says_arrives():
    document = load_pack(FORMATS / "1" / "op-with-everything").document
    assert isinstance(document, OpPack)
    op = document.op
    scope = ["rows", "tokens", "experts", "picks", "T", "I", "causal", "gain", "strict"]
    assert list(op.scope()) == scope
    assert op.values_of(op.cases[0])["causal"] is False
    assert op.values_of(op.cases[1])["gain"] == 0.5
    assert [tensor.name for tensor in op.written()] == ["total", "y", "valid"]
    assert [op.comparison(tensor) for tensor in op.written()] == ["close", "close", "exact"]
    assert op.inputs[0].init.kind == "normal"
    assert op.inputs[0].init.arguments() == {"mean": 1, "std": 0.5}
    assert op.inputs[5].init.kind == "unique-index"
    assert op.inputs[-1].init.arguments() == {}
    tokens = op.unseen[0].draws["tokens"]
    assert tokens.to_dict() == {"range": (0, 300), "not-multiple-of": 32}
