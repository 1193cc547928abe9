"""What files say about torch: requirements as in PEP 508, and those of Poetry and Conda."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from enum import Enum
from pathlib import Path
from typing import Final

from tclint.records import record
from tclint.regexes import regex
from tclint.torch_bounds.releases import Allowed, BoundsError, require_numbers

IS_TORCH: Final = regex(r"\s*torch(?![\w.-]*[\w-])", re.IGNORECASE)
"""Begins a requirement of torch, and of no package whose name goes on."""
_WHEEL: Final = regex(r"(?:^|[/\\=\s])torch-(?P<version>\d[^-\s/]*)-[^/\s]*\.whl")
_CARET: Final = regex(r"\^\s*(?P<version>\d+(?:\.\d+)*)\S*")
_TILDE: Final = regex(r"~(?!=)\s*(?P<version>\d+(?:\.\d+)*)\S*")
_BARE: Final = regex(r"=?\s*v?\d[\w.+!-]*(?:\.\*)?|\*")


_MOST: Final = 200
"""Requirements of torch in one list, and ways to meet them, that are read."""


class Kind(Enum):
    """How far a statement binds: what a package needs, may use, somebody installs, or mentions."""

    NEEDED = 1
    OPTIONAL = 2
    INSTALLED = 3
    MENTIONED = 4


@record(frozen=True)
class Requirement:
    """One requirement of torch: alternatives as in PEP 440, and the marker when it counts."""

    text: str
    alternatives: tuple[str, ...]
    marker: str = ""


@record(frozen=True, eq=False)
class Statement:
    """What one list of requirements in a file says of torch."""

    file: Path
    kind: Kind
    allowed: Allowed


def statement(file: Path, kind: Kind, found: Sequence[Requirement]) -> Statement:
    """Put the requirements of one list together: all count at once, but for other markers.

    Raises:
        BoundsError: no release meets them, or they are more than anybody would write.
    """
    found = [*dict.fromkeys(found)]
    text = ", ".join(dict.fromkeys(each.text for each in found))
    together: dict[str, tuple[str, ...]] = {}
    for each in found:
        before = together.get(each.marker, ("",))
        if len(found) > _MOST or len(before) * len(each.alternatives) > _MOST:
            raise BoundsError(f"has more about torch than is read: {len(found)} requirements")
        together[each.marker] = tuple(
            ",".join(filter(None, (one, other))) for one in before for other in each.alternatives
        )
    alternatives = [text for group in together.values() for text in group]
    return Statement(file, kind, Allowed(text, _possible(text, alternatives)))


def _possible(text: str, alternatives: Sequence[str]) -> list[str]:
    """The alternatives that some release meets; a marker's own may contradict the others'."""
    possible = []
    for each in alternatives:
        try:
            Allowed(text, [each])
        except BoundsError as error:
            problem = error
            continue
        possible.append(each)
    if not possible:
        raise problem
    return possible


def requirement(text: str) -> Requirement | None:
    """A requirement as in PEP 508, or the place of a wheel; None when it is not one of torch.

    Raises:
        BoundsError: it cannot be understood.
    """
    wheel = _WHEEL.search(text)
    if wheel is not None:
        version = wheel["version"].replace("%2B", "+")
        return Requirement(f"torch {version}", (f"=={version}",))
    if IS_TORCH.match(text) is None:
        return None
    from packaging.requirements import InvalidRequirement
    from packaging.requirements import Requirement as Parsed

    require_numbers(text.partition(";")[0].partition("@")[0])
    try:
        parsed = Parsed(text)
    except InvalidRequirement as error:
        raise BoundsError(f"`{text.strip()}` is not a requirement") from error
    specifier = str(parsed.specifier)
    marker = str(parsed.marker or "")
    return Requirement(text.partition(";")[0].strip(), (specifier,), marker)


def requirements(texts: Iterable[object]) -> list[Requirement]:
    """The requirements of torch in a list; what is no text counts for nothing.

    Raises:
        BoundsError: one cannot be understood.
    """
    found = (requirement(text) for text in texts if isinstance(text, str))
    return [each for each in found if each is not None]


def poetry(value: object) -> list[Requirement]:
    """The requirements that a value of a table of Poetry's stands for: ``"^2.1"``.

    Raises:
        BoundsError: one cannot be understood.
    """
    if isinstance(value, list):
        return [each for item in value for each in poetry(item)]
    if isinstance(value, dict):
        url = value.get("url")
        if isinstance(url, str):
            return requirements([url])
        marker = " and ".join(str(value[key]) for key in _CONDITIONS if key in value)
        version = value.get("version", "*")
        return [Requirement(each.text, each.alternatives, marker) for each in poetry(version)]
    if not isinstance(value, str):
        return []
    alternatives = tuple(
        ",".join(filter(None, map(_from_poetry, _split(part))))
        for part in re.split(r"\|\|?", value)
    )
    return [Requirement(f'torch = "{value}"', alternatives)]


_CONDITIONS: Final = ("markers", "python", "platform", "sys_platform", "source")


def conda(text: str) -> Requirement | None:
    """A requirement as Conda writes it: ``pytorch=2.1``; None when it is not one of torch."""
    match = _CONDA.fullmatch(text.strip())
    if match is None:
        return None
    said = match["said"].strip()
    alternatives = tuple(
        ",".join(filter(None, map(_from_conda, re.split(r"\s*,\s*", part))))
        for part in said.split("|")
    )
    return Requirement(text.strip(), alternatives)


_CONDA: Final = regex(
    r"(?:[\w./-]+::)?(?:pytorch|pytorch-cpu|pytorch-gpu|torch)(?![\w.-])(?:\[[^\]]*\])?(?P<said>.*)",
    re.IGNORECASE,
)
_BUILD: Final = regex(r"(?P<version>[=<>!~]*\s*\d[^=\s]*?)(?:=|\s+)[^=\s]+")


def _split(text: str) -> list[str]:
    """``">=2.0 <3"`` and ``">=2.0,<3"`` in two parts."""
    return re.split(r"\s*,\s*|(?<=[\w*])\s+(?=[<>=!~^])", text.strip())


def _from_poetry(text: str) -> str:
    text = text.strip()
    if text == "*":
        return ""
    require_numbers(text)
    for pattern, kept in ((_CARET, _caret_kept), (_TILDE, lambda numbers: min(len(numbers), 2))):
        match = pattern.fullmatch(text)
        if match is not None:
            numbers = [int(number) for number in match["version"].split(".")]
            return f">={match['version']},<{_after(numbers, kept(numbers))}"
    if _BARE.fullmatch(text):
        return f"=={text.lstrip('= ')}"
    return text


def _caret_kept(numbers: Sequence[int]) -> int:
    """How many numbers a caret keeps: up to the first that is not zero."""
    return next((place + 1 for place, number in enumerate(numbers) if number), len(numbers))


def _after(numbers: Sequence[int], kept: int) -> str:
    return ".".join(map(str, (*numbers[: kept - 1], numbers[kept - 1] + 1)))


def _from_conda(text: str) -> str:
    text = text.strip()
    build = _BUILD.fullmatch(text)
    text = (build["version"] if build else text).strip()
    if text in ("", "*"):
        return ""
    if text.startswith("=") and not text.startswith("=="):
        return f"=={text[1:].strip().removesuffix('*').removesuffix('.')}.*"
    if _BARE.fullmatch(text):
        # Behind a blank a version is exact, as it is behind two signs.
        return f"=={text}"
    return text
