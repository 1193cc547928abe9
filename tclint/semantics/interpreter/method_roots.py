"""Methods besides a module's ``forward`` that count as compiled though nothing compiles them.

The ``forward`` of an autograd function, with which Dynamo traces its ``backward``; the ``step`` of
an optimizer; and what is called on a compiled object and is not its call. That one runs eagerly
(torch 2.13): whoever compiles the object means it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from tclint import torch_facts
from tclint.semantics.interpreter.analysis import Analysis, Kept, Root
from tclint.semantics.interpreter.appliers import GRADIENT, Appliers
from tclint.semantics.interpreter.attributes import applied
from tclint.semantics.interpreter.functions import root_env
from tclint.semantics.lattice import tensor_in
from tclint.semantics.project import Project
from tclint.semantics.site import Region
from tclint.semantics.symbols import ClassInfo, FunctionInfo, ModuleInfo
from tclint.semantics.syntax import last_name, nodes
from tclint.semantics.values import Function, Object
from tclint.torch_facts.modules import ASKED_OF_MODULES, GIVE_THE_MODULE

_NOT_MEANT: Final = ASKED_OF_MODULES | GIVE_THE_MODULE | {"forward"}


def methods_of_torch(
    analysis: Analysis, modules: Sequence[ModuleInfo], classes: Iterable[ClassInfo]
) -> Iterator[Root]:
    """The ``forward`` of autograd functions and the ``step`` of optimizers that nothing reached."""
    appliers = Appliers(analysis, modules)
    for cls in classes:
        function = _step(analysis, cls)
        if function is None and _has_more(analysis, cls):
            function = applied(analysis, cls)
            if function is not None and (appliers.are_out(cls) or _is_old(cls, appliers)):
                continue
        if function is not None:
            yield Root(function, Region(f"{cls.qualname}.{function.info.name}"))


def _has_more(analysis: Analysis, cls: ClassInfo) -> bool:
    """Whether a class has a method of autograd functions that was not walked."""
    own = [cls.methods[name] for name in GRADIENT if name in cls.methods]
    return not analysis.visited.issuperset(own)


def _step(analysis: Analysis, cls: ClassInfo) -> Function | None:
    """The ``step`` of an optimizer that was not walked."""
    step = cls.methods.get("step")
    if step is None or step in analysis.visited or not _is_optimizer(analysis.project, cls):
        return None
    return Function(step, Object(cls.qualname, cls, is_optimizer=True))


def _is_old(cls: ClassInfo, appliers: Appliers) -> bool:
    """Whether an autograd function is from before torch 1.3: its objects were called.

    They raise since torch 1.5, and nothing applies the class.
    """
    forward = cls.methods.get("forward")
    own = forward is not None and "staticmethod" not in forward.decorators
    return own and "__init__" in cls.methods and not appliers.of(cls)


def _is_optimizer(project: Project, cls: ClassInfo) -> bool:
    names = {torch_facts.canonical(base) for base in project.ancestry(cls) if type(base) is str}
    return "torch.optim.Optimizer" in names or not names.isdisjoint(torch_facts.optimizers())


def methods_of_compiled(analysis: Analysis) -> Iterator[Root]:
    """What the files call of the objects that they compile, besides the object itself.

    Where calling the object runs its ``forward``, another method counts if it is given tensors: one
    that sets up the weights or makes an optimizer is not what is meant to be compiled.
    """
    for kept in analysis.seen.kept:
        cls, project = kept.cls, analysis.project
        for called in dict.fromkeys(_called_on(kept)):
            method = project.method(cls, called)
            if method is None or method in analysis.visited or method.module.installed:
                continue
            owner = Object(cls.qualname, cls, is_module=project.is_module_class(cls))
            root = Root(Function(method, owner), Region(method.qualname))
            if called in _NOT_MEANT or called.startswith("__") or _calls_itself(method):
                continue
            if project.method(cls, "forward") is None or _takes_tensors(analysis, root):
                yield root


def _called_on(kept: Kept) -> Iterator[str]:
    """The methods that a file calls on what it compiled, but for those called before."""
    module = kept.module
    where = module.function_at(kept.row)
    for node in nodes(module.tree):
        match node:
            case ast.Call(
                func=ast.Attribute(value=ast.Name() | ast.Attribute() as holder, attr=called)
            ) if last_name(holder) == kept.name:
                if node.lineno > kept.row or module.function_at(node.lineno) is not where:
                    yield called


def _takes_tensors(analysis: Analysis, root: Root) -> bool:
    values = root_env(analysis, root).values()
    return any(tensor_in(value) is not None for value in values)


def _calls_itself(method: FunctionInfo) -> bool:
    """Whether a method calls its object: then the call is what is meant to be compiled."""
    first = method.node.args.args[0].arg if method.node.args.args else None
    for node in nodes(method.node):
        match node:
            case ast.Call(func=ast.Name(id=name)) if name == first:
                return True
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id=name), attr="forward" | "__call__")
            ) if name == first:
                return True
    return False
