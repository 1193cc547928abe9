"""What a model is, and what it is called with: plain data, since only the children have torch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final


@dataclass(frozen=True, slots=True)
class Input:
    """An argument to make.

    ``kind`` is ``ids``, ``floats`` or ``ones`` of a shape, ``tensor`` of the given ``values``,
    ``nested`` for lists and dicts of such inputs, or ``plain`` for the values as they are.
    """

    kind: str
    shape: tuple[int, ...] = ()
    below: int = 100
    values: Any = None


@dataclass(frozen=True, slots=True)
class Made:
    """A part of a model that is made first: what to call, by its dotted name, and with what."""

    path: str
    positional: tuple[Any, ...]
    named: Mapping[str, Any]


Inputs = Mapping[str, Input]


@dataclass(frozen=True, slots=True)
class Model:
    """One model type; ``cls`` has dots where it is not an attribute of the library itself.

    ``config`` is laid over the shrunk configuration, ``inputs`` are the forward arguments and
    ``labels`` what training adds to them.
    """

    name: str
    cls: str
    family: str
    inputs: Inputs
    labels: Inputs = field(default_factory=dict)
    config: Mapping[str, Any] = field(default_factory=dict)
    library: str = "transformers"


def ids(*shape: int, below: int = 100) -> Input:
    """Whole numbers, as tokens and classes are."""
    return Input("ids", shape, below)


def floats(*shape: int) -> Input:
    """Normally distributed numbers."""
    return Input("floats", shape)


def ones(*shape: int) -> Input:
    """A mask that hides nothing."""
    return Input("ones", shape)


def tensor(values: Any) -> Input:
    """A tensor of exactly these numbers."""
    return Input("tensor", values=values)


def plain(values: Any) -> Input:
    """An argument that is no tensor."""
    return Input("plain", values=values)


def nested(values: Any) -> Input:
    """Lists and dicts of inputs."""
    return Input("nested", values=values)


def made(path: str, *positional: Any, **named: Any) -> Made:
    """A part that a model is made of."""
    return Made(path, positional, named)


TOKENS: Final = {"input_ids": ids(2, 16), "attention_mask": ones(2, 16)}
NEXT_TOKENS: Final = {"labels": ids(2, 16)}
CLASSES: Final = {"labels": ids(2, below=2)}


def family(name: str, inputs: Inputs, labels: Inputs, *pairs: str) -> list[Model]:
    """Models that need the same arguments and no changed configuration, as ``type:Class``."""
    split = (pair.split(":") for pair in pairs)
    return [Model(kind, cls, name, inputs, labels) for kind, cls in split]
