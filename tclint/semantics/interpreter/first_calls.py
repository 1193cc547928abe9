"""Branches that end their own test: what they keep makes it come out otherwise from then on.

``if self.scale is None: self.scale = ...`` is entered by the first call only. What is kept has to
outlive the call, and nothing else may put it back: a variable of the function, a dict that each
call is given, and what another method sets to None again are asked anew.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import field
from functools import partial
from itertools import takewhile
from typing import Final

from tclint.diagnostics import Position
from tclint.semantics.body import Body
from tclint.semantics.interpreter.always_raises import called, leaves
from tclint.semantics.interpreter.frame import Frame
from tclint.semantics.interpreter.stores import MUTATING, Store, first_parameter
from tclint.semantics.lattice import options
from tclint.semantics.records import record
from tclint.semantics.site import FIRST_CALL, NEW_KEY, ONE_CALL
from tclint.semantics.symbols import ClassInfo, FunctionInfo
from tclint.semantics.syntax import blocks_of, last_name, path_of
from tclint.semantics.values import Function, Object, Static, SymInt, Value

_SHRINKING: Final = frozenset("clear discard pop popitem popleft remove __delitem__".split())
_GROWING: Final = MUTATING - _SHRINKING
_SETTING: Final = frozenset({"setattr", "register_buffer", "register_parameter", "add_module"})
_FILLING: Final = frozenset("fill_ copy_ add_ zero_ logical_or_ bitwise_or_".split())
_FILLED: Final = ("data", "fill_", "copy_", "add_")
_INSIDE: Final = frozenset("get items keys values setdefault".split())
"""Methods of containers that give what these hold."""
_PARTS: Final = frozenset(
    "buffers children modules named_buffers named_children named_modules named_parameters "
    "parameters".split()
)
_THROUGH: Final = frozenset("enumerate len list max min range reversed sorted tuple zip".split())
"""Functions that give the same for the same."""
_NUMBERS: Final = ("float", "int")
_ANY: Final = (ast.Attribute, ast.Name, ast.Tuple)
_OF_TENSORS: Final = frozenset({"all", "any", "item"})

Ends = Callable[[ast.expr], bool]


@record(eq=False)
class _Asked:
    """What a test asks for: a ``place`` that keeps something, or an entry of what it holds.

    ``ends`` tells whether a value that is written there makes the test come out otherwise;
    ``grows`` that any entry does. ``number`` is what a counter has to be, ``first`` false where it
    is not that in the first call.
    """

    place: ast.expr
    ends: Ends
    grows: bool = False
    number: int | None = None
    first: bool = True


def taken_once(frame: Frame, test: ast.expr, block: Sequence[ast.stmt], outcome: bool) -> str:
    """How often a block is entered whose test came out so; empty where nothing ends that."""
    key = (taken_once, test, outcome)
    if key in frame.body.answers:  # the syntax alone told that nothing does
        return ""
    where = _Where(frame, block)
    once = where.once(test, outcome)
    if not where.varies:
        frame.body.answers[key] = False
    return once


def is_called_in_loop(body: Body, seen: set[Body]) -> bool:
    """Whether a call that leads to a function is in a loop or a `try`, which Dynamo cannot split.

    A graph break in the function then has the one with the loop run eagerly for good.
    """
    seen.add(body)
    return any(
        site.facts.drops_frame or (site.body not in seen and is_called_in_loop(site.body, seen))
        for site, _ in body.calls.values()
    )


def _asked(part: ast.expr, wanted: bool) -> _Asked | None:
    match part:
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            return _compared(left, op, right, wanted)
        case ast.Call(func=ast.Name(id="hasattr"), args=[owner, ast.Constant(value=str() as name)]):
            return None if wanted else _Asked(ast.Attribute(owner, name), lambda _: True)
        case ast.Name() | ast.Attribute() | ast.Subscript() | ast.Call():
            place = _kept(part)
            if wanted:
                return _Asked(place, lambda value: not _number(value))
            return _Asked(place, _is_true, grows=True)
    return None


def _compared(left: ast.expr, op: ast.cmpop, right: ast.expr, wanted: bool) -> _Asked | None:
    constant = right.value if isinstance(right, ast.Constant) else ...
    if isinstance(op, (ast.Is, ast.IsNot)) and constant is None:
        missing = isinstance(op, ast.Is) == wanted
        return _Asked(_read(left), lambda value: _is_none(value) != missing)
    if isinstance(op, (ast.In, ast.NotIn)):
        absent = isinstance(op, ast.NotIn) == wanted
        return _Asked(ast.Subscript(right, left), lambda _: True) if absent else None
    if constant is ...:
        return None
    if (type(op), constant, wanted) in _NONE_YET:
        return _Asked(_kept(left), _is_true, grows=True, number=0)
    if isinstance(op, _ORDER) or (isinstance(left, ast.Call) and left.args):
        return None
    return _equal(_kept(left), constant, isinstance(op, (ast.Eq, ast.Is)) == wanted)


def _equal(place: ast.expr, constant: object, same: bool) -> _Asked:
    """A test for a constant; what is computed is taken for another one."""
    number = constant if same and type(constant) is int else None
    ends = partial(_is_other, constant) if same else lambda value: _number(value) == constant
    return _Asked(place, ends, number=number)


def _is_other(constant: object, value: ast.expr) -> bool:
    known = _number(value)
    comes_back = known is ... and any(isinstance(n, (ast.Mod, ast.Sub)) for n in ast.walk(value))
    return known != constant and not comes_back


_ORDER: Final = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
_NONE_YET: Final = frozenset(
    {(ast.Eq, 0, True), (ast.NotEq, 0, False), (ast.Gt, 0, False), (ast.Lt, 1, True)}
)


def _read(node: ast.expr) -> ast.expr:
    """The place that an expression reads: ``state["sum"]`` of ``state.get("sum")``."""
    match node:
        case ast.NamedExpr(value=value):
            return _read(value)
        case ast.Call(func=ast.Attribute(value=held, attr="get"), args=[key, *_]):
            return ast.Subscript(held, key)
        case ast.Call(func=ast.Name(id="getattr"), args=[held, ast.Constant(value=name), *_]):
            return ast.Attribute(held, str(name))
    return node


def _kept(node: ast.expr) -> ast.expr:
    """What holds the truth that is asked: ``self.ready`` of ``bool(self.ready.item())``."""
    match node:
        case ast.Call(func=ast.Name(id="bool" | "int" | "len"), args=[inner]):
            return _kept(inner)
        case ast.Call(func=ast.Attribute(value=inner, attr=name), args=[]) if name in _OF_TENSORS:
            return _kept(inner)
        case ast.Attribute(value=inner, attr="data"):
            return _kept(inner)
    return node


def _is_none(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value is None


def _is_true(value: ast.expr) -> bool:
    known = _number(value)
    if known is not ...:
        return bool(known)
    if isinstance(value, ast.Call) or isinstance(getattr(value, "op", None), ast.Add):
        return True
    return any(getattr(value, "elts", getattr(value, "keys", ())))


def _number(value: ast.expr) -> object:
    """The constant that is written, in a tensor too; ``...`` where it is computed."""
    match value:
        case ast.Constant(value=constant):
            return constant
        case ast.Call(
            func=ast.Attribute(attr="tensor" | "Tensor"), args=[ast.List(elts=[one]) | one, *_]
        ):
            return _number(one)
        case ast.Call(func=ast.Attribute(attr="ones" | "ones_like")):
            return 1
        case ast.Call(func=ast.Attribute(attr="zeros" | "zeros_like")):
            return 0
    return ...


def _holder(place: ast.expr) -> ast.expr:
    """What must outlive a call for the place to do so."""
    while isinstance(place, ast.Subscript):
        place = place.value
    return place.value if isinstance(place, ast.Attribute) else place


_OFTEN: Final = (FIRST_CALL, ONE_CALL, NEW_KEY, "")


class _Where:
    """A block in the function that is walked, and what its names stand for."""

    def __init__(self, frame: Frame, block: Sequence[ast.stmt]) -> None:
        self._frame = frame
        self._body = frame.body
        self._block = block
        self._rows = _rows(*block)
        self._followed: list[FunctionInfo] = []
        self._asking: set[tuple[Body, str]] = set()
        self.varies = False  # by more than the syntax tells

    def once(self, test: ast.expr, outcome: bool) -> str:
        """How often a test comes out so that its block, or what is around that, ends."""
        match test:
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return self.once(operand, not outcome)
            case ast.BoolOp(op=op, values=values):
                found = sorted((self.once(one, outcome) for one in values), key=_OFTEN.index)
                return found[0 if isinstance(op, ast.And) == outcome else -1]
        asked = _asked(test, outcome)
        if asked is None or not self._is_ended(asked):
            return ""
        self.varies = True
        if not self._outlives(_holder(asked.place)) or self._is_put_back(asked):
            return ""
        keys = [one.slice for one in ast.walk(asked.place) if isinstance(one, ast.Subscript)]
        once = FIRST_CALL if asked.first else ONE_CALL
        return once if all(map(self._outlives, keys)) else NEW_KEY

    def _meant(self, place: ast.expr) -> ast.expr:
        """What a variable was read from."""
        if not isinstance(place, ast.Name):
            return place
        bound = [one for row, one in _bindings(self._body, place.id) if row not in self._rows]
        read = _read(bound[0]) if len(bound) == 1 and bound[0] is not None else place
        return read if isinstance(read, (ast.Attribute, ast.Subscript)) else place

    def _is_ended(self, asked: _Asked) -> bool:
        """Whether the block surely ends its test, under the name that the test has or another."""
        written = asked.place
        if asked.ends is _is_true:
            asked.ends = self._is_true
        asked.place = self._meant(written)
        if self._is_given_anew(_holder(asked.place)) or not self._may_be_written(asked.place):
            return False
        places = {_text(asked.place), _text(written)}
        ends = _Stored(asked, self._resolve, self._followed).block
        return self._is_counted(asked, any(ends(self._block, one) for one in places))

    def _is_given_anew(self, holder: ast.expr) -> bool:
        """True for a parameter that each call has a new value for, as far as is known by now."""
        body = self._body
        name = holder.id if isinstance(holder, ast.Name) else ""
        if not body.arguments(name) or body.is_declared(name):
            return False
        function = body.function
        own = function and function.cls and first_parameter(function.node) == name
        if body.assigns(name) or body.calls or own:
            return body.assigns(name)
        self.varies = True
        return True

    def _is_counted(self, asked: _Asked, ended: bool) -> bool:
        """Whether the block ends its test, or what is done around it in each call that enters it.

        A counter that the block puts back comes to its number again.
        """
        asked.first = not asked.number
        if isinstance(asked.place, (ast.Name, ast.Call)):  # nothing writes to what a call gives
            return ended
        place = _text(asked.place)
        for one in self._beside()[0] if asked.number else ():
            if isinstance(one, ast.AugAssign) and _text(one.target) == place:
                self._rows |= _rows(one)
                asked.first = asked.number == 1
                return not ended
        if ended or leaves(self._block) or not self._is_named_behind(place):
            return ended
        ends = asked.ends
        asked.ends = lambda value: not isinstance(value, _ANY) and ends(value)
        for one in takewhile(lambda one: not leaves([one]), self._beside()[1]):
            if _Stored(asked, lambda *_: None, []).block([one], place):
                self._rows |= _rows(one)
                return True
        return False

    def _is_named_behind(self, place: str) -> bool:
        file, last = self._body.module.file, getattr(self._body.scope, "end_lineno", 0)
        start, end = (file.offset(Position(row + 1, 1)) for row in (max(self._rows), last))
        return file.text.find(place.rpartition(".")[2].partition("[")[0], start, end) >= 0

    def _beside(self) -> tuple[list[ast.stmt], list[ast.stmt]]:
        """What stands before the block and behind it, in all blocks around it."""
        around: list[ast.stmt] = []
        node: ast.AST | None = self._block[0]
        while node is not None and node is not self._body.scope:
            outer = self._body.parent(node)
            blocks = blocks_of(outer) if outer is not None else ()
            around += next((block for block in blocks if node in block), [])
            node = outer
        first, last = min(self._rows), max(self._rows)
        before = [one for one in around if (one.end_lineno or 0) < first]
        return before, [one for one in around if one.lineno > last]

    def _is_true(self, value: ast.expr) -> bool:
        """Whether a value counts as true; a number that was computed is taken to."""
        if not isinstance(value, ast.Name) or not self._body.assigns(value.id):
            return _is_true(value)
        kinds = options(self._frame.lookup(value.id))
        plain = (kind for kind in kinds if not isinstance(kind, (Object, SymInt)))
        return all(isinstance(kind, Static) and kind.type in _NUMBERS for kind in plain)

    def _may_be_written(self, place: ast.expr) -> bool:
        """False where a look at the names that the file writes tells that nothing writes there."""
        if not isinstance(place, ast.Attribute):
            return True
        name, cls = place.attr, self._class_of(place.value, self._body)
        if cls is None or self._frame.analysis.changes.is_rewritten(self._frame, cls, name):
            return True
        text = self._body.module.file.text
        return any(word in text for word in ("register_", *map(f"{name}.{{}}".format, _FILLED)))

    def _resolve(self, function: ast.expr, inside: FunctionInfo | None) -> FunctionInfo | None:
        if inside is None:
            found = called(self._frame, function)
            return found.info if isinstance(found, Function) else None
        match function:
            case ast.Attribute(value=ast.Name(id=owner), attr=name) if inside.cls is not None:
                own = first_parameter(inside.node) == owner
                return self._frame.analysis.project.method(inside.cls, name) if own else None
        return None

    def _outlives(self, node: ast.expr, body: Body | None = None) -> bool:
        """Whether what an expression gives is there in the next call, too."""
        body = body or self._body
        match node:
            case ast.Constant():
                return True
            case ast.Attribute(value=inner):
                written = self._stores(node, body)
                return self._outlives(inner, body) and not any(
                    not store.content for store, inside in written if not inside
                )
            case ast.Subscript(value=inner) | ast.Starred(value=inner):
                return self._outlives(inner, body)
            case ast.Call(func=ast.Attribute(value=inner, attr=name)):
                return name in _INSIDE | _PARTS and self._outlives(inner, body)
            case ast.Call(func=ast.Name(id="getattr"), args=[inner, *_]):
                return self._outlives(inner, body)
            case ast.Call(func=ast.Name(id=name), args=given):
                return name in _THROUGH and all(self._outlives(one, body) for one in given)
            case ast.Tuple(elts=parts):
                return all(self._outlives(one, body) for one in parts)
            case ast.Name(id=name):
                return self._variable(name, body)
        return False

    def _variable(self, name: str, body: Body) -> bool:
        if body.is_declared(name) or not body.has(name):
            return True  # of the file, or of a function around
        if not body.arguments(name) and not body.assigns(name):
            return body.computed_around(name)
        if (body, name) in self._asking:
            return False
        self._asking.add((body, name))
        if body.arguments(name):
            found = not body.assigns(name) and self._argument(name, body)
        else:
            found = self._bound(name, body)
        self._asking.discard((body, name))
        return found

    def _bound(self, name: str, body: Body) -> bool:
        rows = self._rows if body is self._body else ()
        bound = [one for row, one in _bindings(body, name) if row not in rows]
        return bool(bound) and all(one is not None and self._outlives(one, body) for one in bound)

    def _argument(self, name: str, body: Body) -> bool:
        function = body.function
        if function is None:
            return False
        if function.cls is not None and name == first_parameter(function.node):
            return self._is_kept_object(_value_of(name, body))
        names = [one.arg for one in (*function.node.args.posonlyargs, *function.node.args.args)]
        given: list[bool] = []
        for call, (site, hidden) in body.calls.items():
            passed = dict(zip(names[hidden:], call.args, strict=False))
            passed |= {one.arg: one.value for one in call.keywords if one.arg}
            given.append(name in passed and self._outlives(passed[name], site.body))
        return bool(given) and all(given)

    def _is_kept_object(self, own: Value | None) -> bool:
        """Whether a method's own object was made before compiled code is called."""
        if not isinstance(own, Object) or own.cls is None or own.is_module or own.is_optimizer:
            return isinstance(own, Object) and (own.is_module or own.is_optimizer)
        analysis = self._frame.analysis
        init = analysis.project.method(own.cls, "__init__")
        return init is not None and init not in analysis.visited

    def _is_put_back(self, asked: _Asked) -> bool:
        """Whether something writes there what the test asks for, but for a constructor."""
        written = self._stores(asked.place, self._body)
        return any(_undoes(store, asked, inside) for store, inside in written)

    def _class_of(self, owner: ast.expr, body: Body) -> ClassInfo | None:
        value = body.values.get(owner)
        if value is None and isinstance(owner, ast.Name):
            value = _value_of(owner.id, body)
        return value.cls if isinstance(value, Object) else None

    def _stores(self, place: ast.expr, body: Body) -> Iterator[tuple[Store, bool]]:
        """What writes to a place or to what it holds, but constructors; whether the block does."""
        analysis = self._frame.analysis
        while isinstance(place, ast.Subscript):
            place = place.value
        found: Sequence[Store] = ()
        if isinstance(place, ast.Attribute):
            cls = self._class_of(place.value, body)
            if cls is not None:
                found = analysis.changes.stores_of(analysis, cls, place.attr)
        elif isinstance(place, ast.Name) and (body.is_declared(place.id) or not body.has(place.id)):
            index = analysis.changes.index(body.module.tree, body.module)
            found = [one for one in index.of_variable(place.id) if one.function is not None]
        followed = {one.node for one in self._followed}
        for store in found:
            row = getattr(store.node, "lineno", 0)
            here = store.function is body.scope and row in self._rows
            if not store.is_vague:
                yield store, here or store.function in followed


def _value_of(name: str, body: Body) -> Value | None:
    return next((body.values[one] for one in body.names(name) if one in body.values), None)


def _rows(*block: ast.stmt) -> set[int]:
    return set(range(block[0].lineno, (block[-1].end_lineno or 0) + 1))


def _undoes(store: Store, asked: _Asked, inside: bool) -> bool:
    node = store.node
    if isinstance(getattr(node, "ctx", None), ast.Del):
        return True
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.attr in _SHRINKING
    if store.adds is not None:
        return isinstance(store.adds, ast.Sub) or (bool(asked.number) and not inside)
    if store.content or store.value is None:
        return False
    unknown = isinstance(store.value, _ANY) and not inside
    return isinstance(asked.place, ast.Subscript) or unknown or not asked.ends(store.value)


@record(eq=False)
class _Stored:
    """Whether statements surely write what ends a test, in functions that they call too."""

    _asked: _Asked
    _resolve: Callable[[ast.expr, FunctionInfo | None], FunctionInfo | None]
    _followed: list[FunctionInfo]
    _inside: FunctionInfo | None = None
    _seen: set[FunctionInfo] = field(default_factory=set)

    def block(self, block: Sequence[ast.stmt], place: str) -> bool:
        """Whether one of some statements does, whichever way is taken through them."""
        return any(self._statement(one, place) for one in block)

    def _statement(self, statement: ast.stmt, place: str) -> bool:
        match statement:
            case ast.If(body=body, orelse=orelse):
                return self.block(body, place) and self.block(orelse, place)
            case ast.With(body=body) | ast.Try(body=body) | ast.For(body=body):
                return self.block(body, place)
            case ast.Assign(targets=targets, value=value):
                if any(self._target(one, value, place) for one in targets):
                    return True
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                if self._target(target, value, place):
                    return True
            case ast.AugAssign(target=target, op=ast.Add() | ast.BitOr()):
                if _text(target) == place:
                    return self._asked.ends(_COMPUTED)
        call = getattr(statement, "value", None)
        return isinstance(call, ast.Call) and self._call(call, place)

    def _target(self, target: ast.expr, value: ast.expr, place: str) -> bool:
        asked = self._asked
        if isinstance(target, (ast.Tuple, ast.List)):
            parts = value.elts if isinstance(value, ast.Tuple) else [_COMPUTED] * len(target.elts)
            pairs = zip(target.elts, parts, strict=False)
            return any(self._target(one, part, place) for one, part in pairs)
        held = target.value if isinstance(target, ast.Subscript) else None
        written, kept = _text(target), _kept(target)
        if written == place or (kept is not target and _text(kept) == place):
            return asked.ends(value)
        return held is not None and asked.grows and _text(held) == place

    def _call(self, call: ast.Call, place: str) -> bool:
        match call:
            case ast.Call(func=func, args=[*owner, ast.Constant(value=str() as n), value]) if (
                last_name(func) in _SETTING
            ):
                held = owner[0] if owner else getattr(func, "value", func)
                return self._target(ast.Attribute(held, n), value, place)
            case ast.Call(func=ast.Attribute(value=owner, attr=name), args=given):
                if name in _FILLING and _text(_kept(owner)) == place:
                    value = ast.Constant(0) if name == "zero_" else given[0] if given else _COMPUTED
                    return self._asked.ends(value)
                if name in _GROWING and place.startswith(_text(owner)):
                    return self._grows(name, _text(owner), given, place)
        return self._follows(call, place)

    def _grows(self, name: str, owner: str, given: Sequence[ast.expr], place: str) -> bool:
        """Whether a method of the container makes the entry that is asked for, or any."""
        keys = given[:1]
        if name == "update":
            keys = [k for one in given for k in getattr(one, "keys", ()) if k is not None]
        made = any(f"{owner}[{_text(key)}]" == place for key in keys)
        return made or (self._asked.grows and owner == place)

    def _follows(self, call: ast.Call, place: str) -> bool:
        info = self._resolve(call.func, self._inside)
        if info is None or isinstance(info.node, ast.Lambda) or info in self._seen:
            return False
        self._seen.add(info)
        moved = [_renamed(place, _text(given), name) for given, name in _passed(call, info)]
        before, self._inside = self._inside, info
        found = any(one is not None and self.block(info.node.body, one) for one in moved)
        self._inside = before
        self._followed += [info] if found else []
        return found


_COMPUTED: Final = ast.Call(ast.Name("computed", ast.Load()), [], [])


def _passed(call: ast.Call, info: FunctionInfo) -> Iterator[tuple[ast.expr, str]]:
    """What a call passes for which parameter, the object of a method too."""
    names = [one.arg for one in (*info.node.args.posonlyargs, *info.node.args.args)]
    given = [*call.args]
    bound = info.cls is not None and "staticmethod" not in info.decorators
    if bound and isinstance(call.func, ast.Attribute):
        given.insert(0, call.func.value)
    yield from zip(given, names, strict=False)
    yield from ((one.value, one.arg) for one in call.keywords if one.arg in names)


def _renamed(place: str, given: str, name: str) -> str | None:
    """The place as a function calls it that is given what leads there."""
    inside = place.removeprefix(given)
    return name + inside if inside != place and inside[:1] in {"", ".", "["} else None


def _bindings(body: Body, name: str) -> Iterator[tuple[int, ast.expr | None]]:
    """The rows that bind a variable, and to what; None where that is not plain to see."""
    for one in body.names(name):
        if isinstance(one.ctx, ast.Load):
            continue
        outer = body.parent(one)
        while isinstance(outer, (ast.Tuple, ast.List, ast.Starred)):
            outer = body.parent(outer)
        match outer:
            case ast.Assign(targets=[ast.Name()], value=value):
                yield one.lineno, value
            case ast.For(iter=value) | ast.comprehension(iter=value):
                yield one.lineno, value
            case ast.NamedExpr(value=value):
                yield one.lineno, value
            case _:
                yield one.lineno, None


def _text(node: ast.expr) -> str:
    if isinstance(node, ast.Subscript):
        return f"{_text(node.value)}[{_text(node.slice)}]"
    if isinstance(node, ast.Constant):
        return repr(node.value)
    return path_of(node) or ast.unparse(node)
