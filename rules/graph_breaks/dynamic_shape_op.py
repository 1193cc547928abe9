"""TCL170: the shape of a result depends on the data."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from tclint.diagnostics import Advice, Change, Confidence, Decline, Effect
from tclint.lint.rewrite import AddArgument, Repair, Replace
from tclint.lint.rule import Finding, Rule
from tclint.semantics.bounds import Bound
from tclint.semantics.events import DynamicShape
from tclint.semantics.lattice import options
from tclint.semantics.site import Site
from tclint.semantics.values import Static, SymInt, Tensor
from tclint.torch_facts.dynamo_settings import DYNAMIC_SHAPES

from ..lib.facts.branch_tests import is_only_asked
from ..lib.facts.compiling import is_compiled_aside
from ..lib.facts.known import certain_tensor, is_boolean, is_certain_mask, is_parameter
from ..lib.facts.lists import is_of_integers, known_members, only_value, stays, written_member
from ..lib.facts.purity import is_pure
from ..lib.facts.selections import Selection, asked_empty, holders_of, selection_in, tests_of
from ..lib.facts.shapes import same_dtype, same_shape
from ..lib.judge.certainty import tensors_only
from ..lib.judge.same_device import judge_chosen
from ..lib.judge.verdict import PROVED, Changes, Refused, Verdict, combine
from ..lib.rewrite.masked_store import cover_of, fill_where, judge_store_around, store_where
from ..lib.rewrite.proved import repair_as_proved
from ..lib.wording import consequence, loop_ids, short

_INSTEAD = {
    "mask": "`torch.where({mask}, {x}, 0)` keeps the shape; sums and means over it do, too",
    "where": "`torch.where(test, a, b)` keeps the shape",
    "nonzero": "`torch.nonzero_static({x}, size=n)` has a shape known in advance",
    "argwhere": "`torch.nonzero_static({x}, size=n)` has a shape known in advance",
    "masked_select": "`torch.where({mask}, {x}, 0)` keeps the shape",
    "repeat_interleave": "`output_size=` gives the length in advance",
    "one_hot": "`num_classes=` gives the number of classes in advance",
    "bincount": "`torch.zeros(n).scatter_add_(0, {x}, ones)` counts into a shape known in advance",
}
_LONGEST_NAME: Final = 40
_CAPTURE = "`torch._dynamo.config.capture_dynamic_output_shape_ops` traces it"
_NEVER_CAPTURED = frozenset({"one_hot", "combinations", "lstsq"})
_TELL_LENGTH: Final = "Give the length in advance, so that it is not read from the tensor"
_REDUCE: Final = "Reduce all elements, with a neutral value for those left out"
_NEUTRAL: Final = {"sum": "0", "mean": "0", "any": "False", "all": "True"}
_REDUCED: Final = {"mean": "sum"}
_ROUNDS: Final = "it adds in another order, so last bits may differ"
_MEANS: Final = "the sum of half-precision numbers may overflow, and integers no longer raise"
_Repeated = tuple[ast.expr | None, ast.expr | None]
_STORE: Final = "Index with the mask itself"
_ASK: Final = "Test with `any()` whether the mask selects anything"
_RAISES: Final = "in a tensor of one element, a value of another dtype no longer raises"
_NUMBERS: Final = ("bool", "float", "int")


class DynamicShapeOp(Rule[DynamicShape]):
    """An operation returns a tensor whose shape depends on the data."""

    code = "TCL170"
    name = "dynamic-shape-op"
    summary = "An operation whose output shape depends on the data breaks the graph"
    instead = (
        "Keep the shape: `torch.where(mask, x, 0)` in place of `x[mask]`, or "
        "`torch.nonzero_static(x, size=n)`"
    )
    on = DynamicShape
    effects = (Effect.GRAPH_BREAK,)
    gb_ids = ("GB0033", "GB0036", "GB0246", "GB7000")
    settings = (DYNAMIC_SHAPES,)

    def check(self, event: DynamicShape) -> Finding | None:
        """Report reads; a mask with dimensions on the left of an assignment keeps the shape."""
        site = event.site
        mask = certain_tensor(site, event.source) if event.via == "mask" else None
        if mask is not None and mask.rank == 0:
            return _of_one_value(event)
        if event.store and event.via == "mask":
            return None
        if site.has_setting(DYNAMIC_SHAPES) and event.via not in _NEVER_CAPTURED:
            return None
        unsure = (event.named and not _is_stored_by(event)) or is_compiled_aside(
            site, site.statement
        )
        stays = _is_never_captured(event) or _is_asked_empty(event)
        what = f"The mask `{short(site, event.source)}`" if event.via == "mask" else ""
        what = what or f"`{short(site, event.source)}`"
        return Finding(
            f"{what} gives a data-dependent shape{consequence(site)}",
            _repair(event),
            gb_ids=loop_ids(site, event.gb_id),
            confidence=Confidence.LOW if unsure else None,
            removed_by_settings=() if stays else (DYNAMIC_SHAPES,),
        )


def _of_one_value(event: DynamicShape) -> Finding:
    """A mask without dimensions: all or nothing is read or written, as its one value says.

    Settings that capture scalars and shapes do not trace it: Dynamo has to know the value.
    """
    site = event.site
    fix = fill_where(site) if event.store else _repair(event)
    return Finding(
        f"The mask `{short(site, event.source)}` is one value, which the host reads"
        f"{consequence(site)}",
        fix,
        gb_ids=loop_ids(site, "GB0033"),
        confidence=Confidence.LOW if is_compiled_aside(site, site.statement) else None,
    )


def _is_stored_by(event: DynamicShape) -> bool:
    """True for ``h[mask] = x[mask]``: what selects and stores alike is the mask it is called."""
    match event.site.statement:
        case ast.Assign(targets=[ast.Subscript(slice=index)]):
            return ast.dump(index) == ast.dump(event.source)
        case ast.AugAssign(target=ast.Subscript(slice=index)):
            return ast.dump(index) == ast.dump(event.source)
    return False


def _is_never_captured(event: DynamicShape) -> bool:
    """True also where a loop goes through the result: it has no length to unroll by."""
    site, node = event.site, event.node
    if event.via in _NEVER_CAPTURED:
        return True
    outer = site.parent(node)
    if isinstance(outer, ast.Assign) and isinstance(outer.targets[0], ast.Name):
        loads: list[ast.AST] = [*site.loads(outer.targets[0].id)]
    else:
        loads = [node]
    around = ((site.parent(load), load) for load in loads)
    return any(isinstance(loop, ast.For) and loop.iter is load for loop, load in around)


def _is_asked_empty(event: DynamicShape) -> bool:
    """True where a test asks if anything is selected: with the setting on, it breaks the graph."""
    return next(tests_of(event.site, holders_of(event.site, event.node)), None) is not None


def _repair(event: DynamicShape) -> Repair | Decline:
    fix: Repair | Decline | None = None
    if event.via == "mask":
        stored, reduced = store_where(event.site, event.node), _reduce(event.site, event.node)
        # What a store is declined for comes first.
        fix = reduced if isinstance(reduced, Repair) else stored or reduced
    elif event.via == "masked_select":
        fix = _reduce(event.site, event.node)
    elif event.via in ("nonzero", "where") and isinstance(event.node, ast.Call):
        fix = _store_by_mask(event.site, event.node) or _ask_mask(event.site, event.node)
    elif event.via == "repeat_interleave" and isinstance(event.node, ast.Call):
        fix = _tell_total(event.site, event.node)
    return fix or Advice(_way_out(event))


def _way_out(event: DynamicShape) -> str:
    """What keeps the shape, with the names of the code where they are short."""
    site, names = event.site, {"x": "x", "mask": "mask"}
    match event.node:
        case ast.Subscript(value=x, slice=index) if event.via == "mask":
            mask = index.elts[0] if isinstance(index, ast.Tuple) and index.elts else index
            parts = {"x": x, "mask": mask}
        case ast.Call(func=function, args=args):
            owner = [function.value] if isinstance(function, ast.Attribute) else []
            called = [] if (site.dotted(function) or "").startswith("torch.") else owner
            parts = dict(zip(names, [*called, *args], strict=False))
        case _:
            parts = {}
    texts = {name: site.text(part) for name, part in parts.items()}
    names |= {name: text for name, text in texts.items() if _is_short(text)}
    return _INSTEAD.get(event.via, _CAPTURE).format(**names)


def _is_short(text: str) -> bool:
    return len(text) <= _LONGEST_NAME and "\n" not in text


def _reduce(site: Site, node: ast.expr | ast.stmt) -> Repair | Decline | None:
    """Reduce all elements, those left out as what changes nothing; None for other uses."""
    found, call = _selected(site, node), _reduction(site, node)
    spelled = site.spell("torch.where")
    if found is None or call is None or spelled is None:
        return None
    data, mask = found
    tensor, by = certain_tensor(site, data), certain_tensor(site, mask)
    if tensor is None or by is None or not is_boolean(by):
        return None
    around = judge_store_around(site, lambda one: _is_reduced(site, one))
    if isinstance(around, Refused):
        return Decline(around.why)
    name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    is_call = isinstance(node, ast.Call)
    verdicts = [_judge_shape(site, data, mask, alone=is_call and name != "mean")]
    verdicts += [_judge_order(name, tensor), judge_chosen(site, [mask], [data])]
    verdicts += [tensors_only(site, data), tensors_only(site, mask)]
    parts: dict[str, ast.expr | ast.stmt] = {"mask": mask, "data": data}
    text = f"{spelled}($mask, $data, {_NEUTRAL[name]}).{_REDUCED.get(name, name)}()"
    if name == "mean":
        text = f"{text} / {'$mask' if _is_plain(mask) else '($mask)'}.sum()"
    return repair_as_proved(combine(verdicts), _REDUCE, (Replace(call, text, parts),))


def _selected(site: Site, node: ast.expr | ast.stmt) -> tuple[ast.expr, ast.expr] | None:
    """The data and the mask of ``x[m]`` and ``x.masked_select(m)``."""
    match node:
        case ast.Subscript(value=data, slice=mask):
            return (data, mask) if is_pure(site, mask) and is_pure(site, data) else None
        case ast.Call(func=ast.Attribute(value=owner), args=[mask], keywords=[]):
            return owner, mask
        case ast.Call(func=function, args=[data, mask], keywords=[]):
            return (data, mask) if site.dotted(function) == "torch.masked_select" else None
    return None


def _reduction(site: Site, node: ast.expr | ast.stmt) -> ast.Call | None:
    """The call of ``x[m].sum()`` or ``torch.sum(x[m])``, to one number."""
    outer = site.parent(node)
    call = site.parent(outer) if isinstance(outer, ast.Attribute) else outer
    match call:
        case ast.Call(func=ast.Attribute(attr=name) as method, args=[], keywords=[]):
            return call if method is outer and name in _NEUTRAL else None
        case ast.Call(func=ast.Attribute(attr=name) as function, args=[given], keywords=[]):
            torch = site.dotted(function) == f"torch.{name}" and given is node
            return call if torch and name in _NEUTRAL else None
    return None


def _is_reduced(site: Site, node: ast.AST) -> bool:
    """True for ``x[m].sum()`` and ``torch.sum(x[m])``."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    return any(_reduction(site, one) is node for one in (node.func.value, *node.args))


def _judge_shape(site: Site, data: ast.expr, mask: ast.expr, *, alone: bool) -> Verdict:
    """Judge that the mask has a place for each element; `masked_select` spreads it as well."""
    if alone or same_shape(site, data, mask):
        return PROVED
    one, other = certain_tensor(site, data), certain_tensor(site, mask)
    if one is None or other is None or one.rank is None or one.rank != other.rank:
        text = f"`{site.text(mask)}` may not have the shape of `{site.text(data)}`"
        return Refused(text)
    return Changes(f"the fix assumes that `{site.text(mask)}` fits `{site.text(data)}`")


def _judge_order(name: str, tensor: Tensor) -> Verdict:
    """Judge that the order of the elements does not matter."""
    exact = tensor.dtype is not None and tensor.dtype.category in ("int", "bool")
    if name in ("any", "all") or (name == "sum" and exact):
        return PROVED
    rounds = Changes(_ROUNDS, Change.ROUNDING)
    return rounds if name == "sum" else combine([rounds, Changes(_MEANS)])


def _is_plain(node: ast.expr) -> bool:
    return isinstance(node, (ast.Name, ast.Attribute, ast.Subscript, ast.Call))


def _tell_total(site: Site, call: ast.Call) -> Repair | Decline | None:
    """Add ``output_size=``; None where nothing tells what the repeats add up to.

    A call with the wrong repeats raises what it raised: torch looks at them before the length.
    """
    if any(keyword.arg == "output_size" for keyword in call.keywords):
        return Decline("`output_size=` is given, but is None here")
    repeats, repeated = _arguments(site, call)
    if repeats is None:
        return None
    members = known_members(site, repeats)
    if members is None:
        total = _product(site, repeats, repeated)
    elif repeated is not None and len(members) == 1:
        return Decline("a list of one number holds for every element: write the number itself")
    else:
        total = _sum(site, members)
    if total is None or "$" in total:  # a template would take that for a place
        return None
    return Repair(_TELL_LENGTH, (AddArgument(call, total, keyword="output_size"),))


def _arguments(site: Site, call: ast.Call) -> tuple[ast.expr | None, _Repeated | None]:
    """The repeats, and what is repeated along which dimension; that is None for the indices."""
    given: dict[str | None, ast.expr] = {k.arg: k.value for k in call.keywords}
    places = [*call.args]
    if None in given or any(isinstance(one, ast.Starred) for one in places):
        return None, None
    names = ["input", "repeats", "dim"]
    if not (site.dotted(call.func) or "").startswith("torch."):
        names = names[1:]
        owner = call.func.value if isinstance(call.func, ast.Attribute) else None
        given["input"] = owner if owner is not None else call.func
    given.update(zip(names, places, strict=False))
    if "repeats" not in given:
        return given.get("input"), None
    return given["repeats"], (given.get("input"), given.get("dim"))


def _product(site: Site, repeats: ast.expr, repeated: _Repeated | None) -> str | None:
    """``torch.full((n,), k)`` adds up to ``n * k``, and so does ``k * torch.ones(n)``."""
    made = only_value(site, repeats.id) if isinstance(repeats, ast.Name) else repeats
    found = _count_and_number(site, made) if made is not None else None
    if found is None:
        return None
    count, number = found
    moved = made is not repeats
    parts = [part for one in found for part in ast.walk(one) if isinstance(part, ast.Name)]
    if moved and not all(stays(site, part) for part in parts):
        return None
    if repeated is not None and not _is_for_each(site, count, *repeated):
        return None
    match count, number:
        case ast.Constant(value=int() as n), ast.Constant(value=int() as k):
            return str(n * k)
    texts = [_factor(site, one) for one in found]
    return " * ".join(texts)


def _count_and_number(site: Site, made: ast.expr) -> tuple[ast.expr, ast.expr] | None:
    match made:
        case ast.Call(args=[size, number]) if site.dotted(made.func) == "torch.full":
            count = size.elts[0] if isinstance(size, (ast.Tuple, ast.List)) and size.elts else None
            one = isinstance(size, (ast.Tuple, ast.List)) and len(size.elts) == 1
            implied = not any(k.arg == "dtype" for k in made.keywords)
        case (
            ast.BinOp(left=ast.Call(args=[count]) as ones, op=ast.Mult(), right=number)
            | ast.BinOp(left=number, op=ast.Mult(), right=ast.Call(args=[count]) as ones)
        ) if site.dotted(ones.func) == "torch.ones":
            made, one, implied = ones, True, False
        case _:
            return None
    counted = one and count is not None and _is_count(site, count) and _is_count(site, number)
    if not counted or count is None or not is_of_integers(site, made, implied=implied):
        return None
    return count, number


COUNTS = Bound(4, "steps to see that a number is a count", hides=False)


def _is_count(site: Site, node: ast.expr, depth: int = COUNTS.most) -> bool:
    """True for an integer that may be written twice, and is never below zero."""
    if not depth:
        COUNTS.cut()
        return False
    match node:
        case ast.Constant(value=value):
            return type(value) is int and value >= 0
        case ast.BinOp(left=left, op=ast.Add() | ast.Mult(), right=right):
            return _is_count(site, left, depth - 1) and _is_count(site, right, depth - 1)
        case ast.Starred(value=ast.Attribute(attr="shape", value=ast.Name() as owner)):
            return all(isinstance(kind, Tensor) for kind in options(site.value(owner)))
        case ast.Name(id=name):
            stores = site.stores(name)
            own = bool(stores) and not is_parameter(site, name)
            return own and all(_binds_count(site, store, depth) for store in stores)
    return _size_of(site, node) is not None


def _binds_count(site: Site, store: ast.Name, depth: int) -> bool:
    match site.parent(store):
        case ast.Assign(targets=[ast.Name()], value=value):
            return _is_count(site, value, depth - 1)
        case ast.Tuple() as targets if isinstance(outer := site.parent(targets), ast.Assign):
            return isinstance(outer.value, ast.Attribute) and outer.value.attr == "shape"
    return False


def _size_of(site: Site, node: ast.expr) -> tuple[str, int] | None:
    """The variable and the dimension of ``x.shape[0]``, ``x.size(0)`` and ``len(x)``."""
    match node:
        case ast.Subscript(
            value=ast.Attribute(value=ast.Name() as owner, attr="shape"),
            slice=ast.Constant(value=int() as at),
        ):
            pass
        case ast.Call(
            func=ast.Attribute(value=ast.Name() as owner, attr="size"),
            args=[ast.Constant(value=int() as at)],
            keywords=[],
        ):
            pass
        case ast.Call(func=ast.Name(id="len") as function, args=[ast.Name() as owner]) if (
            site.dotted(function) == "len"
        ):
            at = 0
        case _:
            return None
    tensors = all(isinstance(kind, Tensor) for kind in options(site.value(owner)))
    return (owner.id, at) if tensors else None


def _is_for_each(
    site: Site, count: ast.expr, repeated: ast.expr | None, dim: ast.expr | None
) -> bool:
    """True where there are as many repeats as elements, or torch raises: one is for all."""
    if isinstance(count, ast.Constant):
        return isinstance(count.value, int) and count.value > 1
    sized = _size_of(site, count)
    if sized is None or not isinstance(repeated, ast.Name) or not isinstance(dim, ast.Constant):
        return False
    return sized == (repeated.id, dim.value)


def _factor(site: Site, node: ast.expr) -> str:
    text = site.text(node)
    return f"({text})" if isinstance(node, ast.BinOp) else text


def _sum(site: Site, members: list[ast.expr]) -> str | None:
    """The sum of a list as it is written."""
    if not all(_is_count(site, member) for member in members):
        return None
    texts = [_factor(site, m) if not isinstance(m, ast.Starred) else "" for m in members]
    match members:
        case [ast.Starred(value=sequence)]:
            return f"sum({site.text(sequence)})"
    if not all(texts):
        return f"sum([{', '.join(written_member(site, member) for member in members)}])"
    numbers = [member.value for member in members if isinstance(member, ast.Constant)]
    if len(numbers) == len(members):
        return str(sum(number for number in numbers if isinstance(number, int)))
    return " + ".join(texts)


def _store_by_mask(site: Site, call: ast.expr) -> Repair | Decline | None:
    """``x[torch.where(m)] = v`` is ``x[m] = v``; None where the places are for something else."""
    selection, statement = selection_in(site, call), site.statement
    target, value = _stored(statement)
    if selection is None or not selection.pairs or target is None or value is None:
        return None
    text = ast.dump(call)
    reads = [
        part
        for part in ast.walk(statement)
        if isinstance(part, ast.Subscript) and ast.dump(part.slice) == text
    ]
    if target not in reads or not any(part.slice is call for part in reads):
        return None
    mask = certain_tensor(site, selection.mask)
    cover = cover_of(site, selection.mask, target.value)
    if cover is None or mask is None or not is_certain_mask(site, selection.mask):
        return None
    if mask.rank == 0 or not is_pure(site, selection.mask):
        return None
    verdicts = [cover.verdict, *_judge_value(site, target, value, reads)]
    if mask.rank is None:
        verdicts.append(Changes("a mask without dimensions no longer raises"))
    rewrites = [_by_mask(site, part.slice) for part in reads]
    return repair_as_proved(combine(verdicts), _STORE, tuple(rewrites))


def _stored(statement: ast.stmt) -> tuple[ast.Subscript | None, ast.expr | None]:
    match statement:
        case ast.Assign(targets=[ast.Subscript() as target], value=value):
            return target, value
        case ast.AugAssign(target=ast.Subscript() as target, value=value):
            return target, value
    return None, None


def _by_mask(site: Site, places: ast.expr) -> Replace:
    selection = selection_in(site, places)
    assert selection is not None
    return Replace(places, "$mask", {"mask": selection.mask})


def _judge_value(
    site: Site, target: ast.Subscript, value: ast.expr, reads: list[ast.Subscript]
) -> Iterator[Verdict]:
    """Judge the other reads, and that what is stored has the dtype, or is a number of Python."""
    for read in reads:
        if read is not target:
            selection = selection_in(site, read.slice)
            cover = cover_of(site, selection.mask, read.value) if selection else None
            yield (cover.verdict if cover else Changes("the mask may not fit what it indexes"))
    plain = all(
        isinstance(kind, SymInt) or (isinstance(kind, Static) and kind.type in _NUMBERS)
        for kind in options(site.value(value))
    )
    fits = plain or isinstance(site.statement, ast.AugAssign)
    whole = next((read.value for read in reads if read is value), value)
    yield PROVED if fits or same_dtype(site, target.value, whole) else Changes(_RAISES)


def _ask_mask(site: Site, call: ast.expr) -> Repair | None:
    """``if len(m.nonzero()) > 0`` is ``if m.any()``; None where more is asked."""
    selection = selection_in(site, call)
    if selection is None:
        return None
    test = _test_of(site, selection)
    tensor = certain_tensor(site, selection.mask)
    if test is None or tensor is None or not is_only_asked(site, test):
        return None
    found = asked_empty(test)
    if found is None or found[0] is not _counted(site, selection):
        return None
    elements = ".numel" in ast.unparse(test) or ".nelement" in ast.unparse(test)
    if elements and not selection.pairs and not tensor.rank:
        return None  # the rows of a tensor without dimensions have no elements
    template = "not $mask.any()" if found[1] else "$mask.any()"
    return Repair(_ASK, (Replace(test, template, {"mask": selection.mask}),))


def _counted(site: Site, selection: Selection) -> ast.expr | None:
    """The rows, or the first of the tensors with the places along each dimension."""
    if not selection.pairs:
        return selection.call
    match site.parent(selection.call):
        case ast.Subscript(value=call, slice=ast.Constant(value=int())) as first:
            return first if call is selection.call else None
    return None


def _test_of(site: Site, selection: Selection) -> ast.expr | None:
    """The largest test that asks for the number of rows, and only for that."""
    counted: ast.expr | None = _counted(site, selection)
    test: ast.expr | None = None
    for outer in site.ancestors(counted) if counted is not None else ():
        if not isinstance(outer, ast.expr):
            break
        found = asked_empty(outer)
        if found is not None and found[0] is counted:
            test = outer
    return test
