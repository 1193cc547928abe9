"""A helper that draws an array with numpy, written anew so that compiled code draws with torch.

Eager code runs the helper as it is. The copy beside it has tensors for numbers that depend on what
is drawn: a branch on one becomes ``torch.where``, and ``k`` of ``n`` numbers without replacement
are the first ``k`` of all places in random order, so that no shape depends on data. Each step of
the helper has to be one of those below: for another one it is not known what to write.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from functools import partial
from textwrap import indent
from typing import Final

from tclint.diagnostics import Change
from tclint.lint.rewrite import Insert, Repair
from tclint.records import record
from tclint.semantics.collect import meaning_several
from tclint.semantics.site import Site
from tclint.semantics.symbols import parameters_of
from tclint.semantics.syntax import nodes

from .as_written import as_written
from .names import is_taken

_MESSAGE: Final = "In compiled code, draw with torch; eager code stays as it is"
_CHANGES: Final = (
    "compiled code draws other random numbers than eager code, from torch's generator, and raises "
    "nothing where more are drawn than there are{}"
)
_BINARY: Final = "; the fix assumes that `{}` holds zeros and ones"
_NUMBERS: Final = frozenset({"bool", "float", "int", "str"})
_DTYPES: Final = {"bool": "bool", "numpy.bool_": "bool", "int": "int64", "numpy.int64": "int64"}
_COMPUTED: Final = frozenset({"abs", "float", "int", "len", "max", "min", "range", "round"})
_SCALARS: Final = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv)
_HELD: Final = (ast.Yield, ast.YieldFrom, ast.Await, ast.Global, ast.Nonlocal, ast.NamedExpr)


class _UnknownStepError(Exception):
    """A step that nothing below says how to write."""


@record(frozen=True)
class _Code:
    """Source, and what it holds.

    ``host``: what Python knows while it compiles. ``number``: a tensor for a number, which is never
    above ``most``. ``flag``: one for a test. ``lengths``: a tensor of several. ``array``: the array
    that is filled, of two dimensions. ``bag``: one dimension of which the first ``count`` elements
    hold, in a tensor with ``width``; ``bags``: several of them, ``rows``: in a list. ``new``: bags
    with a dimension behind them, ``steps``: what `arange` counts, ``offsets``: that to be spread
    beside bags, ``spread``: either as ``(rows, count, most)``. ``size``: a variable written here.
    ``tensor``: an argument.
    """

    text: str
    kind: str
    whole: bool = False
    most: str = ""
    count: str = ""
    width: str = ""

    def needs(self) -> set[str]:
        """The variables that tell how much of it there is."""
        told = (one for one in (self.most, self.count, self.width) if one and one != self.text)
        return {name for one in told for name in _names_in(one)}


def draw_in_graph(site: Site) -> Repair | None:
    """Write a copy of the helper for compiled code, and return its result there."""
    node = site.body.scope
    compiling = site.spell("torch.compiler.is_compiling")
    torch = (site.spell("torch.Tensor") or "").removesuffix(".Tensor")
    if not isinstance(node, ast.FunctionDef) or compiling is None or not torch:
        return None
    name = f"{node.name}_in_graph"
    if not _is_plain(site, node) or is_taken(site, name):
        return None
    writer = _Writer(site, node, torch)
    try:
        lines = writer.function(node.body)
    except _UnknownStepError:
        return None
    given = as_written(node.args, site.text)
    passed = ", ".join(parameter.arg for parameter, _ in parameters_of(node))
    written = f"def {name}({given}):\n{indent(chr(10).join(lines), '    ')}"
    text = as_written(ast.parse(written), partial(ast.get_source_segment, written))
    guard = f"if {compiling}():\n    return {name}({passed})"
    rewrites = (Insert(_first(node), guard), Insert(node, f"\n\n{text}", after=True))
    told = "".join(_BINARY.format(one) for one in sorted(writer.binary))
    return Repair(_MESSAGE, rewrites, Change.BEHAVIOUR, _CHANGES.format(told))


def _is_plain(site: Site, node: ast.FunctionDef) -> bool:
    spec = node.args
    plain = not (node.decorator_list or spec.vararg or spec.kwarg or spec.posonlyargs)
    return (
        plain
        and not spec.kwonlyargs
        and node in site.module.tree.body
        and node.name not in meaning_several(site.module)
        and not any(isinstance(part, _HELD) for part in nodes(node))
    )


def _first(node: ast.FunctionDef) -> ast.stmt:
    """The first statement behind the docstring."""
    told = ast.get_docstring(node, clean=False) is not None
    return node.body[1] if told and len(node.body) > 1 else node.body[0]


class _Writer:
    """Writes the statements of a helper anew, one after the other."""

    def __init__(self, site: Site, node: ast.FunctionDef, torch: str) -> None:
        self._site = site
        self._torch = torch
        self._known: dict[str, _Code] = {}
        self._inner: dict[str, bool] = {}
        self._early: list[tuple[str, str]] = []
        self._end: ast.stmt = node.body[-1]
        self._before: list[str] = []
        self._outside: frozenset[str] | None = None
        self._fixed: set[str] = set()
        self._same: set[str] = set()
        self._taken = {part.id for part in nodes(node) if isinstance(part, ast.Name)}
        self.binary: set[str] = set()
        for parameter, _ in parameters_of(node):
            name = parameter.arg
            self._taken.add(name)
            self._known[name] = _declared(site, parameter)

    def function(self, body: Sequence[ast.stmt]) -> list[str]:
        """The lines of the whole helper, which has to end with its array."""
        lines = [line for statement in body for line in self._statement(statement)]
        if not isinstance(self._end, ast.Return):
            raise _UnknownStepError
        return lines or ["pass"]

    def _statement(self, node: ast.stmt) -> list[str]:
        lines = self._written(node)
        before, self._before = self._before, []
        return [*before, *lines]

    def _written(self, node: ast.stmt) -> list[str]:
        match node:
            case ast.Expr(value=ast.Constant()) | ast.Pass():
                return []
            case ast.FunctionDef():
                return self._scalars(node)
            case ast.Assign(targets=[target], value=value):
                return self._assign(target, value)
            case ast.If():
                return self._branch(node)
            case ast.For(orelse=[]):
                return self._loop(node)
            case ast.Return(value=ast.Name() as value) if node is self._end:
                return self._returned(value)
            case ast.Expr(value=ast.Call() as call):
                return self._effect(call)
        raise _UnknownStepError

    # Statements

    def _assign(self, target: ast.expr, value: ast.expr) -> list[str]:
        match target:
            case ast.Name(id=name):
                code = self._expression(value)
                if isinstance(value, ast.Name) and code.kind not in ("host", "number"):
                    raise _UnknownStepError  # a second name for an array that may be written to
                return [self._bind(name, code)]
            case ast.Tuple(elts=elements):
                return self._unpack(elements, value)
            case ast.Subscript(value=ast.Name(id=name), slice=ast.Tuple(elts=[row, places])):
                return self._store(name, row, places, value)
        raise _UnknownStepError

    def _unpack(self, elements: Sequence[ast.expr], value: ast.expr) -> list[str]:
        """``rows, columns = shape``."""
        code = self._expression(value)
        names = [one.id for one in elements if isinstance(one, ast.Name)]
        if code.kind != "host" or len(names) < len(elements):
            raise _UnknownStepError
        for name in names:
            self._bind(name, _Code("", "host", whole=code.whole))
        return [f"{', '.join(names)} = {code.text}"]

    def _bind(self, name: str, code: _Code) -> str:
        """Give a variable its value; what was counted by the one before is not known any more."""
        if name in self._fixed or (self._outside is not None and name in self._outside):
            raise _UnknownStepError  # a function, or another round, may read the old one
        for other, held in [*self._known.items()]:
            if name in held.needs():
                del self._known[other]
        most = name if code.kind == "host" else code.most
        self._known[name] = _Code(name, code.kind, code.whole, most, code.count, code.width)
        return f"{name} = {code.text}"

    def _named(self, text: str, wanted: str) -> str:
        """A new variable for what is needed several times."""
        if text.strip("()") in self._known:
            return text.strip("()")
        name = wanted
        while name in self._taken or is_taken(self._site, name):
            name += "_"
        self._taken.add(name)
        self._before.append(f"{name} = {text}")
        self._known[name] = _Code(name, "size")
        return name

    def _branch(self, node: ast.If) -> list[str]:
        clipped = self._clipped(node)
        if clipped is not None:
            return clipped
        test = self._expression(node.test)
        if test.kind == "host":
            return self._host_branch(node, test.text)
        if test.kind != "flag":
            raise _UnknownStepError
        match node.body, node.orelse:
            case [ast.Return(value=ast.Name(id=name))], [] if self._outside is None:
                early = self._named(f"{self._array(name).text}.clone()", f"{name}_before")
                self._early.append((test.text, early))
                return []
            case [ast.Assign(targets=[ast.Name(id=name)], value=value)], []:
                return [self._chosen(name, test.text, value, ast.Name(id=name))]
            case (
                [ast.Assign(targets=[ast.Name(id=name)], value=value)],
                [ast.Assign(targets=[ast.Name(id=other)], value=instead)],
            ) if name == other:
                return [self._chosen(name, test.text, value, instead)]
        raise _UnknownStepError

    def _host_branch(self, node: ast.If, test: str) -> list[str]:
        """``if ...: raise``: of other statements it is not known which of two kinds they leave."""
        if len(node.body) != 1 or node.orelse or not isinstance(node.body[0], ast.Raise):
            raise _UnknownStepError
        raised = node.body[0].exc
        if not isinstance(raised, ast.Call) or node.body[0].cause is not None:
            raise _UnknownStepError
        for part in (*raised.args, *(keyword.value for keyword in raised.keywords)):
            self._host(part)
        return [f"if {test}:", f"    raise {as_written(raised, self._site.text)}"]

    def _chosen(self, name: str, test: str, value: ast.expr, instead: ast.expr) -> str:
        sides = [self._expression(value), self._expression(instead)]
        if not all(side.kind in ("host", "number") for side in sides):
            raise _UnknownStepError
        whole = all(side.whole for side in sides)
        text = f"{self._torch}.where({test}, {sides[0].text}, {sides[1].text})"
        return self._bind(name, _Code(text, "number", whole=whole))

    def _clipped(self, node: ast.If) -> list[str] | None:
        """``if x.max() > n: x[x > n] = v`` does nothing where no element is above ``n``."""
        match node:
            case ast.If(
                test=ast.Compare(
                    left=ast.Call(
                        func=ast.Attribute(value=ast.Name(id=name), attr="max"),
                        args=[],
                        keywords=[],
                    ),
                    ops=[ast.Gt()],
                    comparators=[bound],
                ),
                body=[
                    ast.Assign(
                        targets=[
                            ast.Subscript(
                                value=ast.Name(id=stored),
                                slice=ast.Compare(
                                    left=ast.Name(id=asked), ops=[ast.Gt()], comparators=[again]
                                ),
                            )
                        ],
                        value=value,
                    )
                ],
                orelse=[],
            ) if name == stored == asked and ast.dump(bound) == ast.dump(again):
                bag = self._known.get(name)
                if bag is None or bag.kind != "bags" or self._outside is not None:
                    raise _UnknownStepError
                test = f"{name} > {self._host(bound)}"
                return [f"{name} = {self._torch}.where({test}, {self._host(value)}, {name})"]
        return None

    def _loop(self, node: ast.For) -> list[str]:
        match node:
            case ast.For(
                target=ast.Tuple(elts=[ast.Name(id=row), ast.Name(id=name)]),
                iter=ast.Call(func=ast.Name(id="enumerate"), args=[over], keywords=[]),
            ):
                pass
            case ast.For(target=ast.Name(id=name), iter=over):
                row = ""
            case _:
                raise _UnknownStepError
        code = self._expression(over)
        if self._outside is not None or (code.kind != "lengths" and not _is_range(over)):
            raise _UnknownStepError
        for one in (name, row):
            if one in self._known:
                raise _UnknownStepError
        outside = frozenset(self._known)
        if row:
            self._known[row] = _Code(row, "host", whole=True)
        each = _Code(name, "host", whole=True)
        if code.kind == "lengths":
            each = _Code(name, "number", whole=True, most=code.most)
        self._known[name] = each
        self._outside = outside
        lines = [line for statement in node.body for line in self._statement(statement)]
        self._outside = None
        if code.kind == "lengths":
            lines = [f"{name} = {self._torch}.as_tensor({name}, device='cpu')", *lines]
        called = f"enumerate({code.text})" if row else code.text
        head = f"for {ast.unparse(node.target)} in {called}:"
        return [head, *(f"    {line}" for line in lines or ["pass"])]

    def _scalars(self, node: ast.FunctionDef) -> list[str]:
        """A function of numbers inside of the helper."""
        spec = node.args
        plain = not (spec.vararg or spec.kwarg or spec.kwonlyargs or spec.defaults)
        result = node.body[-1]
        if not plain or node.decorator_list or self._outside is not None:
            raise _UnknownStepError
        if not isinstance(result, ast.Return) or result.value is None:
            raise _UnknownStepError
        outer, names = dict(self._known), [one.arg for one in spec.args]
        lines = [f"{name} = {self._torch}.as_tensor({name}, device='cpu')" for name in names]
        for name in names:
            self._known[name] = _Code(name, "number", whole=True)
        early = len(self._early)
        for statement in node.body[:-1]:
            lines += self._statement(statement)
        code = self._expression(result.value)
        if code.kind != "number" or self._before or len(self._early) > early:
            raise _UnknownStepError
        self._known = outer
        self._inner[node.name] = code.whole
        read = {part.id for part in nodes(node) if isinstance(part, ast.Name)}
        self._fixed |= {*read, node.name} & {*outer, node.name}
        lines.append(f"return {code.text}")
        return [f"def {node.name}({', '.join(names)}):", *(f"    {line}" for line in lines)]

    def _effect(self, call: ast.Call) -> list[str]:
        match call:
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id=name), attr="append"), args=[one], keywords=[]
            ) if self._known.get(name) is not None and self._known[name].kind == "rows":
                code = self._expression(one)
                rows = self._known[name]
                if code.kind != "bag" or (rows.width and rows.width != code.width):
                    raise _UnknownStepError
                if rows.count not in ("", code.count):
                    raise _UnknownStepError
                if not {code.count, *code.needs()} <= self._outside_names():
                    raise _UnknownStepError  # the next row may have another length
                self._known[name] = _Code(name, "rows", count=code.count, width=code.width)
                return [f"{name}.append({code.text})"]
            case ast.Call(args=[ast.Name(id=name), places, value, axis], keywords=[]) if (
                self._site.dotted(call.func) == "numpy.put_along_axis"
            ):
                if ast.unparse(axis) not in ("-1", "1") or self._outside is not None:
                    raise _UnknownStepError
                return [self._put(self._array(name), self._expression(places), value)]
        raise _UnknownStepError

    def _outside_names(self) -> set[str]:
        """The variables that hold the same in each round of the loop."""
        held = self._known if self._outside is None else self._outside
        return {*held, *self._same}

    def _store(self, name: str, row: ast.expr, places: ast.expr, value: ast.expr) -> list[str]:
        """``array[row, chosen] = value``."""
        code, stored = self._expression(places), self._array(name)
        if code.kind != "bag":
            raise _UnknownStepError
        one = f"{name}[{self._host(row)}]"
        text = self._scattered(one, f"{one}[:1]", code, value, "[:-1]")
        return [f"{stored.text}[{self._host(row)}] = {text}"]

    def _put(self, array: _Code, places: _Code, value: ast.expr) -> str:
        if places.kind != "bags":
            raise _UnknownStepError
        text = self._scattered(array.text, f"{array.text}[:, :1]", places, value, "[:, :-1]")
        return f"{array.text} = {text}"

    def _scattered(self, old: str, column: str, places: _Code, value: ast.expr, end: str) -> str:
        """A column more takes what is beyond the count."""
        if not isinstance(value, ast.Constant) or not isinstance(value.value, (bool, int)):
            raise _UnknownStepError
        chosen = self._named(places.text, "chosen")
        within = f"{self._arange(f'{chosen}.shape[-1]')} < {places.count}"
        where = f"{self._torch}.where({within}, {chosen}, {old}.shape[-1])"
        wider = f"{self._torch}.cat([{old}, {column}], -1)"
        return f"{wider}.scatter(-1, {where}, {as_written(value, self._site.text)}){end}"

    def _returned(self, value: ast.Name) -> list[str]:
        text = self._array(value.id).text
        for test, early in reversed(self._early):
            text = f"{self._torch}.where({test}, {early}, {text})"
        return [f"return ({text}).numpy()"]

    def _array(self, name: str) -> _Code:
        code = self._known.get(name)
        if code is None or code.kind != "array":
            raise _UnknownStepError
        return code

    # Expressions

    def _host(self, node: ast.expr) -> str:
        code = self._expression(node)
        if code.kind != "host":
            raise _UnknownStepError
        return code.text

    def _expression(self, node: ast.expr) -> _Code:
        if self._is_host(node):
            text = f"({as_written(node, self._site.text)})"
            return _Code(text, "host", whole=self._is_integer(node), most=text)
        match node:
            case ast.Name(id=name) if name in self._known:
                return self._known[name]
            case ast.List(elts=[]):
                return _Code("[]", "rows")
            case ast.IfExp(test=test, body=body, orelse=orelse) if self._is_host(test):
                return self._either(test, self._expression(body), self._expression(orelse))
            case ast.ListComp():
                return self._listed(node)
            case ast.BinOp(left=left, op=op, right=right):
                return self._operation(left, op, right)
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                return self._comparison(left, op, right)
            case ast.Subscript(value=owner, slice=index):
                return self._item(owner, index)
            case ast.Call():
                return self._call(node)
        raise _UnknownStepError

    def _is_host(self, node: ast.AST) -> bool:
        """True for what Python computes of sizes and settings alone."""
        match node:
            case ast.Constant():
                return True
            case ast.Name(id=name):
                return name in self._known and self._known[name].kind == "host"
            case ast.Compare(
                left=ast.Name(id=name),
                ops=[ast.Is() | ast.IsNot()],
                comparators=[ast.Constant(value=None)],
            ) if name in self._known and self._known[name].kind in ("host", "tensor"):
                return True
            case ast.Subscript(value=ast.Attribute(value=ast.Name(id=name), attr="shape")):
                tensor = self._known.get(name)
                return tensor is not None and tensor.kind == "tensor"
            case ast.Call(func=ast.Name(id=name), args=given, keywords=[]):
                plain = name in _COMPUTED and not is_taken(self._site, name)
                return plain and all(map(self._is_host, given))
            case (
                ast.BinOp() | ast.UnaryOp() | ast.BoolOp() | ast.Compare() | ast.IfExp()
                | ast.Tuple() | ast.JoinedStr() | ast.FormattedValue() | ast.Subscript()
            ):  # fmt: skip
                inner = (part for part in ast.iter_child_nodes(node) if _is_operand(part))
                return all(map(self._is_host, inner))
        return False

    def _either(self, test: ast.expr, body: _Code, orelse: _Code) -> _Code:
        if {body.kind, orelse.kind} != {"lengths"} or not body.most or not orelse.most:
            raise _UnknownStepError
        asked = as_written(test, self._site.text)
        most = f"({body.most} if {asked} else {orelse.most})"
        return _Code(f"({body.text} if {asked} else {orelse.text})", "lengths", most=most)

    def _listed(self, node: ast.ListComp) -> _Code:
        """``[n for _ in range(b)]``."""
        match node.generators:
            case [ast.comprehension(target=ast.Name(id=name), iter=over, ifs=[])] if (
                name not in self._known and self._is_host(over) and self._is_host(node.elt)
            ):
                text = as_written(node, self._site.text)
                most = f"({as_written(node.elt, self._site.text)})"
                return _Code(text, "lengths", whole=True, most=most)
        raise _UnknownStepError

    def _operation(self, left: ast.expr, op: ast.operator, right: ast.expr) -> _Code:
        sides = [self._expression(left), self._expression(right)]
        kinds = {side.kind for side in sides}
        sign = _SIGNS.get(type(op), "")
        if kinds in ({"bag"}, {"bags"}) and isinstance(op, ast.Add):
            if len({(side.count, side.width) for side in sides}) > 1:
                raise _UnknownStepError
            text = f"({sides[0].text} + {sides[1].text})"
            return _Code(text, sides[0].kind, count=sides[0].count, width=sides[0].width)
        if not kinds <= {"host", "number"} or not isinstance(op, _SCALARS):
            raise _UnknownStepError
        whole = not isinstance(op, ast.Div) and all(side.whole for side in sides)
        texts = [
            side.text if whole or side.kind == "host" or not side.whole else f"{side.text}.double()"
            for side in sides
        ]
        below = isinstance(op, ast.Sub) and sides[1].kind == "host" and sides[0].most
        most = f"({sides[0].most} - {sides[1].text})" if below else ""
        return _Code(f"({texts[0]} {sign} {texts[1]})", "number", whole=whole, most=most)

    def _is_integer(self, node: ast.expr) -> bool:
        """True for what Python computes as integers, of arguments that are declared as such."""
        match node:
            case ast.Constant(value=value):
                return type(value) is int
            case ast.Name(id=name):
                return self._known[name].whole
            case ast.BinOp(left=left, op=op, right=right) if not isinstance(op, (ast.Div, ast.Pow)):
                return self._is_integer(left) and self._is_integer(right)
            case ast.Tuple(elts=elements):
                return all(map(self._is_integer, elements))
            case ast.Call(func=ast.Name(id="int" | "len")):
                return True
            case ast.Subscript(value=ast.Attribute(attr="shape")):
                return True
        return False

    def _comparison(self, left: ast.expr, op: ast.cmpop, right: ast.expr) -> _Code:
        match left, op, right:
            case (
                ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=name)]),
                ast.Eq(),
                ast.Constant(value=0),
            ) if name in self._known and self._known[name].kind == "bag":
                return self._asked(self._known[name])
        sign = _ORDER.get(type(op))
        sides = [self._expression(left), self._expression(right)]
        if sign is None or not {side.kind for side in sides} <= {"host", "number"}:
            raise _UnknownStepError
        return _Code(f"({sides[0].text} {sign} {sides[1].text})", "flag")

    def _asked(self, bag: _Code) -> _Code:
        return _Code(f"({self._torch}.as_tensor({bag.count}) == 0)", "flag")

    def _item(self, owner: ast.expr, index: ast.expr) -> _Code:
        match index:
            case ast.Tuple():
                code, told = self._expression(owner), ast.unparse(index).strip("()")
                kind = _SPREAD.get((code.kind, told))
                if kind is not None:
                    text = f"{code.text}[{told}]"
                    return _Code(text, kind, count=code.count, width=code.width)
            case ast.Constant(value=0):
                code = self._expression(owner)
                if code.kind == "bag":
                    return _Code(f"{code.text}[0]", "number", whole=True)
            case ast.Slice(lower=None, upper=ast.expr() as count, step=None):
                drawn = self._permuted(owner)
                return _Code(drawn.text, "bag", count=self._count(count), width=drawn.width)
        raise _UnknownStepError

    def _call(self, call: ast.Call) -> _Code:
        name = self._site.dotted(call.func) or ""
        if name.startswith("numpy.random."):
            return self._draw(call, name.removeprefix("numpy.random."))
        if name.startswith("numpy."):
            return self._numpy(call, name.removeprefix("numpy."))
        match call:
            case ast.Call(func=ast.Name(id=inner), args=given, keywords=[]) if inner in self._inner:
                codes = [self._expression(one) for one in given]
                if not all(code.kind in ("host", "number") and code.whole for code in codes):
                    raise _UnknownStepError
                text = f"{inner}({', '.join(code.text for code in codes)})"
                return _Code(text, "number", whole=self._inner[inner])
            case ast.Call(func=ast.Name(id="int"), args=[one], keywords=[]):
                code = self._expression(one)
                if code.kind == "number" and not is_taken(self._site, "int"):
                    return _Code(f"{code.text}.long()", "number", whole=True)
            case ast.Call(func=ast.Name(id="max" | "min" as bound), args=[one, two], keywords=[]):
                return self._bounded(bound, self._expression(one), self._expression(two))
            case ast.Call(func=ast.Attribute(value=owner, attr="item"), args=[], keywords=[]):
                return self._drawn_item(owner)
            case ast.Call(func=ast.Attribute(value=owner, attr="tolist"), args=[], keywords=[]):
                return self._lengths(owner)
            case ast.Call(func=ast.Attribute(value=owner, attr="reshape"), args=sizes, keywords=[]):
                return self._flat(owner, sizes)
        raise _UnknownStepError

    def _bounded(self, bound: str, one: _Code, two: _Code) -> _Code:
        if {one.kind, two.kind} == {"number"} or is_taken(self._site, bound):
            raise _UnknownStepError
        number, host = (one, two) if one.kind == "number" else (two, one)
        if number.kind != "number" or host.kind != "host":
            raise _UnknownStepError
        kept = "min" if bound == "max" else "max"
        if not (number.whole and host.whole):
            raise _UnknownStepError
        return _Code(f"{number.text}.clamp({kept}={host.text})", "number", whole=True)

    def _drawn_item(self, owner: ast.expr) -> _Code:
        """``np.random.rand(1).item()``."""
        match owner:
            case ast.Call(args=[ast.Constant(value=1)], keywords=[]) if self._site.dotted(
                owner.func
            ) in ("numpy.random.rand", "numpy.random.random"):
                return self._one()
        raise _UnknownStepError

    def _one(self) -> _Code:
        return _Code(f"{self._torch}.rand((), dtype={self._torch}.float64, device='cpu')", "number")

    def _lengths(self, owner: ast.expr) -> _Code:
        """``mask.sum(-1).tolist()``, where no sum is above the size."""
        match owner:
            case (
                ast.Call(func=ast.Attribute(value=summed, attr="sum"), args=[last], keywords=[])
                | ast.Call(
                    func=ast.Attribute(value=summed, attr="sum"),
                    args=[],
                    keywords=[ast.keyword(arg="dim", value=last)],
                )
            ) if ast.unparse(last) in ("-1", "1"):
                inner = summed
                while isinstance(inner, ast.Call) and _is_handed_on(inner):
                    assert isinstance(inner.func, ast.Attribute)
                    inner = inner.func.value
                tensor = self._known.get(inner.id) if isinstance(inner, ast.Name) else None
                if tensor is not None and tensor.kind == "tensor":
                    self.binary.add(tensor.text)
                    text = f"{tensor.text}.detach().sum(-1).long().cpu()"
                    return _Code(text, "lengths", whole=True, most=f"{tensor.text}.shape[-1]")
        raise _UnknownStepError

    def _draw(self, call: ast.Call, name: str) -> _Code:
        told = {keyword.arg: keyword.value for keyword in call.keywords}
        match name, call.args:
            case (("rand" | "random" | "random_sample" | "sample" | "uniform"), []) if not told:
                return self._one()
            case "uniform", [ast.Constant(value=0), ast.Constant(value=1)] if not told:
                return self._one()
            case "choice", [of, count]:
                match told:
                    case {"replace": ast.Constant(value=False)} if len(told) == 1:
                        width = self._places(of)
                        text = self._in_random_order(width)
                        return _Code(text, "bag", count=self._count(count), width=width.most)
        raise _UnknownStepError

    def _count(self, node: ast.expr) -> str:
        code = self._expression(node)
        if code.kind not in ("host", "number") or not code.whole:
            raise _UnknownStepError
        return self._named(code.text, "count")

    def _permuted(self, node: ast.expr) -> _Code:
        """``np.random.permutation(n)``."""
        match node:
            case ast.Call(args=[of], keywords=[]) if (
                self._site.dotted(node.func) == "numpy.random.permutation"
            ):
                width = self._places(of)
                return _Code(self._in_random_order(width), "bag", width=width.most)
        raise _UnknownStepError

    def _places(self, of: ast.expr) -> _Code:
        """How many numbers ``n`` and ``np.arange(n)`` choose from, and what is never below that."""
        match of:
            case ast.Call(args=[inner], keywords=[]) if (
                self._site.dotted(of.func) == "numpy.arange"
            ):
                of = inner
        code = self._expression(of)
        if code.kind not in ("host", "number") or not code.whole or not code.most:
            raise _UnknownStepError
        if self._outside is not None and not _names_in(code.most) <= self._outside_names():
            raise _UnknownStepError  # the next round may have more of them
        width = self._named(code.most, "places")
        self._same.add(width)
        return _Code(code.text, code.kind, whole=True, most=width)

    def _in_random_order(self, size: _Code) -> str:
        keys = f"{self._torch}.rand({size.most}, device='cpu')"
        if size.kind == "number":
            keys += f".masked_fill({self._arange(size.most)} >= {size.text}, 2)"
        return f"{keys}.argsort()"

    def _arange(self, size: str) -> str:
        return f"{self._torch}.arange({size}, device='cpu')"

    def _numpy(self, call: ast.Call, name: str) -> _Code:
        match name, call.args, call.keywords:
            case "zeros", [ast.Tuple(elts=[_, _]) as shape], [ast.keyword(arg="dtype", value=kind)]:
                dtype = _DTYPES.get(self._site.dotted(kind) or "")
                if dtype is not None:
                    made = f"{self._torch}.zeros({self._host(shape)}, dtype={self._torch}.{dtype}"
                    return _Code(f"{made}, device='cpu')", "array")
            case "arange", [size], []:
                return _Code(self._arange(self._host(size)), "steps")
            case "array", [ast.Name(id=rows)], []:
                code = self._known.get(rows)
                if code is not None and code.kind == "rows" and code.width:
                    text = f"{self._torch}.stack({rows})"
                    return _Code(text, "bags", count=code.count, width=code.width)
            case "concatenate", [ast.List(elts=[first, last])], []:
                return self._padded(self._expression(first), last)
            case "broadcast_to", [spread, ast.Tuple(elts=[rows, count, size])], []:
                return self._spread(self._expression(spread), [rows, count, size])
        raise _UnknownStepError

    def _padded(self, bag: _Code, rest: ast.expr) -> _Code:
        """``np.concatenate([chosen, np.ones(n) * one])``: one place more holds all of the rest."""
        match rest:
            case ast.BinOp(
                left=ast.Call(args=[more]) as ones, op=ast.Mult(), right=ast.Name() as one
            ):
                if self._site.dotted(ones.func) != "numpy.ones" or bag.kind != "bag":
                    raise _UnknownStepError
            case _:
                raise _UnknownStepError
        match more:
            case ast.BinOp(left=ast.Name(id=total), op=ast.Sub(), right=ast.Name(id=count)):
                if count != bag.count or total not in self._known:
                    raise _UnknownStepError
            case _:
                raise _UnknownStepError
        if self._expression(one).kind not in ("host", "number") or not bag.text.isidentifier():
            raise _UnknownStepError
        longer = f"{self._torch}.cat([{bag.text}, {bag.text}[:1]])"
        width = f"({bag.width} + 1)"
        text = f"{self._torch}.where({self._arange(width)} < {count}, {longer}, {one.id})"
        return _Code(text, "bag", count=total, width=width)

    def _spread(self, code: _Code, shape: list[ast.expr]) -> _Code:
        """``np.broadcast_to(x[:, :, None], (b, k, n))``."""
        count, size = ast.unparse(shape[1]), self._host(shape[2])
        width = code.width or self._width_of(count)
        if code.kind not in ("new", "offsets") or (code.count and code.count != count):
            raise _UnknownStepError
        text = f"{code.text}.expand({self._host(shape[0])}, {width}, {size})"
        return _Code(text, "spread", count=count, width=width, most=ast.unparse(shape[2]))

    def _width_of(self, count: str) -> str:
        widths = {one.width for one in self._known.values() if one.count == count and one.width}
        widths |= {
            one.width.rpartition(" * ")[0]
            for one in self._known.values()
            if one.count.startswith(f"({count} * ") and one.width
        }
        if len(widths) != 1:
            raise _UnknownStepError
        return widths.pop()

    def _flat(self, owner: ast.expr, sizes: list[ast.expr]) -> _Code:
        """``.reshape(b, k * n)`` of what has the shape ``(b, k, n)``."""
        code = self._expression(owner)
        match sizes:
            case [rows, ast.BinOp(left=count, op=ast.Mult(), right=size)] if code.kind == "spread":
                if ast.unparse(count) != code.count or ast.unparse(size) != code.most:
                    raise _UnknownStepError
                text = f"{code.text}.reshape({self._host(rows)}, -1)"
                count_text = f"({code.count} * {code.most})"
                return _Code(text, "bags", count=count_text, width=f"{code.width} * {code.most}")
        raise _UnknownStepError


_SIGNS: Final = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//"}
_SPREAD: Final = {("bags", ":, :, None"): "new", ("steps", "None, None, :"): "offsets"}
_ORDER: Final = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
}  # fmt: skip


def _names_in(text: str) -> set[str]:
    tree = ast.parse(text, mode="eval")
    return {part.id for part in ast.walk(tree) if isinstance(part, ast.Name)}


def _is_operand(node: ast.AST) -> bool:
    return not isinstance(
        node, (ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.expr_context)
    )


def _is_handed_on(call: ast.Call) -> bool:
    method = isinstance(call.func, ast.Attribute) and call.func.attr in ("detach", "long", "int")
    return method and not call.args and not call.keywords


def _is_range(node: ast.expr) -> bool:
    return (
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range"
    )


def _declared(site: Site, parameter: ast.arg) -> _Code:
    """What an argument is declared as: a number, sizes, or a tensor."""
    name = parameter.arg
    text = ast.unparse(parameter.annotation) if parameter.annotation is not None else ""
    pair = text.lower().startswith(("tuple[int", "typing.tuple[int"))
    if text in _NUMBERS or pair:
        return _Code(name, "host", whole=pair or text == "int", most=name)
    named = (part for part in ast.walk(parameter) if isinstance(part, (ast.Name, ast.Attribute)))
    tensors = any((site.dotted(part) or "").startswith("torch.") for part in named)
    return _Code(name, "tensor" if tensors and "Tensor" in text else "unknown")
