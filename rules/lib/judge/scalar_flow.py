"""Which methods of a class can compute with numbers instead of tensors of one integer.

A method in which such a tensor ends where a number may do something else is left as it is, and so
is one that passes a tensor to it.
"""

from __future__ import annotations

import ast
from typing import Final

from tclint.lint.rewrite import Replace
from tclint.semantics.bounds import Bound
from tclint.semantics.symbols import FunctionInfo, parameters_of

from .scalar_expressions import Expressions
from .scalar_kinds import NUMBERS, Env, Flow, Kind, Kinds, Method, is_changed, join_all

ROUNDS: Final = Bound(8, "rounds to see which methods get numbers", hides=False)
_PUBLIC: Final = "`{}` would return a number, which others may take for a tensor"


def follow_scalars(flow: Flow) -> None:
    """Walk the methods until it is known which of them may compute with numbers."""
    while True:
        flow.given.clear()
        flow.returns.clear()
        for _ in range(ROUNDS.most):
            before = repr((flow.given, flow.returns))
            _walk_all(flow)
            if before == repr((flow.given, flow.returns)):
                break
        else:
            ROUNDS.cut()
        leaking = {name: one.leaks[0] for name, one in flow.methods.items() if one.leaks}
        if not leaking:
            return
        flow.left |= leaking


def _walk_all(flow: Flow) -> None:
    flow.methods.clear()
    for name, function in flow.cls.methods.items():
        if name == "__init__" or name in flow.left or isinstance(function.node, ast.Lambda):
            continue
        method = Method(function)
        flow.methods[name] = method
        env: Env = {
            argument.arg: Kind.NUMBER
            for argument, _ in parameters_of(function.node)
            if isinstance(argument.annotation, ast.Name) and argument.annotation.id == "int"
        }
        env |= flow.given.get(name, {})
        _Statements(flow, method, _own_name(function)).block(function.node.body, env)
        _note_decorated(flow, method, function.node, name)
        _note_result(flow, method, function.node, name)


def _own_name(function: FunctionInfo) -> str:
    first = function.node.args.args[:1]
    return first[0].arg if first and "staticmethod" not in function.decorators else ""


def _note_decorated(
    flow: Flow, method: Method, node: ast.FunctionDef | ast.AsyncFunctionDef, name: str
) -> None:
    """What a decorator does with numbers is not known."""
    decorators = method.function.decorators
    plain = decorators in ((), ("staticmethod",)) and len(decorators) == len(node.decorator_list)
    if not plain and (method.rewrites or flow.given.get(name)):
        method.leaks.append(f"`{name}` has a decorator")


def _note_result(
    flow: Flow, method: Method, node: ast.FunctionDef | ast.AsyncFunctionDef, name: str
) -> None:
    """What a method returns: a number only to calls that are known, and declared as one."""
    kinds = join_all(method.returns)
    if not is_changed(kinds):
        return
    if kinds not in (Kind.INTEGER, Kind.FRACTION):
        method.leaks.append(f"`{name}` returns more than a number")
    elif not name.startswith("_") or name in flow.mentioned or name in flow.replaced:
        method.leaks.append(_PUBLIC.format(name))
    flow.returns[name] = kinds
    declared = "int" if kinds is Kind.INTEGER else "float"
    if node.returns is not None and ast.unparse(node.returns) != declared:
        method.rewrites[node.returns] = Replace(node.returns, declared)


class _Statements(Expressions):
    """A walk through the statements of a method, in their order."""

    def block(self, body: list[ast.stmt], env: Env) -> bool:
        """Walk statements in order; False where they do not go on."""
        return all(self._simple(statement, env) for statement in body)

    def _simple(self, node: ast.stmt, env: Env) -> bool:
        match node:
            case ast.Assign(targets=targets, value=value):
                kinds = self.kind(value, env)
                for target in targets:
                    self._store(target, kinds, env)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self.plain(value, env)
                self._store(target, self.kind(value, env), env)
            case ast.AugAssign(target=ast.Name(id=name), op=op, value=value):
                self._augmented(node, name, op, value, env)
            case ast.Return(value=None):
                self.method.returns.append(Kind.OTHER)
                return False
            case ast.Return(value=ast.expr() as value):
                self.method.returns.append(self.kind(value, env))
                return False
            case ast.Raise():
                self.parts(node, env)
                return False
            case ast.Expr(value=value):
                self.kind(value, env)
            case ast.Assert(test=test, msg=message):
                self.test(test, env)
                if message is not None:
                    self.plain(message, env)
            case _:
                return self._compound(node, env)
        return True

    def _compound(self, node: ast.stmt, env: Env) -> bool:
        match node:
            case ast.If(test=test, body=body, orelse=orelse):
                self.test(test, env)
                return self._either(env, [body, orelse])
            case ast.While(test=test, body=body, orelse=orelse):
                self.test(test, env)
                self._loop([*body, ast.Expr(test)], env)
                self.block(orelse, env)
            case ast.For(target=target, iter=iterable, body=body, orelse=orelse):
                self.plain(iterable, env)
                counted = isinstance(iterable, ast.Call) and ast.unparse(iterable.func) == "range"
                self._store(target, Kind.NUMBER if counted else Kind.OTHER, env)
                self._loop(body, env)
                self.block(orelse, env)
            case ast.With(items=items, body=body):
                for item in items:
                    self.plain(item.context_expr, env)
                    if item.optional_vars is not None:
                        self._store(item.optional_vars, Kind.OTHER, env)
                return self.block(body, env)
            case _:
                self._unknown(node, env)
        return True

    def _either(self, env: Env, blocks: list[list[ast.stmt]]) -> bool:
        """Walk blocks of which one runs."""
        ends = []
        for block in blocks:
            inner = dict(env)
            if self.block(block, inner):
                ends.append(inner)
        _merge(env, ends)
        return bool(ends)

    def _loop(self, body: list[ast.stmt], env: Env) -> None:
        """Walk a block that may run again, and not at all."""
        for _ in range(ROUNDS.most):
            before, inner = dict(env), dict(env)
            self.block(body, inner)
            _merge(env, [before, inner])
            if env == before:
                return
        ROUNDS.cut()

    def _unknown(self, node: ast.stmt, env: Env) -> None:
        """A statement of which nothing is known but the names in it."""
        for part in ast.walk(node):
            named = isinstance(part, ast.Name) and is_changed(env.get(part.id, Kind.OTHER))
            if named or self.is_own(part):
                self.leak(node)
            if isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load):
                env[part.id] = Kind.OTHER

    def _store(self, target: ast.expr, kinds: Kinds, env: Env) -> None:
        """Bind names; anything else takes no number in the place of a tensor."""
        match target:
            case ast.Name(id=name):
                env[name] = kinds
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                each = kinds if isinstance(kinds, tuple) and len(kinds) == len(parts) else None
                if each is None and is_changed(kinds):
                    self.leak(target)
                for place, part in enumerate(parts):
                    self._store(part, each[place] if each else Kind.OTHER, env)
            case _:
                if is_changed(kinds):
                    self.leak(target)
                self.parts(target, env)

    def _augmented(
        self, node: ast.AugAssign, name: str, op: ast.operator, value: ast.expr, env: Env
    ) -> None:
        """``n += 1`` changes a tensor in place, and makes a new number."""
        added, held = self.kind(value, env), env.get(name, Kind.OTHER)
        if is_changed(held) or (is_changed(added) and held not in NUMBERS):
            self.leak(node)
        env[name] = self.arithmetic(node, held, op, added)


def _merge(env: Env, ends: list[Env]) -> None:
    """What variables may be after one of several ways."""
    names = {name for end in ends for name in end}
    env.update({name: join_all(end.get(name, Kind.OTHER) for end in ends) for name in names})
