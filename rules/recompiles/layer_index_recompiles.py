"""TCL227: equal blocks, compiled one by one, that differ in a number."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tclint.diagnostics import Advice, Confidence, Effect
from tclint.lint.rule import Finding, Rule
from tclint.records import record
from tclint.semantics.events import CompileCall
from tclint.semantics.symbols import ClassInfo
from tclint.semantics.values import Object


class LayerIndexRecompiles(Rule[CompileCall]):
    """Equal blocks are compiled one by one, and each uses its own index."""

    code = "TCL227"
    name = "layer-index-recompiles"
    former_names = ("number-of-block",)
    summary = "Blocks compiled one by one recompile when they use their index"
    instead = "Use the number in `__init__` and keep what depends on it, or compile the whole model"
    on = CompileCall
    effects = (Effect.RECOMPILE,)
    outside_regions = True

    def check(self, event: CompileCall) -> Finding | None:
        """Look at the class of what a loop compiles."""
        target = event.target
        if not event.site.facts.loops or not isinstance(target, Object) or target.cls is None:
            return None
        found = _numbered(target.cls)
        if found is None or event.site.settings.numbers_may_vary:
            return None
        name = f"{target.cls.name}.{found.attribute}"
        return Finding(
            f"`{name}` is a constant: each block recompiles, up to 8 times; others run eagerly",
            Advice(
                "set `torch._dynamo.config.allow_unspec_int_on_nn_module`, or make the choices "
                "that depend on the number in `__init__`"
            ),
            confidence=Confidence.MEDIUM,
        )


@record(frozen=True)
class _Numbered:
    """``self.ATTRIBUTE`` is the number of a block; ``use`` is where ``forward`` reads it."""

    attribute: str
    use: ast.Attribute


def _numbered(cls: ClassInfo) -> _Numbered | None:
    """The number that ``[Block(i) for i in range(n)]`` in the same file gives each block."""
    init, forward = cls.methods.get("__init__"), cls.methods.get("forward")
    if init is None or forward is None or isinstance(init.node, ast.Lambda):
        return None
    names = [argument.arg for argument in init.node.args.args][1:]
    given = {name for call, index in _makers(cls) for name in _given(call, index, names)}
    for statement in init.node.body:
        match statement:
            case ast.Assign(
                targets=[ast.Attribute(value=ast.Name(id="self"), attr=attribute)],
                value=ast.Name(id=name),
            ) if name in given:
                use = _use(forward.node, attribute)
                if use is not None:
                    return _Numbered(attribute, use)
    return None


def _makers(cls: ClassInfo) -> Iterator[tuple[ast.Call, str]]:
    """The calls that make a block for each number of a range, with the number's name."""
    for node in ast.walk(cls.module.tree):
        match node:
            case (
                ast.ListComp(elt=ast.Call(func=ast.Name(id=made)) as call, generators=[loop])
                | ast.GeneratorExp(elt=ast.Call(func=ast.Name(id=made)) as call, generators=[loop])
            ) if made == cls.name:
                match loop:
                    case ast.comprehension(
                        target=ast.Name(id=index), iter=ast.Call(func=ast.Name(id="range"))
                    ):
                        yield call, index


def _given(call: ast.Call, index: str, names: list[str]) -> Iterator[str]:
    """The parameters that get the number itself."""
    for name, value in zip(names, call.args, strict=False):
        if isinstance(value, ast.Name) and value.id == index:
            yield name
    for keyword in call.keywords:
        if keyword.arg and isinstance(keyword.value, ast.Name) and keyword.value.id == index:
            yield keyword.arg


def _use(forward: ast.AST, attribute: str) -> ast.Attribute | None:
    for node in ast.walk(forward):
        match node:
            case ast.Attribute(value=ast.Name(id="self"), attr=name, ctx=ast.Load()):
                if name == attribute:
                    return node
    return None
