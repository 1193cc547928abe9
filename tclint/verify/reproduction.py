"""A script that shows a target's failure with nothing but torch and the target itself."""

from __future__ import annotations

from string import Template

from tclint.verify.arms import Options, Side
from tclint.verify.targets import parse_target

_FIXED = "\nSeen with the changes that `tclint fix` makes: apply them first."
_SCRIPT = Template('''\
"""Compiled against eager: $target with the backend $backend.

Needs torch and the files of the target, nothing else.$note
"""

import copy
import importlib
import importlib.util
import random
import sys

import torch

ROOT = $root
sys.path[:0] = [ROOT, ROOT + "/src"]


def load():
    if not $is_file:
        return importlib.import_module($place)
    spec = importlib.util.spec_from_file_location("target", $place)
    module = importlib.util.module_from_spec(spec)
    sys.modules["target"] = module
    spec.loader.exec_module(module)
    return module


def make(factory):
    random.seed(0)
    torch.manual_seed(0)
    made = factory()
    if isinstance(made, tuple):
        return made
    get = made.get if isinstance(made, dict) else lambda name: getattr(made, name)
    inputs = get("inputs")
    if isinstance(inputs, dict):
        return get("model"), (), inputs
    if len(inputs) == 2 and isinstance(inputs[1], dict):
        return get("model"), *inputs
    return get("model"), tuple(inputs), {}


def tensors(value):
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from tensors(part)
    elif isinstance(value, (list, tuple)):
        for part in value:
            yield from tensors(part)


def run(function, args, kwargs):
    random.seed(0)
    torch.manual_seed(0)
    out = list(tensors(function(*args, **kwargs)))
    if $backwards:
        sum(t.float().sum() for t in out if t.requires_grad).backward()
    return out


factory = load()
for name in $factory.split("."):
    factory = getattr(factory, name)

model, args, kwargs = make(factory)
compiled, compiled_args, compiled_kwargs = make(factory)
if isinstance(model, torch.nn.Module):
    compiled.load_state_dict(copy.deepcopy(model.state_dict()))

with torch.compiler.set_stance("force_eager"):
    expected = run(model, args, kwargs)
actual = run(torch.compile(compiled, backend=$backend_text), compiled_args, compiled_kwargs)
for number, (one, other) in enumerate(zip(expected, actual, strict=True)):
    error = (one.double() - other.double()).abs().max().item() if one.numel() else 0.0
    print(f"output {number}: off by at most {error:.3g}")
    torch.testing.assert_close(other, one)
''')


def reproduction(side: Side, options: Options, backend: str) -> str:
    """The script's text."""
    target = parse_target(side.target)
    place = str(side.root / target.place) if target.is_file else target.place
    return _SCRIPT.substitute(
        target=side.target,
        note=_FIXED if side.overlay else "",
        backend=backend,
        backend_text=repr(backend),
        root=repr(str(side.root)),
        is_file=target.is_file,
        place=repr(place),
        factory=repr(target.factory),
        backwards=options.phase != "forward",
    )
