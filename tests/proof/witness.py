"""Run a whole program eagerly and keep everything that its caller can tell about it."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.preserve.output import written
from tclint.config import Config
from tclint.fix.apply import fix_files

from .equal import difference

# What torch says of the way in which a number was read: fixes are there to read no number.
_ABOUT_READS = re.compile(r"(?m)^.*Triggered internally.*\n?|^Consider using tensor.detach.*\n?")


@dataclass(slots=True)
class Witness:
    """Results and exceptions in order, output, state, gradients and the random generators."""

    results: list[Any] = field(default_factory=list)
    inputs: list[Any] = field(default_factory=list)
    gradients: list[Any] = field(default_factory=list)
    state: dict[str, Any] = field(default_factory=dict)
    generators: list[Any] = field(default_factory=list)
    text: str = ""


def witness(program: str, calls: Sequence[tuple[Any, ...]], *, training: bool = True) -> Witness:
    """Call the ``f`` of a program, a function or the class of a module, several times."""
    seen, names = Witness(), {"__name__": "program"}
    _seed()
    with written(errors=False) as text, torch.compiler.set_stance("force_eager"):
        try:
            exec(compile(program, "program.py", "exec"), names)
            made: Any = names["f"]
            function = made().train(training) if isinstance(made, type) else made
        except Exception as error:  # noqa: BLE001 (what the program raises is compared, too)
            seen.results.append((type(error), error))
            return seen
        for call in calls:
            _call(function, call, seen)
    seen.text = _ABOUT_READS.sub("", text.getvalue())
    if isinstance(function, torch.nn.Module):
        seen.state = {name: value.detach().clone() for name, value in function.state_dict().items()}
    numpy = np.random.get_state()
    seen.generators = [torch.get_rng_state(), random.getstate(), numpy[1], numpy[2]]
    return seen


def unlike(before: Witness, after: Witness) -> str | None:
    """The first difference between two runs."""
    found = (
        difference(getattr(before, one.name), getattr(after, one.name), one.name)
        for one in fields(Witness)
    )
    return next(filter(None, found), None)


def _call(function: Any, call: tuple[Any, ...], seen: Witness) -> None:
    given = [_copied(argument) for argument in call]
    leaves = [one for one in given if isinstance(one, torch.Tensor) and one.requires_grad]
    inputs = [one * 1 if one.requires_grad else one for one in leaves]
    swaps = {id(leaf): used for leaf, used in zip(leaves, inputs, strict=True)}
    given = [swaps.get(id(one), one) for one in given]
    try:
        result = function(*given)
        seen.results.append(_plain(result))
        parts = result if isinstance(result, (tuple, list)) else [result]
        floats = [p for p in parts if isinstance(p, torch.Tensor) and p.requires_grad]
        if floats:
            sum(p.nan_to_num(0.0, 1.0, -1.0).sum() for p in floats).backward()
        # The caller may see which results are what it gave, and write into them.
        seen.results.append([[part is one for one in given] for part in parts])
    except Exception as error:  # noqa: BLE001
        seen.results.append((type(error), error))
    seen.inputs.append(_plain(given))
    seen.gradients.append([leaf.grad for leaf in leaves])


def _copied(argument: Any) -> Any:
    if isinstance(argument, torch.Tensor):
        return argument.detach().clone().requires_grad_(argument.requires_grad)
    return argument


def _plain(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.detach().clone().requires_grad_(value.requires_grad)
    if isinstance(value, (tuple, list)):
        return type(value)(map(_plain, value))
    return value


def _seed() -> None:
    torch.manual_seed(0)
    np.random.seed(0)
    random.seed(0)


def assert_kept(
    code: str, calls: Sequence[tuple[Any, ...]], root: Path, config: Config, *, unsafe: bool = False
) -> None:
    """Fix a program, and run it before and after: nobody may tell the difference."""
    path = root / "program.py"
    path.write_text(code, encoding="utf-8")
    run = fix_files([path], config, unsafe=unsafe)
    assert not run.remaining.errors, (code, run.remaining.errors)
    if run.changed:
        fixed = run.changed[0].after
        found = unlike(witness(code, calls), witness(fixed, calls))
        assert found is None, f"{found}\n{code}\n{fixed}"
