"""The state of analysing one project: events found so far, memory of calls, attributes, roots."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, Final, Literal, ParamSpec, cast

from tclint import torch_facts
from tclint.config import Settings
from tclint.diagnostics import ChainLink
from tclint.semantics.body import Body
from tclint.semantics.bounds import Cuts, Unclear
from tclint.semantics.collect import imports_first, is_present, with_inner
from tclint.semantics.events import (
    ArrayRead,
    CompileCall,
    DrawnNumberNeeded,
    DynamicShape,
    Event,
    HostRead,
    LrChange,
    NumberNeeded,
    NumpyCall,
    OptimizerInit,
    TensorBranch,
)
from tclint.semantics.interpreter.block import walk_block
from tclint.semantics.interpreter.changes import Changes
from tclint.semantics.interpreter.frame import Env, Frame
from tclint.semantics.interpreter.hooks import Hooks
from tclint.semantics.lattice import is_vague, join
from tclint.semantics.project import Meant, Project
from tclint.semantics.records import record
from tclint.semantics.site import Region, Site
from tclint.semantics.symbols import (
    ClassInfo,
    FunctionInfo,
    FunctionNode,
    ModuleInfo,
    Parameter,
    Signature,
)
from tclint.semantics.syntax import nodes
from tclint.semantics.trace import Trace
from tclint.semantics.values import (
    FALSE,
    UNKNOWN,
    Class,
    External,
    Function,
    Object,
    Static,
    Value,
)
from tclint.torch_facts.compiling import VERSION_PARSERS
from tclint.torch_facts.starred import BUILTINS

if TYPE_CHECKING:
    from tclint.semantics.interpreter.contexts import Asked, Contexts, Filled
    from tclint.semantics.interpreter.memory import SetUp
    from tclint.semantics.interpreter.uses import Uses
    from tclint.semantics.interpreter.wrappers import Wrapper

P = ParamSpec("P")
Deferred = tuple[FunctionInfo, Callable[[], object]]

# Events that matter where no compiled region is: they say how regions come about.
SETUP_EVENTS: Final = (CompileCall, OptimizerInit)
TYPE_CHECKING_NAMES: Final = ("typing.TYPE_CHECKING", "typing_extensions.TYPE_CHECKING")


@record(eq=False)
class Optimizer:
    """What the project does with one optimizer; reported when the analysis is done."""

    name: str
    call: ast.Call
    site: Site
    lr: ast.expr | None
    lr_value: Value
    keywords: dict[str, ast.expr]
    compiled_step: bool = False
    lr_changes: dict[ast.AST, LrChange] = field(default_factory=dict)


@record(frozen=True)
class Root:
    """A function where a region starts."""

    function: Function
    region: Region
    place: ChainLink | None = field(default=None, compare=False)
    """Where the program compiles it."""


@record(frozen=True)
class Kept:
    """The name under which a file keeps an object that it compiles, the row, and its class."""

    module: ModuleInfo
    name: str
    row: int
    cls: ClassInfo


@record(eq=False)
class Seen:
    """What was met of compiled code, for people who ask what was looked at.

    ``configured`` are the roots that patterns of the configuration name, ``assumed`` those that are
    compiled only if somebody does. ``compiles`` are the places that compile, and what, as far as
    that is known; ``kept`` under which names files keep objects that they compile; ``looped`` the
    loops of eager code that call something compiled.
    """

    configured: dict[str, list[Root]] = field(default_factory=dict)
    assumed: list[Root] = field(default_factory=list)
    compiles: dict[ChainLink, set[FunctionInfo]] = field(default_factory=dict)
    kept: list[Kept] = field(default_factory=list)
    looped: dict[FunctionInfo, dict[ChainLink, None]] = field(default_factory=dict)


class Analysis:
    """Everything that is known about the project while its functions are walked."""

    applied: Counter[FunctionInfo]
    asked: Asked  # attributes of objects, by the walk that runs
    filled: Filled  # what the function walked last put into its arguments

    def __init__(
        self,
        project: Project,
        settings: Settings,
        events: Iterable[type[Event]],
        trace: Trace | None = None,
        only: dict[Path, frozenset[str]] | None = None,
    ) -> None:
        """``events`` are the types that some rule asks for; others are not kept."""
        self.project = project
        self.settings = settings
        self.wanted = frozenset(events)
        self.trace, self.only = trace, only or {}
        self.events: dict[tuple[type[Event], ast.AST], Event] = {}
        self.roots, self.seen = list[Root](), Seen()
        self.optimizers: dict[ast.AST, Optimizer] = {}
        self.needs = dict[ast.Call, dict[ast.expr, NumberNeeded]]()
        self.drawn, self.dynamo_config = dict[ast.Call, str](), dict[str, bool]()
        self.reordered: set[str] = set()  # functions whose output Dynamo writes behind the graph
        self.attributes: dict[ClassInfo, dict[str, Value]] = {}
        self.initialised: set[ClassInfo] = set()
        self.given: dict[FunctionInfo, dict[str, Value]] = {}  # by eager code, which sets up
        self.observed: dict[FunctionInfo, dict[str, Value]] = {}
        self.visited: set[FunctionInfo] = set()
        # Walks that are put off, and the functions on the way there.
        self.deferred, self.unfinished = list[Deferred](), set[FunctionInfo]()
        # The functions that are walked by themselves, and those of them that wait for others.
        self.apart, self.waiting = set[FunctionInfo](), set[FunctionInfo]()
        self.closures: dict[ast.AST, Frame] = {}
        self.local_functions: dict[ast.AST, FunctionInfo] = {}
        self.local_classes: dict[tuple[object, ...], ClassInfo] = {}
        self.cuts, self.changes, self.hooks = Cuts(), Changes(), Hooks()
        self.wrappers: dict[FunctionInfo, tuple[Wrapper, ...]] = {}
        self.makes_wrapper: dict[ast.AST, bool] = {}
        self.uses: dict[ast.AST, Uses] = {}
        self.applied, self.asked, self.filled = Counter(), {}, {}
        self.answers: dict[FunctionInfo, Value] = {}
        self.operations = 0
        self.active, self.stack = set[FunctionInfo](), list[FunctionInfo]()
        self.always_raises: dict[FunctionInfo, bool] = {}
        self.reshaping: set[FunctionInfo] = set()  # functions that reshape a tensor in place
        self.not_traced: dict[FunctionInfo, frozenset[str]] = {}
        self.ends: dict[FunctionInfo, frozenset[str]] = {}
        self.memory: dict[
            FunctionInfo, dict[tuple[Hashable, ...] | ClassInfo | None, Contexts]
        ] = {}
        self.set_ups: dict[FunctionInfo, SetUp] = {}
        self.scripted: list[tuple[Value, ModuleInfo]] = []  # what is given to torch.jit.script
        self.written: list[tuple[ClassInfo, str, Value]] = []
        self.annotations: dict[ast.expr, Value] = {}
        self.literals: dict[tuple[type, object], Value] = {}
        self.class_level: dict[tuple[ClassInfo, str], Value] = {}
        self._default_dtypes: dict[ModuleInfo, bool] = {}
        self._rooted: set[Root] = set()
        self._bodies: dict[ast.AST, Body] = {}
        self._compiled: dict[ast.AST, Body] = {}
        self._globals: dict[ModuleInfo, Env] = {}
        self._class_variables: dict[ClassInfo, dict[str, ast.stmt]] = {}
        self._signatures: dict[ast.AST, Signature] = {}
        self._names: dict[ast.AST, tuple[str, ...]] = {}
        self._named, self._unclear = dict[tuple[ModuleInfo, str], Value](), set[str]()
        self._resolved: dict[tuple[ModuleInfo | None, str], Value | Unclear] = {}

    def release(self) -> None:
        """Let go of all that holds frames: they refer to their analysis.

        Classes within functions are known to nobody else, and go with it. Bodies refer to those
        that they call, and these to them.
        """
        for body in (*self._bodies.values(), *self._compiled.values()):
            body.calls, body.called, body.answers = {}, {}, {}
        for cls in self.local_classes.values():
            cls.methods.clear()
            cls.classes.clear()
        self.local_classes = {}
        self.events, self.roots, self.optimizers, self._rooted = {}, [], {}, set()
        self.needs, self.drawn, self.seen = {}, {}, Seen()
        self.closures, self.wrappers, self.memory, self.set_ups = {}, {}, {}, {}
        self.given = {}
        self.attributes, self.observed, self.answers, self.written = {}, {}, {}, []
        self.annotations, self.class_level, self.scripted = {}, {}, []
        self.changes, self.hooks = Changes(), Hooks()
        self._bodies, self._compiled = {}, {}
        self._globals, self._named, self._resolved = {}, {}, {}

    def emit(
        self,
        frame: Frame,
        made_by: Callable[Concatenate[Any, Site, P], Event],
        node: ast.AST,
        /,
        *args: P.args,
        **fields: P.kwargs,
    ) -> None:
        """Report an event unless nobody asks, it is silenced here, or it is known already.

        ``made_by`` is its class: so given, type checkers compare ``fields`` with those that it has.
        """
        event = cast("type[Event]", made_by)
        if frame.region is None and event not in SETUP_EVENTS:
            return
        if event in _READS:
            frame.reads += 1
        if frame.quiet and _is_quiet(frame.quiet, event.__name__, fields):
            frame.quieted += 1
            if self.trace is not None:
                self.trace.quieted(event, node, frame)
            return
        if event not in self.wanted:
            return
        known = self.events.get((event, node))
        if known is not None and not _says_more(frame, fields, known):
            return
        self.events[event, node] = made_by(node, frame.site(), *args, **fields)

    def note_config(self, name: str, *, on: bool) -> None:
        """Remember a switch of Dynamo that the program sets."""
        self.dynamo_config[name] = on
        if name == "allow_unspec_int_on_nn_module":
            self.settings = replace(self.settings, numbers_may_vary=on)

    def note_need(self, frame: Frame, made: Iterable[ast.Call], use: ast.expr, why: str) -> None:
        """Remember that Python needs a number that some calls made in a region."""
        quiet = {NumpyCall.__name__, TensorBranch.__name__, f"{TensorBranch.__name__}.assert"}
        if why == "text":
            quiet.add("format")
        asks = why in ("truth", "not", "text")
        if frame.region is None or (asks and not quiet.isdisjoint(frame.quiet)):
            return
        for call in made:
            self.needs.setdefault(call, {}).setdefault(use, NumberNeeded(use, why, frame.site()))

    def note_compiled_step(self, optimizer: Object) -> None:
        """Remember that an optimizer's ``step`` runs in a compiled region."""
        story = self.optimizers.get(optimizer.site) if optimizer.site else None
        if story is not None:
            story.compiled_step = True

    def note_lr_change(
        self, optimizer: Value, kind: Literal["scheduler", "write"], name: str, node: ast.AST
    ) -> None:
        """Remember that something changes an optimizer's learning rate."""
        if isinstance(optimizer, Object) and optimizer.site in self.optimizers:
            story = self.optimizers[optimizer.site]
            story.lr_changes[node] = LrChange(kind, name)

    def body(
        self, module: ModuleInfo, function: FunctionInfo | None, *, compiled: bool = False
    ) -> Body:
        """The shared record of a function's syntax and values.

        What the values are in ``compiled`` code stands apart: code that sets up knows less of them,
        and joined with what it knows they would be unknown.
        """
        scope = function.node if function else module.tree
        bodies = self._compiled if compiled else self._bodies
        if scope not in bodies:
            bodies[scope] = Body(module, function, scope)
        return bodies[scope]

    def walked(self, scope: ast.AST) -> Body | None:
        """What is known of a function from walking it in compiled code."""
        return self._compiled.get(scope)

    def functions(self) -> list[FunctionInfo]:
        """The functions that were walked in compiled code."""
        return [body.function for body in self._compiled.values() if body.function is not None]

    def bodies(self) -> list[Body]:
        """Everything that was walked, with the values seen in compiled code where it is that."""
        return list({**self._bodies, **self._compiled}.values())

    def forget(
        self, functions: Collection[FunctionInfo]
    ) -> list[tuple[Body, dict[ast.AST, Value]]]:
        """Let go of what walks of functions in compiled code gave, and hand their values over.

        What is known for sure stays known.
        """
        for function in functions:
            self.memory.pop(function, None)
        bodies = [self._compiled[f.node] for f in functions if f.node in self._compiled]
        before = [(body, body.values) for body in bodies]
        for body, values in before:
            body.values = {node: value for node, value in values.items() if not is_vague(value)}
        return before

    def global_value(self, module: ModuleInfo, name: str) -> Value | None:
        """The value of a module's top-level name; None when the module does not bind it."""
        if name in module.mixed and name not in module.assigned:
            return self._either(module, name)
        if name in module.ways:
            return self.module_env(module).get(name, UNKNOWN)
        if name in module.functions:
            return Function(module.functions[name])
        if name in module.classes:
            return Class(module.classes[name])
        if name in module.assigned:
            return self.module_env(module).get(name, UNKNOWN)
        if name in module.imports:
            return self.external(module.imports[name], module)
        found = self._meant(self.project.starred(module, name)) if module.stars else None
        return self._told(found, name) if isinstance(found, Unclear) else found

    def _either(self, module: ModuleInfo, name: str) -> Value:
        """What an import gives, or what the file makes where that is not there."""
        imported = self.external(module.imports[name], module)
        of_project = not isinstance(imported, External) and imports_first(module, name)
        if of_project or is_present(module.imports[name]):
            return imported
        function, cls = module.functions.get(name), module.classes.get(name)
        made = [Function(function)] if function else [Class(cls)] if cls else []
        return join((*made, imported))

    def names_in(self, node: ast.AST) -> tuple[str, ...]:
        """The variables that a nested function reads, its own among them."""
        if node not in self._names:
            names = (n.id for n in nodes(node) if isinstance(n, ast.Name))
            self._names[node] = tuple(dict.fromkeys(names))
        return self._names[node]

    def classes_in_functions(self, module: ModuleInfo) -> list[ClassInfo]:
        """The classes that walks found in the functions of a file, and those inside of them."""
        known = (cls for cls in self.local_classes.values() if cls.module is module)
        return [one for cls in known for one in with_inner(cls)]

    def is_defined(self, node: ast.ClassDef) -> bool:
        """True once a walk has come to a class in a function."""
        return any(key[0] is node for key in self.local_classes)

    def parameters(self, node: FunctionNode) -> list[Parameter]:
        """The named parameters of a function, see :func:`parameters_of`."""
        return self.signature(node).named

    def signature(self, node: FunctionNode) -> Signature:
        """How calls bind a function's parameters."""
        known = self._signatures.get(node)
        if known is None:
            known = self._signatures[node] = Signature(node)
        return known

    def sets_default_dtype(self, module: ModuleInfo) -> bool:
        """True for a file that may change what element type new tensors have."""
        if module not in self._default_dtypes:
            self._default_dtypes[module] = "set_default_dtype" in module.file.text
        return self._default_dtypes[module]

    def global_or_builtin(self, body: Body, name: str) -> Value:
        """The value of a name that no function around binds."""
        module = body.module
        known = self._named.get((module, name))
        if known is None:
            known = self.global_value(module, name) or self._builtin(body, name)
            # The value of a variable may still change: the file is being walked.
            varies = name in module.assigned or name in module.ways
            if not varies and not self._is_unclear(known):
                self._named[module, name] = known
        return known

    def _builtin(self, body: Body, name: str) -> Value:
        """What a name means that the file does not bind as far as can be seen."""
        dotted, module, place = f"builtins.{name}", body.module, self.cuts.place
        if name in BUILTINS or name.startswith("__") or module.installed or body.has(name):
            return External(dotted)
        unbound = self.project.unbound(module, name)
        if unbound is None or place is None or place.body is not body:
            return External(dotted)
        return self._told(unbound, dotted)

    def _is_unclear(self, value: Value) -> bool:
        """True for what is noted each time, or is no name of Python's but may be noted yet."""
        if not isinstance(value, External):
            return False
        own = value.name.removeprefix("builtins.")
        return value.name in self._unclear or (own != value.name and own not in BUILTINS)

    def external(self, dotted: str, importer: ModuleInfo | None = None) -> Value:
        """The value of a dotted name: something of the project, or a library's."""
        key = (importer, dotted)
        known = self._resolved.get(key)
        if known is None:
            known = self._resolved[key] = self._resolve(dotted, importer) or External(dotted)
        return self._told(known, dotted) if isinstance(known, Unclear) else known

    def _told(self, unclear: Unclear, dotted: str) -> Value:
        """What has no certain meaning, each time that it is used: the place is noted."""
        unclear.cut()
        self._unclear.add(dotted)
        return External(dotted)

    def _resolve(self, dotted: str, importer: ModuleInfo | None) -> Value | Unclear | None:
        if dotted in torch_facts.INSTANCES:
            return Object(torch_facts.INSTANCES[dotted])
        if dotted.startswith(("torch.", "numpy.", "builtins.")):
            return None
        if dotted in TYPE_CHECKING_NAMES:
            return FALSE
        if dotted in VERSION_PARSERS:
            return None
        return self._meant(self.project.lookup(dotted, importer))

    def _meant(self, found: Meant) -> Value | Unclear | None:
        """The value of what the project calls by a name."""
        match found:
            case Unclear():
                return found
            case str() as dotted:
                return self.external(dotted)
            case FunctionInfo() as function:
                return Function(function)
            case ClassInfo() as cls:
                varies = cls.module.classes.get(cls.qualname) is cls and cls.name in cls.module.ways
                return (self.global_value(cls.module, cls.name) if varies else None) or Class(cls)
            case (ModuleInfo() as module, str() as name):
                return self.global_value(module, name)
        return None

    def module_env(self, module: ModuleInfo) -> Env:
        """A module's top-level variables, from walking its body once."""
        if module not in self._globals:
            self._globals[module] = {}
            self._globals[module] = self._walk_module(module)
        return self._globals[module]

    def _walk_module(self, module: ModuleInfo) -> Env:
        statements = module.tree.body
        if not statements:
            return {}
        frame = Frame(self, self.body(module, None), None, (), {}, statements[0])
        before, self.cuts.place = self.cuts.place, frame
        walk_block(frame, statements)
        self.cuts.place = before
        return frame.env

    def class_variables(self, cls: ClassInfo) -> dict[str, ast.stmt]:
        """The statements of a class body that bind or declare its attributes, by name."""
        if cls not in self._class_variables:
            found: dict[str, ast.stmt] = {}
            for item in cls.node.body:
                match item:
                    case (
                        ast.Assign(targets=[ast.Name(id=name)])
                        | ast.AnnAssign(target=ast.Name(id=name))
                    ):
                        found.setdefault(name, item)
            self._class_variables[cls] = found
        return self._class_variables[cls]

    def record_attribute(
        self, cls: ClassInfo, name: str, value: Value, *, initial: bool = False
    ) -> None:
        """Remember what a method assigns to ``self.name``; ``initial`` in ``__init__``."""
        self.written.append((cls, name, value))
        attributes = self.attributes.setdefault(cls, {})
        known = attributes.get(name)
        if known is None:
            attributes[name] = value
        else:
            attributes[name] = _rewritten(value, known) if initial else _rewritten(known, value)

    def add_root(self, root: Root) -> None:
        """Remember a region's start; one that is walked may compile itself again and again."""
        if root not in self._rooted:
            self._rooted.add(root)
            self.roots.append(root)

    def observe(self, function: FunctionInfo, env: Env, *, eager: bool = False) -> None:
        """Remember the arguments that a call passes, for analysing the function as a root."""
        seen = (self.given if eager else self.observed).setdefault(function, {})
        for name, value in env.items():
            seen[name] = join((seen[name], value)) if name in seen else value

    def note_loop(self, frame: Frame, function: FunctionInfo) -> None:
        """Remember that a loop of eager code calls a function."""
        if frame.facts.loops:
            loop = frame.link(frame.facts.loops[-1].lineno)
            self.seen.looped.setdefault(function, {})[loop] = None

    def finish(self) -> list[Event]:
        """All events, with the optimizers' stories now complete."""
        for optimizer in self.optimizers.values():
            event = OptimizerInit(
                node=optimizer.call,
                site=optimizer.site,
                optimizer=optimizer.name,
                call=optimizer.call,
                lr=optimizer.lr,
                lr_value=optimizer.lr_value,
                keywords=optimizer.keywords,
                compiled_step=optimizer.compiled_step,
                lr_changes=tuple(optimizer.lr_changes.values()),
            )
            self.events[OptimizerInit, optimizer.call] = event
        for call, needs in self.needs.items():
            known = self.events.get((NumpyCall, call))
            if call in self.drawn:
                self._tell_drawn(call, [*needs.values()])
            elif isinstance(known, NumpyCall):
                self.events[NumpyCall, call] = NumpyCall(
                    node=call, site=known.site, function=known.function, call=call,
                    arguments=known.arguments, needs=tuple(needs.values()),
                )  # fmt: skip
        return list(self.events.values())

    def _tell_drawn(self, call: ast.Call, needs: list[NumberNeeded]) -> None:
        """Report where Python first needs a number that was drawn, unless it decides there."""
        first = needs[0]
        if first.why not in ("truth", "not") and DrawnNumberNeeded in self.wanted:
            self.events[DrawnNumberNeeded, first.use] = DrawnNumberNeeded(
                node=first.use, site=first.site, function=self.drawn[call], call=call,
                needs=tuple(needs),
            )  # fmt: skip


_READS: Final = frozenset({ArrayRead, DynamicShape, HostRead, TensorBranch})
"""What needs a tensor's or an array's data on the host."""


def _says_more(frame: Frame, fields: Mapping[str, object], known: Event) -> bool:
    """True for an event on paths of which more are taken than of the one that is known."""
    reach, before = frame.facts.reach, known.site.facts.reach
    if reach is not before and reach.rank != before.rank:
        return reach.rank < before.rank
    return isinstance(known, HostRead) and known.sometimes and not fields.get("sometimes", False)


def _is_quiet(quiet: frozenset[str], name: str, fields: dict[str, object]) -> bool:
    """True for an event that is silenced altogether, or in the way that it comes about."""
    return name in quiet or f"{name}.{fields.get('via') or fields.get('kind')}" in quiet


def _rewritten(first: Value, later: Value) -> Value:
    """An attribute that is set again; a flag that is made off stays off unless somebody asks."""
    made_off = isinstance(first, Static) and (first == FALSE or first.default_off)
    if made_off and isinstance(later, Static) and later.type == "bool":
        return first if first == later else Static("bool", default=False)
    return join((first, later))
