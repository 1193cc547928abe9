"""What a program says about compilation: ``torch.compile``, optimizers, schedulers."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Final

from tclint import torch_facts
from tclint.regexes import regex
from tclint.semantics.events import Call, CompileCall
from tclint.semantics.interpreter.analysis import Kept, Optimizer, Root
from tclint.semantics.interpreter.arguments import Arguments
from tclint.semantics.interpreter.frame import Frame
from tclint.semantics.lattice import options
from tclint.semantics.site import Region
from tclint.semantics.symbols import ClassInfo
from tclint.semantics.syntax import last_name, nodes
from tclint.semantics.values import (
    NONE,
    STATIC,
    TRUE,
    UNKNOWN,
    BoundExternal,
    Class,
    Compiled,
    External,
    Function,
    Object,
    Partial,
    Sequence,
    Static,
    Value,
)
from tclint.torch_facts.compiling import COMPILE, COMPILED_STEPS, REORDERING, STEPPED_MODULES
from tclint.torch_facts.dynamo_settings import FULLGRAPH, SETTINGS
from tclint.torch_facts.modules import MODULE_CLASSES, WRAPPERS


def library_setup(frame: Frame, node: ast.Call, name: str, arguments: Arguments) -> Value | None:
    """Answer the calls that set up compilation and training; None for all others."""
    if name in COMPILE:
        return compile_target(frame, node, name, arguments)
    if name in REORDERING:
        note_reordered(frame, arguments)
        return NONE
    if name in WRAPPERS:
        inner = next(iter(arguments.positional), arguments.keywords.get("module", UNKNOWN))
        return Object(name, site=node, is_module=True, fields=(("module", inner),))
    if ".optim" not in name:
        return None
    canonical = torch_facts.canonical(name)
    if canonical in torch_facts.optimizers() or name in torch_facts.lr_schedulers():
        frame.analysis.emit(
            frame, Call, node, function=canonical, call=node, arguments=arguments.positional
        )
    if canonical in torch_facts.optimizers():
        return _optimizer(frame, node, canonical, arguments)
    if name in torch_facts.lr_schedulers():
        subject = next(iter(arguments.values()), UNKNOWN)
        last = name.rpartition(".")[2]
        frame.analysis.note_lr_change(subject, "scheduler", last, node)
        return Object(name, site=node)
    return None


_SCHEDULER: Final = regex(r"schedul|warm_?up|anneal", re.I)


def note_scheduler(frame: Frame, node: ast.Call, callee: Value) -> None:
    """Remember what changes an optimizer's rate and is not torch's: a library's, or one's own."""
    for given in (*node.args, *(keyword.value for keyword in node.keywords)):
        known = frame.body.values.get(given)
        value = frame.lookup(given.id) if isinstance(given, ast.Name) else known
        if isinstance(value, Object) and value.site in frame.analysis.optimizers:
            name = _scheduler(frame, callee)
            if name is not None:
                frame.analysis.note_lr_change(value, "scheduler", name, node)


def _scheduler(frame: Frame, callee: Value) -> str | None:
    """The name of what is called, where it makes a scheduler."""
    match callee:
        case External(name=name) if not name.startswith("torch."):
            return name if _SCHEDULER.search(name.rpartition(".")[2]) else None
        case Function(info=function) if function.module.installed:
            return function.name if _SCHEDULER.search(function.name) else None
        case Class(info=cls):
            ancestry = frame.analysis.project.ancestry(cls)
            derived = any(b.startswith("torch.optim.lr_") for b in ancestry if isinstance(b, str))
            return cls.name if derived or _writes_rate(cls) else None
    return None


def _writes_rate(cls: ClassInfo) -> bool:
    """True for a class whose methods write ``group["lr"]``."""
    for method in cls.methods.values():
        for part in nodes(method.node):
            match part:
                case ast.Subscript(ctx=ast.Store(), slice=ast.Constant(value="lr")):
                    return True
    return False


def compile_target(frame: Frame, node: ast.Call, name: str, arguments: Arguments) -> Value:
    """``torch.compile(target, ...)``: report the call, start a region, answer the target.

    Without a target it is a decorator that keeps what it was told.
    """
    keywords = {k.arg: k.value for k in node.keywords if k.arg is not None}
    spread = spread_by(frame, node, arguments.keywords)
    settings = as_told(name, arguments)
    target = next(iter(settings.positional), settings.keywords.get("model", UNKNOWN))
    statement = frame.statement
    discarded = isinstance(statement, ast.Expr) and statement.value is node
    frame.analysis.emit(
        frame, CompileCall, node, call=node, keywords=keywords, target=target,
        discarded=discarded, spread=spread,
    )  # fmt: skip
    if not settings.positional and "model" not in settings.keywords:
        return Partial(External("torch.compile"), (), tuple(settings.keywords.items()))
    for option in options(target):
        add_root(frame, option, region_of(frame, option, settings.keywords), node)
        _note_kept(frame, option, _kept_in(statement, node))
    return Compiled(target)


def _kept_in(statement: ast.AST, value: ast.expr) -> ast.expr | None:
    """Where a statement keeps a value; None where it does something else with it."""
    match statement:
        case (
            ast.Assign(targets=[target], value=kept) | ast.AnnAssign(target=target, value=kept)
        ) if kept is value:
            return target
    return None


def _note_kept(frame: Frame, compiled: Value, kept_in: ast.expr | None) -> None:
    """Remember the name of an object that is compiled: its methods may be called by it."""
    name = last_name(kept_in) if isinstance(kept_in, ast.Name | ast.Attribute) else ""
    if name and kept_in and isinstance(compiled, Object) and compiled.cls is not None:
        kept = Kept(frame.body.module, name, kept_in.lineno, compiled.cls)
        frame.analysis.seen.kept.append(kept)


def spread_by(frame: Frame, call: ast.Call, passed: dict[str, Value]) -> dict[str, Value]:
    """The keywords of a call that dicts pass after ``**``, which nothing changes on the way."""
    dicts = [keyword.value for keyword in call.keywords if keyword.arg is None]
    if not all(_is_as_made(frame, one) for one in dicts):
        return {}
    written = {keyword.arg for keyword in call.keywords}
    return {name: value for name, value in passed.items() if name not in written}


def _is_as_made(frame: Frame, given: ast.expr) -> bool:
    """True for a dict that is made here, or by the one assignment of a name that is only read."""
    if not isinstance(given, ast.Name):
        return _makes_dict(given)
    body = frame.body
    local = body.assigns(given.id)
    if body.binds(given.id) or (not local and given.id not in body.module.assigned):
        return False
    inner = nodes(body.scope if local else body.module.tree)
    named = [one for one in inner if isinstance(one, ast.Name) and one.id == given.id]
    read = {
        one.value
        for one in inner
        if (isinstance(one, ast.keyword) and one.arg is None)
        or (isinstance(one, ast.Subscript) and isinstance(one.ctx, ast.Load))
    }
    stores = [one for one in named if not isinstance(one.ctx, ast.Load)]
    made = [
        one
        for one in inner
        if isinstance(one, ast.Assign) and one.targets == stores and _makes_dict(one.value)
    ]
    return len(made) == 1 and all(one in read for one in named if one not in stores)


def _makes_dict(value: ast.expr) -> bool:
    """True for a literal, and for ``dict(...)``."""
    match value:
        case ast.Dict() | ast.Call(func=ast.Name(id="dict")):
            return True
    return False


def as_told(name: str, arguments: Arguments) -> Arguments:
    """The arguments as `torch.compile` takes them; the older `optimize` is told first how."""
    if name == "torch.compile":
        return arguments
    keywords = dict(arguments.keywords)
    fullgraph, given = keywords.pop("nopython", None), arguments.positional
    keywords |= dict(zip(("backend",), given, strict=False))
    keywords |= {} if fullgraph is None else {"fullgraph": fullgraph}
    return Arguments((), keywords)


def note_reordered(frame: Frame, arguments: Arguments) -> None:
    """Remember functions whose output Dynamo writes when the graph has run."""
    for given in arguments.positional:
        for function in (given.items or ()) if isinstance(given, Sequence) else (given,):
            if isinstance(function, External):
                frame.analysis.reordered.add(function.name)


def compile_module(
    frame: Frame, node: ast.Call, callee: BoundExternal, arguments: Arguments
) -> Value | None:
    """``module.compile(...)``, which compiles in place."""
    owner = callee.owner
    if callee.name != "torch.nn.Module.compile" or not isinstance(owner, Object):
        return None
    keywords = {k.arg: k.value for k in node.keywords if k.arg is not None}
    spread = spread_by(frame, node, arguments.keywords)
    frame.analysis.emit(
        frame, CompileCall, node, call=node, keywords=keywords, target=owner, spread=spread
    )
    add_root(frame, owner, region_of(frame, owner, arguments.keywords), node, in_place=True)
    _note_kept(frame, owner, node.func.value if isinstance(node.func, ast.Attribute) else None)
    return STATIC


def region_of(frame: Frame, target: Value, keywords: dict[str, Value]) -> Region:
    """The region that compiling ``target`` with these keywords makes."""
    fullgraph = keywords.get("fullgraph") == TRUE
    return Region(
        _name_of(target),
        explicit=True,
        fullgraph=fullgraph,
        settings=_settings(frame, fullgraph=fullgraph),
        backend=_constant(keywords.get("backend")),
        mode=_constant(keywords.get("mode")),
    )


def _settings(frame: Frame, *, fullgraph: bool) -> frozenset[str]:
    """The settings of Dynamo that are on where ``frame`` compiles."""
    config = frame.analysis.dynamo_config
    on = frozenset(name for name in SETTINGS if config.get(name))
    return on | FULLGRAPH if fullgraph else on


def _constant(value: Value | None) -> str | None:
    return str(value.value) if isinstance(value, Static) and value.known else None


def _name_of(target: Value) -> str:
    match target:
        case Function(info=info):
            return info.qualname
        case Object(cls=ClassInfo() as cls) | Class(info=cls):
            return cls.qualname
    return "torch.compile"


def add_root(
    frame: Frame, target: Value, region: Region, node: ast.expr, *, in_place: bool = False
) -> None:
    """Start a region at what ``node`` compiles, where it is a function or module of the project.

    A module that is compiled ``in_place`` is called as it is, and only its ``forward`` is compiled.
    """
    analysis = frame.analysis
    place = frame.link(node.lineno)
    if _has_no_call(frame, target):
        return
    compiled = analysis.seen.compiles.setdefault(place, set())
    function = compiled_function(frame, target, in_place=in_place)
    if function is not None:
        compiled.add(function.info)
        analysis.add_root(Root(function, region, place))
    for step in () if in_place else _steps(frame, target):
        compiled.add(step.info)
        analysis.add_root(Root(step, region, place))
    match target:
        case Compiled(inner=inner):
            add_root(frame, inner, region, node)
        case Object(name=name) if name in WRAPPERS:
            for option in options(target.field("module") or UNKNOWN):
                add_root(frame, option, _as_region_of(option, region), node)
        case BoundExternal(owner=Object(is_optimizer=True, site=site)) if target.name.endswith(
            ".step"
        ):
            if site in analysis.optimizers:
                analysis.optimizers[site].compiled_step = True


def _has_no_call(frame: Frame, target: Value) -> bool:
    """True for an object of the project of which it is known that nothing is there to compile."""
    if not isinstance(target, Object) or target.cls is None:
        return False
    project = frame.analysis.project
    foreign = {base for base in project.ancestry(target.cls) if isinstance(base, str)}
    if not foreign <= MODULE_CLASSES | {"object", "builtins.object"}:
        return False
    return all(project.method(target.cls, name) is None for name in ("__call__", "forward"))


def _as_region_of(target: Value, region: Region) -> Region:
    """The region, where what is compiled is a wrapper around ``target``."""
    return Region(
        _name_of(target), region.explicit, region.fullgraph, region.settings, region.backend,
        region.mode,
    )  # fmt: skip


def _steps(frame: Frame, target: Value) -> Iterator[Function]:
    """The steps that the trainer of a framework calls, compiled as the module was."""
    if not isinstance(target, Object) or not isinstance(target.cls, ClassInfo):
        return
    project = frame.analysis.project
    bases = [base for base in project.ancestry(target.cls) if base is not target.cls]
    names = {base.name if isinstance(base, ClassInfo) else base.split(".")[-1] for base in bases}
    if STEPPED_MODULES.isdisjoint(names):
        return
    for name in COMPILED_STEPS:
        step = project.method(target.cls, name)
        if step is not None and not step.module.installed:
            yield Function(step, Object(target.cls.qualname, target.cls, is_module=True))


def compiled_function(frame: Frame, target: Value, *, in_place: bool = False) -> Function | None:
    """What runs of a target when it is compiled: a function, or that of a module."""
    match target:
        case Function():
            return target
        case Object(cls=ClassInfo() as cls) | Class(info=cls):
            project = frame.analysis.project
            called = None if in_place else project.method(cls, "__call__")
            forward = called or project.method(cls, "forward")
            if forward is not None:
                return Function(forward, Object(cls.qualname, cls, is_module=True))
    return None


def _optimizer(frame: Frame, node: ast.Call, name: str, arguments: Arguments) -> Value:
    if frame.region is None and node not in frame.analysis.optimizers:
        keywords = {k.arg: k.value for k in node.keywords if k.arg is not None}
        lr = keywords.get("lr") or (node.args[1] if len(node.args) > 1 else None)
        positional = arguments.positional[1] if len(arguments.positional) > 1 else STATIC
        frame.analysis.optimizers[node] = Optimizer(
            name, node, frame.site(), lr, arguments.keywords.get("lr", positional), keywords
        )
    return Object(name, site=node, is_optimizer=True)
