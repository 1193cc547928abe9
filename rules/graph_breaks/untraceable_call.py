"""TCL180: a call of a function that Dynamo does not trace."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Final

from tclint.diagnostics import Advice, Confidence, Decline, Effect
from tclint.lint.rewrite import Repair, Replace
from tclint.lint.rule import Finding, Rule
from tclint.semantics.collect import dotted_name
from tclint.semantics.events import Call
from tclint.semantics.flow import Definition
from tclint.semantics.lattice import options
from tclint.semantics.site import Site
from tclint.semantics.values import (
    Class,
    External,
    Mapping,
    Object,
    Sequence,
    Static,
    SymInt,
    Tensor,
    Value,
)
from tclint.torch_facts import skipped_by_dynamo, skipped_functions

from ..lib.facts.origins import is_input, is_made_here
from ..lib.facts.uses import uses_of
from ..lib.rewrite.draw_if_needed import confidence_of_draw, draw_if_needed
from ..lib.wording import consequence, dropped, loop_ids, renumbered

_ELSEWHERE = frozenset({"torch.Tensor.backward", "torch.autograd.grad", "torch.autograd.backward"})
_ELSEWHERE |= {"torch.Tensor.requires_grad_", "logging.getLogger", "print", "warnings.warn"}
_Refused = tuple[str, str]
"""The id of a graph break, and of what the call was that breaks the graph."""
_WAY_OUT = {
    "copy": "use `t.clone()` to copy a tensor, and `list(x)` or `dict(x)` to copy a container",
    "dataclasses": "name the fields where they are needed, or ask an instance for its fields",
    "random": "`torch.rand` draws in the graph, `random.uniform` is traced",
    "torch.optim": "make it once, before the compiled function is called",
    "torch.manual_seed": "seed before the compiled function is called",
}
_OUTSIDE = (
    "call it before compiled code and pass the result in, keep it for eager code under "
    "`if not torch.compiler.is_compiling():`, or mark a helper with "
    "`torch.compiler.assume_constant_result` if its answer never changes"
)


def _shallow(value: Value) -> _Refused | None:
    if isinstance(value, Tensor):
        return "GB0208", "a tensor"
    if isinstance(value, Object) and value.is_module:
        return "GB0008", "a module"
    if isinstance(value, Mapping):
        return "GB0007", "a dict"
    if isinstance(value, Sequence) and value.type != "tuple":
        return "GB0007", f"a {value.type}"
    return None


def _deep(value: Value) -> _Refused | None:
    if isinstance(value, Tensor):
        return "GB4198", "a tensor"
    if isinstance(value, Object) and value.is_module:
        return "GB4198", "a module"
    parts: tuple[Value, ...] = ()
    if isinstance(value, Sequence):
        parts = value.items or (value.element,)
    elif isinstance(value, Mapping):
        parts = (*(part for _, part in value.items), value.element)
    if any(_deep(kind) for part in parts for kind in options(part)):
        return "GB4198", "a container of tensors"
    return _of_fields(value)


def _of_fields(value: Value) -> _Refused | None:
    """``dataclasses.asdict`` and ``astuple`` copy what they find in the fields."""
    if not isinstance(value, Object) or value.cls is None:
        return None
    module = value.cls.module
    kinds = (item.annotation for item in value.cls.node.body if isinstance(item, ast.AnnAssign))
    tensors = any(dotted_name(module, kind) == "torch.Tensor" for kind in kinds)
    return ("GB4198", "a container of tensors") if tensors else None


def _class(value: Value) -> _Refused | None:
    return ("GB0180", "a class") if isinstance(value, Class) else None


def _tensor(value: Value) -> _Refused | None:
    return ("GB0156", "a tensor") if isinstance(value, Tensor) else None


def _plain_tensor(value: Value) -> _Refused | None:
    return ("GB0001", "`torch.Tensor`") if value == External("torch.Tensor") else None


def _listed(value: Value) -> _Refused | None:
    """``dir`` lists what a class or a function of Python has, and no object of the project."""
    if isinstance(value, Tensor):
        return "GB0059", "a tensor"
    if isinstance(value, Object) and (value.cls is not None or value.is_module):
        return "GB0059", "an object"
    parts = value.items or (value.element,) if isinstance(value, Sequence) else ()
    if any(isinstance(kind, Tensor) for part in parts for kind in options(part)):
        return "GB0059", "a container of tensors"
    return None


def _code(value: Value) -> _Refused | None:
    """``eval`` of a number in a string gives a constant; names are those of Dynamo's own file."""
    written = value.value if isinstance(value, Static) and value.known else None
    if isinstance(written, str) and not any(map(str.isalpha, written)):
        return None
    return "GB0059", "code in a string"


_BY_ARGUMENT: Final[dict[str, Callable[[Value], _Refused | None]]] = {
    "copy.copy": _shallow,
    "copy.deepcopy": _deep,
    "dataclasses.asdict": _of_fields,
    "dataclasses.astuple": _of_fields,
    "dataclasses.fields": _class,
    "dir": _listed,
    "eval": _code,
    "object.__delattr__": _tensor,
    "object.__setattr__": _tensor,
    "torch.Tensor.as_subclass": _plain_tensor,
}
"""Functions by their dotted names, and how one alternative of their argument breaks the graph."""

_COPIES: Final = {"copy.copy": "GB0007", "copy.deepcopy": "GB0179"}
"""What no release before traced, and the id then."""
_COPIES_TRACED: Final = (2, 12)
_POWERS_TRACED: Final = (2, 14)


_VIEWING = "as_strided_ detach_ squeeze_ swapaxes_ swapdims_ t_ transpose_ unsqueeze_"
_ON_INPUTS: Final = frozenset(f"torch.Tensor.{name}" for name in ("set_", *_VIEWING.split()))
"""What changes a tensor itself, not its data: traced for tensors that the graph makes."""


_POINTER_OUT: Final = "compute this where the tensors are made, before compiled code"
_POINTERS_SINCE: Final = (2, 13)
_POINTER: Final = "torch.Tensor.data_ptr"
"""Traced where nothing but identity is asked of the number."""
_DRAW: Final = "random.random"
_OLD_FORMS: Final = {
    "torch.Tensor.add_": "add_(tensor, alpha=number)",
    "torch.Tensor.addcdiv_": "addcdiv_(one, other, value=number)",
    "torch.Tensor.addcmul_": "addcmul_(one, other, value=number)",
}
"""Methods that took a number before the tensors until torch 1.5, and still do; how to write it."""
_GROUPING: Final = "itertools.groupby"


class UntraceableCall(Rule[Call]):
    """Compiled code calls a function that Dynamo does not trace."""

    code = "TCL180"
    name = "untraceable-call"
    former_names = ("refused-call",)
    summary = "A call that Dynamo does not trace breaks the graph"
    instead = (
        "Call it before or after the compiled code and pass its result in, or keep it under `if "
        "not torch.compiler.is_compiling():`"
    )
    on = Call
    called = skipped_functions() | {
        name.rpartition(".")[2]
        for name in (*_BY_ARGUMENT, *_ON_INPUTS, _POINTER, "pow", _GROUPING, *_OLD_FORMS)
    }
    effects = (Effect.GRAPH_BREAK,)
    gb_ids = (
        "GB0007",
        "GB0008",
        "GB0023",
        "GB0059",
        "GB0088",
        "GB0117",
        "GB0134",
        "GB0148",
        "GB0156",
        "GB0180",
        "GB0208",
        "GB4198",
        "GB5976",
        "GB7000",
    )

    def check(self, event: Call) -> Finding | None:
        """Look the function up among those that were measured."""
        name = event.function.removeprefix("builtins.")
        if name in _BY_ARGUMENT:
            return _by_argument(event, name)
        if name in _ON_INPUTS:
            return _on_input(event, name)
        if name in _OLD_FORMS:
            return _number_first(event, name)
        if name == _POINTER:
            return _of_pointer(event)
        if name == "pow":
            return _power(event)
        if name == _GROUPING:
            return _grouping(event)
        found = skipped_by_dynamo(name, event.site.settings.target_torch)
        if found is None or name in _ELSEWHERE or _is_context(event.site, event.call):
            return None
        end = consequence(event.site)
        left = confidence_of_draw(event.site, event.call) if name == _DRAW else None
        return Finding(
            f"Dynamo does not trace `{_spelt(name)}`{end}",
            Advice(_way_out(name)) if left else _repair(event, name),
            gb_ids=loop_ids(event.site, found.gb_id),
            confidence=left,
            since=found.since,
            before=None if _compares_tensors(event, name) else found.until,
        )


def _compares_tensors(event: Call, name: str) -> bool:
    """Heaps compare what is in them, which breaks the graph on every release for tensors."""
    given = (kind for value in event.arguments for kind in options(value))
    return name.startswith("heapq.") and any(_deep(kind) for kind in given)


def _on_input(event: Call, name: str) -> Finding | None:
    func = event.call.func
    tensor = event.owner if isinstance(event.owner, Tensor) else None
    if tensor is None or not isinstance(func, ast.Attribute):
        return None
    if not _comes_from_outside(event.site, func.value, tensor):
        return None
    return Finding(
        f"Dynamo does not trace `{_spelt(name)}` of an input{consequence(event.site)}",
        Advice(_OUTSIDE if name.endswith(".set_") else f"`{_spelt(name)[:-1]}` is traced"),
        gb_ids=loop_ids(event.site, "GB0148"),
        confidence=Confidence.MEDIUM if tensor.assumed else None,
    )


def _number_first(event: Call, name: str) -> Finding | None:
    """``x.add_(0.1, y)``, for which Dynamo's own method has no parameters."""
    if len(event.arguments) < 2 or not isinstance(event.owner, Tensor):
        return None
    number, tensor = event.arguments[:2]
    if not isinstance(number, (Static, SymInt)) or not isinstance(tensor, Tensor):
        return None
    called = name.rpartition(".")[2]
    return Finding(
        f"Dynamo does not trace `{called}` with a number first{consequence(event.site)}",
        Advice(f"write `{_OLD_FORMS[name]}`"),
        gb_ids=loop_ids(event.site, "GB0117"),
        confidence=Confidence.MEDIUM if event.owner.assumed and tensor.assumed else None,
    )


def _power(event: Call) -> Finding | None:
    """The builtin, which asks its operands for the same as ``**`` does."""
    site, given = event.site, event.call.args
    if not any(isinstance(kind, Tensor) for value in event.arguments for kind in options(value)):
        return None
    fix: Repair | Decline = Advice("write `**`, which is traced")
    if len(given) == 2 and not any(isinstance(part, ast.Starred) for part in given):
        parts = {"base": given[0], "power": given[1]}
        fix = Repair("Write `**`", (Replace(event.call, "$base ** $power", parts),))
    return Finding(
        f"Dynamo does not trace the builtin `pow` of a tensor{consequence(site)}",
        fix,
        gb_ids=loop_ids(site, "GB0059"),
        before=_POWERS_TRACED,
    )


def _grouping(event: Call) -> Finding | None:
    """A key that is passed by position: Dynamo expects it as a keyword."""
    given = event.call.args
    if len(given) != 2 or any(isinstance(part, ast.Starred) for part in given):
        return None
    parts: dict[str, ast.expr | ast.stmt] = {
        "grouped": event.call.func,
        "members": given[0],
        "key": given[1],
    }
    named = Replace(event.call, "$grouped($members, key=$key)", parts)
    return Finding(
        f"Dynamo does not trace `itertools.groupby` with a positional key{consequence(event.site)}",
        Repair("Pass the key by keyword", (named,)),
        gb_ids=loop_ids(event.site, "GB0134"),
    )


def _of_pointer(event: Call) -> Finding | None:
    """Arithmetic, which drops the function, or a comparison with anything but the same tensor's."""
    site, text = event.site, event.site.text(event.call)
    computing = renumbered(site, "GB0059", _POINTERS_SINCE, "GB0088")
    comparing = renumbered(site, "GB0023", _POINTERS_SINCE, "GB5976")
    for use in _uses_of_number(site, event.call):
        match site.parent(use):
            case ast.BinOp() | ast.UnaryOp(op=ast.USub() | ast.Invert()) as computed:
                message = f"Dynamo does not compute with `{text}`{dropped(site)}"
                return Finding(
                    message,
                    Advice(_POINTER_OUT),
                    node=computed,
                    gb_ids=(computing,),
                    confidence=Confidence.LOW if _is_asked_later(site, use) else None,
                )
            case ast.Compare(left=left, ops=[ast.Eq() | ast.NotEq()], comparators=[right]) as asked:
                first, second = _pointed_to(left), _pointed_to(right)
                if first != second and (use is left or first is None):
                    return Finding(
                        f"Dynamo does not compare `{text}`{consequence(site)}",
                        Advice(_POINTER_OUT),
                        node=asked,
                        gb_ids=loop_ids(site, comparing),
                        confidence=Confidence.LOW
                        if _is_asked_later(site, use)
                        else Confidence.MEDIUM,
                    )
    return None


def _is_asked_later(site: Site, node: ast.AST) -> bool:
    """True behind an operand of `and` or `or`: most ask for an alignment on old releases only."""
    for outer in site.ancestors(node):
        if isinstance(outer, ast.BoolOp) and node is not outer.values[0]:
            return True
        node = outer
    return False


def _pointed_to(node: ast.expr) -> str | None:
    """The syntax of the tensor whose address is asked for; detached, it has the same one."""
    match node:
        case ast.Call(func=ast.Attribute(value=tensor, attr="data_ptr")):
            match tensor:
                case ast.Call(func=ast.Attribute(value=inner, attr="detach")):
                    tensor = inner
            return ast.dump(tensor)
    return None


def _uses_of_number(site: Site, call: ast.Call) -> list[ast.expr]:
    """Where a number is used: here, or as a variable that is assigned once."""
    uses = uses_of(site, call)
    return [call] if uses.lost else [*uses.nodes]


def _comes_from_outside(site: Site, node: ast.expr, tensor: Tensor) -> bool:
    """True for parameters, inputs, and other names of them; what a loop gives may be either."""
    if is_made_here(site, node, tensor):
        return False
    if not isinstance(node, ast.Name):
        return True
    made = [one for one in site.flow.definitions(node) if not isinstance(one.node, ast.arg)]
    if not all(_is_another_name(site, one) for one in made):
        return False
    return bool(made) or is_input(site, node) or any(True for _ in site.given(node.id))


def _is_another_name(site: Site, made: Definition) -> bool:
    """True for what is assigned as a whole, and for what `x, y = args` takes out of a parameter."""
    match made.node:
        case ast.Assign(targets=[ast.Tuple()], value=whole) if made.value is None:
            return isinstance(whole, ast.Name) and not site.stores(whole.id)
    return isinstance(made.node, ast.Assign)


def _by_argument(event: Call, name: str) -> Finding | None:
    refused = _refused_for(name, event.arguments[0]) if event.arguments else None
    if refused is None:
        return _older(event, name)
    gb_id, given = refused
    if gb_id == "GB4198":
        gb_id = renumbered(event.site, "GB0179", _COPIES_TRACED, gb_id)
    message = f"Dynamo does not trace `{_spelt(name)}` of {given}{consequence(event.site)}"
    return Finding(message, Advice(_way_out(name)), gb_ids=loop_ids(event.site, gb_id))


def _older(event: Call, name: str) -> Finding | None:
    """A copy that newer releases trace, whatever it is of."""
    if name not in _COPIES:
        return None
    return Finding(
        f"Dynamo does not trace `{name}`{consequence(event.site)}",
        Advice(_way_out(name)),
        gb_ids=loop_ids(event.site, _COPIES[name]),
        before=_COPIES_TRACED,
    )


def _refused_for(function: str, value: Value) -> _Refused | None:
    """How a call of one of `_BY_ARGUMENT` with a value breaks the graph; None where it does not.

    Each was compiled on torch 2.13: copies of Python's own objects are traced, of tensors not.
    """
    return next(filter(None, map(_BY_ARGUMENT[function], options(value))), None)


def _spelt(name: str) -> str:
    return name.removeprefix("torch.Tensor.")


def _way_out(function: str) -> str:
    """What to do about a call of a function that Dynamo leaves to Python, by its dotted name."""
    if function.startswith("torch.optim."):
        return _WAY_OUT["torch.optim"]
    return _WAY_OUT.get(function) or _WAY_OUT.get(function.partition(".")[0], _OUTSIDE)


def _is_context(site: Site, call: ast.Call) -> bool:
    """True for what a `with` enters, which is judged there."""
    return isinstance(site.parent(call), ast.withitem)


def _repair(event: Call, name: str) -> Repair | Decline:
    repair = draw_if_needed(event.site, event.call) if name == _DRAW else None
    return repair if isinstance(repair, Repair) else Advice(_way_out(name))
