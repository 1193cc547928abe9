"""Who else holds the memory behind an expression? Whatever is not proved counts as shared.

An expression is *fresh* where evaluating it allocates the tensor that it gives. It is *private*
where it is fresh, or where all that ever happens to its memory is visible in the function and
nothing of it writes or lets the memory out. Everything else may be written by somebody: through
another name, a container, a hook, the caller.

Calls of the project's own functions are looked into: what a function does with a parameter, and
whether it made what it returns, is found out once. A function that is not in sight, or that calls
itself, may do anything; so may a method, where others can write another one for their class.
"""

from __future__ import annotations

import ast
from typing import Final, cast

from tclint.semantics.callees import Callee, callees
from tclint.semantics.flow import Definition
from tclint.semantics.lattice import all_are, is_number, options
from tclint.semantics.site import Site
from tclint.semantics.syntax import nodes
from tclint.semantics.values import DataScalar, External, Sequence, Static, SymInt, Tensor
from tclint.torch_facts import memory
from tclint.torch_facts.factories import makes_memory

_ONE_OBJECT: Final = (ast.Is, ast.IsNot)
_MEMBERSHIP: Final = (ast.In, ast.NotIn)
_TESTED: Final = (ast.If, ast.While, ast.IfExp, ast.Assert)
_RUNS: Final = (ast.Call, ast.Attribute, ast.Subscript, ast.Await, ast.NamedExpr)
_OPENED: Final = ("eval", "exec", "locals", "vars")
"""Builtins that reach variables by names that nobody can see."""
_NESTED: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_NOBODY: Final[frozenset[str]] = frozenset()
RETURNED: Final = "return"
"""Stands for the caller among the variables that get some memory."""
_BACK: Final = frozenset({RETURNED})
_FILLS: Final = frozenset({"copy", "fill", "zero"})
"""What writes a tensor where a `_` ends its name, and gives no new one without it."""


def is_fresh(site: Site, node: ast.expr) -> bool:
    """True where evaluating ``node`` allocates the tensor, or the tensors, that it gives."""
    match node:
        case ast.BinOp(left=left, right=right):
            return computes_with(site, left) and computes_with(site, right)
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            alike = not isinstance(op, (*_ONE_OBJECT, *_MEMBERSHIP))
            return alike and computes_with(site, left) and computes_with(site, right)
        case ast.UnaryOp(op=ast.USub() | ast.Invert(), operand=operand):
            return computes_with(site, operand)
        case ast.Call():
            return allocates(site, node) or _makes(site, node)
    return False


def is_private(site: Site, node: ast.expr) -> bool:
    """True where nobody writes the memory behind ``node``, and nobody else can reach it.

    A tensor may then be kept for the number in it: it never changes.
    """
    origin = memory_of(site, node)
    if isinstance(origin, ast.Name):
        return _is_only_read(site, origin.id, blocks_around(site, node))
    return is_fresh(site, origin)


def blocks_around(site: Site, node: ast.AST) -> frozenset[ast.AST]:
    """The `with` statements around a node that may decide what kind of tensors are made in them.

    Tensors that are made under ``torch.inference_mode`` are of a kind of their own: outside, no
    gradient can be computed with them. A manager that is not torch's may enter that mode, too.
    """
    return frozenset(
        outer
        for outer in site.ancestors(node)
        if isinstance(outer, (ast.With, ast.AsyncWith))
        and not all(_is_harmless(site, item.context_expr) for item in outer.items)
    )


def _is_harmless(site: Site, manager: ast.expr) -> bool:
    name = (site.dotted(manager.func) or "") if isinstance(manager, ast.Call) else ""
    torchs = name.startswith("torch.") and not name.startswith("torch._")
    return torchs and not name.endswith(".inference_mode")


def is_consumed(site: Site, node: ast.expr) -> bool:
    """True where the operation around ``node`` uses it up: nothing runs between, nothing stays.

    Sums, differences, comparisons and products with a Python number keep none of their operands
    for the backward pass.
    """
    match site.parent(node):
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub(), right=right):
            meets = computes_with
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            meets = _is_known_number
        case ast.Compare(left=left, comparators=[right]):
            meets = computes_with
        case _:
            return False
    other = right if left is node else left
    # The left operand is evaluated first: what the right one calls could write it.
    calls = left is node and any(isinstance(part, _RUNS) for part in ast.walk(right))
    return not calls and meets(site, other)


def _is_known_number(site: Site, node: ast.expr) -> bool:
    return is_number(site.value(node))


def memory_of(site: Site, node: ast.expr) -> ast.expr:
    """What gave the memory of ``node``, below views and members."""
    while True:
        match node:
            case ast.Subscript(value=inner):
                node = inner
            case ast.Attribute(value=inner, attr=name) if memory.shares_as_attribute(name):
                node = inner
            case ast.Call(func=ast.Attribute(value=inner, attr=name)) if memory.is_view(
                name
            ) and all_are(site.value(inner), Tensor):
                node = inner
            case _:
                return node


def _is_only_read(site: Site, name: str, blocks: frozenset[ast.AST]) -> bool:
    """True for a variable of fresh tensors that, with all views of it, is only read.

    ``blocks`` are those that a tensor may have been made in.
    """
    if isinstance(site.body.scope, ast.Module) or is_opened(site):
        return False
    pending, seen = [name], {name}
    while pending:
        variable = pending.pop()
        if not is_local(site, variable):
            return False
        made = site.flow.made(variable)
        known = all(blocks_around(site, one.node) <= blocks for one in made)
        bound = [_bound_from(site, one) if known else None for one in made]
        for shared in (*bound, *(read_into(site, read) for read in site.flow.named(variable))):
            if shared is None or RETURNED in shared:
                return False
            pending += shared - seen
            seen |= shared
    return True


def is_opened(site: Site) -> bool:
    """True for a function whose variables other code may reach by their names."""
    is_module = isinstance(site.body.scope, ast.Module)
    return any(
        not (is_module and is_nested(site, use)) and not _is_of_object(site, name, use)
        for name in _OPENED
        for use in site.body.names(name)
    )


def _is_of_object(site: Site, name: str, use: ast.Name) -> bool:
    """True for ``vars(x)``."""
    call = site.parent(use)
    return name == "vars" and isinstance(call, ast.Call) and bool(call.args)


def is_local(site: Site, name: str) -> bool:
    """True for a variable that no caller gives, and that no nested or outer scope shares."""
    is_given = bool(site.body.arguments(name))
    # A comprehension's own variable of that name is another one.
    alone = 0 < len(site.stores(name)) == len(site.flow.made(name))
    return alone and not is_given and is_unshared(site, name)


def is_unshared(site: Site, name: str) -> bool:
    """True for a variable or parameter that no nested or outer scope shares."""
    return not (
        is_opened(site)
        or site.body.is_declared(name)
        or site.body.defines(name)
        or any(is_nested(site, node) for node in site.body.names(name))
    )


def is_nested(site: Site, node: ast.AST) -> bool:
    """True in a function or class inside the function, its decorators and defaults included."""
    return any(
        isinstance(outer, _NESTED) and outer is not site.body.scope
        for outer in site.ancestors(node)
    )


def _bound_from(site: Site, made: Definition) -> frozenset[str] | None:
    """The variables that a binding takes memory from; None where that is not known."""
    origin = None if made.value is None else memory_of(site, made.value)
    match made.node:
        case ast.Delete():
            return _NOBODY
        case ast.Assign(targets=[ast.Tuple()], value=value) if made.value is None:
            # In ``values, indices = x.max(0)`` each has memory of its own.
            origin = value if isinstance(site.value(value), Sequence) else None
    if isinstance(origin, ast.Name):
        return frozenset({origin.id})
    return _NOBODY if origin is not None and is_fresh(site, origin) else None


def read_into(site: Site, node: ast.expr) -> frozenset[str] | None:
    """The variables that get the memory of ``node`` where it is used.

    `RETURNED` is among them where the function returns it. None where the memory is written or let
    out, or where that is not known.
    """
    parent = site.parent(node)
    match parent:
        case ast.Attribute(attr=name):
            return _attribute(site, parent, name)
        case ast.Subscript(value=inner, ctx=ast.Load()):
            if inner is node:
                return read_into(site, parent)
            return _NOBODY if all_are(site.value(inner), Tensor) else None
        case ast.keyword() | ast.Call():
            return _passed(site, parent, node)
        case ast.BoolOp():
            return read_into(site, parent)
        case ast.IfExp(test=test) if test is not node:
            return read_into(site, parent)
        case ast.BinOp() | ast.Compare() | ast.UnaryOp():
            return _computed(site, parent)
    return _bound(site, parent, node)


def _passed(site: Site, parent: ast.keyword | ast.Call, node: ast.expr) -> frozenset[str] | None:
    if isinstance(parent, ast.Call):
        return None if parent.func is node else _argument(site, parent, node)
    call = site.parent(parent)
    known = parent.arg not in (None, "out") and isinstance(call, ast.Call)
    return _argument(site, call, node) if known and isinstance(call, ast.Call) else None


def _computed(site: Site, parent: ast.BinOp | ast.Compare | ast.UnaryOp) -> frozenset[str] | None:
    match parent:
        case ast.BinOp(left=left, right=right):
            return _NOBODY if computes_with(site, left) and computes_with(site, right) else None
        case ast.Compare(left=left, ops=ops, comparators=others):
            return _compared(site, ops, [left, *others])
    return None if isinstance(parent.op, ast.UAdd) else _NOBODY


def _bound(site: Site, parent: ast.AST | None, node: ast.expr) -> frozenset[str] | None:
    """Who gets a value by a statement."""
    match parent:
        case ast.AugAssign(target=target) if target is not node:
            return _NOBODY if computes_with(site, target) else None
        case ast.Assign(targets=[ast.Name(id=name)]):
            return frozenset({name})
        case ast.Assign(targets=[ast.Subscript(value=owner)]):
            return _NOBODY if _takes_copies(site, owner) else None
        case ast.FormattedValue() | ast.Expr() | ast.Delete():
            return _NOBODY
        case ast.Return() | ast.Lambda():
            return _BACK if _is_end(site, parent) else None
        case ast.List() | ast.Tuple():
            return _listed(site, parent)
    tested = isinstance(parent, _TESTED) and parent.test is node
    return _NOBODY if tested else None


def _listed(site: Site, members: ast.List | ast.Tuple) -> frozenset[str] | None:
    """Who gets the members of ``torch.stack([x, y])`` and of ``return x, y``."""
    match site.parent(members):
        case ast.Return() if isinstance(members, ast.Tuple):
            return _BACK
        case ast.Call() as call if (site.dotted(call.func) or "").startswith("torch."):
            return _argument(site, call, members)
    return None


def _is_end(site: Site, parent: ast.Return | ast.Lambda) -> bool:
    """True where the function itself returns, not one inside of it."""
    return parent is site.body.scope or (
        isinstance(parent, ast.Return) and not is_nested(site, parent)
    )


def _attribute(site: Site, attribute: ast.Attribute, name: str) -> frozenset[str] | None:
    if not isinstance(attribute.ctx, ast.Load):
        return None
    if memory.describes(name):
        return _NOBODY
    if memory.shares_as_attribute(name):
        return read_into(site, attribute)
    call = site.parent(attribute)
    if not isinstance(call, ast.Call) or call.func is not attribute:
        return None
    if memory.gives_no_tensor(name) or allocates(site, call):
        return _NOBODY
    return read_into(site, call) if memory.is_view(name) and not call.keywords else None


def _argument(site: Site, call: ast.Call, given: ast.expr) -> frozenset[str] | None:
    if allocates(site, call):
        return _NOBODY
    function = list(options(site.value(call.func)))
    name = function[0].name if len(function) == 1 and isinstance(function[0], External) else ""
    if name.startswith("torch."):
        return read_into(site, call) if _writes_nothing(site, call) else None
    if name:
        is_reading = name.startswith("builtins.") and name[9:] in memory.READING_FUNCTIONS
        return _NOBODY if is_reading else None
    if _reads_its_arguments(site, call):
        return _NOBODY
    reached = callees(site, call)
    if not reached or any(callee.open for callee in reached):
        return None
    fate = fate_of(reached, call, given)
    return read_into(site, call) if fate else fate


def _writes_nothing(site: Site, call: ast.Call) -> bool:
    plain = not any(keyword.arg in (None, "out", "inplace") for keyword in call.keywords)
    return plain and memory.writes_nothing(site.dotted(call.func) or "")


def _reads_its_arguments(site: Site, call: ast.Call) -> bool:
    """True for ``x.to(y)`` and ``x.add_(y)``: what is given is not in what they make."""
    method = call.func
    if not isinstance(method, ast.Attribute) or not _takes_copies(site, method.value):
        return False
    name, plain = method.attr, method.attr.removesuffix("_")
    if name != plain:
        return plain in _FILLS or memory.allocates(plain)
    return memory.gives_no_tensor(name) or memory.is_view(name)


def fate_of(reached: list[Callee], call: ast.Call, given: ast.expr) -> frozenset[str] | None:
    """Who gets the memory of an argument from the functions that a call reaches.

    That is the caller, or nobody; None where one of them may write it or keep it, or none is known.
    """
    found = _NOBODY if reached else None
    for callee in reached:
        name = callee.parameter(call, given)
        into = None if name is None else _handed_on(callee.site, name)
        if into is None or found is None:
            return None
        found |= into
    return found


def _handed_on(site: Site, parameter: str) -> frozenset[str] | None:
    """Who gets the memory of a parameter in the end, found out once for the function."""
    key, answers = (_handed_on, parameter), site.body.answers
    if key not in answers:
        answers[key] = None  # what the function knows of itself while it is looked at
        answers[key] = _followed(site, parameter)
    return cast("frozenset[str] | None", answers[key])


def _followed(site: Site, parameter: str) -> frozenset[str] | None:
    if is_opened(site):
        return None
    pending, seen = [parameter], {parameter}
    while pending:
        variable = pending.pop()
        if not is_unshared(site, variable):
            return None
        for occurrence in site.body.names(variable):
            into = _NOBODY if _is_rebound(site, occurrence) else read_into(site, occurrence)
            if into is None:
                return None
            pending += into - seen - _BACK
            seen |= into
    return _BACK & seen


def _is_rebound(site: Site, name: ast.Name) -> bool:
    """True for a variable that lets its tensor go; ``x += 1`` writes it."""
    return not isinstance(name.ctx, ast.Load) and not isinstance(site.parent(name), ast.AugAssign)


def _makes(site: Site, call: ast.Call) -> bool:
    """True for a call of functions that have made all tensors that they return, and keep none."""
    reached = callees(site, call)
    return bool(reached) and all(not one.open and _returns_own(one) for one in reached)


def _returns_own(callee: Callee) -> bool:
    key, answers = (_returns_own,), callee.site.body.answers
    if key not in answers:
        answers[key] = False
        answers[key] = _find_returned(callee)
    return bool(answers[key])


def _find_returned(callee: Callee) -> bool:
    site, parts = callee.site, nodes(callee.site.body.scope)
    if any(isinstance(part, ast.keyword) and part.arg == "requires_grad" for part in parts):
        return False
    return all(_is_own(site, value) for value in callee.returned())


def _is_own(site: Site, value: ast.expr) -> bool:
    """True for tensors that nothing holds once the function has returned them, each its own."""
    members = value.elts if isinstance(value, ast.Tuple) else [value]
    roots: list[str] = []
    for member in members:
        origin = memory_of(site, member)
        if isinstance(origin, ast.Name):
            roots.append(origin.id)
        elif not _is_fresh_here(site, origin) and not _is_number(site, member):
            return False
    return len({*roots}) == len(roots) and all(_is_made_here(site, root) for root in roots)


def _is_number(site: Site, node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) or all_are(site.value(node), SymInt, DataScalar)


def _is_fresh_here(site: Site, node: ast.expr) -> bool:
    return is_fresh(site, node) and not blocks_around(site, node)


def _is_made_here(site: Site, name: str) -> bool:
    """True for a variable of fresh tensors that are written and returned, and nothing else."""
    if is_opened(site) or not is_local(site, name):
        return False
    made = [one for one in site.flow.made(name) if not isinstance(one.node, ast.AugAssign)]
    bound = all(
        _bound_from(site, one) == _NOBODY and not blocks_around(site, one.node) for one in made
    )
    reads = site.flow.named(name)
    return bound and all(_is_filled(site, one) or _stays(site, one) for one in reads)


def _stays(site: Site, name: ast.Name) -> bool:
    """True where nothing but the result gets hold of a variable's tensor."""
    if isinstance(site.parent(name), ast.AugAssign) and not isinstance(name.ctx, ast.Load):
        return _takes_copies(site, name)
    into = read_into(site, name)
    return into is not None and all(
        one == RETURNED or _followed(site, one) == _NOBODY for one in into
    )


def _takes_copies(site: Site, owner: ast.expr) -> bool:
    """True for a tensor: what is stored into it is copied. A list would keep it."""
    return all(isinstance(o, Tensor) and not o.assumed for o in options(site.value(owner)))


def _is_filled(site: Site, name: ast.Name) -> bool:
    """True for ``x[...] = y`` and ``x.add_(y)``."""
    match site.parent(name):
        case ast.Subscript(value=owner, ctx=ast.Store()):
            return owner is name
        case ast.Attribute(attr=method) as attribute if method.endswith("_"):
            call = site.parent(attribute)
            dropped = isinstance(call, ast.Call) and isinstance(site.parent(call), ast.Expr)
            return dropped and method[:-1] in _FILLS
    return False


def _compared(site: Site, ops: list[ast.cmpop], sides: list[ast.expr]) -> frozenset[str] | None:
    if all(isinstance(op, _ONE_OBJECT) for op in ops):
        return _NOBODY
    if any(isinstance(op, _MEMBERSHIP) for op in ops):
        return None
    return _NOBODY if all(computes_with(site, side) for side in sides) else None


def allocates(site: Site, call: ast.Call) -> bool:
    """True for a call of torch whose result has memory of its own."""
    if any(keyword.arg in (None, "out", "inplace") for keyword in call.keywords):
        return False
    dotted = site.dotted(call.func) or ""
    if dotted.startswith("torch."):
        return memory.allocates(dotted) or makes_memory(dotted)
    function = call.func
    return (
        isinstance(function, ast.Attribute)
        and memory.allocates(function.attr)
        and all_are(site.value(function.value), Tensor)
    )


def computes_with(site: Site, node: ast.expr) -> bool:
    """True for an operand that has no operators of the program's own: a tensor or a number."""
    return all(
        isinstance(option, (Tensor, DataScalar))
        or (isinstance(option, Static) and option.type is None)
        or is_number(option)
        for option in options(site.value(node))
    )
