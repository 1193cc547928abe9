"""Templates: Python source in which ``$name`` stands for a piece of the user's program."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import fields
from functools import lru_cache
from typing import TYPE_CHECKING, Final, TypeVar, cast

import libcst as cst

from tclint.fix.obstacle import ObstacleError
from tclint.fix.precedence import fit
from tclint.records import record

if TYPE_CHECKING:
    from collections.abc import Mapping

Statement = cst.BaseCompoundStatement | cst.SimpleStatementLine
Part = cst.BaseExpression | Statement

Keep = Callable[[cst.CSTNode, str], bool]
"""Says of a place, a node and its field, whether an expression keeps its parentheses there."""

Filled = TypeVar("Filled", bound=cst.CSTNode)
_KEPT_HELPERS: Final = 32
_QUOTES: Final = frozenset("'\"")
_NAME: Final = re.compile(r"\$([A-Za-z_]\w*)")


def _needed(_parent: cst.CSTNode, _field: str) -> bool:
    return False


def _in_arguments(parent: cst.CSTNode, _field: str) -> bool:
    return isinstance(parent, cst.Arg)


@record(frozen=True)
class Style:
    """How a template is written out: its strings in the file's ``quote``, its blocks by ``step``.

    Parts that were ``arguments`` keep their parentheses where they are arguments again.
    """

    quote: str = '"'
    arguments: frozenset[str] = frozenset()
    step: str = "    "


PLAIN: Final = Style()


def expression(
    template: str, parts: Mapping[str, Part], style: Style = PLAIN
) -> cst.BaseExpression:
    """Build the expression that a template describes."""
    source, names = _placeholders(template, parts)
    try:
        node = cst.parse_expression(source)
    except cst.ParserSyntaxError as error:
        raise ObstacleError(f"the fix's template is not an expression: {template}") from error
    filled = node.visit(_Filling(names, parts, style))
    if not isinstance(filled, cst.BaseExpression):
        raise ObstacleError(f"the fix's template is not an expression: {template}")
    return _all_filled(filled, names)


def statements(template: str, parts: Mapping[str, Part], style: Style = PLAIN) -> list[Statement]:
    """Build the statements that a template describes."""
    if parts:
        return _statements(template, parts, style)
    return [*_helpers(template, style)]


@lru_cache(maxsize=_KEPT_HELPERS)
def _helpers(template: str, style: Style) -> tuple[Statement, ...]:
    """The statements of a template without parts, such as a helper that many fixes bring along."""
    return tuple(_statements(template, {}, style))


def _statements(template: str, parts: Mapping[str, Part], style: Style) -> list[Statement]:
    source, names = _placeholders(template, parts)
    try:
        module = cst.parse_module(source if source.endswith("\n") else source + "\n")
    except cst.ParserSyntaxError as error:
        raise ObstacleError(f"the fix's template is not Python: {template}") from error
    if not module.body:
        return []
    first = module.body[0]
    first = first.with_changes(leading_lines=[*module.header, *first.leading_lines])
    body = cst.Module([first, *module.body[1:]]).visit(_Filling(names, parts, style)).body
    return [_all_filled(statement, names) for statement in body]


class Parenthesizer(cst.CSTTransformer):
    """Base of the transformers that put expressions into new places: it adds the parentheses."""

    def __init__(self) -> None:
        """Start with nothing inserted."""
        super().__init__()
        self._inserted: dict[int, tuple[cst.BaseExpression, Keep]] = {}

    def insert(self, node: cst.BaseExpression, keep: Keep = _needed) -> cst.BaseExpression:
        """Remember that ``node`` is new where it stands; ``keep`` says which parentheses stay."""
        self._inserted[id(node)] = (node, keep)
        return node

    def on_leave(self, original_node: cst.CSTNodeT, updated_node: cst.CSTNodeT) -> cst.CSTNodeT:
        """Settle the node's children, then let the subclass replace it."""
        # LibCST checks while it runs which node may stand where; its types cannot say that.
        return cast("cst.CSTNodeT", self.replacement(original_node, self._settle(updated_node)))

    @abstractmethod
    def replacement(self, original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
        """What to put in the place of a node whose children are done."""

    def _settle(self, parent: cst.CSTNode) -> cst.CSTNode:
        """Give the inserted children of ``parent`` the parentheses that they need."""
        if not self._inserted:
            return parent
        changes: dict[str, cst.BaseExpression] = {}
        for field in fields(parent):
            child = getattr(parent, field.name)
            if isinstance(child, cst.BaseExpression) and id(child) in self._inserted:
                keep = self._inserted[id(child)][1]
                fitted = fit(parent, field.name, child, keep=keep(parent, field.name))
                if fitted is not child:
                    changes[field.name] = fitted
        return parent.with_changes(**changes) if changes else parent


class _Filling(Parenthesizer):
    """Puts the parts into the places that hold their placeholders."""

    def __init__(self, names: Mapping[str, str], parts: Mapping[str, Part], style: Style) -> None:
        super().__init__()
        self._names = names
        self._parts = parts
        self._style = style
        self._depth = 0

    def replacement(self, original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
        if isinstance(updated, cst.Name) and updated.value in self._names:
            name = self._names[updated.value]
            part = self._parts[name]
            if not isinstance(part, cst.BaseExpression):
                return updated
            return self.insert(part, _in_arguments if name in self._style.arguments else _needed)
        if isinstance(updated, cst.SimpleString):
            return updated.with_changes(value=_quoted(updated.value, self._style.quote))
        if isinstance(updated, cst.SimpleStatementLine):
            statement = self._statement(updated)
            if statement is not None:
                lines = [*updated.leading_lines, *statement.leading_lines]
                return statement.with_changes(leading_lines=lines)
        if isinstance(updated, cst.IndentedBlock):
            self._depth -= 1
        if isinstance(original, cst.Else) and self._is_elif(original):
            self._depth += 1
            return cast("cst.IndentedBlock", cast("cst.Else", updated).body).body[0]
        return updated

    def _statement(self, line: cst.SimpleStatementLine) -> Statement | None:
        """The statement part that a line consists of."""
        small = line.body[0]
        if len(line.body) != 1 or not isinstance(small, cst.Expr):
            return None
        if not isinstance(small.value, cst.Name):
            return None
        part = self._parts.get(self._names.get(small.value.value, ""))
        if part is None or isinstance(part, cst.BaseExpression):
            return None
        if not self._depth:
            return part
        return cast("Statement", part.visit(_Continued(self._style.step * self._depth)))

    def on_visit(self, node: cst.CSTNode) -> bool:
        """Count the blocks around what comes; what becomes an `elif` stays where it is."""
        if isinstance(node, cst.IndentedBlock):
            self._depth += 1
        elif isinstance(node, cst.Else):
            self._depth -= self._is_elif(node)
        return True

    def _is_elif(self, node: cst.Else) -> bool:
        """True for an `else` of the template that is nothing but an `if` of the user's."""
        match node.body:
            case cst.IndentedBlock(body=[cst.SimpleStatementLine(body=[only])]):
                match only:
                    case cst.Expr(value=cst.Name(value=name)) if name in self._names:
                        return isinstance(self._parts[self._names[name]], cst.If)
        return False


class _Continued(cst.CSTTransformer):
    """Moves the rows behind a backslash along with their statement."""

    def __init__(self, more: str) -> None:
        super().__init__()
        self._more = more

    def on_leave(self, original_node: cst.CSTNodeT, updated_node: cst.CSTNodeT) -> cst.CSTNodeT:
        """Indent each continued row as far as its first one."""
        if not isinstance(updated_node, cst.SimpleWhitespace) or "\n" not in updated_node.value:
            return updated_node
        value = updated_node.value.replace("\n", f"\n{self._more}")
        return cast("cst.CSTNodeT", updated_node.with_changes(value=value))


def _quoted(literal: str, quote: str) -> str:
    """A string literal in other quotes, where that is all that it takes."""
    body = literal[1:-1]
    if literal[0] not in _QUOTES or not _QUOTES.isdisjoint(body) or "\\" in body:
        return literal
    return f"{quote}{body}{quote}"


def _placeholders(template: str, parts: Mapping[str, Part]) -> tuple[str, dict[str, str]]:
    """Replace each ``$name`` by an identifier that occurs nowhere else."""
    taken = template
    names: dict[str, str] = {}

    def identifier(match: re.Match[str]) -> str:
        name = match.group(1)
        if name not in parts:
            raise ObstacleError(f"the fix's template has no part for ${name}")
        unique = f"_part_{name}"
        while unique in taken:
            unique += "_"
        names[unique] = name
        return unique

    return _NAME.sub(identifier, template), names


def _all_filled(node: Filled, names: Mapping[str, str]) -> Filled:
    """Check that no placeholder is left, for instance inside a string."""
    text = cst.Module([]).code_for_node(node)
    for unique, name in names.items():
        if unique in text:
            raise ObstacleError(f"the fix's template uses ${name} where no part can stand")
    return node
