"""Carry out the rewrites of one repair on a snippet's LibCST tree."""

from __future__ import annotations

import ast
from collections import defaultdict
from dataclasses import field
from typing import TYPE_CHECKING

import libcst as cst

from tclint.fix import template
from tclint.fix.arguments import laid_out_like, with_argument
from tclint.fix.block import Block, Change, inline, own_comments, split
from tclint.fix.obstacle import ObstacleError
from tclint.fix.precedence import may_stand_bare
from tclint.fix.template import Parenthesizer, Part, Statement, Style
from tclint.lint.rewrite import AddArgument, Insert, Local, Replace, anchor
from tclint.records import record

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tclint.fix.run import AstNode
    from tclint.fix.snippet import CstStatement, Snippet


@record()
class Plan:
    """Rewrites by the LibCST node that they are about; new strings get the file's ``quote``."""

    snippet: Snippet
    quote: str = '"'
    replaced: dict[cst.CSTNode, Replace] = field(default_factory=dict)
    inserts: dict[cst.CSTNode, list[Insert]] = field(default_factory=lambda: defaultdict(list))
    added: dict[cst.CSTNode, list[AddArgument]] = field(default_factory=lambda: defaultdict(list))
    rows: set[int] = field(default_factory=set)

    def style(self, arguments: frozenset[str] = frozenset()) -> Style:
        """How templates are written in this file."""
        return Style(self.quote, arguments, self.snippet.step)

    def add(self, rewrite: Local) -> None:
        """Find the node that a rewrite is about."""
        self.rows.add(self.snippet.row(anchor(rewrite)))
        if isinstance(rewrite, Insert):
            self.inserts[self.snippet.statement(rewrite.anchor)].append(rewrite)
            return
        if isinstance(rewrite, AddArgument):
            self.added[self.snippet.expression(rewrite.call)].append(rewrite)
            return
        node = self.find(rewrite.node)
        if node in self.replaced:
            raise ObstacleError("the fix replaces the same code twice")
        self.replaced[node] = rewrite

    def find(self, node: AstNode) -> cst.BaseExpression | CstStatement:
        """The LibCST node of an expression or statement."""
        if isinstance(node, ast.stmt):
            return self.snippet.statement(node)
        return self.snippet.expression(node)

    def moves(self, node: cst.CSTNode) -> bool:
        """True when a statement is taken out, and put somewhere else as it is."""
        out, line = self.replaced.get(node), self.snippet.line(node)
        if out is None or out.template.strip() or (line is not None and len(line.body) > 1):
            return False
        inserts = (insert for some in self.inserts.values() for insert in some)
        return any(
            self.find(part) is node
            for insert in inserts
            for part in insert.parts.values()
            if isinstance(part, ast.stmt)
        )

    def concerns(self, node: cst.CSTNode) -> bool:
        """True when a statement is replaced or gets a neighbour."""
        return node in self.replaced or node in self.inserts


def rewrite_module(plan: Plan) -> str:
    """The snippet's text after all rewrites, header included."""
    rewriter = _Rewriter(plan)
    try:
        code = plan.snippet.parsed.module.visit(rewriter).code
    except cst.CSTValidationError as error:
        raise ObstacleError("the code leaves no blank where the fix needs one") from error
    except RecursionError as error:
        raise ObstacleError("the code is nested too deeply") from error
    if rewriter.done != {*plan.replaced, *plan.inserts, *plan.added}:
        raise ObstacleError("the statement is not in a block of its own")
    return code


class _Rewriter(Parenthesizer):
    def __init__(self, plan: Plan) -> None:
        super().__init__()
        self._plan = plan
        self._moving: list[cst.CSTNode] = []
        self.done: set[cst.CSTNode] = set()

    def on_visit(self, node: cst.CSTNode) -> bool:
        """Go only into statements that something happens in."""
        return not self._plan.snippet.misses(node, self._plan.rows)

    def replacement(self, original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:
        if isinstance(original, (cst.Module, cst.IndentedBlock)):
            return self._block(original, updated)
        if isinstance(original, cst.SimpleStatementSuite):
            return self._suite(original, updated)
        if isinstance(updated, cst.Call) and original in self._plan.added:
            updated = self._call(original, updated)
        if not isinstance(original, cst.BaseExpression) or original in self._moving:
            return updated
        replace = self._plan.replaced.get(original)
        return updated if replace is None else self._expression(original, replace)

    def _call(self, original: cst.CSTNode, call: cst.Call) -> cst.Call:
        self.done.add(original)
        for added in self._plan.added[original]:
            style = self._plan.style()
            value = template.expression(added.template, self._parts(added.parts), style)
            call = with_argument(call, value, added.keyword)
        return call

    def _expression(self, node: cst.BaseExpression, replace: Replace) -> cst.BaseExpression:
        self.done.add(node)
        parts = self._parts(replace.parts, replace.node)
        new = template.expression(replace.template, parts, self._style(replace))
        if isinstance(new, cst.Call) and isinstance(node, cst.Call):
            new = laid_out_like(new, node)
        lpar, rpar = list(node.lpar), list(node.rpar)
        if isinstance(node, (cst.Tuple, cst.GeneratorExp)) and lpar:
            lpar, rpar = lpar[:-1], rpar[1:]
        if not lpar:
            return self.insert(new)
        if isinstance(new, (cst.Tuple, cst.GeneratorExp)) and new.lpar:
            lpar, rpar = [*lpar, new.lpar[-1]], [new.rpar[0], *rpar]
        new = new.with_changes(lpar=lpar, rpar=rpar)
        return self.insert(new, lambda parent, field: may_stand_bare(parent, field, node))

    def _block(self, original: cst.Module | cst.IndentedBlock, updated: cst.CSTNode) -> cst.CSTNode:
        if not isinstance(updated, (cst.Module, cst.IndentedBlock)) or not any(
            self._concerned(statement) for statement in original.body
        ):
            return updated
        block = Block()
        for old, new in zip(original.body, updated.body, strict=True):
            self._append(block, old, new)
        if not block.statements and isinstance(updated, cst.IndentedBlock):
            block.append(cst.SimpleStatementLine([cst.Pass()]))
        ends = not (self._plan.snippet.goes_on and self._is_outermost(original))
        footer = block.footer(updated.footer, ends=ends)
        return updated.with_changes(body=block.statements, footer=footer)

    def _is_outermost(self, block: cst.Module | cst.IndentedBlock) -> bool:
        module = self._plan.snippet.parsed.module
        return block is module or getattr(module.body[-1], "body", None) is block

    def _append(self, block: Block, old: cst.BaseStatement, new: cst.BaseStatement) -> None:
        """Add what becomes of one statement, or of several that share a line."""
        if isinstance(old, cst.SimpleStatementLine) and isinstance(new, cst.SimpleStatementLine):
            self._append_line(block, old, new)
        elif isinstance(new, cst.BaseCompoundStatement):
            _add(block, new, self._change(old))

    def _append_line(
        self, block: Block, old: cst.SimpleStatementLine, new: cst.SimpleStatementLine
    ) -> None:
        changes = [self._change(small) for small in old.body]
        if not any(changes):
            block.append(new)
            return
        if len(changes) > 1 and all(change is None or change.inline for change in changes):
            smalls = inline(new.body, changes)
            if smalls:
                block.append(new.with_changes(body=smalls))
            else:
                block.change(new, Change(main=[]))
            return
        for line, change in zip(split(new), changes, strict=True):
            _add(block, line, change)

    def _suite(self, original: cst.SimpleStatementSuite, updated: cst.CSTNode) -> cst.CSTNode:
        """Rewrite ``if x: a; b``, opening a block where the rewriting needs one."""
        changes = [self._change(small) for small in original.body]
        if not isinstance(updated, cst.SimpleStatementSuite) or not any(changes):
            return updated
        if all(change is None or change.inline for change in changes):
            body = inline(updated.body, changes) or [cst.Pass()]
            return updated.with_changes(body=body)
        block = Block()
        for line, change in zip(split(updated), changes, strict=True):
            _add(block, line, change)
        return cst.IndentedBlock(block.statements)

    def _concerned(self, statement: cst.BaseStatement) -> bool:
        if isinstance(statement, cst.SimpleStatementLine):
            return any(self._plan.concerns(small) for small in statement.body)
        return self._plan.concerns(statement)

    def _change(self, statement: cst.CSTNode) -> Change | None:
        """What the plan makes of a statement; None when it leaves it alone."""
        if not self._plan.concerns(statement):
            return None
        self.done.add(statement)
        change = Change(moves=self._plan.moves(statement))
        for insert in self._plan.inserts.get(statement, ()):
            side = change.after if insert.after else change.before
            style = self._plan.style()
            side += template.statements(insert.template, self._parts(insert.parts), style)
        replace = self._plan.replaced.get(statement)
        if replace is not None:
            parts = self._parts(replace.parts, replace.node)
            change.main = template.statements(replace.template, parts, self._style(replace))
            change.carries = any(
                self._plan.find(part) is statement for part in replace.parts.values()
            )
        return change

    def _style(self, replace: Replace) -> Style:
        calls = [node for node in ast.walk(replace.node) if isinstance(node, ast.Call)]
        given = {id(a) for call in calls for a in (*call.args, *(k.value for k in call.keywords))}
        arguments = (name for name, node in replace.parts.items() if id(node) in given)
        return self._plan.style(frozenset(arguments))

    def _parts(
        self, parts: Mapping[str, AstNode], replaced: AstNode | None = None
    ) -> dict[str, Part]:
        inside = set() if replaced is None else {*ast.walk(replaced)} - {replaced}
        return {name: self._part(node, moved=node not in inside) for name, node in parts.items()}

    def _part(self, node: AstNode, *, moved: bool) -> Part:
        """A node of a template: as it was written, with the plan's rewrites inside it.

        A node from another place is ``moved`` without its own rewrite, which is about that place.
        """
        found = self._plan.find(node)
        kept = [found] if moved else []
        self._moving += kept
        part = found.visit(self)
        del self._moving[len(self._moving) - len(kept) :]
        if isinstance(part, cst.BaseExpression):
            return part
        if isinstance(part, cst.BaseCompoundStatement):
            above = own_comments(part.leading_lines) if self._plan.moves(found) else []
            return part.with_changes(leading_lines=above) if moved else part
        if not isinstance(part, cst.BaseSmallStatement):
            raise ObstacleError("a statement that the fix moves is rewritten as well")
        return self._whole_line(found, part, moved=moved)

    def _whole_line(
        self,
        found: cst.BaseExpression | CstStatement,
        part: cst.BaseSmallStatement,
        *,
        moved: bool,
    ) -> Statement:
        """A small statement as a line, with the comment at its end.

        The lines above it come along, unless they stay where the replaced statement was. Of one
        that is taken out to stand elsewhere those are the comments right above it.
        """
        line = self._plan.snippet.line(found)
        part = part.with_changes(semicolon=cst.MaybeSentinel.DEFAULT)
        whole = cst.SimpleStatementLine([part])
        if line is None:
            return whole
        if line.body[0] is found and isinstance(line, cst.SimpleStatementLine):
            if not moved:
                whole = whole.with_changes(leading_lines=line.leading_lines)
            elif self._plan.moves(found):
                whole = whole.with_changes(leading_lines=own_comments(line.leading_lines))
        if line.body[-1] is not found:
            return whole
        return whole.with_changes(trailing_whitespace=line.trailing_whitespace)


def _add(block: Block, statement: Statement, change: Change | None) -> None:
    if change is None:
        block.append(statement)
    else:
        block.change(statement, change)
