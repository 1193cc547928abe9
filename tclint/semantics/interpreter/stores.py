"""Where a file writes attributes and variables that outlive a call: syntax alone, no values.

``self.count += 1``, ``setattr(net, "count", 3)``, ``self.state["n"] = 1``, ``seen.append(x)`` and
their like. What these write is for `tclint.semantics.interpreter.changes` to say.
"""

from __future__ import annotations

import ast
import re
from bisect import bisect_left
from collections.abc import Iterable
from typing import Final

from tclint.regexes import regex
from tclint.semantics.symbols import FunctionNode
from tclint.semantics.syntax import (
    ATTRIBUTE,
    CALL,
    CONSTANT,
    NAME,
    SUBSCRIPT,
    add_children,
    children,
)
from tclint.source.file import SourceFile

MUTATING: Final = frozenset(
    "append extend insert pop remove clear add discard update setdefault popitem appendleft "
    "popleft extendleft sort reverse rotate move_to_end __setitem__ __delitem__".split()
)
"""Methods that change what a list, set or dict holds."""
_FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_INNER: Final = frozenset({*_FUNCTIONS, ast.ClassDef})
_LOOKED_AT: Final = frozenset({ast.Subscript, ast.Call, ast.Global, ast.Nonlocal})
_LOAD: Final = ast.Load
_TARGETS: Final[dict[type[ast.AST], str]] = {
    ast.Assign: "targets", ast.AugAssign: "target", ast.AnnAssign: "target",
    ast.Delete: "targets", ast.Expr: "", ast.Return: "", ast.Raise: "", ast.Assert: "",
}  # fmt: skip
"""What a statement without others in it writes to, whatever the expressions in it do."""
_WORDS: Final = (
    regex(rf"\.[\s\\]*(?:#|(?:{'|'.join(sorted(MUTATING))})\b)"),
    regex(r"setattr"),
    regex(r":="),
    regex(r"for\b(?<!\wfor)"),
)
"""Without one of them, an expression writes nothing but what it hands to a function that does."""
_WITHOUT: Final = frozenset({ast.Constant, ast.arg})
"""What writes nothing, and holds nothing that does: a parameter holds its annotation."""
_CONSTRUCTORS: Final = frozenset({"__init__", "__post_init__", "__new__"})
ANY_KEY: Final = object()


class Store:
    """A place that writes to something with a name.

    ``owner`` is the expression whose attribute is written, None for a variable. ``content`` is
    true where the list or dict stays and what it holds changes, under ``key`` if that is written
    out. ``holder`` is the class in whose ``method`` it stands, ``function`` the innermost function.
    ``value`` is what is written where that is an expression of its own; ``adds`` is
    the operator of ``+=`` and its like.
    """

    __slots__ = (
        "adds", "content", "function", "holder", "key", "method", "name", "node", "owner", "value",
    )  # fmt: skip

    def __init__(
        self,
        node: ast.AST,
        name: str,
        owner: ast.expr | None,
        around: Around,
        value: ast.expr | None = None,
        content: bool = False,
        key: object = ANY_KEY,
        adds: ast.operator | None = None,
    ) -> None:
        self.node: Final = node
        self.name: Final = name
        self.owner: Final = owner
        self.holder: Final = around.holder
        self.method: Final = around.method
        self.function: Final = around.function
        self.value: Final = value
        self.content: Final = content
        self.key: Final = key
        self.adds: Final = adds

    @property
    def constructs(self) -> bool:
        """True for what a constructor does to the object that it makes."""
        method = self.method
        named = isinstance(method, ast.FunctionDef) and method.name in _CONSTRUCTORS
        return named and self.function is method and self.is_of_self

    @property
    def is_vague(self) -> bool:
        """True for what sets any attribute of any object, or all that a constructor is given.

        Only what is missing without it is taken to be set so.
        """
        return not self.name and (not self.is_of_self or self.constructs)

    @property
    def is_of_self(self) -> bool:
        """True for an attribute of what the method is called on, or of its class."""
        return self.method is not None and _leads_to(self.owner, first_parameter(self.method))


class Around:
    """The class, its method and the innermost function that a node stands in."""

    __slots__ = ("function", "holder", "method")

    def __init__(
        self,
        holder: ast.ClassDef | None,
        method: FunctionNode | None,
        function: FunctionNode | None,
    ) -> None:
        self.holder: Final = holder
        self.method: Final = method
        self.function: Final = function

    def inside(self, node: ast.AST) -> Around:
        """What surrounds the parts of a node that stands here."""
        if isinstance(node, ast.ClassDef):
            return Around(node, None, None)
        if isinstance(node, _FUNCTIONS):
            method = node if self.method is None and self.holder is not None else self.method
            return Around(self.holder, method, node)
        return self


class Stores:
    """All stores below one node, by the name that they write to.

    ``setters`` are those whose name is not written out.
    """

    def __init__(self, root: ast.AST, file: SourceFile) -> None:
        self.named: Final[dict[str, list[Store]]] = {}
        self.setters: Final[list[Store]] = []
        self.declared: Final[set[tuple[FunctionNode | None, str]]] = set()
        self._bound: dict[str, list[tuple[ast.Name, Around]]] = {}
        self._contents: dict[str, list[Store]] = {}  # of variables
        self._handed: list[tuple[str, ast.expr, ast.Call, Around]] = []
        self._mutating: set[str] = set()
        self._statements: dict[ast.expr, ast.AST] = {}  # that write to a target
        self._rows: list[int] | None = _rows(file, _WORDS)
        self._passed_over: list[tuple[ast.AST, Around]] = []
        self._walk_scopes([(children(root), Around(None, None, None).inside(root))])
        if self._mutating:
            self._look_again(file)
        self._follow()

    def _walk_scopes(self, scopes: list[tuple[list[ast.AST], Around]]) -> None:
        for parts, around in scopes:  # grows while it is walked
            inner = self._walk(parts, around)
            scopes += [(children(node), around.inside(node)) for node in inner]

    def _look_again(self, file: SourceFile) -> None:
        """Look at what is handed to functions that change it: now it is known which do."""
        names = [re.compile(rf"{name}\b(?<!\w{name})") for name in self._mutating if name]
        rows, self._rows = _rows(file, names), None
        self._walk_scopes(
            [
                ([part for part in children(node) if part not in _targets(node)], around)
                for node, around in self._passed_over
                if "" in self._mutating or _covers(node, rows)
            ]
        )

    def _walk(self, pending: list[ast.AST], around: Around) -> list[ast.AST]:
        """Look at parts of a function, class or file without the functions and classes inside."""
        inner: list[ast.AST] = []
        for node in pending:  # grows while it is walked
            kind = type(node)
            if isinstance(node, NAME):
                if type(node.ctx) is not _LOAD:
                    self._bound.setdefault(node.id, []).append((node, around))
            elif isinstance(node, ATTRIBUTE):
                if type(node.ctx) is not _LOAD:
                    self._note(self._store(node, node.attr, node.value, around))
                pending.append(node.value)
            elif kind in _INNER:
                inner.append(node)
            elif kind in _TARGETS:
                targets = _targets(node)
                self._statements.update(dict.fromkeys(targets, node))
                if self._rows is None or _covers(node, self._rows):
                    add_children(node, pending)
                else:
                    self._passed_over.append((node, around))
                    pending += targets
            elif kind not in _WITHOUT:
                if kind in _LOOKED_AT:
                    self._look(node, around)
                add_children(node, pending)
        return inner

    def of_variable(self, name: str) -> list[Store]:
        """The stores to variables of a name, and to what they hold."""
        bound = [
            self._store(node, name, None, around) for node, around in self._bound.get(name, ())
        ]
        return [*bound, *self._contents.get(name, ())]

    def _look(self, node: ast.AST, around: Around) -> None:
        if isinstance(node, SUBSCRIPT):
            if not isinstance(node.ctx, ast.Load):
                self._item(node, node.value, around, node.slice)
        elif isinstance(node, CALL):
            self._call(node, around)
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            self.declared.update((around.function, name) for name in node.names)

    def _store(self, node: ast.expr, name: str, owner: ast.expr | None, around: Around) -> Store:
        statement = self._statements.get(node)
        value = getattr(statement, "value", None)
        return Store(node, name, owner, around, value, adds=getattr(statement, "op", None))

    def _note(self, store: Store) -> None:
        known = self.named if store.owner is not None else self._contents
        known.setdefault(store.name, []).append(store)

    def _item(self, node: ast.AST, subject: ast.expr, around: Around, key: ast.expr | None) -> None:
        """Note a change of what ``subject`` holds."""
        owner = _of_dict(subject)
        written = key.value if isinstance(key, CONSTANT) else ANY_KEY
        if owner is not None:
            if isinstance(written, str):
                self._note(Store(node, written, owner, around))
            return
        deep = isinstance(subject, SUBSCRIPT)
        while isinstance(subject, SUBSCRIPT):
            subject = subject.value
        place = ANY_KEY if deep else written
        if isinstance(subject, ATTRIBUTE):
            self._note(Store(node, subject.attr, subject.value, around, content=True, key=place))
        elif isinstance(subject, NAME):
            self._note(Store(node, subject.id, None, around, content=True, key=place))
            function = around.function
            if function is not None and subject.id in _parameters(function):
                self._mutating.add(getattr(function, "name", ""))

    def _call(self, node: ast.Call, around: Around) -> None:
        func = node.func
        if isinstance(func, NAME) and func.id == "setattr" and len(node.args) == 3:
            self._set(node, node.args[0], node.args[1], node.args[2], around)
        elif isinstance(func, ATTRIBUTE) and func.attr == "__setattr__" and len(node.args) >= 2:
            *owner, name, value = node.args
            self._set(node, owner[0] if owner else func.value, name, value, around)
        elif isinstance(func, ATTRIBUTE) and func.attr in MUTATING:
            owner_of_dict = _of_dict(func.value)
            if owner_of_dict is None:
                first = node.args[0] if len(node.args) > 1 else None
                self._item(node, func.value, around, first if func.attr == "setdefault" else None)
            elif func.attr == "update":
                self._update(node, owner_of_dict, around)
        else:
            called = func.id if isinstance(func, NAME) else getattr(func, "attr", "")
            given = [*node.args, *(keyword.value for keyword in node.keywords)]
            self._handed += [
                (called, part, node, around)
                for part in given
                if isinstance(part, (NAME, ATTRIBUTE))
            ]

    def _update(self, node: ast.Call, owner: ast.expr, around: Around) -> None:
        """Note what ``x.__dict__.update(...)`` writes."""
        for keyword in node.keywords:
            if keyword.arg is not None:
                self._note(Store(node, keyword.arg, owner, around, keyword.value))
        if node.args or any(keyword.arg is None for keyword in node.keywords):
            self.setters.append(Store(node, "", owner, around))

    def _set(
        self,
        node: ast.Call,
        owner: ast.expr,
        name: ast.expr,
        value: ast.expr,
        around: Around,
    ) -> None:
        if isinstance(name, CONSTANT) and isinstance(name.value, str):
            self._note(Store(node, name.value, owner, around, value))
        else:
            self.setters.append(Store(node, "", owner, around, value))

    def _follow(self) -> None:
        """Find out what changes under another name: that of a variable or of a parameter."""
        for name, stores in [*self._contents.items()]:
            for store in [*stores]:
                for alias in self._aliases(store.function, name):
                    self._changed(store.node, alias, store, store.key)
        for called, given, call, around in self._handed:
            if called in self._mutating:
                self._changed(call, given, around, ANY_KEY)

    def _aliases(self, function: FunctionNode | None, name: str) -> list[ast.expr]:
        """What a variable of a function is assigned."""
        bound = [node for node, around in self._bound.get(name, ()) if around.function is function]
        statements = [(node, self._statements.get(node)) for node in bound]
        return [
            one.value
            for node, one in statements
            if isinstance(one, ast.Assign) and one.targets[0] is node
        ]

    def _changed(self, node: ast.AST, what: ast.expr, place: Store | Around, key: object) -> None:
        around = Around(place.holder, place.method, place.function)
        if isinstance(what, ATTRIBUTE):
            self._note(Store(node, what.attr, what.value, around, content=True, key=key))
        elif isinstance(what, NAME):
            self._note(Store(node, what.id, None, around, content=True, key=key))


def _targets(statement: ast.AST) -> list[ast.expr]:
    held = getattr(statement, _TARGETS[type(statement)], [])
    return held if isinstance(held, list) else [held]


def _rows(file: SourceFile, patterns: Iterable[re.Pattern[str]]) -> list[int]:
    """The rows with one of some words, or with letters that may spell it otherwise, in order."""
    found = [file.row(match.start()) for one in patterns for match in one.finditer(file.text)]
    if not file.text.isascii():
        found += [row for row, line in enumerate(file.lines, 1) if not line.isascii()]
    return sorted(found)


def _covers(statement: ast.AST, rows: list[int]) -> bool:
    if not isinstance(statement, ast.stmt):
        return True
    index = bisect_left(rows, statement.lineno)
    return index < len(rows) and rows[index] <= (statement.end_lineno or statement.lineno)


def _of_dict(node: ast.expr) -> ast.expr | None:
    """``x`` of ``x.__dict__`` and ``vars(x)``."""
    if isinstance(node, ATTRIBUTE):
        return node.value if node.attr == "__dict__" else None
    if isinstance(node, CALL) and isinstance(node.func, NAME) and node.func.id == "vars":
        return node.args[0] if len(node.args) == 1 else None
    return None


def first_parameter(function: FunctionNode) -> str | None:
    """What a method calls the object that it is called on, or its class."""
    arguments = [*function.args.posonlyargs, *function.args.args]
    return arguments[0].arg if arguments else None


def _parameters(function: FunctionNode) -> set[str]:
    spec = function.args
    return {one.arg for one in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs)}


def _leads_to(owner: ast.expr | None, name: str | None) -> bool:
    """True for a variable, for ``type(x)`` and ``x.__class__``."""
    if isinstance(owner, ATTRIBUTE) and owner.attr == "__class__":
        owner = owner.value
    elif isinstance(owner, CALL) and isinstance(owner.func, NAME) and owner.func.id == "type":
        owner = owner.args[0] if len(owner.args) == 1 else None
    return isinstance(owner, NAME) and owner.id == name
