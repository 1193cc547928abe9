"""Which arguments torch needs as Python numbers: a tensor given there is read.

Schemas tell it of what is built in. Functions that are written in Python are called with tensors
that have no data: they say when they are asked for some.
"""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import torch
from torch._subclasses.fake_tensor import DataDependentOutputException, FakeTensorMode

from scripts.torch_facts.behaviour import FAILURES

Table = dict[str, str]

NUMBER = re.compile(r"\b(int|float|number)\b")
TENSOR = re.compile(r"\bTensor\b")
SETTINGS = frozenset({"device", "dtype", "layout", "memory_format", "out_dtype", "pin_memory"})
NAMESPACES = ("fft", "linalg", "special")
RENAMED = {"logsigmoid": "log_sigmoid"}
# Dynamo fills with a tensor, whatever the schema says; these take Python's own data.
FILLED = {"torch.full": "fill_value"}
OF_DATA = frozenset({"torch.as_tensor", "torch.tensor"})
# A tensor is taken there, and read all the same.
READ = {
    "bernoulli": "p",
    "narrow": "start",
    "tensor_split": "tensor_indices_or_sections",
}
# What does not follow from its kind: sizes that a call needs to work at all.
SAMPLES: dict[str, Any] = {"pad": [1, 1], "kernel_size": 2}


def numbers(methods: Iterable[str], functions: Iterable[str]) -> Table:
    """For methods by bare name and functions by dotted name: ``"places|names"``.

    A place with ``+`` stands for all from there on: sizes may be given one by one.
    """
    schemas: dict[str, list[Any]] = {}
    for schema in torch._C._jit_get_all_schemas():
        if schema.name.startswith("aten::") and _is_of_tensors(schema):
            schemas.setdefault(schema.name.removeprefix("aten::"), []).append(schema)
    found: Table = {}
    for name in sorted(methods):
        found[name] = _from_schemas(name, schemas.get(name, []), 1)
    for dotted in sorted(functions):
        found[dotted] = _of_function(dotted, schemas)
    return {name: told for name, told in found.items() if told != "|"}


def _of_function(dotted: str, schemas: dict[str, list[Any]]) -> str:
    module, _, name = dotted.rpartition(".")
    function = getattr(importlib.import_module(module), name, None)
    space = module.removeprefix("torch.")
    operator = RENAMED.get(name, f"{space}_{name}" if space in NAMESPACES else name)
    if dotted in OF_DATA:
        return "|"
    in_python = inspect.isfunction(function) and module == "torch.nn.functional"
    if in_python and "args" not in inspect.signature(function).parameters:
        return _from_calls(function)
    return _from_schemas(dotted, schemas.get(operator, []), 0)


def _is_of_tensors(schema: Any) -> bool:
    written = "out" in schema.overload_name.split("_") or any(a.is_out for a in schema.arguments)
    return not written and any(TENSOR.search(str(result.type)) for result in schema.returns)


def _from_schemas(name: str, schemas: list[Any], bound: int) -> str:
    fill = FILLED.get(name)
    places: dict[int, list[str]] = {}
    names: dict[str, list[str]] = {}
    lists: set[int] = set()
    for schema in schemas:
        arguments = list(schema.arguments)[bound:]
        for place, argument in enumerate(arguments):
            kind = "Tensor" if argument.name == fill else str(argument.type)
            if argument.name == READ.get(name.rpartition(".")[2]):
                kind = "int"
            if argument.name in SETTINGS:
                kind = ""
            names.setdefault(argument.name, []).append(kind)
            if not argument.kwarg_only:
                places.setdefault(place, []).append(kind)
                alone = place == sum(not a.kwarg_only for a in arguments) - 1
                if place == 0 and alone and "List" in kind and NUMBER.search(kind):
                    lists.add(place)
    wanted = [p for p, kinds in sorted(places.items()) if _is_number(kinds)]
    spread = bool(wanted) and wanted[-1] in lists
    told = [f"{p}+" if spread and p == wanted[-1] else str(p) for p in wanted]
    return f"{' '.join(told)}|{' '.join(n for n in sorted(names) if _is_number(names[n]))}"


def _is_number(kinds: list[str]) -> bool:
    tensors = any(TENSOR.search(kind) for kind in kinds)
    return not tensors and any(NUMBER.search(kind) for kind in kinds)


def _from_calls(function: Callable[..., Any]) -> str:
    parameters = [*inspect.signature(function).parameters.values()]
    read = [p for p in parameters if _is_annotated_number(p) and _is_read(function, p.name)]
    places = [str(parameters.index(p)) for p in read if p.kind is not p.KEYWORD_ONLY]
    return f"{' '.join(places)}|{' '.join(sorted(p.name for p in read))}"


def _is_annotated_number(parameter: inspect.Parameter) -> bool:
    public = not parameter.name.startswith("_")
    return public and bool(NUMBER.search(str(parameter.annotation).lower()))


SHAPES = ((4, 4), (2, 4, 4), (2, 4, 4, 4), (2, 4, 4, 4, 4), (4,))


def _is_read(function: Callable[..., Any], name: str) -> bool:
    """Whether a call raises for want of data when it gets a tensor there, and not without."""
    return any(_asks(function, name, call) for call in _calls(function))


def _asks(function: Callable[..., Any], name: str, call: dict[str, Any]) -> bool:
    kind = str(inspect.signature(function).parameters[name].annotation).lower()
    plain = _sample(name, kind, (2,))
    with FakeTensorMode():
        made = {
            k: torch.ones(v.shape) if isinstance(v, torch.Tensor) else v for k, v in call.items()
        }
        number = torch.ones(()) if "float" in kind else torch.ones((), dtype=torch.int64)
        given = [number] * len(plain) if isinstance(plain, list) else number
        try:
            function(**{**made, name: plain})
        except FAILURES:  # not a call that torch takes
            return False
        try:
            function(**{**made, name: given})
        except DataDependentOutputException:
            return True
        except FAILURES:  # a tensor is refused there
            return False
    return False


def _calls(function: Callable[..., Any]) -> Iterator[dict[str, Any]]:
    for shape in SHAPES:
        call: dict[str, Any] = {}
        for parameter in inspect.signature(function).parameters.values():
            if parameter.name in ("training", "train"):
                call[parameter.name] = True
            elif parameter.default is parameter.empty:
                call[parameter.name] = _sample(parameter.name, str(parameter.annotation), shape)
        yield call


def _sample(name: str, kind: str, shape: tuple[int, ...]) -> Any:
    if name in SAMPLES:
        return SAMPLES[name]
    if "tensor" in kind.lower():
        return torch.ones(shape)
    if "float" in kind.lower():
        return 0.5
    return [shape[-1]] if "list" in kind.lower() else 1
