"""Findings and fixes for all versions of torch that a project is for.

A finding that holds on some of them says on which. A fix is spelt as the oldest can read it, or
declined: rules write the names of today, and here, nowhere else, these are compared with
``min-torch``.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Final

from tclint.config import Settings
from tclint.diagnostics import Confidence, Decline
from tclint.lint.rewrite import AddArgument, Import, Local, Repair
from tclint.lint.rule import Finding
from tclint.lint.templates import KEPT_TEMPLATES, MARK, marked, parsed, part_of
from tclint.records import record
from tclint.semantics.site import Site
from tclint.semantics.syntax import nodes
from tclint.torch_bounds import NEWEST_TORCH, shown
from tclint.torch_facts.lifetimes import (
    OLDER,
    Lifetime,
    Version,
    lifetime,
    lifetimes,
    method_lifetime,
    since,
)

# Operators of other libraries live there, which no release of torch is asked about.
_FOREIGN: Final = ("torch.ops.", "torch.classes.")

# Before the registry that was read first, nobody knows which ids a release had.
_WITH_IDS: Final = (2, 11)

Parts = Mapping[str, ast.expr | ast.stmt]


@record(frozen=True)
class Written:
    """A name of torch's in a template, with an argument that is passed to it.

    ``node`` is where it stands, in the template with marks for its parts; None where it is not
    the template that writes the name. ``is_method`` says that its owner is not known.
    """

    name: str
    argument: str | None = None
    node: ast.expr | None = None
    is_method: bool = False

    @property
    def lifetime(self) -> Lifetime | None:
        """The releases that have it; None where that is not known."""
        return (method_lifetime if self.is_method else lifetime)(self.name, self.argument)

    @property
    def first(self) -> Version | None:
        """The first release that has it; None where that is not known."""
        return None if self.lifetime is None else self.lifetime.since

    def is_in(self, version: Version) -> bool:
        """Whether a release surely has it; methods that torch's own types lack are Python's."""
        found = self.lifetime
        return self.is_method if found is None else found.holds(version)

    def __str__(self) -> str:
        spelled = f".{self.name}" if self.is_method else self.name
        return f"{spelled}({self.argument}=...)" if self.argument else spelled


def in_range(finding: Finding, settings: Settings) -> Finding | None:
    """The finding, and on which of the project's versions it holds; None where that is on none."""
    oldest, target = settings.oldest_torch, settings.target_torch
    since, before = finding.since, finding.before
    if (since is not None and target < since) or (before is not None and before <= oldest):
        return None
    limits = [f">= {shown(since)}"] if since is not None and oldest < since else []
    limits += [f"< {shown(before)}"] if before is not None and before <= target else []
    if not limits:
        return finding
    # Where the code is to run it holds no more.
    weak = Confidence.LOW if before is not None and before <= target else finding.confidence
    said = f"{finding.message} (torch {', '.join(limits)})"
    return replace(finding, message=said, confidence=weak)


def of_releases(gb_ids: Iterable[str], settings: Settings) -> tuple[str, ...]:
    """The ids of graph breaks that some torch of the project knows."""
    known, oldest, target = lifetimes("graph_breaks"), settings.oldest_torch, settings.target_torch
    return tuple(
        gb_id
        for gb_id in gb_ids
        if (one := known.get(gb_id)) is None
        or (one.since <= target and (one.until is None or oldest < one.until))
        or target < _WITH_IDS
    )


def for_oldest(fix: Repair | Decline | None, site: Site) -> Repair | Decline | None:
    """The fix as the project's oldest torch can run it, or the reason why it cannot."""
    oldest = site.settings.oldest_torch
    if not isinstance(fix, Repair) or oldest >= NEWEST_TORCH:
        return fix
    for rewrite in fix.rewrites:
        if isinstance(rewrite, Local):
            changed = _spelt_for(fix, rewrite, site, oldest)
            if isinstance(changed, Decline):
                return changed
            fix = changed
    return fix


def _spelt_for(fix: Repair, rewrite: Local, site: Site, oldest: Version) -> Repair | Decline:
    """The fix with the names in one template spelt as the oldest torch knows them."""
    older: list[tuple[Written, str]] = []
    for written in names_written(fix, rewrite, site):
        if written.is_in(oldest):
            continue
        spelling = _older(written, fix, site, oldest)
        if spelling is None:
            return Decline(_obstacle(written, site.settings))
        older.append((written, spelling))
    if not older:
        return fix
    template = _respelt(rewrite.template, [(w.node, text) for w, text in older if w.node])
    rewrites = tuple(replace(r, template=template) if r is rewrite else r for r in fix.rewrites)
    message = fix.message
    for written, spelling in older:
        message = message.replace(f"`{written.name}`", f"`{spelling}`")
    return replace(fix, rewrites=rewrites, message=message)


def _obstacle(written: Written, settings: Settings) -> str:
    oldest = shown(settings.oldest_torch)
    if written.first is None:
        return f"it is not known whether torch {oldest} has `{written}`"
    runs = f"this project also runs on torch {oldest} (`min-torch`)"
    if settings.oldest_torch == settings.target_torch:
        runs = f"this project runs on torch {oldest} (`target-torch`)"
    return f"`{written}` needs torch {shown(written.first)}; {runs}"


def _older(written: Written, fix: Repair, site: Site, oldest: Version) -> str | None:
    """How the oldest torch spells a name that it knows by another."""
    old = OLDER.get(written.name)
    if old is None or written.node is None or written.argument is not None:
        return None
    first = since(old)
    if first is None or first > oldest:
        return None
    return site.spell(old) or (old if Import("torch") in fix.rewrites else None)


def names_written(fix: Repair, rewrite: Local, site: Site) -> Iterator[Written]:
    """The names of torch's that a template writes, and arguments that it passes to them."""
    known = {**site.module.imports, **_imported(fix), "torch": "torch"}
    for node, is_hidden, is_inner in _spoken_of(rewrite.template):
        if isinstance(node, ast.Call):
            for keyword in node.keywords:
                yield from _argument(node.func, keyword.arg, known, rewrite.parts, site)
            continue
        name = _dotted(node, known, rewrite.parts, site)
        if not is_inner and name is not None and _is_torch(name):
            yield Written(name, node=None if is_hidden else node)
        if isinstance(node, ast.Attribute) and name is None:
            yield Written(node.attr, is_method=True)
    if isinstance(rewrite, AddArgument):
        yield from _argument(rewrite.call.func, rewrite.keyword, known, {}, site)


@lru_cache(maxsize=KEPT_TEMPLATES)
def _spoken_of(template: str) -> tuple[tuple[ast.expr, bool, bool], ...]:
    """The names, attributes and calls of a template: in an f-string, the owner of an attribute."""
    found = nodes(parsed(template))
    texts = [node for node in found if isinstance(node, ast.JoinedStr)]
    hidden = {part for text in texts for part in nodes(text)}
    inner = {node.value for node in found if isinstance(node, ast.Attribute)}
    spoken_of = [node for node in found if isinstance(node, (ast.Name, ast.Attribute, ast.Call))]
    return tuple((node, node in hidden, node in inner) for node in spoken_of)


def _argument(
    function: ast.expr, argument: str | None, known: Mapping[str, str], parts: Parts, site: Site
) -> Iterator[Written]:
    name = _dotted(function, known, parts, site)
    if name is None and isinstance(function, ast.Attribute):
        written = Written(function.attr, argument, is_method=True)
    elif name is not None and _is_torch(name):
        written = Written(name, argument)
    else:
        return
    # The call may be the user's: then the torch that has the function is there.
    if argument is not None and written.first != replace(written, argument=None).first:
        yield written


def _dotted(node: ast.expr, known: Mapping[str, str], parts: Parts, site: Site) -> str | None:
    """The name that an expression of a template, or of the program, stands for; None if unknown."""
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    part = parts.get(part_of(node) or "")
    base = known.get(node.id) if part is None else _of_part(part, site)
    return None if base is None else ".".join([base, *reversed(names)])


def _of_part(part: ast.expr | ast.stmt, site: Site) -> str | None:
    """The library name that the user's own code uses here."""
    dotted = site.dotted(part) if isinstance(part, ast.expr) else None
    return dotted if dotted is not None and _is_torch(dotted) else None


def _imported(fix: Repair) -> dict[str, str]:
    """What the fix's own imports bind."""
    bound: dict[str, str] = {}
    for rewrite in fix.rewrites:
        if isinstance(rewrite, Import):
            module, name = rewrite.module, rewrite.name
            local = module.partition(".")[0] if name is None else name
            bound[local] = local if name is None else f"{module}.{name}"
    return bound


def _is_torch(dotted: str) -> bool:
    return dotted.startswith("torch.") and not dotted.startswith(_FOREIGN)


def _respelt(template: str, places: list[tuple[ast.expr, str]]) -> str:
    """Put other names at their places in a template."""
    lines = marked(template).splitlines(keepends=True)
    for node, text in sorted(places, key=lambda p: (p[0].lineno, p[0].col_offset), reverse=True):
        line = lines[node.lineno - 1].encode()
        lines[node.lineno - 1] = (
            line[: node.col_offset] + text.encode() + line[node.end_col_offset :]
        ).decode()
    return "".join(lines).replace(MARK, "$")
