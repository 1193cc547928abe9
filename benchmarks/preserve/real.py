"""Real functions of installed packages with pieces of the grammar put into them.

Taken are functions that need tensors alone, and that run with some guess of what these are. Each
is copied into a program of its own, which imports from the function's module what it uses.
"""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
import itertools
import random
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from benchmarks.preserve.children import TooLongError, at_most, in_child
from benchmarks.preserve.drive import Parameter, loaded
from benchmarks.preserve.grammar import HERO, Writer
from benchmarks.preserve.inputs import argument
from benchmarks.preserve.phrases import GRAMMAR
from benchmarks.preserve.programs import Program, whole

MODULES = (
    "torch.nn.functional",
    "torch.functional",
    "torch.distributions.utils",
    "torch.distributions.constraints",
    "torch._lobpcg",
    "torch._linalg_utils",
    "torch.nn.utils.convert_parameters",
    "torch.ao.quantization.utils",
)
SECONDS = 120
_PIECES = ("keep", "kept", "check", "branch", "masked", "output", "create", "write", "counting")


@dataclass(frozen=True, slots=True)
class Real:
    """A function as the text of a program, and kinds of tensors that it runs with."""

    name: str
    text: str
    parameters: tuple[Parameter, ...]
    arguments: tuple[str, ...]


@functools.cache
def functions() -> tuple[Real, ...]:
    """All functions that run with tensors alone."""
    return tuple(one for name in MODULES for one in in_child(lambda n=name: _of(n), SECONDS))


def _of(name: str) -> list[Real]:
    module = importlib.import_module(name)
    own = [f for f in vars(module).values() if inspect.isfunction(f) and f.__module__ == name]
    return [real for function in own for real in _real(function)]


def real_programs(count: int, seed: int, start: int = 0) -> Iterator[Program]:
    """Mutated functions by number that are Python."""
    known = functions()
    for number in range(start, start + count):
        chance = random.Random(f"real {seed} {number}")
        one = chance.choice(known)
        try:
            text = _mutated(one, chance)
            compile(text, "program.py", "exec")
        except SyntaxError:
            continue
        yield Program(number, text, one.parameters, module=False)


def _real(function: Any) -> Iterator[Real]:
    try:
        source = textwrap.dedent(inspect.getsource(inspect.unwrap(function)))
        tree = ast.parse(source)
    except (OSError, TypeError, SyntaxError):
        return
    definition = tree.body[0]
    if not isinstance(definition, ast.FunctionDef) or len(definition.body) < 2:
        return
    names = _tensors(definition)
    if not names or len(names) > 3:
        return
    text = _text(function, definition)
    kinds = _guess(text, len(names))
    if kinds:
        parameters = tuple(Parameter(kind) for kind in kinds)
        yield Real(f"{function.__module__}.{function.__name__}", text, parameters, names)


def _tensors(definition: ast.FunctionDef) -> tuple[str, ...]:
    """The parameters without a default, where all of them are declared to be tensors."""
    plain = [*definition.args.posonlyargs, *definition.args.args]
    needed = plain[: len(plain) - len(definition.args.defaults)]
    keywords = zip(definition.args.kwonlyargs, definition.args.kw_defaults, strict=True)
    if definition.args.vararg or any(default is None for _, default in keywords):
        return ()
    hints = [ast.unparse(one.annotation) if one.annotation else "" for one in needed]
    return tuple(one.arg for one in needed) if all("Tensor" in one for one in hints) else ()


def _text(function: Any, definition: ast.FunctionDef) -> str:
    definition.name, definition.decorator_list = "f", []
    if ast.get_docstring(definition):
        definition.body = definition.body[1:] or [ast.Pass()]
    names = {n.id for n in ast.walk(definition) if isinstance(n, ast.Name)}
    space = inspect.unwrap(function).__globals__
    used = sorted(n for n in names if n in space and n not in {"torch", "f"})
    lines = ["import torch", *(f"from {function.__module__} import {name}" for name in used)]
    return "\n".join(lines) + "\n\n\n" + ast.unparse(definition) + "\n"


def _guess(text: str, count: int) -> str | None:
    torch.manual_seed(0)
    for kinds in itertools.product("MVSIB", repeat=count):
        given = [argument(kind, "plain", 0, place) for place, kind in enumerate(kinds)]
        try:
            with at_most(0.5):
                loaded(text)(*given)
        except TooLongError:
            return None
        except Exception:  # noqa: BLE001 (another guess may do)
            continue
        return "".join(kinds)
    return None


def _mutated(one: Real, chance: random.Random) -> str:
    head, _, function = one.text.partition("\n\n\n")
    tree = ast.parse(function)
    writer = Writer({**GRAMMAR, "module_state": GRAMMAR["counting"]}, chance)
    for kind, name in zip(one.parameters, one.arguments, strict=True):
        writer.bind("V" if kind.kind in "VMS" else kind.kind, name)
    writer.bind(HERO, one.arguments[0])
    blocks = [*_bodies(tree)]
    for _ in range(chance.choice((1, 1, 2))):
        block = chance.choice(blocks)
        piece = ast.parse(writer.expand(chance.choice(_PIECES))).body
        place = chance.randint(0, len(block))
        block[place:place] = piece
    _replaced_numbers(tree, writer, chance)
    return whole(ast.unparse(ast.fix_missing_locations(tree)), head.split("\n"))


def _bodies(tree: ast.Module) -> Iterator[list[ast.stmt]]:
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.If, ast.With)):
            yield node.body


def _replaced_numbers(tree: ast.Module, writer: Writer, chance: random.Random) -> None:
    """Some constants become numbers that were read from tensors: it is then that reads matter."""
    numbers: Sequence[str] = writer.reach.get("N", ())
    sums = [node for node in ast.walk(tree) if isinstance(node, ast.BinOp)]
    for node in sums if numbers else ():
        if isinstance(node.right, ast.Constant) and chance.random() < 0.5:
            node.right = ast.Name(chance.choice(numbers), ast.Load())
