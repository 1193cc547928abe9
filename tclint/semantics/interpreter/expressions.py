"""Literals, names, operators, comprehensions and the other plain expressions."""

from __future__ import annotations

import ast
from typing import Final

from tclint.semantics.events import Deciding, HostRead, TensorBranch
from tclint.semantics.interpreter import operators
from tclint.semantics.interpreter.arguments import Arguments
from tclint.semantics.interpreter.containers import joined
from tclint.semantics.interpreter.evaluate import (
    evaluate,
    handles,
    holds_drawn,
    need_drawn,
    need_number,
    need_numpy,
)
from tclint.semantics.interpreter.frame import Frame
from tclint.semantics.interpreter.functions import local_function
from tclint.semantics.interpreter.iteration import element_of
from tclint.semantics.interpreter.narrowing import instance_verdict, refine
from tclint.semantics.interpreter.special import (
    compared,
    negated,
    operate,
    shown,
    special,
)
from tclint.semantics.interpreter.truth import decide, truth
from tclint.semantics.interpreter.versions import ask_version
from tclint.semantics.lattice import (
    bounded,
    is_tensor,
    join,
    options,
    present,
    tensor_in,
    tensor_on_some_paths,
    with_dtype,
)
from tclint.semantics.syntax import nodes, path_of
from tclint.semantics.values import (
    NONE,
    UNKNOWN,
    DataScalar,
    DType,
    Function,
    Iteration,
    Mapping,
    NumpyScalar,
    Sequence,
    Static,
    SymInt,
    Tensor,
    Unknown,
    Value,
    constant,
)


@handles(ast.BinOp)
def _bin_op(frame: Frame, node: ast.BinOp) -> Value:
    left = evaluate(frame, node.left)
    right = evaluate(frame, node.right)
    if isinstance(node.op, ast.Mod) and isinstance(left, Static) and left.type == "str":
        _read_formatted(frame, node.right, right)
        return Static("str")
    repeated = _repeated(frame, node, left, right) if isinstance(node.op, ast.Mult) else None
    if repeated is not None:
        return repeated
    result = operate(frame, node, node.op, left, right)
    if type(result) is NumpyScalar and frame.region is None:
        return operators.made_outside(result)
    if isinstance(result, Tensor) and result.dtype is None and not frame.loops:
        # Outside of loops one expression has one element type per walk, whatever it is.
        place = f"{frame.body.module.name}:{node.lineno}:{node.col_offset}:{node.end_col_offset}"
        product = isinstance(node.op, ast.MatMult) and _same_dtype(left, right)
        known = operators.computed_in("matmul", product, place) if product else None
        return with_dtype(result, known or DType(f"~{place}"))
    return result


def _same_dtype(left: Value, right: Value) -> DType | None:
    one, other = tensor_in(left), tensor_in(right)
    return one.dtype if one is not None and other is not None and one.dtype == other.dtype else None


def _repeated(frame: Frame, node: ast.BinOp, left: Value, right: Value) -> Value | None:
    """What ``[x] * n`` is for a tensor ``n``, which Python reads as a number; None for others."""
    for repeated, count, part in ((left, right, node.right), (right, left, node.left)):
        if isinstance(count, Tensor) and _is_repeatable(repeated) and _may_count(count, part):
            host_read(frame, node, "repeat", part, count)
        elif isinstance(count, NumpyScalar) and count.is_drawn and _is_repeatable(repeated):
            need_numpy(frame, part, count, "python")
        else:
            continue
        if not isinstance(repeated, Sequence):
            return Static("str")
        return Sequence(repeated.type, operators.elements(repeated))
    return None


def _is_repeatable(value: Value) -> bool:
    if isinstance(value, Sequence):
        return value.type in ("list", "tuple")
    return isinstance(value, Static) and value.type == "str"


def _may_count(tensor: Tensor, node: ast.expr) -> bool:
    """False for what is no single integer, and for a parameter that may well be a number."""
    category = tensor.dtype.category if tensor.dtype else None
    guessed = tensor.assumed and isinstance(node, (ast.Name, ast.Attribute))
    return not tensor.rank and category not in ("float", "complex") and not guessed


def _read_formatted(frame: Frame, node: ast.expr, value: Value) -> None:
    parts = node.elts if isinstance(node, ast.Tuple) else [node]
    for part in parts:
        read_shown(frame, node, part, frame.body.values.get(part, value))


def read_shown(frame: Frame, node: ast.expr, part: ast.expr, value: Value) -> None:
    """Report that the text of a value is made, if it shows a tensor."""
    shown(frame, node, value)
    tensor = _shown(value)
    if tensor is not None:
        host_read(frame, node, "format", part, tensor)
    need_numpy(frame, part, value, "text")


def read_template(frame: Frame, node: ast.Call, arguments: Arguments) -> None:
    """Report what ``"...".format(...)`` shows of tensors."""
    written = [a for a in node.args if not isinstance(a, ast.Starred)]
    parts = written[len(written) - len(arguments.positional) :]
    for part, value in zip(parts, arguments.positional, strict=False):
        read_shown(frame, node, part, value)
    for keyword in node.keywords:
        if keyword.arg in arguments.keywords:
            read_shown(frame, node, keyword.value, arguments.keywords[keyword.arg])


def _shown(value: Value) -> Tensor | None:
    """The tensor whose content the text of a value shows: itself, or a member of a container."""
    if isinstance(value, Sequence):
        members = value.items if value.items is not None else (value.element,)
        return next(filter(None, map(_shown, members)), None)
    if isinstance(value, Mapping):
        members = (value.element, *(member for _, member in value.items))
        return next(filter(None, map(_shown, members)), None)
    return tensor_in(value)


def host_read(
    frame: Frame, node: ast.expr, via: str, source: ast.expr, tensor: Tensor, some: bool = False
) -> None:
    """Report that a tensor is read into Python, unless formatting is silenced here."""
    if via == "format" and "format" in frame.quiet:
        frame.quieted += 1
        frame.reads += 1
        return
    frame.analysis.emit(
        frame, HostRead, node, via=via, source=source, tensor=tensor, sometimes=some
    )


def number_read(frame: Frame, node: ast.expr, via: str, source: ast.expr, value: Value) -> bool:
    """Report a number that a tensor has to give, be it on some paths; False where none has to."""
    sure = tensor_in(value)
    tensor = sure or tensor_on_some_paths(value)
    if tensor is None:
        return False
    host_read(frame, node, via, source, tensor, some=sure is None)
    return True


@handles(ast.UnaryOp)
def _unary_op(frame: Frame, node: ast.UnaryOp) -> Value:
    if isinstance(node.op, ast.Not):
        verdict = truth(frame, node.operand, "not")
        return Static("bool") if verdict is None else Static("bool", not verdict, known=True)
    value = evaluate(frame, node.operand)
    if isinstance(value, Static) and value.known and isinstance(value.value, (int, float)):
        if isinstance(node.op, ast.USub):
            return Static(value.type, -value.value, known=True)
        return value if isinstance(node.op, ast.UAdd) else Static("int")
    if isinstance(value, NumpyScalar) and value.is_drawn:
        need_numpy(frame, node, value, "arithmetic")
        return Static(value.type)
    if isinstance(value, NumpyScalar) and value.origin == "outside" and frame.region is not None:
        return operators.combined(value.type, [value])
    return negated(frame, node, value)


@handles(ast.BoolOp)
def _bool_op(frame: Frame, node: ast.BoolOp) -> Value:
    conjunction = isinstance(node.op, ast.And)
    kind: Deciding = "and" if conjunction else "or"
    before = frame.env
    results: list[Value] = []
    for operand in node.values[:-1]:
        verdict = truth(frame, operand, kind)
        value = frame.body.values.get(operand, UNKNOWN)
        if verdict is (not conjunction):
            frame.restore(before)
            if isinstance(value, Static) and value.type == "bool":
                value = Static("bool", verdict, known=True)  # other walks knew less
            return join([*results, value])
        if verdict is None:
            results.append(_falsy_part(value) if conjunction else _truthy_part(value))
        frame.env = refine(frame, frame.env, operand, outcome=conjunction)
    results.append(evaluate(frame, node.values[-1]))
    frame.restore(before)
    return join(results)


def _truthy_part(value: Value) -> Value:
    return join([option for option in options(value) if option is not NONE] or [value])


def _falsy_part(value: Value) -> Value:
    return join([o for o in options(value) if not isinstance(o, Function)] or [value])


@handles(ast.Compare)
def _compare(frame: Frame, node: ast.Compare) -> Value:
    left_node, left = node.left, evaluate(frame, node.left)
    result: Value = UNKNOWN
    last = len(node.ops) - 1
    for place, right_node in enumerate(node.comparators):
        op = node.ops[place]
        right = evaluate(frame, right_node)
        result = _compare_one(frame, node, op, (left_node, left), (right_node, right))
        if place < last and is_tensor(result):
            frame.analysis.emit(frame, TensorBranch, node, kind="compare", test=node)
        left_node, left = right_node, right
    return result


def _compare_one(
    frame: Frame,
    node: ast.Compare,
    op: ast.cmpop,
    left: tuple[ast.expr, Value],
    right: tuple[ast.expr, Value],
) -> Value:
    if isinstance(op, _SAME) and _is_of_other_type(frame, left[0], right[1]):
        return constant(isinstance(op, (ast.IsNot, ast.NotEq)))
    if isinstance(op, (ast.Is, ast.IsNot)):
        return _identity(op, left[1], right[1])
    if isinstance(op, (ast.In, ast.NotIn)):
        report_member(frame, node, left, right)
        return _membership(frame, node, op, left[1], right[1])
    if _is_number_by_company(frame, left, right[1]) or _is_number_by_company(frame, right, left[1]):
        return UNKNOWN
    answer = ask_version(frame, op, left[1], right[1])
    if answer is not None:
        return constant(answer)
    kinds = ((a, b) for a in present(left[1]) for b in present(right[1]))
    return join([compared(frame, node, op, a, b) for a, b in kinds])


_SAME: Final = (ast.Is, ast.IsNot, ast.Eq, ast.NotEq)


def _is_of_other_type(frame: Frame, asked: ast.expr, type_: Value) -> bool:
    """True for ``type(x)`` beside a class that ``x`` is certainly no object of."""
    match asked:
        case ast.Call(func=ast.Name(id="type"), args=[subject]):
            value = frame.body.values.get(subject, UNKNOWN)
            current = frame.env.get(path_of(subject) or "", value)
            return instance_verdict(current, type_) is False
    return False


def _membership(
    frame: Frame, node: ast.Compare, op: ast.cmpop, member: Value, owner: Value
) -> Value:
    """What ``in`` gives: an object that says what it holds may know."""
    found = special(frame, node, owner, "__contains__", member)
    verdict = None if found is None else decide(frame, node, found, "in")
    return Static("bool") if verdict is None else constant(verdict is isinstance(op, ast.In))


def _is_number_by_company(frame: Frame, guessed: tuple[ast.expr, Value], other: Value) -> bool:
    """True for parameters that would be taken for tensors, but that are compared with a size."""
    node, value = guessed
    tensor = tensor_in(value)
    if tensor is None or not tensor.assumed or not isinstance(other, SymInt):
        return False
    parts = nodes(node)
    names = [part.id for part in parts if isinstance(part, ast.Name)]
    return all(isinstance(part, _PLAIN) for part in parts) and all(
        _is_given(frame, n) for n in names
    )


_PLAIN: Final = (ast.Name, ast.expr_context, ast.BinOp, ast.operator, ast.UnaryOp, ast.Constant)


def _is_given(frame: Frame, name: str) -> bool:
    """True for parameters, and for what ``h, w = sizes[-1]`` takes out of one."""
    for found in frame.body.names(name):
        pair = None if isinstance(found.ctx, ast.Load) else frame.body.parent(found)
        outer = frame.body.parent(pair) if isinstance(pair, ast.Tuple) else None
        if pair is not None and not isinstance(getattr(outer, "value", None), ast.Subscript):
            return False
    return True


def _identity(op: ast.cmpop, left: Value, right: Value) -> Value:
    same = isinstance(op, ast.Is)
    if right is NONE:
        kinds = list(options(left))
        if all(kind is NONE for kind in kinds):
            return Static("bool", same, known=True)
        if not any(kind is NONE or kind == Static() or _vague(kind) for kind in kinds):
            return Static("bool", not same, known=True)
    if _is_known_bool(left) and _is_known_bool(right):
        return Static("bool", (left == right) is same, known=True)
    return Static("bool")


def _is_known_bool(value: Value) -> bool:
    return isinstance(value, Static) and value.known and value.type == "bool"


def _vague(value: Value) -> bool:
    return isinstance(value, Unknown) or (isinstance(value, Static) and not value.known)


def report_member(
    frame: Frame, node: ast.expr, member: tuple[ast.expr, Value], owner: tuple[ast.expr, Value]
) -> None:
    """Report ``member in owner`` where a tensor decides."""
    container = tensor_in(owner[1])
    if container is not None and operators.is_text(member[1]):
        return  # a dict or a string that was taken for a tensor
    if container is not None:
        host_read(frame, node, "contains", owner[0], container)
    elif _is_searched(owner[1]) and is_tensor(member[1]):
        frame.analysis.emit(frame, TensorBranch, node, kind="in", test=node)
    if _is_hashed(owner[1]) and holds_drawn(member[1]):
        need_drawn(frame, member[0], member[1], "hash")
    else:
        need_number(frame, member[0], member[1], "member")


def _is_hashed(value: Value) -> bool:
    """True for what is searched by hashes: a set, a dict or its keys."""
    kinds = [kind for kind in options(value) if kind is not NONE]
    return bool(kinds) and all(
        isinstance(kind, Mapping)
        or (isinstance(kind, Iteration) and kind.source == "keys")
        or _is_set(kind)
        for kind in kinds
    )


def _is_set(value: Value) -> bool:
    return isinstance(value, Sequence) and value.type.partition("(")[0] in ("set", "frozenset")


def _is_searched(value: Value) -> bool:
    """True for a list with members that may be equal to a tensor; a set looks for hashes."""
    if not isinstance(value, Sequence) or _is_set(value):
        return False
    return may_equal_tensor(operators.elements(value))


def may_equal_tensor(value: Value) -> bool:
    """True for what ``==`` compares with a tensor on the device: another one, or a number."""
    return any(
        isinstance(kind, (Tensor, SymInt, DataScalar))
        or (isinstance(kind, Static) and kind.type in ("int", "float", "bool"))
        for kind in options(value)
    )


@handles(ast.IfExp)
def _if_exp(frame: Frame, node: ast.IfExp) -> Value:
    verdict = truth(frame, node.test, "ternary")
    before = frame.env
    results: list[Value] = []
    for branch, outcome in ((node.body, True), (node.orelse, False)):
        if verdict is not (not outcome):
            frame.env = refine(frame, before, node.test, outcome=outcome)
            results.append(evaluate(frame, branch))
            frame.restore(before)
    return join(results)


@handles(ast.NamedExpr)
def _named_expr(frame: Frame, node: ast.NamedExpr) -> Value:
    value = evaluate(frame, node.value)
    frame.named.add(node.target.id)
    frame.env[node.target.id] = value
    frame.body.values[node.target] = value
    return value


@handles(ast.Lambda)
def _lambda(frame: Frame, node: ast.Lambda) -> Value:
    return Function(local_function(frame, node))


@handles(ast.Tuple)
def _tuple(frame: Frame, node: ast.Tuple) -> Value:
    return _display(frame, node.elts, "tuple")


@handles(ast.List)
def _list(frame: Frame, node: ast.List) -> Value:
    return _display(frame, node.elts, "list")


@handles(ast.Set)
def _set(frame: Frame, node: ast.Set) -> Value:
    return _display(frame, node.elts, "set")


def _display(frame: Frame, nodes: list[ast.expr], kind: str) -> Value:
    values = [evaluate(frame, node) for node in nodes]
    if any(isinstance(node, ast.Starred) for node in nodes):
        pairs = zip(nodes, values, strict=True)
        held = [element_of(v) if isinstance(node, ast.Starred) else v for node, v in pairs]
        return bounded(Sequence(kind, join(held)))
    return bounded(Sequence(kind, items=tuple(values))) if values else Sequence(kind, items=())


@handles(ast.Starred)
def _starred(frame: Frame, node: ast.Starred) -> Value:
    return evaluate(frame, node.value)


@handles(ast.Dict)
def _dict(frame: Frame, node: ast.Dict) -> Value:
    items: dict[object, Value] = {}
    rest: list[Value] = []
    for key, value_node in zip(node.keys, node.values, strict=True):
        value = evaluate(frame, value_node)
        if key is None:
            spread_items = dict(value.items) if isinstance(value, Mapping) else {}
            items |= spread_items
            rest += [] if spread_items else [element_of_mapping(value)]
            continue
        name = evaluate(frame, key)
        if isinstance(name, Static) and name.known and isinstance(name.value, (str, int)):
            items[name.value] = value
        else:
            rest.append(value)
    return bounded(Mapping(tuple(items.items()), join(rest) if rest else UNKNOWN))


def element_of_mapping(value: Value) -> Value:
    """Any value stored in a mapping."""
    if not isinstance(value, Mapping):
        return UNKNOWN
    members = [member for _, member in value.items]
    # A literal table has no other members than those it shows.
    closed = value.element is UNKNOWN and bool(members)
    return joined(members if closed else [*members, value.element])


@handles(ast.JoinedStr)
def _joined_str(frame: Frame, node: ast.JoinedStr) -> Value:
    for part in node.values:
        if isinstance(part, ast.FormattedValue):
            read_shown(frame, node, part.value, evaluate(frame, part.value))
            if part.format_spec is not None:
                evaluate(frame, part.format_spec)
    return Static("str")


@handles(ast.Await)
def _await(frame: Frame, node: ast.Await) -> Value:
    return evaluate(frame, node.value)


@handles(ast.Yield)
def _yield(frame: Frame, node: ast.Yield) -> Value:
    frame.yields.append(evaluate(frame, node.value) if node.value else NONE)
    return UNKNOWN


@handles(ast.YieldFrom)
def _yield_from(frame: Frame, node: ast.YieldFrom) -> Value:
    frame.yields.append(element_of(evaluate(frame, node.value)))
    return UNKNOWN
