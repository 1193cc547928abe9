"""Making plain objects: what their attributes are is known where their making is in view.

Modules are left to `attributes_of`: they are made once, and far from the code that uses them.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from tclint.semantics.bounds import Bound
from tclint.semantics.collect import class_info, decorator_name
from tclint.semantics.interpreter.annotations import annotation_value
from tclint.semantics.interpreter.arguments import Arguments
from tclint.semantics.interpreter.changes import is_model
from tclint.semantics.interpreter.functions import call_function, instantiate
from tclint.semantics.interpreter.iteration import is_named_tuple
from tclint.semantics.lattice import options
from tclint.semantics.symbols import ClassInfo
from tclint.semantics.syntax import CALL, CONSTANT, NAME
from tclint.semantics.values import (
    UNKNOWN,
    Class,
    Function,
    Mapping,
    Object,
    Sequence,
    Static,
    Tensor,
    Value,
    constant,
)

if TYPE_CHECKING:
    from tclint.semantics.interpreter.analysis import Analysis
    from tclint.semantics.interpreter.frame import Frame

_DATA: Final = frozenset(
    {"dataclass", "dataclasses.dataclass", "attr.s", "attr.attrs", "attr.define", "attr.frozen",
     "attrs.define", "attrs.frozen", "attrs.mutable"}
)  # fmt: skip
# Bases that make nothing of their own.
_PLAIN: Final = frozenset(
    {"object", "abc.ABC", "typing.Generic", "typing.Protocol", "typing.NamedTuple"}
)
_FACTORIES: Final[dict[str, Value]] = {
    "list": Sequence("list", items=()), "set": Sequence("set", items=()), "dict": Mapping(),
}  # fmt: skip
OBJECTS: Final = Bound(3, "objects that hold each other", hides=False)
"""Below, an object's attributes are what its class sets, whichever object it is."""


def make(frame: Frame, cls: ClassInfo, arguments: Arguments, node: ast.expr) -> Value:
    """An instance of a project class, with its attributes where it is a plain one."""
    if frame.analysis.project.is_tensor_class(cls):
        return Tensor(why=f"of the class `{cls.name}`", cls=cls)
    if not _is_in_view(frame, cls):
        return instantiate(frame, cls, arguments, node)
    project = frame.analysis.project
    bare = Object(cls.qualname, cls, fields=())
    arguments = _believed(frame, arguments)
    init = project.method(cls, "__init__")
    if init is not None:
        return _finished(call_function(frame, Function(init, bare), arguments, node), cls)
    names = data_fields(frame.analysis, cls)
    if names is None:
        return bare
    values = _bound(frame.analysis, names, arguments)
    made = Object(cls.qualname, cls, fields=_shallow(values))
    after = project.method(cls, "__post_init__")
    if after is None:
        return made
    return _finished(call_function(frame, Function(after, made), Arguments(), node), cls)


def _believed(frame: Frame, arguments: Arguments) -> Arguments:
    """The arguments without guesses, which would be kept where nobody says that it is compiled."""
    if frame.region is None or is_model(frame.region):
        return arguments

    def kept(value: Value) -> Value:
        return UNKNOWN if frame.analysis.changes.is_guess(frame, value) else value

    keywords = {name: kept(value) for name, value in arguments.keywords.items()}
    positional = tuple(map(kept, arguments.positional))
    return Arguments(positional, keywords, arguments.exact, arguments.rest)


def _is_in_view(frame: Frame, cls: ClassInfo) -> bool:
    """True for a plain class whose object is made in compiled code, or at a file's top level.

    ``__new__`` may give an object that was made before.
    """
    project = frame.analysis.project
    if frame.region is None and (cls.module.installed or not sets_up_objects(frame)):
        return False
    foreign = {base for base in project.ancestry(cls) if isinstance(base, str)}
    plain = foreign <= _PLAIN and not project.is_module_class(cls)
    return plain and project.method(cls, "__new__") is None


def sets_up_objects(frame: Frame) -> bool:
    """True at a file's top level, and where a module is made: compiled code uses what is there."""
    function = frame.body.function
    if function is None:
        return True
    cls = function.cls if function.name == "__init__" else None
    return cls is not None and frame.analysis.project.is_module_class(cls)


def _finished(made: Value, cls: ClassInfo) -> Value:
    kinds = [kind for kind in options(made) if isinstance(kind, Object)]
    if not kinds:
        return Object(cls.qualname, cls)
    fields = {name: value for kind in kinds for name, value in kind.fields or ()}
    return Object(cls.qualname, cls, fields=_shallow(fields))


def _shallow(fields: dict[str, Value]) -> tuple[tuple[str, Value], ...]:
    """The fields, without those of objects that hold objects that hold objects."""
    return tuple((name, _cut(value, OBJECTS.most)) for name, value in fields.items())


def _cut(value: Value, depth: int) -> Value:
    if not isinstance(value, Object) or value.fields is None:
        return value
    if not depth:
        OBJECTS.cut()
        return Object(value.name, value.cls)
    fields = tuple((name, _cut(inner, depth - 1)) for name, inner in value.fields)
    return Object(value.name, value.cls, fields=fields)


def take_over(frame: Frame, node: ast.Call, made: Value) -> None:
    """Add what a base's ``__init__`` sets to the object that the caller is making."""
    function = frame.body.function
    if function is None or not isinstance(node.func, ast.Attribute):
        return
    subject: ast.expr = node.func.value
    if isinstance(subject, CALL):  # `super()`
        name = frame.analysis.signature(function.node).names[:1]
    elif node.args and isinstance(frame.body.values.get(subject), Class):
        name = [node.args[0].id] if isinstance(node.args[0], NAME) else []
    else:
        name = [subject.id] if isinstance(subject, NAME) else []
    own = frame.env.get(name[0]) if name else None
    if not isinstance(own, Object) or own.fields is None:
        return
    for kind in options(made):
        if isinstance(kind, Object):
            for field, value in kind.fields or ():
                own = own.with_field(field, value)
                frame.env.pop(f"{name[0]}.{field}", None)
    frame.env[name[0]] = own


_Field = tuple[ClassInfo, ast.AnnAssign]


def data_fields(analysis: Analysis, cls: ClassInfo) -> dict[str, _Field] | None:
    """The fields of a dataclass or named tuple in their order; None for other classes."""
    own = [base for base in analysis.project.ancestry(cls) if isinstance(base, ClassInfo)]
    if not is_named_tuple(cls) and not any(map(_is_data, own)):
        return None
    found: dict[str, _Field] = {}
    for base in reversed(own):
        for name, statement in analysis.class_variables(base).items():
            if isinstance(statement, ast.AnnAssign) and not _is_of_class(statement):
                found[name] = base, statement
    return found


def _is_data(cls: ClassInfo) -> bool:
    names = (decorator_name(cls.module, one) for one in cls.node.decorator_list)
    return any(name in _DATA for name in names)


def _is_of_class(statement: ast.AnnAssign) -> bool:
    return "ClassVar" in ast.dump(statement.annotation)


def _bound(analysis: Analysis, fields: dict[str, _Field], arguments: Arguments) -> dict[str, Value]:
    """What each field holds: an argument, or its default."""
    values: dict[str, Value] = {}
    positional = [*arguments.positional]
    for name, (owner, statement) in fields.items():
        default = statement.value
        if _option(default, "init") is False:
            value = _default(default)
        elif positional:
            value = positional.pop(0)
        elif name in arguments.keywords:
            value = arguments.keywords[name]
        else:
            value = _default(default) if arguments.exact else arguments.rest
        if value is UNKNOWN:
            value = annotation_value(analysis, owner, statement.annotation)
        values[name] = value
    return values


def _option(default: ast.expr | None, name: str) -> object:
    """A constant that ``field(...)`` is called with."""
    keywords = default.keywords if isinstance(default, CALL) else []
    found = (one.value for one in keywords if one.arg == name)
    return next((one.value for one in found if isinstance(one, CONSTANT)), None)


def _default(default: ast.expr | None) -> Value:
    if isinstance(default, CONSTANT):
        return constant(default.value)
    if not isinstance(default, CALL):
        return UNKNOWN
    given = {one.arg: one.value for one in default.keywords}
    factory = given.get("default_factory", given.get("factory"))
    if isinstance(factory, NAME):
        return _FACTORIES.get(factory.id, UNKNOWN)
    return _default(given["default"]) if "default" in given else UNKNOWN


def replaced(made: Object, arguments: Arguments) -> Value:
    """What ``_replace(a=...)`` and ``dataclasses.replace(made, a=...)`` give."""
    for name, value in arguments.keywords.items():
        made = made.with_field(name, value)
    return made


def named_tuple(frame: Frame, node: ast.Call, arguments: Arguments) -> Value:
    """The class that ``namedtuple("P", "a b")`` makes, as if it were written out."""
    known = frame.analysis.local_classes.get((node,))
    if known is None:
        names = _names(arguments.positional[1]) if len(arguments.positional) > 1 else []
        title = arguments.positional[0] if names else UNKNOWN
        if not isinstance(title, Static) or not isinstance(title.value, str):
            return UNKNOWN
        made = ast.parse(f"class {title.value}(typing.NamedTuple): pass").body[0]
        assert isinstance(made, ast.ClassDef)
        made.body = [_field(name) for name in names]
        ast.copy_location(made, node)
        known = class_info(frame.body.module, ast.fix_missing_locations(made), "")
        frame.analysis.local_classes[(node,)] = known
    return Class(known)


def _names(value: Value) -> list[str]:
    if isinstance(value, Static) and isinstance(value.value, str):
        return value.value.replace(",", " ").split()
    parts = value.items if isinstance(value, Sequence) and value.items is not None else ()
    first = (p.items[0] if isinstance(p, Sequence) and p.items else p for p in parts)
    return [p.value for p in first if isinstance(p, Static) and isinstance(p.value, str)]


def _field(name: str) -> ast.stmt:
    target = ast.Name(id=name, ctx=ast.Store())
    return ast.AnnAssign(target=target, annotation=ast.Constant(value="Any"), simple=1)
