"""Read one parsed file's names: imports, functions, classes, top-level assignments."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from tclint.semantics.symbols import ClassInfo, FunctionInfo, ModuleInfo
from tclint.semantics.syntax import ATTRIBUTE, NAME, add_children, children, nodes
from tclint.source.file import SourceFile
from tclint.torch_facts.lifetimes import lifetimes
from tclint.torch_facts.numpy_functions import ARRAYS, POINTWISE, SCALARS
from tclint.torch_facts.starred import BUILTINS, OF_PYTHON, brings

# Python 3.10 has no ``except*``.
TRIES: Final[tuple[type[ast.Try], ...]] = (ast.Try, getattr(ast, "TryStar", ast.Try))
_FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef)
# Where compiled code runs these can be imported: what stands in for them is for other places.
PRESENT: Final = frozenset({"torch", "numpy", *sys.stdlib_module_names})


def collect_module(
    name: str, file: SourceFile, tree: ast.Module, *, installed: bool = False
) -> ModuleInfo:
    """Make the module's symbol table; function bodies are searched for imports only."""
    module = ModuleInfo(name, file, tree, installed=installed)
    _collect(module)
    return module


def take_over(module: ModuleInfo, given: dict[str, dict[str, str]]) -> None:
    """Make the symbol table anew, with what stars give as if it were imported by name."""
    module.given.update(given)
    for cls in module.classes.values():
        cls.methods.clear()  # a circle that nobody would cut
    for table in (module.imports, module.functions, module.classes, module.assigned, module.ways):
        table.clear()
    for names in (module.imported, module.typed, module.rebound, module.mixed):
        names.clear()
    module.stars.clear()
    module.bindings.clear()
    _collect(module)


def _collect(module: ModuleInfo) -> None:
    tree = module.tree
    again: set[str] = set()
    for node in _statements(tree.body):
        match node:
            case ast.Import() | ast.ImportFrom():
                _bind_import(module, node)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                again |= {node.name} & module.functions.keys()
                module.functions[node.name] = function_info(module, node, "", None)
            case ast.ClassDef():
                again |= {node.name} & module.classes.keys()
                _add_class(module, class_info(module, node, ""))
            case ast.Assign(targets=targets, value=value):
                module.assigned.update(_assigned(targets, value))
            case ast.AnnAssign(target=ast.Name(id=target), value=ast.expr() as value):
                module.assigned[target] = value
    module.imported.update(_local_names(module, tree.body))
    module.typed.update(_for_types(module, tree.body))
    module.rebound.update(_rebound(module, tree.body))
    module.mixed.update(_mixed(module))
    module.ways.update(_ways(module, again))


def _ways(
    module: ModuleInfo, names: Iterable[str]
) -> Iterator[tuple[str, dict[ast.AST, FunctionInfo | ClassInfo]]]:
    """The functions or classes of one name that may be the last one, by their syntax."""
    for name in names:
        made: dict[ast.AST, FunctionInfo | ClassInfo] = {}
        for node in _last_ones(module.tree.body, name):
            known = (module.functions if isinstance(node, _FUNCTIONS) else module.classes).get(name)
            if known is not None and node is known.node:
                made[node] = known
            elif isinstance(node, ast.ClassDef):
                made[node] = class_info(module, node, "")
            else:
                made[node] = function_info(module, node, "", None)
        if len(made) > 1 and len({*map(type, made.values())}) == 1:
            yield name, made


def _last_ones(
    body: Sequence[ast.stmt], name: str
) -> list[ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef]:
    """The definitions of a name that a scope may end with: the last sure one and those behind."""
    made = [
        node
        for node in _statements(body)
        if isinstance(node, (*_FUNCTIONS, ast.ClassDef)) and node.name == name
    ]
    sure = max((node.lineno for node in made if node in body), default=0)
    return [node for node in made if node.lineno >= sure]


def meaning_several(module: ModuleInfo) -> frozenset[str]:
    """The names that more than one statement gives a meaning, or that a function may change."""
    found, known = {*module.declared}, dict[str, object]()
    for node in _statements(module.tree.body):
        for name, meaning in _meanings(module, node):
            if known.setdefault(name, meaning) != meaning:
                found.add(name)
    return frozenset(found)


def _meanings(module: ModuleInfo, node: ast.stmt) -> Iterator[tuple[str, object]]:
    match node:
        case ast.Import() | ast.ImportFrom():
            yield from local_imports(module, node)
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name, node
        case ast.Assign(targets=targets):
            for part in (inner for target in targets for inner in ast.walk(target)):
                if isinstance(part, ast.Name):
                    yield part.id, node
        case ast.AnnAssign(target=ast.Name(id=name)):
            yield name, node


def made_above(module: ModuleInfo) -> list[str]:
    """The functions and classes of a file that a star below them may take the place of."""
    below = [n.lineno for n in module.tree.body if isinstance(n, ast.ImportFrom) and _is_star(n)]
    line = max(below, default=0)
    functions = [name for name, one in module.functions.items() if one.node.lineno < line]
    return functions + [name for name, one in module.classes.items() if one.node.lineno < line]


def _is_star(node: ast.ImportFrom) -> bool:
    return node.names[0].name == "*"


def last_bound(module: ModuleInfo, name: str) -> int:
    """The line of the last statement of a file that binds a name; 0 where none does."""
    bound = [n.lineno for n in _statements(module.tree.body) if _binds(module, n, name)]
    return max(bound, default=0)


def modules_above(module: ModuleInfo, line: int) -> Iterator[str]:
    """What the top level imports down to a line, each as a module that it may be."""
    for node in module.tree.body:
        if isinstance(node, (ast.Import, ast.ImportFrom)) and node.lineno <= line:
            if isinstance(node, ast.ImportFrom):
                yield _source(module, node)
                yield from (f"{_source(module, node)}.{alias.name}" for alias in node.names)
            else:
                yield from (alias.name for alias in node.names)


def listed(module: ModuleInfo) -> frozenset[str] | None:
    """The names in ``__all__``; None without one, or with one that is not spelt out."""
    uses = module.file.text.count("__all__")
    given = [*filter(None, map(_listed_by, _statements(module.tree.body)))] if uses else []
    if given and uses > len(given):  # some may be in comments
        names = (node for node in nodes(module.tree) if isinstance(node, NAME))
        uses = sum(name.id == "__all__" for name in names)
    return frozenset().union(*given) if given and uses == len(given) else None


def _listed_by(statement: ast.stmt) -> list[str]:
    """The texts that a statement puts into ``__all__``, if it holds nothing else."""
    match statement:
        case (
            ast.Assign(targets=[ast.Name(id="__all__")], value=ast.List(parts) | ast.Tuple(parts))
            | ast.AugAssign(ast.Name(id="__all__"), value=ast.List(parts) | ast.Tuple(parts))
            | ast.AnnAssign(ast.Name(id="__all__"), value=ast.List(parts) | ast.Tuple(parts))
        ):
            texts = [part.value for part in parts if isinstance(part, ast.Constant)]
            spelt = [text for text in texts if isinstance(text, str)]
            return spelt if len(spelt) == len(parts) else []
    return []


def bindings(module: ModuleInfo, scope: ast.AST) -> dict[str, str | None]:
    """The names that a scope binds anywhere, those inside of it too, with what imports give them.

    None stands for anything that is no import. What the functions and classes of a file bind is
    left out of its top level.
    """
    known = module.bindings.get(scope)
    if known is None:
        known = module.bindings[scope] = {}
        for name, dotted in _bindings(module, scope):
            known[name] = dotted if known.get(name, dotted) == dotted else None
    return known


def _bindings(module: ModuleInfo, scope: ast.AST) -> Iterator[tuple[str, str | None]]:
    pending = children(scope)
    for node in pending:  # grows while it is walked
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()) | ast.arg(arg=name):
                yield name, None
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name, None
            case ast.ClassDef(name=name) | ast.ExceptHandler(name=str() as name):
                yield name, None
            case ast.MatchAs(name=str() as name) | ast.MatchStar(name=str() as name):
                yield name, None
            case ast.MatchMapping(rest=str() as name):
                yield name, None
            case ast.Import() | ast.ImportFrom():
                yield from local_imports(module, node)
        if not (isinstance(scope, ast.Module) and isinstance(node, _SCOPES)):
            add_children(node, pending)


_SCOPES: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


def _add_class(module: ModuleInfo, cls: ClassInfo) -> None:
    """Take in a class and those inside of it, in the place of one that has its name."""
    for name in [*module.classes] if cls.qualname in module.classes else ():
        if f"{name}.".startswith(f"{cls.qualname}."):
            module.classes.pop(name).methods.clear()  # a circle that nobody would cut
    module.classes.update({one.qualname: one for one in with_inner(cls)})


def with_inner(cls: ClassInfo) -> Iterator[ClassInfo]:
    """A class and those in its body."""
    yield cls
    for inner in cls.classes.values():
        yield from with_inner(inner)


def _assigned(targets: Iterable[ast.expr], value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """The names that an assignment binds, each with the expression that it gets."""
    for target in targets:
        match target, value:
            case ast.Name(id=name), _:
                yield name, value
            case ast.Tuple(elts=names), ast.Tuple(elts=values) if len(names) == len(values):
                for one, given in zip(names, values, strict=True):
                    yield from _assigned([one], given)


def _local_names(module: ModuleInfo, statements: Iterable[ast.stmt]) -> Iterator[str]:
    for node in statements:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield from (local for local, _ in local_imports(module, node))


def _rebound(module: ModuleInfo, body: Iterable[ast.stmt]) -> set[str]:
    """The imported names that the top level gives another meaning, whatever happens."""
    found: set[str] = set()
    for node in body:
        match node:
            case ast.Import() | ast.ImportFrom():
                found -= {local for local, _ in local_imports(module, node)}
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                found.add(name)
            case ast.ClassDef(name=name):
                found.add(name)
            case ast.Assign(targets=targets):
                found |= {target.id for target in targets if isinstance(target, ast.Name)}
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr()):
                found.add(name)
    return found & {*module.imports}


def _mixed(module: ModuleInfo) -> Iterator[str]:
    """The functions and classes that an import may take the place of: it stands below, or beside.

    As in ``try: from fast import f`` with a ``def f`` in its ``except``.
    """
    made = module.functions.keys() | module.classes.keys()
    both = made & module.imports.keys()
    types = _below_types(module.tree.body) if both else []
    for name in both:
        last = [node for node in _statements(module.tree.body) if _binds(module, node, name)]
        last = [node for node in last if node not in types]
        last.sort(key=lambda node: node.lineno)
        sure = [node for node in last if node in module.tree.body][-1:]
        below = last[last.index(sure[0]) :] if sure else last
        if any(isinstance(node, (ast.Import, ast.ImportFrom)) for node in below):
            yield name


def _binds(module: ModuleInfo, node: ast.stmt, name: str) -> bool:
    return any(name == one for one, _ in _meanings(module, node))


def imports_first(module: ModuleInfo, name: str) -> bool:
    """True where a name is imported unless that fails: by the body of a ``try``, or whatever."""
    for node in _statements(module.tree.body):
        block = node.body if isinstance(node, TRIES) else module.tree.body
        imports = (one for one in block if isinstance(one, (ast.Import, ast.ImportFrom)))
        if any(_binds(module, one, name) for one in imports):
            return True
    return False


def _for_types(module: ModuleInfo, body: Iterable[ast.stmt]) -> set[str]:
    """The names that imports bind below ``if TYPE_CHECKING`` and nowhere else."""
    inner = _below_types(body)
    if not inner:
        return set()
    others = [node for node in _statements(body) if node not in inner]
    return {*_local_names(module, inner)} - {*_local_names(module, others)}


def _below_types(body: Iterable[ast.stmt]) -> list[ast.stmt]:
    """The statements below ``if TYPE_CHECKING``."""
    blocks = [node for node in body if isinstance(node, ast.If) and _asks_for_types(node.test)]
    return [statement for block in blocks for statement in _statements(block.body)]


def _asks_for_types(test: ast.expr) -> bool:
    match test:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name == "TYPE_CHECKING"
    return False


_OF_NUMPY: Final = ARRAYS | SCALARS | POINTWISE


def local_imports(
    module: ModuleInfo, node: ast.Import | ast.ImportFrom
) -> Iterator[tuple[str, str]]:
    """The (local name, dotted name) pairs that an import statement binds."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            if alias.asname:
                yield alias.asname, alias.name
            else:
                top = alias.name.partition(".")[0]
                yield top, top
        return
    base = _source(module, node)
    for alias in node.names:
        if alias.name != "*":
            whole = f"{base}.{alias.name}" if base else alias.name
            yield alias.asname or alias.name, module.given.get(base, {}).get(alias.name, whole)
        elif base in module.given:
            yield from module.given[base].items()
        elif base.partition(".")[0] in ("numpy", "torch") or base in OF_PYTHON:
            yield from ((name, f"{base}.{name}") for name in _starred(module, node, base))


def _starred(module: ModuleInfo, star: ast.ImportFrom, base: str) -> Iterator[str]:
    """The variables of a file that a star of a known library gives, and no other import."""
    later = [other for other in _later_stars(module, star) if other not in module.given]
    for name in {one.id: None for one in nodes(module.tree) if isinstance(one, NAME)}:
        if not is_known(base, name) or any(_may_give(other, name, base) for other in later):
            continue
        if module.imports.get(name, f"{base}.{name}") == f"{base}.{name}":
            yield name


def is_known(base: str, name: str) -> bool:
    """True for what a module of torch's has, or numpy, or one of Python's."""
    if base in OF_PYTHON:
        return name in OF_PYTHON[base]
    if base == "numpy":
        return name in _OF_NUMPY or bool(brings(base, name))
    of_torch = base.partition(".")[0] == "torch" and not name.startswith("_")
    return of_torch and f"{base}.{name}".removeprefix("torch.") in lifetimes("names")


def _later_stars(module: ModuleInfo, star: ast.ImportFrom) -> list[str]:
    """The modules whose names may take the place of those that a star gives."""
    body = module.tree.body
    later = body[body.index(star) + 1 :] if star in body else body
    stars = (one for one in later if isinstance(one, ast.ImportFrom) and _is_star(one))
    return [_source(module, one) for one in stars]


def _may_give(star: str, name: str, base: str) -> bool:
    """True where a later star may give a name that an earlier one of ``base`` has."""
    if star.partition(".")[0] == "torch":  # its modules have the same functions
        return base.partition(".")[0] != "torch" and is_known(star, name)
    if star in OF_PYTHON:
        return name in OF_PYTHON[star]
    return name not in BUILTINS or brings(star, name) is not False


Naming = Callable[[ModuleInfo, ast.expr], "ClassInfo | str | None"]
"""What an expression of names stands for: a class, or a dotted name."""


def function_info(
    module: ModuleInfo,
    node: ast.FunctionDef | ast.AsyncFunctionDef,
    prefix: str,
    cls: ClassInfo | None,
    naming: Naming | None = None,
) -> FunctionInfo:
    """Describe a function; decorators are kept as the dotted names that they resolve to."""
    decorators = [d.func if isinstance(d, ast.Call) else d for d in node.decorator_list]
    names = [(naming or dotted_name)(module, decorator) for decorator in decorators]
    known = tuple(name for name in names if isinstance(name, str))
    return FunctionInfo(module, f"{prefix}{node.name}", node, cls, known)


def decorator_name(module: ModuleInfo, node: ast.expr) -> str | None:
    """The dotted name of a decorator, called or not."""
    return dotted_name(module, node.func if isinstance(node, ast.Call) else node)


def dotted_name(module: ModuleInfo, node: ast.expr) -> str | None:
    """Resolve ``a.b.c`` through the module's imports; None for anything but names."""
    parts = ""
    while isinstance(node, ATTRIBUTE):
        parts = f".{node.attr}{parts}"
        node = node.value
    if not isinstance(node, NAME):
        return None
    name = node.id
    return f"{module.imports.get(name, name)}{parts}"


def class_info(
    module: ModuleInfo, node: ast.ClassDef, prefix: str, naming: Naming | None = None
) -> ClassInfo:
    """Describe a class, its own methods and the classes inside of it.

    One in a function is told by ``naming`` what names mean there.
    """
    meant = tuple(naming(module, base) for base in node.bases) if naming else ()
    info = ClassInfo(module, f"{prefix}{node.name}", node, tuple(node.bases), meant)
    inside = f"{info.qualname}."
    for item in _statements(node.body):
        match item:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                made = function_info(module, item, inside, info, naming)
                name = f"{item.name}{_access(item)}"
                if name in info.methods:
                    info.others.setdefault(name, []).append(info.methods[name])
                info.methods[name] = made
            case ast.ClassDef():
                info.classes[item.name] = class_info(module, item, inside, naming)
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                info.methods.update(_methods_under(info, name, value))
    for name in [*info.others]:
        left = _last_ones(node.body, name)
        info.others[name] = [one for one in info.others[name] if one.node in left]
    return info


def _methods_under(
    cls: ClassInfo, name: str, value: ast.expr
) -> Iterator[tuple[str, FunctionInfo]]:
    """The methods that ``name = function`` or ``name = property(get, set)`` makes in a class."""
    match value:
        case ast.Call(func=ast.Name(id="property"), args=accessors) if accessors:
            for access, accessor in zip(("", SETTER, DELETER), accessors, strict=False):
                yield from _method_under(cls, f"{name}{access}", accessor, "property")
        case ast.Call(func=ast.Name(id="staticmethod" | "classmethod" as kind), args=[given]):
            yield from _method_under(cls, name, given, kind)
        case ast.Name() | ast.Lambda():
            yield from _method_under(cls, name, value, "")


def _method_under(
    cls: ClassInfo, name: str, value: ast.expr, kind: str
) -> Iterator[tuple[str, FunctionInfo]]:
    qualname = f"{cls.qualname}.{name.partition('.')[0]}"
    decorators = (kind,) if kind else ()
    if isinstance(value, ast.Lambda):
        yield name, FunctionInfo(cls.module, qualname, value, cls, decorators)
    if not isinstance(value, ast.Name):
        return
    known = cls.methods.get(value.id) or cls.module.functions.get(value.id)
    if known is not None:
        decorators = (*decorators, *known.decorators)
        yield name, FunctionInfo(cls.module, qualname, known.node, cls, decorators)


SETTER: Final = ".setter"
DELETER: Final = ".deleter"


def _access(node: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    """What tells the setter or deleter of a property from its getter, whose name they have."""
    for one in node.decorator_list:
        if isinstance(one, ast.Attribute) and one.attr in ("setter", "deleter"):
            return f".{one.attr}"
    return ""


def _statements(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of a scope, looking into blocks but not into functions.

    The ``else`` of ``if TYPE_CHECKING`` and import fall-backs come later, so the usual branch wins.
    """
    pending = [*reversed([*body])]
    while pending:
        node = pending.pop()
        yield node
        pending += reversed(_inner(node))


def _inner(node: ast.stmt) -> list[ast.stmt]:
    if isinstance(node, ast.If):
        return [*node.orelse, *node.body]
    if isinstance(node, TRIES):
        handlers = [] if succeeds(node.body) else node.handlers
        handled = [inner for handler in handlers for inner in handler.body]
        return [*handled, *node.body, *node.orelse, *node.finalbody]
    if isinstance(node, (ast.For, ast.While)):
        return [*node.body, *node.orelse]
    return node.body if isinstance(node, ast.With) else []


def succeeds(body: Iterable[ast.stmt]) -> bool:
    """True for a block of ``try`` that does not fail where compiled code runs.

    It imports what is there, and takes note of that.
    """
    imports = [node for node in body if isinstance(node, (ast.Import, ast.ImportFrom))]
    return bool(imports) and all(
        all(map(is_present, imported_modules(node)))
        if isinstance(node, (ast.Import, ast.ImportFrom))
        else isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
        for node in body
    )


def is_present(dotted: str) -> bool:
    """True for a module that can be imported wherever compiled code runs, and for what it holds."""
    return dotted.partition(".")[0] in PRESENT


def imported_modules(node: ast.Import | ast.ImportFrom) -> list[str]:
    """The modules that an import statement names; empty texts for those beside the file."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return ["" if node.level else node.module or ""]


def _bind_import(module: ModuleInfo, node: ast.Import | ast.ImportFrom) -> None:
    for local, target in local_imports(module, node):
        module.imports[local] = target
        if is_present(target):
            module.assigned.pop(local, None)
    if isinstance(node, ast.ImportFrom) and _is_star(node):
        module.stars.append(_source(module, node))


def _source(module: ModuleInfo, node: ast.ImportFrom) -> str:
    """The dotted name of the module that ``from ... import`` names."""
    if not node.level:
        return node.module or ""
    package = module.name.split(".")[: None if module.is_package else -1]
    kept = package[: len(package) - (node.level - 1)] if node.level > 1 else package
    return ".".join([*kept, *([node.module] if node.module else [])])
