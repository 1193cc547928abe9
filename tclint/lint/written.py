"""Fixes whose names would mean something else where they are written.

Rules write `range` and `torch.where` as if nobody gave those names another meaning: here, and
nowhere else, it is looked up what they mean at the place.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from tclint.diagnostics import Decline
from tclint.lint.rewrite import Import, Local, Repair, Replace, Splice, anchor
from tclint.lint.templates import parsed, part_of
from tclint.regexes import regex
from tclint.semantics.meaning import BUILTIN, Meaning, meaning, scopes_around
from tclint.semantics.ownership import is_opened
from tclint.semantics.project import Project
from tclint.semantics.site import Site
from tclint.semantics.syntax import nodes
from tclint.torch_facts.starred import BUILTINS

_WORD: Final = regex(r"[A-Za-z_]\w*")


def as_meant(fix: Repair | Decline | None, site: Site, project: Project) -> Repair | Decline | None:
    """The fix, or the reason why a name in it would be another thing than it means."""
    if not isinstance(fix, Repair):
        return fix
    imported = dict(_imports(fix))
    own = _bound_by(fix) - imported.keys()
    for rewrite in fix.rewrites:
        if isinstance(rewrite, Import):
            continue
        scopes = scopes_around(site.module, _place(rewrite))
        for name, is_called in _names(rewrite, site):
            meant = meaning(project, site.module, scopes, name)
            why = _obstacle(fix, name, is_called, meant, imported.get(name), site)
            if why and name not in own:
                return Decline(why)
    for name in sorted(_written(fix) & BUILTINS):
        star = _may_hide(name, fix, site, project)
        if star:
            return fix.differing(f"`{name}` may be another function, of `from {star} import *`")
    if is_opened(site):
        return fix.differing("the function reaches its variables by their names, as `eval` does")
    return fix


def _obstacle(
    fix: Repair, name: str, is_called: bool, meant: Meaning | None, imported: str | None, site: Site
) -> str:
    """Why a name cannot be written where it has a meaning; empty where it can."""
    if imported is not None:
        fits = meant is None or meant.star or meant.dotted == imported
    elif name in BUILTINS:
        known = None if meant is None else meant.dotted
        own = meant is not None and known is None and not meant.star
        fits = known == f"{BUILTIN}{name}" or (own and not is_called and name in _written(fix))
    elif name in site.module.imports:
        fits = meant is not None and (meant.dotted is not None or name in _written(fix))
    else:
        fits = meant is not None
    if fits:
        return ""
    if meant is None:
        return f"nothing in this file defines `{name}`"
    if meant.star:
        return f"`{name}` may mean something else here: `from {meant.star} import *`"
    return f"`{name}` means something else here"


def _may_hide(name: str, fix: Repair, site: Site, project: Project) -> str:
    """The module whose star may give another meaning to a builtin in the code that a fix is for."""
    for rewrite in fix.rewrites:
        if isinstance(rewrite, Local):
            scopes = scopes_around(site.module, anchor(rewrite))
            meant = meaning(project, site.module, scopes, name)
            if meant is not None and meant.star and meant.dotted is None:
                return meant.star
    return ""


def _imports(fix: Repair) -> Iterator[tuple[str, str]]:
    """What the fix's own imports bind."""
    for rewrite in fix.rewrites:
        if isinstance(rewrite, Import):
            module, name = rewrite.module, rewrite.name
            top = module.partition(".")[0]
            yield (top, top) if name is None else (name, f"{module}.{name}")


def _bound_by(fix: Repair) -> set[str]:
    """The names that the templates of a fix bind themselves."""
    return {
        name
        for rewrite in fix.rewrites
        if isinstance(rewrite, Local)
        for node in nodes(parsed(rewrite.template))
        for name in _bound(node)
    }


def _bound(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()) | ast.arg(arg=name):
            yield name
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.ExceptHandler(name=str() as name):
            yield name
        case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
            yield from (one.asname or one.name.partition(".")[0] for one in aliases)


def _place(rewrite: Local | Splice) -> ast.expr | ast.stmt:
    """The node that a rewrite is about, or one at its row."""
    if isinstance(rewrite, Splice):
        return ast.Pass(lineno=rewrite.edit.span.start.row)
    return anchor(rewrite)


def _names(rewrite: Local | Splice, site: Site) -> Iterator[tuple[str, bool]]:
    """The names that a template reads, and whether it calls them; of annotations, builtins."""
    if isinstance(rewrite, Splice):
        yield from (
            (name, True) for name in _WORD.findall(rewrite.edit.content) if name in BUILTINS
        )
        return
    found = nodes(parsed(rewrite.template))
    called = {node.func for node in found if isinstance(node, ast.Call)}
    whole = isinstance(rewrite, Replace) and _is_called(rewrite.node, site)
    for node in found:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and part_of(node) is None:
            yield node.id, node in called or (whole and rewrite.template == node.id)


def _is_called(node: ast.AST, site: Site) -> bool:
    call = site.parent(node)
    return isinstance(call, ast.Call) and call.func is node


def _written(fix: Repair) -> set[str]:
    """The variables in the code that a fix is about: a template may hold them, too."""
    return {
        node.id
        for rewrite in fix.rewrites
        if isinstance(rewrite, Local)
        for place in (anchor(rewrite), *rewrite.parts.values())
        for node in nodes(place)
        if isinstance(node, ast.Name)
    }
