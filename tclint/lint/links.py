"""Where a rule is explained on the web."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

from tclint.lint.registry import pack_of

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GRAPH_BREAKS: Final = "https://meta-pytorch.org/compile-graph-break-site/gb/{}.html"
DOCUMENTATION: Final = "Documentation"
"""The label of the project URL below which a pack's pages are, as ``rules/CODE/``."""


def page_of(code: str) -> str | None:
    """The rule's own page, if its package says where its documentation is."""
    site = _site(code)
    return None if site is None else f"{site}/rules/{code}/"


def graph_break_page(gb_id: str) -> str:
    """Torch's own page of a graph break, such as GB0124."""
    return GRAPH_BREAKS.format(gb_id.lower())


def _site(code: str) -> str | None:
    """The documentation of the package that a rule comes with."""
    pack = pack_of(code)
    return None if pack is None else _site_of(pack)


@cache
def _site_of(pack: EntryPoint) -> str | None:
    """What the metadata of a pack's package says, which takes long to read."""
    if pack.dist is None:
        return None
    urls = pack.dist.metadata.get_all("Project-URL") or []
    named = dict(url.split(", ", 1) for url in urls if ", " in url)
    return named[DOCUMENTATION].rstrip("/") if DOCUMENTATION in named else None
