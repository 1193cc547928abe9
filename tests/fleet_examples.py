"""Targets for fleets that are real and small: the examples of rules at which the graph breaks."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tclint.lint.rule import PRELUDE, Bad, Untouched
from tests.proof.cases import cases

_MOST = 8
"""Of one rule."""
_MODEL = """

class Model(nn.Module):
    def forward(self, {parameters}):
        return f({names})
"""
_FACTORY = """

def make():
    inputs = {inputs}
    first = inputs[0] if isinstance(inputs, list) else inputs
    return {model}(), first, {{}}
"""


def write_examples(folder: Path, count: int) -> int:
    """Write a file with a factory for each of so many examples; returns how many there are."""
    folder.mkdir()
    number = 0
    for (code, text), number in zip(_examples(), range(count), strict=False):
        (folder / f"m{number:03}_{code.lower()}.py").write_text(text)
    return number + 1


def _examples() -> Iterator[tuple[str, str]]:
    """The codes of rules, each with a module."""
    seen = Counter[str]()
    for case in cases(Bad, Untouched, where=lambda rule, example: not example.torch):
        rule, example = case.values
        assert isinstance(example, Bad | Untouched)
        breaks = any(claim.startswith("GB") for claim in example.proves)
        model = _model(example.code) if breaks and "cuda" not in example.code else None
        if model is not None and seen[rule.code] < _MOST:  # type: ignore[union-attr]
            seen[rule.code] += 1  # type: ignore[union-attr]
            name = "Model" if model else "f"
            factory = _FACTORY.format(inputs=example.inputs, model=name)
            yield rule.code, PRELUDE + example.code + model + factory  # type: ignore[union-attr]


def _model(code: str) -> str | None:
    """A module that calls the function ``f``, nothing if ``f`` is one, None if it cannot be."""
    for node in ast.parse(code).body:
        if isinstance(node, ast.ClassDef) and node.name == "f":
            return ""
        if isinstance(node, ast.FunctionDef) and node.name == "f":
            plain = node.args
            if plain.vararg or plain.kwarg or plain.kwonlyargs or node.decorator_list:
                return None
            names = ", ".join(one.arg for one in (*plain.posonlyargs, *plain.args))
            plain.posonlyargs, plain.args = [], [*plain.posonlyargs, *plain.args]
            return _MODEL.format(parameters=ast.unparse(plain), names=names)
    return None
