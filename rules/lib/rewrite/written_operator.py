"""The text of a custom operator that runs a helper: what it takes, gives, and its gradients."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from tclint.records import record
from tclint.semantics.site import Site

_FITS: Final = 84
SINCE: Final = (2, 7)
"""Releases before may want `typing.List` in the signature of an operator, or have none."""


@record(frozen=True)
class Parameter:
    """A parameter of the operator: how it is declared, and how the helper gets it."""

    name: str
    kind: str
    default: str
    passed: str

    @property
    def declared(self) -> str:
        """As in the operator's signature."""
        return f"{self.name}: {self.kind}" + (f" = {self.default}" if self.default else "")

    @property
    def bare(self) -> str:
        """As in the signature of what tells the shape."""
        return self.name + (f"={self.default}" if self.default else "")


@record(frozen=True)
class Operator:
    """What runs ``helper``: tensors come first, of these the ones that may need gradients.

    ``shapes`` are expressions for tensors like the results, ``sizes`` statements that they need.
    """

    helper: str
    parameters: tuple[Parameter, ...]
    """In the order of the helper."""
    differentiable: tuple[str, ...]
    shapes: tuple[str, ...]
    sizes: tuple[str, ...]
    torch: str
    registered: str

    @property
    def name(self) -> str:
        """What the file calls it."""
        return f"{self.helper}_op"

    @property
    def ordered(self) -> list[Parameter]:
        """The parameters in the order of the operator."""
        return sorted(self.parameters, key=self._place)

    def _place(self, parameter: Parameter) -> int:
        if parameter.name in self.differentiable:
            return 0
        return 1 if self._is_tensor(parameter) else 2

    def _is_tensor(self, parameter: Parameter) -> bool:
        return parameter.kind == f"{self.torch}.Tensor"

    @property
    def tensors(self) -> list[str]:
        """The parameters that are tensors."""
        return [one.name for one in self.ordered if self._is_tensor(one)]

    @property
    def names(self) -> list[str]:
        """What can be read of it after it is written: all names that the text defines."""
        ends = ("_op", "_shape", "_backward", "_gradient_shapes", "_saved", "_gradients")
        return [self.helper + end for end in ends]


def switch(operator: Operator) -> str:
    """What the helper begins with: compiled code calls the operator instead."""
    passed = [one.name for one in operator.ordered]
    call = call_of(f"return {operator.name}(", passed, ")")
    return "\n".join([f"if {operator.torch}.compiler.is_compiling():", *indented(call)])


def written(operator: Operator) -> str:
    """The operator, what tells the shapes of its results, and its gradients."""
    lines = [*_forward(operator), "", "", *_shapes(operator)]
    if operator.differentiable:
        lines += ["", "", *_backward(operator), "", "", *_gradients(operator)]
    return "\n".join(lines)


def _forward(operator: Operator) -> list[str]:
    one = f"{operator.torch}.Tensor"
    several = len(operator.shapes) > 1
    result = f"tuple[{', '.join([one] * len(operator.shapes))}]" if several else one
    declared = [f"{parameter.name}: {parameter.kind}" for parameter in operator.ordered]
    passed = [parameter.passed for parameter in operator.parameters]
    return [
        *_registration(operator, ""),
        *call_of(f"def {operator.name}(", declared, f") -> {result}:"),
        *indented(call_of(f"return {operator.helper}(", passed, ")")),
    ]


def _registration(operator: Operator, end: str) -> list[str]:
    named = [f'"{operator.registered}{end}"', "mutates_args=()"]
    return call_of(f"@{operator.torch}.library.custom_op(", named, ")")


def _shapes(operator: Operator) -> list[str]:
    return [
        f"@{operator.name}.register_fake",
        *call_of(f"def {operator.helper}_shape(", [p.name for p in operator.ordered], "):"),
        *indented([*operator.sizes, *_results(operator)]),
    ]


def _results(operator: Operator) -> list[str]:
    line = f"return {', '.join(operator.shapes)}"
    return [line] if len(line) <= _FITS else call_of("return (", operator.shapes, ")")


def _backward(operator: Operator) -> list[str]:
    torch, helper, inputs = operator.torch, operator.helper, operator.differentiable
    declared = [f"{one.name}: {one.kind}" for one in operator.ordered]
    passed = [one.passed for one in operator.parameters]
    given = "*grads" if len(operator.shapes) == 1 else "tuple(grads)"
    return [
        *_registration(operator, "_backward"),
        *call_of(
            f"def {helper}_backward(",
            [f"grads: list[{torch}.Tensor]", *declared],
            f") -> list[{torch}.Tensor]:",
        ),
        *indented(call_of("def again(", inputs, "):")),
        *indented(indented(call_of(f"return {helper}(", passed, ")"))),
        "",
        *indented(call_of("tensors = (", inputs, ")" if len(inputs) > 1 else ",)")),
        f"    _, backward = {torch}.func.vjp(again, *tensors)",
        f"    found = zip(tensors, backward({given}))",
        f"    return [{torch}.empty_like(one).copy_(grad) for one, grad in found]",
        "",
        "",
        f"@{helper}_backward.register_fake",
        f"def {helper}_gradient_shapes(grads, *inputs):",
        f"    return [{torch}.empty_like(one) for one in inputs[:{len(inputs)}]]",
    ]


def _gradients(operator: Operator) -> list[str]:
    helper, count = operator.helper, len(operator.tensors)
    nothing = ["None"] * (len(operator.parameters) - len(operator.differentiable))
    given = ["list(grads)", "*ctx.saved_tensors", "*ctx.numbers"]
    registered = [f"{helper}_gradients", f"setup_context={helper}_saved"]
    return [
        f"def {helper}_saved(ctx, inputs, output):",
        f"    ctx.save_for_backward(*inputs[:{count}])",
        f"    ctx.numbers = inputs[{count}:]",
        "",
        "",
        f"def {helper}_gradients(ctx, *grads):",
        *indented(call_of(f"found = {helper}_backward(", given, ")")),
        f"    return {', '.join(['*found', *nothing])}{'' if nothing else ','}",
        "",
        "",
        *call_of(f"{operator.name}.register_autograd(", registered, ")"),
    ]


def call_of(start: str, parts: Iterable[str], end: str) -> list[str]:
    """A call or a signature, on as few lines as it fits on."""
    parts = [*parts]
    inside = ", ".join(parts)
    if len(start + inside + end) <= _FITS:
        return [f"{start}{inside}{end}"]
    if len(inside) <= _FITS:
        return [start, f"    {inside}", end.lstrip(",")]
    return [start, *(f"    {part}," for part in parts), end.lstrip(",")]


def indented(lines: Iterable[str]) -> Iterable[str]:
    """The lines one level deeper."""
    return (f"    {line}" if line else line for line in lines)


def registered(site: Site, helper: str) -> str:
    """A name that no other operator has: a file of each model may have a copy of the helper."""
    package, _, rest = site.module.name.partition(".")
    parts = [*filter(None, rest.split(".")), helper.strip("_")]
    return f"{package}::{'_'.join(parts)}"


def can_be_written(site: Site, operator: Operator) -> bool:
    """True where torch has operators, and the file nothing of a name that they need."""
    module, oldest = site.module, site.settings.min_torch
    known = {*module.imports, *module.functions, *module.classes, *module.assigned}
    mixed = {"again", "backward", "found", "grads", "tensors"}
    return (
        (oldest is None or oldest >= SINCE)
        and known.isdisjoint(operator.names)
        and mixed.isdisjoint({operator.torch, *(one.name for one in operator.parameters)})
    )
