"""Modules that are compiled and wrapped for several processes (DDP, FSDP), in either order."""

from __future__ import annotations

import ast
from typing import Final

from tclint.semantics.events import CompileCall
from tclint.semantics.site import Site

DDP: Final = frozenset(
    {
        "torch.nn.parallel.DistributedDataParallel",
        "torch.nn.parallel.distributed.DistributedDataParallel",
    }
)
FSDP: Final = frozenset(
    {
        "torch.distributed.fsdp.FullyShardedDataParallel",
        "torch.distributed.fsdp.fully_sharded_data_parallel.FullyShardedDataParallel",
    }
)


def wrapped_before(event: CompileCall, wrappers: frozenset[str]) -> ast.Call | None:
    """The call of a wrapper whose result is compiled."""
    match event.call:
        case ast.Call(args=[ast.Name() | ast.Call() as model, *_]):
            return _wrapper(event.site, event.site.flow.value(model) or model, wrappers)
    return None


def wrapped_after(event: CompileCall, wrappers: frozenset[str]) -> ast.Call | None:
    """The call of a wrapper that gets what is compiled."""
    site, outer = event.site, event.site.parent(event.call)
    made = site.flow.holder(event.call)
    if made is not None:
        outer = next((site.parent(read) for read in site.flow.reads(made)), None)
    if not isinstance(outer, ast.Call) or outer.func is event.call:
        return None
    return _wrapper(site, outer, wrappers)


def _wrapper(site: Site, made: ast.expr | None, wrappers: frozenset[str]) -> ast.Call | None:
    if not isinstance(made, ast.Call) or site.dotted(made.func) not in wrappers:
        return None
    return made if told(site, made) is not None else None


def told(site: Site, wrapper: ast.Call) -> dict[str, ast.expr] | None:
    """The keywords that a call gives, by dicts behind ``**`` too; None where not all are known."""
    found: dict[str, ast.expr] = {}
    for keyword in wrapper.keywords:
        passed = {keyword.arg: keyword.value} if keyword.arg else _items(site, keyword.value)
        if passed is None:
            return None
        found |= passed
    return found


def _items(site: Site, given: ast.expr) -> dict[str, ast.expr] | None:
    """What a dict holds that is written out, here or where the only assignment of a name is."""
    if isinstance(given, ast.Name):
        made, loads = site.flow.value(given), site.loads(given.id)
        only_passed = all(isinstance(site.parent(load), ast.keyword) for load in loads)
        return _items(site, made) if made is not None and only_passed else None
    match given:
        case ast.Dict(keys=keys, values=values):
            names = [key.value for key in keys if isinstance(key, ast.Constant)]
            texts = [name for name in names if isinstance(name, str)]
            return dict(zip(texts, values, strict=True)) if len(texts) == len(values) else None
        case ast.Call(func=ast.Name(id="dict"), args=[], keywords=keywords):
            named = {keyword.arg: keyword.value for keyword in keywords if keyword.arg is not None}
            return named if len(named) == len(keywords) else None
    return None
