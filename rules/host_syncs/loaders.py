"""The loader that a training loop runs over, and the batch that it takes from it."""

from __future__ import annotations

import ast
import re
from typing import Final

from tclint.semantics.events import TrainingCall
from tclint.semantics.site import Site

from ..lib.facts.optimizers import maker

_LOADERS: Final = frozenset(
    {"torch.utils.data.DataLoader", "torch.utils.data.dataloader.DataLoader"}
)
_PASSED_ON: Final = ("enumerate", "tqdm")
_LARGE: Final = re.compile(r"image|torchvision|video|audio|spectrogram|pixel", re.IGNORECASE)


def loader_of(site: Site, iterable: ast.expr) -> ast.Call | None:
    """The call that makes the `DataLoader` that is run over, where it is in the same file."""
    match iterable:
        case ast.Call(func=ast.Name(id=passed) | ast.Attribute(attr=passed), args=[inner, *_]) if (
            passed in _PASSED_ON
        ):
            return loader_of(site, inner)
        case ast.Name(id=name):
            made: ast.expr | None = maker(site, name)
        case _:
            made = iterable
    if isinstance(made, ast.Call) and site.dotted(made.func) in _LOADERS:
        return made
    return None


def is_given(loader: ast.Call, name: str) -> bool:
    """True where a loader is given something other than nothing, or what nobody can see."""
    given = [k.value for k in loader.keywords if k.arg in (name, None)]
    return any(not isinstance(value, ast.Constant) or value.value for value in given)


def is_batch(event: TrainingCall, loop: ast.For) -> bool:
    """True for a variable that the loop binds and nothing has bound anew at this statement."""
    match event.call.func:
        case ast.Attribute(value=ast.Name(id=name)):
            stores = event.site.stores(name)
            targets = {*ast.walk(loop.target)}
            others = [store for store in stores if store not in targets]
            start, end = _begin(loop), _begin(event.site.statement)
            rebound = any(start < _begin(store) < end for store in others)
            return not targets.isdisjoint(stores) and not rebound
    return False


def loads_what_is_large(site: Site) -> bool:
    """True for a file that speaks of images, sound or films."""
    return _LARGE.search(site.module.file.text) is not None


def _begin(node: ast.stmt | ast.expr) -> tuple[int, int]:
    return node.lineno, node.col_offset
