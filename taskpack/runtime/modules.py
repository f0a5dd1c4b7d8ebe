"""The interface `module` inside a worker: a class is constructed, given the judge's state, and called with the judge's tensors.

`declared` is what the judge says of a case: `arguments` of the constructor (an object is {target, fields}), the names of `inputs` and of `state`, and
the reference's `precision`. Parameters are the judge's memory itself, read-only, and have other values from call to call: what is packed or
converted must be so in `forward`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import torch

from . import library, signature
from .contract import Call
from .protocol import Refused

Construct = Callable[..., object]


def make(construct: Construct, declared: Mapping[str, Any], known: Mapping[str, Any], device: str) -> torch.nn.Module:
    """A module on `device` whose parameters and buffers are tensors of `known`."""
    torch.set_grad_enabled(False)
    if device == "cpu":
        torch.set_num_threads(1)  # modules are compared, not how two pools of threads get along with whatever else the machine does
    with torch.device(device):
        module = fresh(construct, declared).to(device)
    _load(module, {name: known[name] for name in declared["state"]})
    return module


def bind(module: torch.nn.Module, declared: Mapping[str, Any], known: Mapping[str, Any]) -> Call:
    """The module bound to its inputs, which go by keyword; of a model's answer the declared attribute is taken."""
    inputs = {name: known[name] for name in declared["inputs"]}
    return partial(_answer, module, inputs, declared["output"]) if declared["output"] else partial(module, **inputs)


def _answer(module: torch.nn.Module, inputs: Mapping[str, Any], output: str) -> object:
    return getattr(module(**inputs), output)


def as_reference(construct: Construct) -> Callable[..., Any]:
    """The class as a function of what is known by name, computing in its declared precision."""

    made: dict[str, torch.nn.Module] = {}

    def reference(**known: Any) -> Any:
        declared = known["module"]
        dtype = getattr(torch, declared["precision"])
        given = {name: _at_most(known[name], dtype) for name in (*declared["inputs"], *declared["state"])}
        key = json.dumps(declared["arguments"], sort_keys=True)
        if key not in made:
            made.clear()
            made[key] = fresh(construct, declared).to(dtype)
        _load(made[key], {name: given[name] for name in declared["state"]})
        return bind(made[key], declared, given)()

    return reference


def check_objects(declared: Mapping[str, Any]) -> None:
    """Raises what the library raises where it refuses an object that the pack describes."""
    _arguments(declared)


def signatures(construct: Construct) -> dict[str, signature.Signature]:
    """`constructor` and `forward` of a class, without `self`; testimony, where the class is a candidate's."""
    kind = getattr(construct, "func", construct)
    if not (isinstance(kind, type) and issubclass(kind, torch.nn.Module)):
        raise Refused("interface", "is no torch.nn.Module")
    return {key: signature.of_function(getattr(kind, name))[1:] for key, name in (("constructor", "__init__"), ("forward", "forward"))}


def state(construct: Construct, declared: Mapping[str, Any]) -> dict[str, Any]:
    """Key of a fresh module's state → [shape, dtype]; testimony, too."""
    module = fresh(construct, declared)
    return {key: [list(tensor.shape), str(tensor.dtype).removeprefix("torch.")] for key, tensor in module.state_dict().items()}


def fresh(construct: Construct, declared: Mapping[str, Any]) -> torch.nn.Module:
    """A module as its class initialises it; raises Refused for a class that is not called as the library's is."""
    arguments = _arguments(declared)
    try:
        made = construct(**arguments)
    except TypeError as error:
        raise Refused("interface", f"cannot be constructed: {error}") from error
    if not isinstance(made, torch.nn.Module):
        raise Refused("interface", "is no torch.nn.Module")
    return made.eval()


def _arguments(declared: Mapping[str, Any]) -> dict[str, object]:
    return {name: _object(said) if isinstance(said, dict) else said for name, said in declared["arguments"].items()}


def _object(said: Mapping[str, Any]) -> object:
    return library.import_object(said["target"])(**said["fields"])


def _load(module: torch.nn.Module, state: Mapping[str, torch.Tensor]) -> None:
    try:
        module.load_state_dict(state, strict=True, assign=True)
    except RuntimeError as error:
        words = " ".join(str(error).split())
        raise Refused("state-dict", f"cannot load the state: {words}") from error


def _at_most(tensor: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    return tensor.to(dtype) if tensor.is_floating_point() else tensor
