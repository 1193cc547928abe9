"""What the expressions of a method are, where tensors of one integer are to become numbers.

A tensor that could be a number has to end where a number does the same: in arithmetic with others
of its kind, in a size, a condition, a slice. Where it ends elsewhere is noted as a leak.
"""

from __future__ import annotations

import ast
from typing import Final

from tclint.lint.rewrite import Replace
from tclint.semantics.collect import dotted_name
from tclint.semantics.symbols import parameters_of
from tclint.torch_facts.numbers import numbers_of

from .scalar_kinds import (
    ARITHMETIC,
    CHANGED,
    INTEGERS,
    Env,
    Flow,
    Kind,
    Kinds,
    Method,
    computed,
    is_changed,
    join,
    join_all,
    members,
)

_ROUNDING: Final = {
    "ceil": "{}.ceil($number)",
    "floor": "{}.floor($number)",
    "trunc": "int($number)",
}
_TO_INTEGERS: Final = frozenset({"long", "int"})
_INTEGER_TYPES: Final = frozenset({"torch.int64", "torch.long", "torch.int32", "torch.int"})
_CONVERTED: Final = frozenset({Kind.INTEGER, Kind.FRACTION})
_ORDERED: Final = (ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE)
_SIZES: Final = frozenset({"size", "dim", "numel", "nelement", "ndimension"})
_COUNTING: Final = frozenset({"len", "int", "math.ceil", "math.floor"})
_TWO: Final = 2


class Expressions:
    """A walk through the expressions of one method; ``own`` is what it calls its object."""

    def __init__(self, flow: Flow, method: Method, own: str) -> None:
        self.flow = flow
        self.method = method
        self.own = own
        inside = [*ast.walk(method.function.node)]
        names = [node for node in inside if isinstance(node, ast.Name)]
        self._bound = {node.id for node in names if not isinstance(node.ctx, ast.Load)}
        self._bound |= {node.arg for node in inside if isinstance(node, ast.arg)}

    def leak(self, node: ast.AST) -> None:
        """Note a place that may tell a tensor from a number."""
        text = ast.unparse(node).partition("\n")[0]
        self.method.leaks.append(f"`{text}` may tell a tensor from a number")

    def is_own(self, node: ast.AST) -> bool:
        """True for ``self.attribute`` of one that the class keeps."""
        match node:
            case ast.Attribute(value=ast.Name(id=owner), attr=name):
                return owner == self.own and name in self.flow.scalars
        return False

    def test(self, node: ast.expr, env: Env) -> None:
        """What is asked for its truth: numbers and tensors of one answer alike."""
        kinds = self.kind(node, env)
        if isinstance(kinds, tuple) or kinds is Kind.UNSURE:
            self.leak(node)

    def plain(self, node: ast.expr, env: Env) -> None:
        """What has to be the same as before."""
        if is_changed(self.kind(node, env)):
            self.leak(node)

    def integer(self, node: ast.expr, env: Env) -> None:
        """What torch and Python take as an integer and as a tensor of one alike."""
        kinds = self.kind(node, env)
        if is_changed(kinds) and any(k in CHANGED and k not in INTEGERS for k in members(kinds)):
            self.leak(node)

    def parts(self, node: ast.AST, env: Env) -> None:
        """The parts of what is not understood."""
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self.plain(child, env)
            else:
                self.parts(child, env)

    def arithmetic(self, node: ast.AST, left: Kinds, op: ast.operator, right: Kinds) -> Kind:
        """What an operator gives."""
        result = computed(left, op, right)
        if result is None:
            self.leak(node)
            return Kind.UNSURE
        self.method.divides |= result is Kind.FRACTION and isinstance(op, ast.Div)
        return result

    def kind(self, node: ast.expr, env: Env) -> Kinds:
        """What an expression is."""
        found = self._atom(node, env)
        self.method.kinds[node] = found
        return found

    def _atom(self, node: ast.expr, env: Env) -> Kinds:
        match node:
            case ast.Constant(value=value):
                kinds = {int: Kind.NUMBER, float: Kind.DECIMAL}
                return kinds.get(type(value), Kind.OTHER)
            case ast.Name(id=name):
                return env.get(name, Kind.OTHER)
            case ast.Attribute(attr=name) if self.is_own(node):
                self.method.reads.add(name)
                text = f"{self.own}.{name}{self.flow.suffix}"
                self.method.rewrites[node] = Replace(node, text)
                return Kind.INTEGER
            case ast.Attribute(value=value, attr="ndim"):
                self.plain(value, env)
                return Kind.NUMBER
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                return self._listed(node, parts, env)
            case ast.Subscript():
                return self._indexed(node, env)
            case ast.Call():
                return self._called(node, env)
        return self._operator(node, env)

    def _operator(self, node: ast.expr, env: Env) -> Kinds:
        match node:
            case ast.BinOp(left=left, op=op, right=right):
                return self.arithmetic(node, self.kind(left, env), op, self.kind(right, env))
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                kinds = self.kind(operand, env)
                if is_changed(kinds) and kinds not in ARITHMETIC:
                    self.leak(node)
                return kinds
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                self.test(operand, env)
                return Kind.OTHER
            case ast.Compare():
                return self._compared(node, env)
            case ast.BoolOp(values=values):
                for value in values:
                    self.test(value, env)
                changed = any(is_changed(self.method.kinds[value]) for value in values)
                return Kind.TRUTH if changed else Kind.OTHER
            case ast.IfExp(test=test, body=body, orelse=orelse):
                self.test(test, env)
                return join(self.kind(body, env), self.kind(orelse, env))
        self.parts(node, env)
        return Kind.OTHER

    def _compared(self, node: ast.Compare, env: Env) -> Kinds:
        """A comparison of numbers is as true as one of tensors of one number."""
        kinds = [self.kind(part, env) for part in (node.left, *node.comparators)]
        if not any(map(is_changed, kinds)):
            return Kind.OTHER
        ordered = all(isinstance(op, _ORDERED) for op in node.ops)
        if not ordered or not all(kind in ARITHMETIC for kind in kinds):
            self.leak(node)
        return Kind.TRUTH

    def _listed(self, node: ast.expr, parts: list[ast.expr], env: Env) -> Kinds:
        kinds = [self.kind(part, env) for part in parts]
        if not any(map(is_changed, kinds)):
            return Kind.OTHER
        plain = tuple(kind for kind in kinds if isinstance(kind, Kind))
        if len(plain) == len(kinds):
            return plain
        self.leak(node)
        return Kind.UNSURE

    def _indexed(self, node: ast.Subscript, env: Env) -> Kinds:
        """A size of a shape, a member of a pair, or a tensor from here to there."""
        held = self.kind(node.value, env)
        match node.slice:
            case ast.Constant(value=int(place)) if isinstance(held, tuple) and place < len(held):
                return held[place]
            case ast.Constant(value=int()) | ast.UnaryOp(operand=ast.Constant(value=int())):
                of_shape = isinstance(node.value, ast.Attribute) and node.value.attr == "shape"
                if of_shape:
                    return Kind.NUMBER
        if is_changed(held):
            self.leak(node)
        index = node.slice
        for member in index.elts if isinstance(index, ast.Tuple) else [index]:
            if not isinstance(member, ast.Slice):
                self.plain(member, env)
                continue
            for bound in (member.lower, member.upper, member.step):
                if bound is not None:
                    self.integer(bound, env)
        return Kind.OTHER

    def _called(self, node: ast.Call, env: Env) -> Kinds:
        """A call: of torch, of Python, or of a method of the class."""
        method = self._own_method(node.func)
        if method is not None:
            return self._passed(node, method, env)
        name = self._dotted(node.func)
        converted = self._converted(node, name, env)
        if converted is not None:
            return converted
        if node.keywords:
            return self._opaque(node, name, env)
        if name in ("max", "min") and len(node.args) >= _TWO:
            return self._chosen(node, env)
        if name in _COUNTING:
            return self._counted(node, name, env)
        match node.func:
            case ast.Attribute(value=owner, attr=attr) if attr in _SIZES:
                for part in (owner, *node.args):
                    self.plain(part, env)
                return Kind.NUMBER if node.args or attr != "size" else Kind.OTHER
        return self._opaque(node, name, env)

    def _dotted(self, node: ast.expr) -> str:
        """The dotted name of a function that neither the method nor the file binds itself."""
        root, module = node, self.flow.cls.module
        while isinstance(root, ast.Attribute):
            root = root.value
        if not isinstance(root, ast.Name) or root.id in self._bound:
            return ""
        own = root.id in module.functions or root.id in module.assigned or root.id in module.classes
        return "" if own else dotted_name(module, node) or ""

    def _counted(self, node: ast.Call, name: str, env: Env) -> Kinds:
        """`len`, or what makes an integer of a number, today as well."""
        kinds = [self.kind(argument, env) for argument in node.args]
        if not any(map(is_changed, kinds)):
            return Kind.NUMBER
        allowed = {*_CONVERTED, Kind.WHOLE, Kind.GIVEN}
        if name == "len" or len(kinds) > 1 or kinds[0] not in allowed:
            self.leak(node)
        return Kind.NUMBER

    def _chosen(self, node: ast.Call, env: Env) -> Kinds:
        """The greatest or the least of several."""
        kinds = [self.kind(argument, env) for argument in node.args]
        result = join_all(kinds)
        if is_changed(result) and result not in (Kind.INTEGER, Kind.GIVEN):
            self.leak(node)
        return result

    def _converted(self, node: ast.Call, name: str, env: Env) -> Kinds | None:
        """`torch.ceil(n)`, ``n.long()``, ``n.item()``: of a tensor that becomes a number."""
        source, function = self._source(node, name)
        kinds = self.kind(source, env) if source is not None else Kind.OTHER
        if source is None or not is_changed(kinds):
            return None
        template, result = "$number", Kind.INTEGER
        if kinds in _CONVERTED and function in _ROUNDING:
            template, result = _ROUNDING[function].format(self.flow.math), Kind.WHOLE
        elif kinds is Kind.FRACTION and function == "integer":
            template = "int($number)"
        elif kinds in _CONVERTED and function == "item":
            result = Kind.NUMBER if kinds is Kind.INTEGER else Kind.DECIMAL
        elif kinds not in (Kind.INTEGER, Kind.WHOLE) or function != "integer":
            return None
        self.method.rewrites[node] = Replace(node, template, {"number": source})
        return result

    def _source(self, node: ast.Call, name: str) -> tuple[ast.expr | None, str]:
        """What a function or method of a tensor converts, and how."""
        function = name.removeprefix("torch.")
        match node:
            case ast.Call(args=[given], keywords=[]) if (
                name.startswith("torch.") and function in _ROUNDING
            ):
                return given, function
            case ast.Call(func=ast.Attribute(value=owner, attr=attr), args=[], keywords=[]):
                if attr in _ROUNDING or attr == "item":
                    return owner, attr
                return (owner, "integer") if attr in _TO_INTEGERS else (None, "")
            case ast.Call(
                func=ast.Attribute(value=owner, attr="to" | "type"), args=[dtype], keywords=[]
            ):
                known = self._dotted(dtype) in _INTEGER_TYPES
                return (owner, "integer") if known else (None, "")
        return None, ""

    def _opaque(self, node: ast.Call, name: str, env: Env) -> Kinds:
        """A call of which no more is known than which arguments are sizes."""
        wanted = numbers_of(name)
        if isinstance(node.func, ast.Attribute):
            self.plain(node.func.value, env)
            if "." not in name:
                wanted = numbers_of(node.func.attr)
        for place, argument in enumerate(node.args):
            sized = name == "range" or wanted.at(place)
            (self.integer if sized else self.plain)(argument, env)
        for keyword in node.keywords:
            (self.integer if keyword.arg in wanted.names else self.plain)(keyword.value, env)
        return Kind.OTHER

    def _own_method(self, function: ast.expr) -> str | None:
        """The method of this class that is called, which no class of the file replaces."""
        methods = self.flow.cls.methods
        match function:
            case ast.Attribute(value=ast.Name(id=owner), attr=name) if name in methods:
                own = bool(self.own) and owner == self.own
                named = owner == self.flow.cls.name and "staticmethod" in methods[name].decorators
                open_to = name not in self.flow.left and name not in self.flow.replaced
                return name if (own or named) and open_to and name != "__init__" else None
        return None

    def _passed(self, node: ast.Call, name: str, env: Env) -> Kinds:
        """Give a method its arguments; it returns what an earlier walk found."""
        function = self.flow.cls.methods[name]
        names = [argument.arg for argument, _ in parameters_of(function.node)]
        if "staticmethod" not in function.decorators:
            names = names[1:]
        for place, argument in enumerate(node.args):
            self._give(node, name, names[place] if place < len(names) else "", argument, env)
        for keyword in node.keywords:
            known = keyword.arg if keyword.arg in names else ""
            self._give(node, name, known or "", keyword.value, env)
        return self.flow.returns.get(name, Kind.OTHER)

    def _give(self, call: ast.Call, name: str, parameter: str, given: ast.expr, env: Env) -> None:
        """A parameter is an integer from now on, or several, by this call."""
        kinds = self.kind(given, env)
        if not is_changed(kinds):
            return
        if not parameter or not INTEGERS.issuperset(members(kinds)):
            self.leak(call)
            return
        new: Kinds = (Kind.GIVEN,) * len(kinds) if isinstance(kinds, tuple) else Kind.GIVEN
        held = self.flow.given.setdefault(name, {})
        held[parameter] = join(held.get(parameter, new), new)
