"""What attributes and variables may be later on: what compiled code, or code around it, rewrites.

Dynamo compiles a branch when it is taken. A counter that ``__init__`` sets to zero is any number
in ``forward`` if anything writes to it, so a branch on it goes both ways. What nothing writes to
stays the constant that it was made as.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from tclint.semantics.interpreter import operators
from tclint.semantics.interpreter.stores import ANY_KEY, Around, Store, Stores
from tclint.semantics.lattice import join, options, same
from tclint.semantics.syntax import CONSTANT, NAME
from tclint.semantics.values import (
    FALSE,
    NONE,
    STATIC,
    UNKNOWN,
    Class,
    Compiled,
    DataScalar,
    Guess,
    Mapping,
    NDArray,
    NumpyScalar,
    Object,
    Sequence,
    Static,
    Tensor,
    Union,
    Unknown,
    Value,
    constant,
)

if TYPE_CHECKING:
    from tclint.semantics.interpreter.analysis import Analysis
    from tclint.semantics.interpreter.frame import Frame
    from tclint.semantics.site import Region
    from tclint.semantics.symbols import ClassInfo, FunctionInfo, ModuleInfo

Place = tuple["ClassInfo | ast.AST", str]
"""A class and an attribute, or a function or file and a variable."""


class Stored:
    """What the walks so far saw a place write, and to what; ``compiled`` if in compiled code."""

    __slots__ = ("compiled", "owner", "reads", "value")

    def __init__(self) -> None:
        self.value: Value | None = None
        self.owner: Value = UNKNOWN
        self.compiled = False
        self.reads: dict[Read, None] = {}


class Read:
    """What something of the value ``made`` was found to be later on, and by which functions.

    ``found`` is None where that has to be asked anew.
    """

    __slots__ = ("_readers", "_unsure", "cls", "found", "made", "place")

    def __init__(self, place: Place, made: Value, cls: ClassInfo | None) -> None:
        self.place: Final = place
        self.made: Final = made
        self.cls: Final = cls
        self.found: Value | None = None
        self._readers: dict[FunctionInfo, Value] = {}
        self._unsure: dict[FunctionInfo, None] = {}  # they found one thing and another

    def note(self, function: FunctionInfo, found: Value) -> None:
        """Remember who found what."""
        before = self._readers.setdefault(function, found)
        if before is not found and before != found:
            self._unsure[function] = None

    def outdated(self, now: Value) -> dict[FunctionInfo, None]:
        """The functions that found something else than what is known now; they ask again."""
        stale = [f for f, one in self._readers.items() if one is not now and one != now]
        found = {**dict.fromkeys(stale), **self._unsure}
        self._unsure = {}
        for function in found:
            del self._readers[function]
        return found


def is_model(region: Region) -> bool:
    """True where a region is compiled by what the project says, or is a module's ``forward``."""
    return region.explicit or region.root.rpartition(".")[2] == "forward"


class Changes:
    """The stores of the project as far as somebody asked, and what they were seen to write.

    ``written`` are the names that a function, or one that it calls, writes to.
    """

    def __init__(self) -> None:
        self.written: dict[FunctionInfo, set[str]] = {}
        self.callers: dict[FunctionInfo, dict[FunctionInfo, None]] = {}
        self._believed: set[str] = set()
        self._seen: dict[ast.AST, Stored] = {}
        self._by_text: dict[str, dict[ast.AST, Store]] = {}  # names that are computed
        self._elsewhere: dict[tuple[ClassInfo, str], dict[ast.AST, Store]] = {}
        self._reads: dict[Place, list[Read]] = {}
        self._moved: dict[Read, None] = {}  # before it was known what is stored there
        self._of_attributes: dict[tuple[ClassInfo, str], tuple[Store, ...]] = {}
        self._of_variables: dict[Place, tuple[Store, ...]] = {}

    def note(self, frame: Frame, node: ast.AST, owner: Value, value: Value) -> None:
        """Remember what a place writes."""
        if self.is_guess(frame, value):
            value = UNKNOWN
        seen = self._seen.get(node)
        if seen is None:
            seen = self._seen[node] = Stored()
        first = frame.region is not None and not seen.compiled
        changed = seen.value is None
        if seen.value is None:
            seen.owner, seen.value = owner, value
        else:
            known, of = seen.value, seen.owner
            seen.owner, seen.value = join((of, owner)), join((known, value))
            changed = seen.value != known
            if not (first or changed) and seen.owner == of:
                return
        seen.compiled = seen.compiled or first
        for read in seen.reads:
            read.found = None
        if (first and _may_be_flag(value)) or (changed and _matters(value)):
            self._moved.update(seen.reads)

    def believe(self, value: Value) -> None:
        """Take a parameter for a tensor wherever it is kept: what a model is called with is one."""
        self._believed.update(kind.why for kind in options(value) if isinstance(kind, Tensor))

    def is_guess(self, frame: Frame, value: Value) -> bool:
        """True for another parameter that is taken for a tensor: as often it is a number.

        So is what comes of one where nothing says that anybody compiles the code.
        """
        if not isinstance(value, Tensor) or not value.assumed:
            return False
        if frame.region is not None and not is_model(frame.region):
            return True  # as far as anybody knows
        return value.guess is not Guess.NONE and value.why not in self._believed

    def note_set(self, frame: Frame, node: ast.Call, owner: ast.expr, name: str) -> None:
        """Remember that ``setattr`` writes to an attribute whose name may be a variable."""
        if frame.region is not None and not isinstance(node.args[-2], CONSTANT):
            around = Around(None, None, None)
            self._by_text.setdefault(name, {})[node] = Store(node, name, owner, around)
            for reads in self._reads.values():
                for read in reads:
                    read.found = None

    def note_elsewhere(self, frame: Frame, node: ast.AST, cls: ClassInfo, name: str) -> None:
        """Remember a place outside the file of a class that writes to an attribute of it."""
        if frame.body.module is cls.module:
            return
        function = frame.body.function
        own = function.cls if function is not None and frame.region is None else None
        if own is not None and own in frame.analysis.project.ancestry(cls):
            return  # a base of it: what that writes is known by its text
        key = (cls, name)
        known = self._elsewhere.setdefault(key, {})
        if node not in known:
            known[node] = Store(node, name, None, Around(None, None, None))
            for read in self._reads.get(key, ()):
                read.found = None
                self._moved[read] = None

    def note_name(self, frame: Frame, name: str) -> None:
        """Remember that a function writes to an attribute, or to a variable of those around it."""
        function = frame.body.function if frame.region is not None else None
        if function is not None:
            self.written.setdefault(function, set()).add(name)

    def called(self, frame: Frame, info: FunctionInfo) -> None:
        """Forget what a call may have changed."""
        names = self.written.get(info)
        if not names:
            return
        function = frame.body.function
        if function is not None and function is not info:
            self.written.setdefault(function, set()).update(names)
        for path in [path for path in frame.env if "." in path or path in names]:
            last = path.rpartition(".")[2]
            if last in names and ("." in path or frame.body.is_declared(path)):
                del frame.env[path]

    def outdated(self, analysis: Analysis) -> dict[FunctionInfo, None]:
        """The functions that read what was not known yet."""
        found: dict[FunctionInfo, None] = {}
        for read in self._moved:
            found.update(read.outdated(self._found(analysis, read)))
        self._moved.clear()
        return found

    def upwards(self, functions: Iterable[FunctionInfo]) -> list[FunctionInfo]:
        """Functions and all that call them, each behind those that it calls."""
        pending = [*functions]
        entered: set[FunctionInfo] = set()
        found: dict[FunctionInfo, None] = {}
        while pending:
            function = pending[-1]
            if function in entered:
                found.setdefault(pending.pop())
            else:
                entered.add(function)
                above = self.callers.get(function, ())
                pending += [caller for caller in above if caller not in entered]
        return [*reversed(found)]

    def index(self, root: ast.AST, module: ModuleInfo) -> Stores:
        """The stores below a file's syntax, or that of a class in it."""
        if root not in module.stores:
            module.stores[root] = Stores(root, module.file)
        known: Stores = module.stores[root]
        return known

    def attribute(self, frame: Frame, cls: ClassInfo, name: str, made: Value) -> Value:
        """What an attribute may be that a constructor, or the class, gave the value ``made``."""
        return self._read(frame, (cls, name), made, cls)

    def is_rewritten(self, frame: Frame, cls: ClassInfo, name: str) -> bool:
        """True for an attribute that something writes to after its object was made."""
        stores = self.stores_of(frame.analysis, cls, name)
        return not all(store.is_vague for store in stores)

    def variable(self, frame: Frame, module: ModuleInfo, name: str, made: Value) -> Value:
        """What a variable of a file's top level may be."""
        key = (module.tree, name)
        if key not in self._of_variables:
            index = self.index(module.tree, module)
            self._of_variables[key] = tuple(
                store
                for store in index.of_variable(name)
                if store.function is not None and _is_global(index, store)
            )
        return self._read(frame, key, made, None)

    def enclosed(self, frame: Frame, owner: Frame, name: str, made: Value) -> Value:
        """What a variable of a function around may be, which functions inside it write to."""
        scope = owner.body.scope
        if isinstance(scope, ast.Module):
            return self.variable(frame, owner.body.module, name, made)
        if (scope, name) not in self._of_variables:
            index = self.index(owner.body.module.tree, owner.body.module)
            first, last = scope.lineno, scope.end_lineno or scope.lineno
            self._of_variables[scope, name] = tuple(
                store
                for store in index.of_variable(name)
                if store.function is not None
                and store.function is not scope
                and first <= store.function.lineno <= last
                and (store.content or (store.function, name) in index.declared)
            )
        return self._read(frame, (scope, name), made, None)

    def _read(self, frame: Frame, place: Place, made: Value, cls: ClassInfo | None) -> Value:
        """What is found in a place; that is asked again once more is known of it."""
        read = self._reading(place, made, cls)
        if read.made is not made:  # equal, but made elsewhere
            found = self._later(frame.analysis, read, made)
        else:
            found = self._found(frame.analysis, read)
        if frame.body.function is not None:
            read.note(frame.body.function, found)
        return found

    def _reading(self, place: Place, made: Value, cls: ClassInfo | None) -> Read:
        reads = self._reads.setdefault(place, [])
        for read in reads:
            if same(read.made, made):
                return read
        reads.append(Read(place, made, cls))
        return reads[-1]

    def _found(self, analysis: Analysis, read: Read) -> Value:
        if read.found is None:
            read.found = self._later(analysis, read, read.made)
        return read.found

    def _stores(self, analysis: Analysis, read: Read) -> tuple[Store, ...]:
        """The stores that may write to what was read."""
        owner, name = read.place
        if read.cls is None:
            return self._of_variables[owner, name]
        stores = self.stores_of(analysis, read.cls, name)
        elsewhere = self._elsewhere.get((read.cls, name), {}).values()
        return (*stores, *elsewhere, *self._by_text.get(name, {}).values())

    def stores_of(self, analysis: Analysis, cls: ClassInfo, name: str) -> tuple[Store, ...]:
        """The stores that may write to an attribute of a class's objects once these are made."""
        key = (cls, name)
        if key not in self._of_attributes:
            self._of_attributes[key] = _attribute_stores(self, analysis, cls, name)
        return self._of_attributes[key]

    def _later(self, analysis: Analysis, read: Read, made: Value) -> Value:
        """What the value that was made may be once all those stores have run that may."""
        value, stores = made, self._stores(analysis, read)
        for store in stores:
            seen = self._seen.get(store.node)
            if seen is None:
                seen = self._seen[store.node] = Stored()
            seen.reads[read] = None
            if read.cls is not None and not _may_be_of(analysis, seen.owner, read.cls):
                continue
            if store.is_vague and value is not NONE:
                continue
            later = seen.value if seen.value is not None else _written_out(store, made)
            if store.is_vague and later is UNKNOWN:
                later = STATIC  # what is set by names that somebody gives is configuration
            if store.content:
                value = _holding(value, store.key, later)
            elif _is_asked_for(store, seen, value, later):
                value = Static("bool", default=False)
            else:
                value = _either(value, later)
        return _as_far_as_known(value) if stores else made


def _matters(value: Value) -> bool:
    """True for what holds a tensor or an array, or what was read from one."""
    if isinstance(value, Union):
        return any(map(_matters, value.options))
    if isinstance(value, Sequence):
        return _matters(value.element) or any(map(_matters, value.items or ()))
    if isinstance(value, Mapping):
        return _matters(value.element) or any(_matters(held) for _, held in value.items)
    return isinstance(value, (Tensor, NDArray, DataScalar, NumpyScalar, Object))


def _may_be_flag(value: Value) -> bool:
    kinds = options(value)
    return any(
        kind is UNKNOWN or (isinstance(kind, Static) and kind.type == "bool") for kind in kinds
    )


def _attribute_stores(
    changes: Changes, analysis: Analysis, cls: ClassInfo, name: str
) -> tuple[Store, ...]:
    """The stores that may write to an attribute of a class's objects once these are made."""
    own = [base for base in analysis.project.ancestry(cls) if not isinstance(base, str)]
    roots = [(base.node, base.module) for base in own if base.module is not cls.module]
    around: ast.AST = cls.node if cls.module.installed else cls.module.tree
    found: list[Store] = []
    for root, module in (*roots, (around, cls.module)):
        index = changes.index(root, module)
        found += index.named.get(name, ())
        found += index.setters
    classes = {base.node for base in own}
    return tuple(one for one in found if _reaches(analysis, cls, classes, one))


def _reaches(analysis: Analysis, cls: ClassInfo, classes: set[ast.ClassDef], store: Store) -> bool:
    if store.is_vague:  # settings are constants, whoever gives them
        return analysis.project.is_module_class(cls)
    if store.constructs and not store.content:
        return False
    if store.content and store.method is not None and _is_constructor(store):
        return False
    if store.is_of_self:
        return store.holder in classes or _is_below(analysis, cls, store.holder)
    if isinstance(store.owner, NAME):
        named = cls.module.classes.get(store.owner.id)
        if named is not None:
            return named.node in classes or _is_below(analysis, cls, named.node)
    return True


def _is_constructor(store: Store) -> bool:
    return isinstance(store.method, ast.FunctionDef) and store.method.name == "__init__"


def _is_below(analysis: Analysis, cls: ClassInfo, node: ast.ClassDef | None) -> bool:
    below = (one for one in cls.module.classes.values() if one.node is node)
    return any(cls in analysis.project.ancestry(one) for one in below)


def _is_global(index: Stores, store: Store) -> bool:
    """True for a store to the file's variable: declared so, or to what it holds."""
    if (store.function, store.name) in index.declared:
        return True
    if not store.content or store.function is None:
        return False
    spec = store.function.args
    arguments = (*spec.posonlyargs, *spec.args, *spec.kwonlyargs)
    others = index.of_variable(store.name)
    bound = any(one.function is store.function and not one.content for one in others)
    return not bound and store.name not in {one.arg for one in arguments}


def _may_be_of(analysis: Analysis, owner: Value, cls: ClassInfo) -> bool:
    """Whether what is written to may be an object of a class."""
    kinds = [*options(owner)]
    return not kinds or any(_is_of(analysis, kind, cls) for kind in kinds)


def _is_of(analysis: Analysis, owner: Value, cls: ClassInfo) -> bool:
    if isinstance(owner, Unknown):
        return True
    if isinstance(owner, Compiled):
        return _may_be_of(analysis, owner.inner, cls)
    known = owner.cls if isinstance(owner, Object) else None
    known = owner.info if isinstance(owner, Class) else known
    if known is None:
        return isinstance(owner, Object) and owner.name == "torch.nn.Module"
    project = analysis.project
    return known in project.ancestry(cls) or cls in project.ancestry(known)


def _written_out(store: Store, made: Value) -> Value:
    """What a place writes that no walk has come to: what stands there if that is a constant."""
    if store.adds is not None and isinstance(made, Static) and made is not NONE:
        return Static(made.type)
    if isinstance(store.value, CONSTANT) and store.adds is None:
        return constant(store.value.value)
    return UNKNOWN


def _is_asked_for(store: Store, seen: Stored, value: Value, later: Value) -> bool:
    """True for a flag that is off, and on only if somebody calls a method that turns it on."""
    off = isinstance(value, Static) and (value == FALSE or value.default_off)
    if not off or seen.compiled or not store.is_of_self or later == value:
        return False
    return later is UNKNOWN or (isinstance(later, Static) and later.type == "bool")


def _either(value: Value, later: Value) -> Value:
    if value == later:
        return value
    if later is UNKNOWN and isinstance(value, Static) and value is not NONE:
        off = False if value.default_off else None
        return Static(value.type, default=off)  # another of its kind
    return join((value, later))


def _as_far_as_known(value: Value) -> Value:
    """A value of which something is known: what is not is taken for more of the same."""
    if type(value) is not Union or UNKNOWN not in value.members:
        return value
    known = [option for option in value.options if option is not UNKNOWN]
    return value if all(isinstance(option, Static) for option in known) else join(known)


def _holding(value: Value, key: object, later: Value) -> Value:
    """A container with other content."""
    if type(value) is Union:
        return join([_holding(option, key, later) for option in value.options])
    if isinstance(value, Sequence):
        if value.type not in ("list", "set"):
            return value
        known = [] if value.items == () else [operators.elements(value)]
        return Sequence(value.type, join([*known, later]))
    if isinstance(value, Mapping):
        written = isinstance(key, (str, int)) and key is not ANY_KEY
        items = tuple(
            (name, join((item, later)) if not written or name == key else item)
            for name, item in value.items
        )
        if written and any(name == key for name, _ in items):
            return Mapping(items, value.element)
        if value.element is UNKNOWN:
            return Mapping(items, later)
        return Mapping(items, join((value.element, later)))
    return value
