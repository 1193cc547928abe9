"""Write tclint/catalogues/timm_models.py: of each module of timm's models, one that is small.

Run: python -m scripts.timm_catalogue && make format (needs timm, and a few minutes)

Which models are taken is nobody's choice: of each module the one that it registers first among
those of at most so many parameters, called with the smallest of a few pictures that it takes. A
module none of whose models run is named.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Final

import timm
import torch

FILE: Final = Path(__file__).parents[1] / "tclint" / "catalogues" / "timm_models.py"
SIDES: Final = (64, 128, 224, 256)
MOST_PARAMETERS: Final = 50_000_000
TRIED: Final = 5
"""Models of a module that are tried."""
REFUSED: Final = (
    ArithmeticError, AssertionError, AttributeError, ImportError, LookupError, NotImplementedError,
    RuntimeError, TypeError, ValueError,
)  # fmt: skip
"""What models raise that need something else, or that do not take a picture of that size."""
TEXT: Final = '''\
"""A small model of each module of timm's: written by ``python -m scripts.timm_catalogue``."""

from __future__ import annotations

from typing import Final

from tclint.catalogues.inputs import Model, floats

FAMILY: Final = "pictures"
VERSION: Final = "{version}"
LEFT_OUT: Final = {left_out}
"""Modules of that version none of whose models ran when this was written."""
FIRST: Final[dict[str, tuple[str, int, dict[str, int]]]] = {{
{rows}}}
"""The name of the model, the side of its picture, and what it is made with."""

TIMM: Final[tuple[Model, ...]] = tuple(
    Model(module, name, FAMILY, {{"x": floats(2, 3, side, side)}}, {{}}, config, "timm")
    for module, (name, side, config) in FIRST.items()
)
'''

Found = tuple[str, int, dict[str, int]]


def main() -> int:
    """Write the file."""
    found = {module: next(_runs(module), None) for module in timm.list_modules()}
    left_out = tuple(module for module, one in found.items() if one is None)
    rows = "".join(_row(module, one) for module, one in found.items() if one is not None)
    text = TEXT.format(version=timm.__version__, left_out=left_out, rows=rows)
    FILE.write_text(text, encoding="utf-8")
    return 0


def _row(module: str, found: Found) -> str:
    return f"    {module!r}: {found!r},\n"


def _runs(module: str) -> Iterator[Found]:
    """The models that run, with the side of a picture and what to make them with."""
    small = (name for name in _registered(module) if _is_small(name))
    for _, name in zip(range(TRIED), small, strict=False):
        for side in SIDES:
            for config in ({"num_classes": 5}, {"num_classes": 5, "img_size": side}):
                if _takes(name, side, config):
                    print(module, name, side, config, flush=True)
                    yield name, side, config
    print(f"{module}: nothing more runs", file=sys.stderr)


def _registered(module: str) -> Iterator[str]:
    """The models of a module in the order of its source."""
    source = import_module(f"timm.models.{module}").__file__
    assert source is not None
    known = {*timm.list_models(module=module)}
    for node in ast.parse(Path(source).read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef) and node.name in known:
            yield node.name


def _is_small(name: str) -> bool:
    try:
        with torch.device("meta"):
            model = timm.create_model(name)
    except REFUSED as error:
        print(f"{name}: {error!r:.100}", file=sys.stderr)
        return False
    return sum(one.numel() for one in model.parameters()) <= MOST_PARAMETERS


def _takes(name: str, side: int, config: dict[str, int]) -> bool:
    try:
        model = timm.create_model(name, **config)
        with torch.no_grad():
            for mode in (False, True):
                model.train(mode)(torch.zeros(2, 3, side, side))
    except REFUSED:
        return False
    return True


if __name__ == "__main__":
    sys.exit(main())
