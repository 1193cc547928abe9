"""Modules that are compiled and wrapped for several processes (DDP, FSDP), in either order."""

from __future__ import annotations

import ast
from typing import Final

from tclint.semantics.events import CompileCall
from tclint.semantics.site import Site

from .reaching import block_of

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
        case ast.Call(args=[ast.Name(id=name), *_]):
            return _wrapper(event.site, _bound_before(event.site, name), wrappers)
        case ast.Call(args=[ast.Call() as made, *_]):
            return _wrapper(event.site, made, wrappers)
    return None


def wrapped_after(event: CompileCall, wrappers: frozenset[str]) -> ast.Call | None:
    """The call of a wrapper that gets what is compiled."""
    site, outer = event.site, event.site.parent(event.call)
    if outer is site.statement and isinstance(outer, ast.Assign):
        match outer.targets:
            case [ast.Name(id=name)]:
                outer = next((site.parent(n) for n in _next_statement_loads(site, name)), None)
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
        made = _bound_before(site, given.id)
        stores, loads = site.stores(given.id), site.loads(given.id)
        only_passed = all(isinstance(site.parent(load), ast.keyword) for load in loads)
        return _items(site, made) if made is not None and len(stores) == 1 and only_passed else None
    match given:
        case ast.Dict(keys=keys, values=values):
            names = [key.value for key in keys if isinstance(key, ast.Constant)]
            texts = [name for name in names if isinstance(name, str)]
            return dict(zip(texts, values, strict=True)) if len(texts) == len(values) else None
        case ast.Call(func=ast.Name(id="dict"), args=[], keywords=keywords):
            named = {keyword.arg: keyword.value for keyword in keywords if keyword.arg is not None}
            return named if len(named) == len(keywords) else None
    return None


def _bound_before(site: Site, name: str) -> ast.expr | None:
    """What the statements before, in the same block, bound a name to last."""
    before, _ = _neighbours(site)
    for statement in reversed(before):
        match statement:
            case ast.Assign(targets=[ast.Name(id=target)], value=value) if target == name:
                return value
        if any(store in ast.walk(statement) for store in site.stores(name)):
            return None
    return None


def _next_statement_loads(site: Site, name: str) -> list[ast.Name]:
    """What the next statement reads of a variable."""
    _, after = _neighbours(site)
    return [load for load in site.loads(name) if after and load in ast.walk(after[0])]


def _neighbours(site: Site) -> tuple[list[ast.stmt], list[ast.stmt]]:
    """The statements before and after, in the same block."""
    block = block_of(site, site.statement)
    at = block.index(site.statement)
    return block[:at], block[at + 1 :]
