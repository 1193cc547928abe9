"""A tensor that is made of Python numbers, and read where Python needs them: the numbers instead.

``n = torch.IntTensor([size])`` and ``x[:, :n[0]]`` read on the host what Python had before; with
``n = [size]`` the same code reads a list.
"""

from __future__ import annotations

import ast
from typing import Final

from tclint.diagnostics import Decline, Edit, Span
from tclint.lint.rewrite import Import, Repair, Replace, Rewrite, Splice
from tclint.records import record
from tclint.semantics.bounds import Bound
from tclint.semantics.lattice import options
from tclint.semantics.ownership import is_local, is_unshared
from tclint.semantics.site import Site
from tclint.semantics.symbols import FunctionInfo, parameters_of
from tclint.semantics.values import Sequence, Static, SymInt, Tensor
from tclint.torch_facts.compiling import SCRIPTING
from tclint.torch_facts.numbers import numbers_of

from ..facts.integers import is_surely_integer
from ..facts.known import is_parameter
from ..facts.parameters import parameter_of
from ..judge.certainty import is_certainly_tensor
from ..judge.verdict import PROVED, Changes, Refused, Verdict, combine
from .proved import repair_as_proved

_MESSAGE: Final = "Keep the numbers instead of a tensor made of them"
_OF_INTEGERS: Final = frozenset({"torch.IntTensor", "torch.LongTensor"})
_MAKES: Final = frozenset({"torch.tensor", "torch.as_tensor"}) | _OF_INTEGERS
_INTEGERS: Final = frozenset({"torch.int64", "torch.long", "torch.int32", "torch.int"})
STEPS: Final = Bound(3, "variables and calls to where a tensor is made", hides=False)
_WITHOUT_PYTHON_38: Final = (2, 5)


@record(frozen=True)
class _Made:
    """The call that makes a tensor of ``numbers``, which it is given as a list or as one number."""

    site: Site
    call: ast.Call
    numbers: tuple[ast.expr, ...]
    listed: bool


@record()
class _Uses:
    """What was found of a tensor's uses: how far it is proved, and what else has to change."""

    made: _Made
    verdicts: list[Verdict]
    rewrites: list[Rewrite]

    def refuse(self, site: Site, use: ast.expr) -> None:
        """A use that a number, or a list of them, may not do for."""
        around = site.parent(use)
        shown = site.text(around if isinstance(around, ast.expr) else use)
        self.verdicts.append(Refused(f"`{shown}` is more than a read of the number"))


def keep_numbers(site: Site, source: ast.expr) -> Repair | Decline | None:
    """Keep the numbers that a tensor was made of; None where it is not made of them."""
    found = _made(site, source, STEPS.most)
    if not found:
        return None
    verdicts: list[Verdict] = []
    rewrites: list[Rewrite] = []
    for made in found:
        uses = _Uses(made, [], [])
        _follow(uses, made.site, made.call, site, whole=made.listed)
        verdicts += [*uses.verdicts, *_integers(made), _without_device(made)]
        rewrites += [one for one in uses.rewrites if one not in rewrites]
        rewrites.append(Replace(made.call, "$numbers", {"numbers": made.call.args[0]}))
    return repair_as_proved(combine(verdicts), _MESSAGE, tuple(rewrites))


def _made(site: Site, node: ast.expr, depth: int) -> list[_Made]:
    """The calls that make a tensor, through variables and the callers; empty for any other."""
    match node:
        case ast.Call():
            made = _of_call(site, node)
            return [] if made is None else [made]
        case ast.Subscript(value=inner, slice=ast.Constant(value=int())):
            return _made(site, inner, depth)
        case ast.Name() if not depth:
            STEPS.cut()
        case ast.Name(id=name) if is_unshared(site, name):
            stores = site.stores(name)
            if is_parameter(site, name):
                return [] if stores else _of_callers(site, name, depth)
            binding = site.parent(stores[0]) if len(stores) == 1 else None
            if isinstance(binding, ast.Assign) and binding.targets == stores:
                return _made(site, binding.value, depth - 1)
    return []


def _of_callers(site: Site, name: str, depth: int) -> list[_Made]:
    found: list[_Made] = []
    for caller, given in site.given(name):
        made = _made(caller, given, depth - 1)
        if not made or caller.module is not site.module:
            return []  # a fix is of one file
        found += [one for one in made if all(one.call is not other.call for other in found)]
    return found


def _of_call(site: Site, call: ast.Call) -> _Made | None:
    name = site.dotted(call.func) or ""
    if name not in _MAKES or len(call.args) != 1 or not _keeps_integers(site, call, name):
        return None
    given = call.args[0]
    if isinstance(given, (ast.List, ast.Tuple)):
        plain = bool(given.elts) and not any(isinstance(e, ast.Starred) for e in given.elts)
        made = _Made(site, call, tuple(given.elts), listed=True) if plain else None
    elif name in _OF_INTEGERS:
        return None  # a number is a size there
    else:
        made = _Made(site, call, (given,), listed=False)
    numbers = made is not None and all(_may_be_integer(site, one) for one in made.numbers)
    return made if numbers else None


def _keeps_integers(site: Site, call: ast.Call, name: str) -> bool:
    """True where a dtype, if any, is one of integers that holds every size."""
    if name in _OF_INTEGERS:
        return not call.keywords
    given = {keyword.arg: keyword.value for keyword in call.keywords}
    if not given.keys() <= {"dtype", "device"}:
        return False
    return "dtype" not in given or site.dotted(given["dtype"]) in _INTEGERS


def _may_be_integer(site: Site, node: ast.expr) -> bool:
    """True for an integer, and for a setting of which no more is known than that it is one."""
    kinds = list(options(site.value(node)))
    return all(
        isinstance(kind, SymInt) or (isinstance(kind, Static) and kind.type in ("int", None))
        for kind in kinds
    )


def _integers(made: _Made) -> list[Verdict]:
    """A float would be cut, or refused by other words, on its way through the tensor."""
    site = made.site
    unsure = [one for one in made.numbers if not is_surely_integer(site, one)]
    return [
        Changes(f"`{site.text(one)}` has to be an integer: the tensor truncated a float")
        for one in unsure
    ]


def _without_device(made: _Made) -> Verdict:
    """What the tensor's device was asked of may be no tensor, and a named device not there."""
    device = next((k.value for k in made.call.keywords if k.arg == "device"), None)
    match device:
        case None:
            return PROVED
        case ast.Attribute(value=owner, attr="device") if is_certainly_tensor(made.site, owner):
            return PROVED
    return Changes(f"`{made.site.text(device)}` is evaluated no more, which may raise")


def _follow(uses: _Uses, site: Site, node: ast.expr, reader: Site, *, whole: bool) -> None:
    """Judge every use of ``node``: a tensor with several numbers where ``whole``, else of one."""
    parent = site.parent(node)
    match parent:
        case ast.Assign(targets=[ast.Name(id=name)]) if _is_once(site, name):
            for load in site.loads(name):
                _follow(uses, site, load, reader, whole=whole)
        case ast.Subscript(value=value, slice=ast.Constant(value=int(place)), ctx=ast.Load()) if (
            whole and value is node and 0 <= place < len(uses.made.numbers)
        ):
            _follow(uses, site, parent, reader, whole=False)
        case ast.Slice() if not whole:
            uses.verdicts.append(_sliced(site, parent))
        case _ if not whole and _needs_number(site, node):
            return
        case ast.Call() | ast.keyword():
            _passed(uses, site, node, reader, whole=whole)
        case _:
            uses.refuse(site, node)


def _is_once(site: Site, name: str) -> bool:
    """True for a variable with one binding, which no other function sees."""
    return len(site.stores(name)) == 1 and is_local(site, name)


def _sliced(site: Site, part: ast.Slice) -> Verdict:
    """Tensors and lists read an integer and a tensor of one alike; objects may tell them apart."""
    outer = site.parent(part)
    subscript = site.parent(outer) if isinstance(outer, ast.Tuple) else outer
    owner = subscript.value if isinstance(subscript, ast.Subscript) else part
    if all(isinstance(kind, (Tensor, Sequence)) for kind in options(site.value(owner))):
        return PROVED
    return Changes(f"an object `{ast.unparse(owner)}` may tell a tensor from a number")


def _needs_number(site: Site, node: ast.expr) -> bool:
    """True for an argument that Python or torch takes as a number only."""
    inner: ast.expr = node
    outer = site.parent(node)
    if isinstance(outer, (ast.Tuple, ast.List)):
        inner, outer = outer, site.parent(outer)
    name = outer.arg if isinstance(outer, ast.keyword) else None
    call = site.parent(outer) if isinstance(outer, ast.keyword) else outer
    if not isinstance(call, ast.Call) or any(isinstance(a, ast.Starred) for a in call.args):
        return False
    dotted = site.dotted(call.func) or ""
    if dotted in ("range", "int"):
        return inner is node
    wanted = numbers_of(dotted)
    if not dotted.startswith("torch."):
        owner = call.func.value if isinstance(call.func, ast.Attribute) else None
        kinds = options(site.value(owner)) if owner is not None else ()
        if owner is None or not all(isinstance(kind, Tensor) for kind in kinds):
            return False
        wanted = numbers_of(call.func.attr if isinstance(call.func, ast.Attribute) else "")
    return (
        name in wanted.names if name else inner in call.args and wanted.at(call.args.index(inner))
    )


def _passed(uses: _Uses, site: Site, node: ast.expr, reader: Site, *, whole: bool) -> None:
    """Judge an argument of the function that reads the number."""
    outer = site.parent(node)
    call = site.parent(outer) if isinstance(outer, ast.keyword) else outer
    function = reader.function
    if not isinstance(call, ast.Call) or function is None or reader is site:
        uses.refuse(site, node)
        return
    name = parameter_of(function, call, node)
    passed = bool(name) and any(given is node for _, given in reader.given(name))
    if not passed or reader.stores(name) or not is_unshared(reader, name):
        uses.refuse(site, node)
        return
    _declare(uses, reader, function, name, whole=whole)
    for load in reader.loads(name):
        _follow(uses, reader, load, reader, whole=whole)


def _declare(uses: _Uses, site: Site, function: FunctionInfo, name: str, *, whole: bool) -> None:
    """Annotate the parameter of a scripted function, which takes only tensors otherwise."""
    parameter = next(one for one, _ in parameters_of(function.node) if one.arg == name)
    if parameter.annotation is not None:
        uses.verdicts.append(
            Refused(f"`{name}` is declared as `{site.text(parameter.annotation)}`")
        )
    elif not SCRIPTING.isdisjoint(function.decorators):
        kind = _list_type(uses, site) if whole else "int"
        end = site.module.file.span(parameter).end
        uses.rewrites.append(Splice(Edit(Span(end, end), f": {kind}")))
        given = "a list of integers" if whole else "an integer"
        uses.verdicts.append(
            Changes(f"`{function.name}` is scripted, and takes {given} from now on")
        )


def _list_type(uses: _Uses, site: Site) -> str:
    """The type of a list of integers, which Python 3.8 can only spell by ``typing``."""
    spelled = site.spell("typing.List")
    oldest = site.settings.min_torch
    if spelled is None and (oldest is None or oldest >= _WITHOUT_PYTHON_38):
        return "list[int]"
    if spelled is None:
        uses.rewrites.append(Import("typing", "List"))
    return f"{spelled or 'List'}[int]"
