"""Weighing what speaks for a tensor, and what against one, where no call and no annotation says."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tclint.regexes import regex
from tclint.semantics.interpreter.uses import AGAINST, Sign, Use
from tclint.semantics.lattice import join
from tclint.semantics.values import STATIC, UNKNOWN, Guess, Mapping, Sequence, Static, Tensor, Value

# Names under which an optional tensor is passed around in model code ("mask=None").
_TENSOR_NAME: Final = regex(
    r"^(?!(?:output|return|use|is|has|do|with|num|max|min|add|skip|no)_)"
    r"(?!(?:.*_)?(?:seq|sequence|context|window|chunk)_length$)(?:.*_)?"
    r"(masks?|ids|labels?|targets?|states?|embeds?|embeddings?|logits|indices|positions?|"
    r"lengths?|lens|features?|images?|pixel_values|query|key|value|tokens|inputs?|bias|x|y|z|q|k|v)$"
)


def is_named_like_tensor(name: str) -> bool:
    """True for a name under which model code passes an optional tensor."""
    return _TENSOR_NAME.search(name) is not None


def is_unfounded(tensor: Tensor) -> bool:
    """True for a parameter that is taken for a tensor, though nothing in its function says so."""
    return tensor.assumed and tensor.guess is Guess.UNFOUNDED


def value_by_use(use: Use, tensor: Tensor, name: str = "") -> Value:
    """What a value is that would be taken for a tensor, by what is done with it.

    What speaks for a tensor weighs more than what numbers and objects may do as well; for dicts,
    lists and strings, it tells that a value may be either.
    """
    kinds = [*_kinds(use, tensor, name)]
    if Sign.TENSOR in use.signs and tensor.guess is Guess.UNFOUNDED:
        tensor = tensor.changed(guess=Guess.USED_AS_ONE)
    if not kinds:
        return tensor
    if Sign.ASKED not in use.signs and Sign.TENSOR not in use.signs:
        return join(kinds)
    return (
        tensor
        if all(kind is STATIC or kind is UNKNOWN for kind in kinds)
        else join([*kinds, tensor])
    )


def _kinds(use: Use, tensor: Tensor, name: str) -> Iterator[Value]:
    """What a value is where it is no tensor; nothing where nothing speaks against one."""
    signs = use.signs
    if Sign.TEXT in signs:
        yield Static("str")
    elif Sign.MAPPING in signs:
        yield _mapping(use, tensor)
    if any(map(_is_plain_part, use.parts.values())):
        yield Sequence("tuple", items=_parts(use.parts, tensor))
    elif _has_members(use, name):
        yield Sequence("list", _member(use, tensor))
    elif Sign.SEQUENCE in signs or signs >= _ONE_OR_SEVERAL:
        yield Sequence("list")
    if not signs.isdisjoint(_NUMBERS):
        yield STATIC
    if signs.isdisjoint(_CERTAIN) and Sign.OTHER in signs:
        yield UNKNOWN


def members_by_use(use: Use, promised: Value) -> Value:
    """What an annotation promises, without the keys that are used as texts only.

    ``dict[str, Tensor]`` is written for batches that hold names, too: those are compared with
    texts, asked for their type or put into another text, and nothing else is done with them.
    """
    if not isinstance(promised, Mapping) or not isinstance(promised.element, Tensor):
        return promised
    texts = ((key, UNKNOWN) for key, one in sorted(use.keys.items()) if _is_text(one))
    return Mapping((*promised.items, *texts), promised.element)


def _is_text(use: Use) -> bool:
    return bool(use.signs) and use.signs <= {Sign.TEXT, Sign.ASKED, Sign.PRINTED}


_ONE_OR_SEVERAL: Final = frozenset({Sign.ASKED, Sign.LISTED})
"""``isinstance(dim, int)``, else ``list(dim)``: several of what was asked for, most likely."""
_NUMBERS: Final = frozenset({Sign.NUMBER, Sign.BOUND})
_CERTAIN: Final = frozenset({Sign.TEXT, Sign.MAPPING, Sign.SEQUENCE, *_NUMBERS})


def _is_plain_part(use: Use) -> bool:
    """True for a variable that a value is unpacked to and that no tensor's row is like."""
    return use.speaks_against() or (Sign.BOUND in use.signs and Sign.TENSOR not in use.signs)


def _parts(parts: dict[int, Use], tensor: Tensor) -> tuple[Value, ...]:
    """What a value is unpacked to: numbers beside numbers, unless something speaks for more."""
    numbers = any(not use.signs.isdisjoint(_NUMBERS) for use in parts.values())
    return tuple(
        STATIC
        if numbers and (use is None or not use.signs - _NUMBERS)
        else value_by_use(use or Use(), tensor)
        for use in map(parts.get, range(max(parts) + 1))
    )


def _has_members(use: Use, name: str) -> bool:
    """True for a list by what its members are: those of tensors are used as numbers, too."""
    member = use.member
    if member is None or Sign.MAPPING in use.signs or not member.speaks_against():
        return False
    plain = member.signs & AGAINST == {Sign.NUMBER} and member.member is None
    return not (plain and is_named_like_tensor(name))


def _member(use: Use, tensor: Tensor) -> Value:
    """A member of a list: a dict there tells about one sample, in numbers and strings mostly."""
    member = use.member or Use()
    if Sign.MAPPING in member.signs:
        items = ((key, _certain(inner, tensor)) for key, inner in sorted(member.keys.items()))
        return Mapping(tuple(items))
    return value_by_use(member, tensor)


def _mapping(use: Use, tensor: Tensor) -> Mapping:
    """A dict; computed keys may have values of several kinds, tensors among them."""
    items = ((key, value_by_use(inner, tensor)) for key, inner in sorted(use.keys.items()))
    member = use.member or Use()
    others = tensor if Sign.TENSOR in member.signs else value_by_use(member, tensor)
    return Mapping(tuple(items), others)


def _certain(use: Use, tensor: Tensor) -> Value:
    """A tensor only where something speaks for one."""
    plain = Sign.TENSOR not in use.signs and not use.speaks_against()
    return UNKNOWN if plain else value_by_use(use, tensor)
