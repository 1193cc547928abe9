"""Analyse a project: find where regions start, walk them, hand back the events."""

from __future__ import annotations

import ast
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import Final

from tclint.config import Config
from tclint.regexes import regex
from tclint.semantics import setup_words
from tclint.semantics.body import Body
from tclint.semantics.bounds import Bound
from tclint.semantics.events import Event
from tclint.semantics.interpreter import calls, indexing, loops  # noqa: F401 (register handlers)
from tclint.semantics.interpreter.analysis import Analysis, Deferred, Root
from tclint.semantics.interpreter.arguments import Arguments, bind
from tclint.semantics.interpreter.contexts import Contexts
from tclint.semantics.interpreter.decorated import start_decorated
from tclint.semantics.interpreter.frame import Env, Frame
from tclint.semantics.interpreter.functions import (
    attributes_of,
    root_env,
    walk_gradient,
    walk_wrappers,
)
from tclint.semantics.interpreter.hooked import after_forward, before_forward, hooks_of
from tclint.semantics.interpreter.memory import CALLS, NESTING, first_statement, walk, walk_once
from tclint.semantics.interpreter.method_roots import methods_of_compiled, methods_of_torch
from tclint.semantics.interpreter.not_traced import not_traced
from tclint.semantics.lattice import options
from tclint.semantics.places import report_places
from tclint.semantics.project import Project
from tclint.semantics.site import Region
from tclint.semantics.symbols import ClassInfo, FunctionInfo, FunctionNode, ModuleInfo, ways_of
from tclint.semantics.syntax import last_name, nodes
from tclint.semantics.trace import Trace
from tclint.semantics.values import (
    UNKNOWN,
    Class,
    Compiled,
    Function,
    Mapping,
    Object,
    Tensor,
    Value,
)
from tclint.source.file import SourceFile
from tclint.torch_facts.compiling import COMPILE

AGAIN: Final = Bound(8, "walks to find what is kept in attributes")
DEEPER: Final = Bound(256, "walks to follow deep calls")
_DEFINITIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef)
# A pattern that starts with a line's end is found much faster than one that starts a line.
_INDENTED_CLASS: Final = regex(r"\n[ \t]+(?P<word>class)\s")
# What is called, read backwards: names begin at a bracket then, of which there are few.
_CALLED_BACKWARDS: Final = regex(r"\((\w*[A-Z])")


def analyse(
    project: Project, paths: Iterable[Path], config: Config, wanted: Iterable[type[Event]]
) -> list[Event]:
    """The events in the given files of a project, of the types that rules ask for."""
    return interpret(project, paths, config, wanted).finish()


def interpret(
    project: Project,
    paths: Iterable[Path],
    config: Config,
    wanted: Iterable[type[Event]],
    trace: Trace | None = None,
    only: dict[Path, frozenset[str]] | None = None,
) -> Analysis:
    """Walk everything in the given files that counts as compiled.

    Of files in ``only`` nothing starts a region but the definitions that it names.
    """
    analysis = Analysis(project, config.settings, wanted, trace, only)
    modules = [module for path in paths if (module := project.module_at(path)) is not None]
    for module in modules:
        with _as_far_as_it_goes(analysis):
            _walk_setup(analysis, module)
        analysis.unfinished.clear()
        if module.file.path not in analysis.only:
            report_places(analysis, module)
    walked: list[Root] = []
    for root in _roots(analysis, modules, config):
        if not root.region.explicit:
            analysis.seen.assumed.append(root)
        _walk_whole(analysis, root)
        walked.append(root)
    _walk_again(analysis, walked)
    if not all(analysis.seen.compiles.values()):  # it may come from what is not followed
        analysis.cuts.note(CALLS, analysis.cuts.too_deep)
    return analysis


@contextmanager
def _as_far_as_it_goes(analysis: Analysis) -> Iterator[None]:
    """Like a function, what nests too deeply is left out, and said so."""
    try:
        yield
    except RecursionError:
        NESTING.cut()
    finally:
        analysis.cuts.place = None


def _walk_whole(analysis: Analysis, root: Root) -> None:
    """Walk a root until all is walked that it calls, however deep."""
    _walk_root(analysis, root)
    if not analysis.unfinished:
        return
    pending: list[Deferred] = [(root.function.info, partial(_walk_root, analysis, root))]
    before: list[tuple[Body, dict[ast.AST, Value]]] = []
    for _ in range(DEEPER.most):
        before += analysis.forget(analysis.unfinished)
        analysis.unfinished.clear()
        info, again = pending[-1]
        again()
        if analysis.deferred:  # they come first, and what called them is walked again
            analysis.waiting.add(info)
            pending += analysis.deferred
            analysis.deferred.clear()
        elif not analysis.unfinished:
            analysis.waiting.discard(info)
            pending.pop()
        if not pending:
            break
    else:
        analysis.cuts.place = _top(analysis, root)
        DEEPER.cut()
    analysis.unfinished.clear()
    analysis.waiting.clear()
    _take_back(before)


def _roots(analysis: Analysis, modules: list[ModuleInfo], config: Config) -> Iterator[Root]:
    """Where compiled code starts; what is walked first tells what is passed to the others."""
    yield from analysis.roots
    if config.compiled:
        yield from _configured(analysis, modules, config.compiled)
    if config.scope in ("modules", "all"):
        yield from _module_roots(analysis, modules)
        classes = (cls for module in modules for cls in _every_class(analysis, module))
        yield from methods_of_torch(analysis, modules, classes)
        yield from methods_of_compiled(analysis)
    if config.scope == "all":
        yield from _all_functions(analysis, modules)


def _walk_again(analysis: Analysis, walked: list[Root]) -> None:
    """Walk again what read an attribute before a tensor or the like was found to be kept there.

    What calls it is walked again where it answers otherwise.
    """
    roots: dict[FunctionInfo, list[Root]] = {}
    for root in walked:
        roots.setdefault(root.function.info, []).append(root)
    for number in range(AGAIN.most + 1):
        stale = analysis.changes.outdated(analysis)
        order = analysis.changes.upwards(stale)
        if not stale:
            return
        if number == AGAIN.most:
            again = [root for info in order for root in roots.get(info, ())]
            analysis.cuts.place = _top(analysis, again[0]) if again else None
            AGAIN.cut()
            return
        before = _Before(analysis)
        before.forget(stale)
        for info in order:
            if info in before.contexts and before.answers_otherwise(info, roots.get(info, ())):
                before.forget(analysis.changes.callers.get(info, ()))
        _take_back(before.values)


class _Before:
    """What was known of functions that are walked again."""

    def __init__(self, analysis: Analysis) -> None:
        self._analysis: Final = analysis
        self.values: Final[list[tuple[Body, dict[ast.AST, Value]]]] = []
        self.contexts: Final[dict[FunctionInfo, list[Contexts]]] = {}

    def forget(self, functions: Iterable[FunctionInfo]) -> None:
        """Let go of what walks of functions gave, unless that was done."""
        new = [info for info in functions if info not in self.contexts]
        for info in new:
            known = self._analysis.memory.get(info, {})
            self.contexts[info] = [one for kind, one in known.items() if isinstance(kind, tuple)]
        self.values.extend(self._analysis.forget(new))

    def answers_otherwise(self, info: FunctionInfo, roots: Iterable[Root]) -> bool:
        """Walk a function as it was walked; whether that comes to something else for a caller."""
        analysis, otherwise = self._analysis, False
        left = _left_by(analysis, info)
        for root in roots:
            _walk_root(analysis, root)
        for contexts in self.contexts[info]:
            for given, again in contexts.walked:
                if again is not None:  # no root
                    now: Value | None = None
                    with _as_far_as_it_goes(analysis):
                        now = again()
                    known = contexts.get(given), contexts.filled(given)
                    otherwise = otherwise or (now, analysis.filled) != known
        return otherwise or left != _left_by(analysis, info)


def _left_by(analysis: Analysis, info: FunctionInfo) -> tuple[int, bool]:
    """What a call of a function makes its caller forget."""
    return len(analysis.changes.written.get(info, ())), info in analysis.reshaping


def _take_back(before: list[tuple[Body, dict[ast.AST, Value]]]) -> None:
    """What is not walked again is as it was."""
    for body, values in before:
        body.values = {**values, **body.values}


def _top(analysis: Analysis, root: Root) -> Frame:
    """A frame in front of a root."""
    info = root.function.info
    body = analysis.body(info.module, info, compiled=True)
    return Frame(analysis, body, root.region, (), {}, first_statement(info.node))


def _walk_root(analysis: Analysis, root: Root) -> None:
    info = root.function.info
    if analysis.trace is not None:
        analysis.trace.started(info, root.place)
    if not_traced(analysis, info):
        return
    analysis.cuts.place = _top(analysis, root)
    with _as_far_as_it_goes(analysis):
        _walk_region(analysis, root)


def _walk_region(analysis: Analysis, root: Root) -> None:
    function, region = root.function, root.region
    info = function.info
    if info.name == "forward" and info.cls is not None:
        attributes_of(analysis, info.cls)  # which layers it calls says what its inputs are
    env = root_env(analysis, root)
    owner = function.bound or UNKNOWN
    hooks = hooks_of(analysis, owner) if info.name == "forward" else []
    if isinstance(info.node, ast.Lambda) or not (hooks or info.decorators):
        walk_once(analysis, info, env, region)
        return
    passed = _passed(analysis, function, env)  # before the function binds its parameters anew
    body = analysis.body(info.module, info, compiled=True)
    top = Frame(analysis, body, region, (), {}, info.node)
    given = before_forward(top, hooks, owner, passed)
    env = env if given is passed else bind(analysis, function, given)
    result = walk_once(analysis, info, env, region)
    walk_gradient(top, function, passed, info.node, result)
    walk_wrappers(top, function, passed, (), result)
    after_forward(top, hooks, owner, given, result)


def _passed(analysis: Analysis, function: Function, env: Env) -> Arguments:
    """A call that gives a root's parameters their values."""
    names = [argument.arg for argument, _ in analysis.parameters(function.info.node)]
    by_name = {argument.arg for argument in function.info.node.args.kwonlyargs}
    positional = [env[name] for name in names if name not in by_name]
    skipped = 0 if function.bound is None else 1
    return Arguments(tuple(positional[skipped:]), {name: env[name] for name in by_name})


def _walk_setup(analysis: Analysis, module: ModuleInfo) -> None:
    rows = _setup_rows(module.file)
    if not rows:
        return
    analysis.module_env(module)
    for function in _functions(analysis, module):
        _report_decorators(analysis, module, function)
        if _covers(function.node, rows):
            walk(analysis, function, _setup_env(analysis, function), None)
    for cls in _classes(analysis, module):
        _report_decorators(analysis, module, cls)
    calling = _rows_of_calls(analysis, module)
    for function in _functions(analysis, module) if calling else ():
        node = function.node
        plain = function.cls is None and not function.decorators
        if plain and not _covers(node, rows) and _covers(node, calling):
            walk(analysis, function, _setup_env(analysis, function), None)


def _rows_of_calls(analysis: Analysis, module: ModuleInfo) -> list[int]:
    """The rows that may call what the file compiles: what they pass tells what it takes."""
    compiled = [
        name for name, value in analysis.module_env(module).items() if isinstance(value, Compiled)
    ]
    for function in module.functions.values():
        compiled += [function.name] if not COMPILE.isdisjoint(function.decorators) else []
    if not compiled:
        return []
    pattern = re.compile(rf"\b(?:{'|'.join(map(re.escape, compiled))})\(")
    file = module.file
    return sorted({file.row(found.start()) for found in pattern.finditer(file.text)})


def _setup_rows(file: SourceFile) -> list[int]:
    """The rows with a word of setting up, in order; comments set nothing up."""
    rows = sorted({file.row(place) for place in setup_words.places(file.text)})
    return [row for row in rows if not file.line(row).lstrip().startswith("#")]


def _covers(node: FunctionNode, rows: list[int]) -> bool:
    """True where one of the rows is in a function, and not in its docstring."""
    index = bisect_left(rows, node.lineno)
    end = bisect_right(rows, node.end_lineno or node.lineno)
    described = _docstring(node) if index < end else None
    if described is None:
        return index < end
    first, last = described.lineno, described.end_lineno or described.lineno
    return any(not first <= row <= last for row in rows[index:end])


def _docstring(node: FunctionNode) -> ast.Expr | None:
    match node.body:
        case [ast.Expr(value=ast.Constant(value=str())) as described, *_]:
            return described
    return None


def _setup_env(analysis: Analysis, function: FunctionInfo) -> Env:
    bound = _receiver(analysis, function.cls) if function.cls else None
    env = root_env(analysis, Root(Function(function, bound), Region("")))
    guessed = {name for name, value in env.items() if any(_assumed(v) for v in options(value))}
    return {name: (UNKNOWN if name in guessed else value) for name, value in env.items()}


def _assumed(value: Value) -> bool:
    if isinstance(value, Mapping):
        return _assumed(value.element)
    return isinstance(value, Tensor) and value.assumed


def _report_decorators(
    analysis: Analysis, module: ModuleInfo, target: FunctionInfo | ClassInfo
) -> None:
    node = target.node
    if isinstance(node, ast.Lambda) or not node.decorator_list:
        return
    frame = Frame(analysis, analysis.body(module, None), None, (), {}, node)
    for decorator in node.decorator_list:
        start_decorated(frame, decorator, _value(analysis, target))


def _value(analysis: Analysis, target: FunctionInfo | ClassInfo) -> Function | Class:
    if isinstance(target, ClassInfo):
        return Class(target)
    return Function(target, _receiver(analysis, target.cls) if target.cls else None)


def _receiver(analysis: Analysis, cls: ClassInfo) -> Object:
    return Object(cls.qualname, cls, is_module=analysis.project.is_module_class(cls))


def _classes(analysis: Analysis, module: ModuleInfo) -> list[ClassInfo]:
    """The classes of a file's top level that may start something."""
    names = analysis.only.get(module.file.path)
    found = [cls for name, cls in module.classes.items() if names is None or name in names]
    for name in module.ways if any(cls.name in module.ways for cls in found) else ():
        made = options(analysis.global_value(module, name) or UNKNOWN)
        found += [one.info for one in made if isinstance(one, Class) and one.info not in found]
    return found


def _every_class(analysis: Analysis, module: ModuleInfo) -> list[ClassInfo]:
    """The same, with those that walks found in functions."""
    return [*_classes(analysis, module), *analysis.classes_in_functions(module)]


def _functions(analysis: Analysis, module: ModuleInfo) -> Iterator[FunctionInfo]:
    names = analysis.only.get(module.file.path)
    for name, function in module.functions.items():
        if names is None or name in names:
            yield function
    for cls in _classes(analysis, module):
        yield from cls.methods.values()


def _configured(
    analysis: Analysis, modules: Iterable[ModuleInfo], patterns: tuple[str, ...]
) -> Iterator[Root]:
    for module in modules:
        for function, cls, names in _named(analysis, module):
            given = [f"{module.name}:{name}" for name in names]
            meant = [p for p in patterns if any(fnmatchcase(name, p) for name in given)]
            if meant:
                bound = _receiver(analysis, cls) if cls else None
                root = Root(Function(function, bound), Region(function.qualname, explicit=True))
                for pattern in meant:
                    analysis.seen.configured.setdefault(pattern, []).append(root)
                yield root


def _named(
    analysis: Analysis, module: ModuleInfo
) -> Iterator[tuple[FunctionInfo, ClassInfo | None, tuple[str, ...]]]:
    """What a file holds that a pattern may mean, with its names.

    A method has its own name as well, whichever class it is of; a class stands for its ``forward``.
    """
    for function in _functions(analysis, module):
        cls = function.cls
        names = (function.qualname, function.name)
        is_forward = cls is not None and function.name == "forward"
        yield function, cls, (*names, cls.qualname) if cls is not None and is_forward else names
    for cls in _classes(analysis, module):
        forward = analysis.project.method(cls, "forward")
        if forward is not None and "forward" not in cls.methods:
            yield forward, cls, (cls.qualname,)


def _module_roots(analysis: Analysis, modules: list[ModuleInfo]) -> Iterator[Root]:
    """Every module's ``forward``, outermost modules first so that calls tell the arguments."""
    for module in modules:
        with _as_far_as_it_goes(analysis):
            _walk_makers(analysis, module)
    classes = [
        cls
        for module in modules
        for cls in _every_class(analysis, module)
        if _is_callable_module(analysis, cls)
    ]
    for cls in _outermost_first(modules, classes):
        forward = analysis.project.method(cls, "forward")
        for one in ways_of(forward) if forward is not None else ():
            bound = Function(one, _receiver(analysis, cls))
            yield Root(bound, Region(f"{cls.qualname}.forward"))


def _walk_makers(analysis: Analysis, module: ModuleInfo) -> None:
    """Walk the functions that define classes: then it is known what surrounds these."""
    file = module.file
    rows = [file.row(found.start("word")) for found in _INDENTED_CLASS.finditer(file.text)]
    for function in _functions(analysis, module) if rows else ():
        if _covers(function.node, rows):
            inside = [node for node in nodes(function.node) if isinstance(node, ast.ClassDef)]
            for node in inside:
                _define(analysis, function, node)


def _define(analysis: Analysis, function: FunctionInfo, node: ast.ClassDef) -> None:
    """Walk to a class in a function, through those inside of it that nobody calls."""
    around = [outer for outer in nodes(function.node) if _contains(outer, node)]
    for scope in around if any(isinstance(item, _DEFINITIONS) for item in node.body) else ():
        if analysis.is_defined(node):
            return
        info = _found(analysis, function, scope)
        if info is not None:
            walk(analysis, info, _setup_env(analysis, info), None)


def _found(analysis: Analysis, function: FunctionInfo, scope: ast.AST) -> FunctionInfo | None:
    """The function with this syntax: itself, one inside of it, or a method of a class inside."""
    inside = analysis.classes_in_functions(function.module)
    methods = (method for cls in inside for method in cls.methods.values())
    known = (function, analysis.local_functions.get(scope), *methods)
    return next((one for one in known if one is not None and one.node is scope), None)


def _contains(outer: ast.AST, node: ast.ClassDef) -> bool:
    """Whether a function is around a class, by their rows."""
    if not isinstance(outer, _DEFINITIONS):
        return False
    return outer.lineno <= node.lineno <= (outer.end_lineno or outer.lineno)


def _is_callable_module(analysis: Analysis, cls: ClassInfo) -> bool:
    """True for modules with a ``forward``, or with changes to what an inherited one may call.

    What they make and hand to the ``__init__`` of a base is such a change, too.
    """
    project = analysis.project
    if "forward" not in cls.methods:
        if project.method(cls, "forward") is None:
            return False
        above = [base for base in project.ancestry(cls)[1:] if isinstance(base, ClassInfo)]
        complete = [base for base in above if project.method(base, "forward") is not None]
        otherwise = all(_runs_otherwise(project, [cls, *above], base) for base in complete)
        if not otherwise and not _hands_over(cls):
            return False
    return project.is_module_class(cls)


def _hands_over(cls: ClassInfo) -> bool:
    """Whether a class constructs what it hands to the ``__init__`` of a base."""
    own = cls.methods.get("__init__")
    if own is None:
        return False
    parts = nodes(own.node)
    made = {
        target.id
        for part in parts
        if isinstance(part, ast.Assign) and _constructs(part.value)
        for target in part.targets
        if isinstance(target, ast.Name)
    }
    return any(
        _constructs(argument) or (isinstance(argument, ast.Name) and argument.id in made)
        for call in parts
        if isinstance(call, ast.Call) and last_name(call.func) == "__init__"
        for argument in (*call.args, *(keyword.value for keyword in call.keywords))
    )


def _constructs(node: ast.expr) -> bool:
    """True for an expression with a call as of a class."""
    called = (part.func for part in nodes(node) if isinstance(part, ast.Call))
    return any(last_name(func)[:1].isupper() for func in called)


def _runs_otherwise(project: Project, classes: list[ClassInfo], base: ClassInfo) -> bool:
    """Whether a method that code of a base may call is another one in the class below it."""
    behind = project.ancestry(base)
    names = {name for one in classes if one not in behind for name in one.methods}
    for name in names - {"__init__"}:
        known = project.method(base, name)
        if project.method(classes[0], name) is not known and (
            known is not None or any(name in project.asked_of_self(one) for one in classes)
        ):
            return True
    return False


def _outermost_first(modules: list[ModuleInfo], classes: list[ClassInfo]) -> list[ClassInfo]:
    """The classes, each after those that construct it; a circle is cut anywhere.

    What a class constructs is told by its spelling, which is enough for an order. Classes that
    nothing constructs come first, then those that other code does, as a script.
    """
    found = {module: _capitalized_calls(module) for module in modules}
    called = {name for inside in found.values() for _, name in inside}
    named: dict[str, list[ClassInfo]] = {}
    for cls in classes:
        named.setdefault(cls.name, []).append(cls)

    def constructed(cls: ClassInfo) -> Iterator[ClassInfo]:
        node, inside = cls.node, found[cls.module]
        first = bisect_left(inside, (node.lineno, ""))
        last = bisect_left(inside, ((node.end_lineno or node.lineno) + 1, ""))
        for name in {name: None for _, name in inside[first:last]}:
            meant = named.get(name, ())
            yield from [one for one in meant if one.module is cls.module] or meant

    innermost_first: dict[ClassInfo, None] = {}
    entered: set[ClassInfo] = set()
    pending = sorted(classes, key=lambda cls: cls.name in called)
    while pending:
        cls = pending[-1]
        if cls in entered:  # and so is all that it constructs
            innermost_first.setdefault(pending.pop())
        else:
            entered.add(cls)
            pending += [inner for inner in constructed(cls) if inner not in entered]
    return list(reversed(innermost_first))


def _capitalized_calls(module: ModuleInfo) -> list[tuple[int, str]]:
    """The rows and names of calls as of a class, in order."""
    text = module.file.text
    defined = {(cls.node.lineno, cls.name) for cls in module.classes.values()}
    found = (
        (module.file.row(len(text) - match.end()), match[1][::-1])
        for match in _CALLED_BACKWARDS.finditer(text[::-1])
    )
    return sorted(call for call in found if call not in defined)


def _all_functions(analysis: Analysis, modules: Iterable[ModuleInfo]) -> Iterator[Root]:
    for module in modules:
        for function in _functions(analysis, module):
            if function not in analysis.visited and function.name != "__init__":
                bound = _receiver(analysis, function.cls) if function.cls else None
                yield Root(Function(function, bound), Region(function.qualname))
