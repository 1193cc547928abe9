"""``lifetimes.json``: which releases of torch have which names, and what each's compile accepts.

The committed table is carried on, release by release: what a newer one has and the table lacks is
new in it, what it lacks is gone.
"""

from __future__ import annotations

import json
from collections.abc import Container, Iterable, Mapping, Sequence
from importlib import import_module
from itertools import pairwise
from types import ModuleType
from typing import Any

from scripts.torch_facts.releases import Release
from scripts.torch_facts.told import Told
from tclint.torch_facts.lifetimes import FIRST, Lifetime, Version, parsed, version_of

MODULES = """torch torch.amp torch.autograd torch.autograd.profiler torch.backends.cuda
torch.backends.cudnn torch.backends.mps torch.compiler torch.cpu torch.cpu.amp torch.cuda
torch.cuda.amp torch.distributed torch.distributed.fsdp torch.distributions torch.export torch.fft
torch.func torch.jit torch.library torch.linalg torch.mps torch.nn torch.nn.attention
torch.nn.functional torch.nn.init torch.nn.parallel torch.nn.utils torch.optim
torch.optim.lr_scheduler torch.profiler torch.random torch.sparse torch.special torch.utils
torch.utils.checkpoint torch.utils.data torch._dynamo torch._dynamo.config torch._functorch.config
torch._higher_order_ops torch._inductor torch._inductor.config torch._utils torch.xpu""".split()
CLASSES = ("torch.Tensor", "torch.nn.Module", "torch.optim.Optimizer")
# Before, `torch._dynamo` was no attribute of torch until somebody imported it.
NOT_BEFORE = {
    "torch._dynamo": (2, 1),
    "torch._inductor": (2, 1),
    "torch._higher_order_ops.print": (2, 11),  # a module of this name was there before
}
DTYPES = (
    "float16 float32 float64 half float double uint8 int8 int16 int32 int64 short int long".split()
)
# Arguments of functions that have no signature in Python.
_ATTENTION = "torch.nn.functional.scaled_dot_product_attention"
TOLD = {
    f"{_ATTENTION}(scale)": (2, 1),
    f"{_ATTENTION}(enable_gqa)": (2, 5),
    "torch.utils.checkpoint.checkpoint(use_reentrant)": (1, 11),
    # There before stubs were, and described in no text of its own.
    **{f"torch.Tensor.{name}": (1, 0) for name in ("dtype", "shape", "is_floating_point")},
    **{f"torch.{name}": (1, 0) for name in DTYPES},
}

KINDS = ("arguments", "modes", "backends", "options", "settings")
"""What ``torch.compile`` accepts, each kind a section."""

Span = tuple[Version, Version | None]


def carried_on(
    table: Mapping[str, Any], files: Sequence[Release], told: Sequence[Told]
) -> dict[str, Any]:
    """The table with these releases in it: those whose files are there, and those that were run.

    Both are in the order of their versions.
    """
    names = parsed(table["names"])
    newest = max((one.since for one in names.values()), default=(0, 0))
    for each in told:
        if each.version >= newest:
            known = [release for release in files if release.version <= each.version]
            names = _names(names, known, each, newest)
    running = {each.version: each.accepted for each in told}
    asked = sorted({*map(version_of, table["asked"].split()), *running})
    compile_names = {
        kind: _text(
            between(
                asked,
                _by_release(table[kind], asked) | {v: now[kind] for v, now in running.items()},
            )
        )
        for kind in KINDS
    }
    return {
        "asked": " ".join(map(_shown, asked)),
        "names": _text(names),
        **compile_names,
        **_registered(table, files),
        **_skipped(table, told),
    }


def _skipped(table: Mapping[str, Any], told: Sequence[Told]) -> dict[str, Any]:
    """Which functions Dynamo left to Python on each release, with the id of the graph break.

    A release that cannot call one is taken to do what the one before it did, or else the next.
    """
    measured = {each.version: each.skipped for each in told}
    asked = sorted({*map(version_of, table.get("measured", "").split()), *measured})
    before = _by_release(table.get("skipped", {}), asked)
    traced = {entry.partition(":")[0]: "" for found in before.values() for entry in found}
    having = {v: measured.get(v) or traced | _with_ids(before[v]) for v in asked}
    for earlier, later in (*pairwise(asked), *pairwise(asked[::-1])):
        having[later] = having[earlier] | having[later]
    entries = {
        version: {f"{name}:{gb_id}" for name, gb_id in found.items() if gb_id}
        for version, found in having.items()
    }
    return {"measured": " ".join(map(_shown, asked)), "skipped": _text(between(asked, entries))}


def _with_ids(entries: Iterable[str]) -> dict[str, str]:
    parted = (entry.partition(":") for entry in entries)
    return {name: gb_id for name, _, gb_id in parted}


def _registered(table: Mapping[str, Any], files: Sequence[Release]) -> dict[str, Any]:
    """The graph breaks by their ids, of releases that have Dynamo's registry of them."""
    having = {each.version: found for each in files if (found := each.graph_breaks())}
    listed = sorted({*map(version_of, table.get("listed", "").split()), *having})
    before = _by_release(table.get("graph_breaks", {}), listed)
    return {
        "listed": " ".join(map(_shown, listed)),
        "graph_breaks": _text(between(listed, before | having)),
    }


def _names(
    spans: dict[str, Lifetime], releases: Sequence[Release], told: Told, newest: Version
) -> dict[str, Lifetime]:
    """The names that the API has, and arguments that are younger than their functions.

    A name counts where the torch that ``told`` has it when it runs, too. What releases up to the
    ``newest`` of the table have and the table has not is a matter of how torch was built.
    Arguments that are new are seen where a release is there that has the function without them.
    """
    found = dict(spans)
    for dotted in told.names:
        having = [release for release in releases if release.find(dotted)]
        name = dotted.removeprefix("torch.")
        if not having or (name not in found and having[0].version <= newest):
            continue
        floors = [v for under, v in NOT_BEFORE.items() if f"{dotted}.".startswith(f"{under}.")]
        floor = max(floors, default=(0, 0))
        found.setdefault(name, Lifetime(max(having[0].version, floor)))
        known: set[str] | None = None
        for release in having:
            given = release.parameters(dotted)
            for argument in sorted(given - known) if given and known is not None else ():
                since = Lifetime(max(release.version, floor))
                found.setdefault(f"{name}({argument})", since)
            known = given if known is None else known | (given or set())
    for name, since in TOLD.items():
        found.setdefault(name.removeprefix("torch."), Lifetime(since))
    for name, one in found.items():
        if one.until is None and f"torch.{name.partition('(')[0]}" not in told.names:
            found[name] = Lifetime(one.since, told.version)
    return found


def universe(known: Container[str]) -> set[str]:
    """The names that the torch of this environment has, but for private ones further down.

    A module counts that is asked for above, or known: which others are there depends on what this
    process has imported.
    """
    names = [*MODULES[1:], *CLASSES]
    for module in MODULES:
        there = import_module(module)
        for name in (*dir(there), *getattr(there, "_config", ())):
            dotted, value = f"{module}.{name}", vars(there).get(name)
            if isinstance(value, ModuleType) and dotted.removeprefix("torch.") not in known:
                continue
            if _package(value).startswith("torch") and (module == "torch" or name[0] != "_"):
                names.append(dotted)
    for dotted in CLASSES:
        module, _, last = dotted.rpartition(".")
        names += [f"{dotted}.{name}" for name in dir(getattr(import_module(module), last))]
    return {name for name in names if not name.rpartition(".")[2].startswith("__")}


def _package(value: object) -> str:
    return (value.__package__ if isinstance(value, ModuleType) else None) or "torch"


def _by_release(spans: Mapping[str, str], asked: Iterable[Version]) -> dict[Version, set[str]]:
    """What each release that was asked has."""
    lifetimes = parsed(spans)
    return {v: {name for name, one in lifetimes.items() if one.holds(v)} for v in asked}


def between(asked: list[Version], having: Mapping[Version, set[str]]) -> dict[str, Lifetime]:
    """Lifetimes that also cover the releases nobody asked, beside one that has the name."""
    found: dict[str, Lifetime] = {}
    for name in set().union(*having.values()):
        with_it = [v for v in asked if name in having[v]]
        before = [v for v in asked if v < with_it[0]]
        after = [v for v in asked if v > with_it[-1]]
        if len(before) + len(with_it) + len(after) != len(asked):
            raise ValueError(f"{name} was gone for a while: the table has no form for that")
        since = (before[-1][0], before[-1][1] + 1) if before else FIRST
        found[name] = Lifetime(since, after[0] if after else None)
    return found


def _text(lifetimes: Mapping[str, Lifetime]) -> dict[str, str]:
    spans: dict[Span, list[str]] = {}
    for name, one in sorted(lifetimes.items()):
        spans.setdefault((one.since, one.until), []).append(name)
    return {
        _shown(since) + (f"-{_shown(until)}" if until else ""): " ".join(names)
        for (since, until), names in sorted(spans.items(), key=lambda i: (i[0][0], i[0][1] or ()))
    }


def _shown(version: Version) -> str:
    return f"{version[0]}.{version[1]}"


def text(table: Mapping[str, Any]) -> str:
    """The table as stable JSON, one line a span."""
    return json.dumps(table, indent=1, sort_keys=False) + "\n"
