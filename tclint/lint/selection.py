"""Which rules run, and where; in which place of the project a file is, and what is left out."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from tclint.config import Config
from tclint.config_places import CODE, WORDS, place_by_name
from tclint.diagnostics import Applicability, Confidence, Diagnostic
from tclint.source.patterns import Patterns, compile_patterns

if TYPE_CHECKING:
    from tclint.lint.rule import Rule


_NAMES: Final = {"ALL", *WORDS}
_SURE: Final = (Confidence.LOW, Confidence.MEDIUM, Confidence.HIGH)


def selected_rules(rules: Iterable[Rule[Any]], config: Config) -> tuple[Rule[Any], ...]:
    """The rules that a configuration asks for; without ``select`` that is all of them."""
    rules = tuple(rules)
    chosen = selected_codes([rule.code for rule in rules], config)
    return tuple(rule for rule in rules if rule.code in chosen)


def selected_codes(codes: Iterable[str], config: Config) -> frozenset[str]:
    """Those of the codes that run."""
    return _selected(tuple(codes), config.select, config.extend_select, config.ignore)


def is_selected(code: str, config: Config) -> bool:
    """Whether a code runs: the longest prefix that names it decides, ``ignore`` wins a draw."""
    return _is_selected(code, config.select, config.extend_select, config.ignore)


# A server and the tests ask for each file anew.
@lru_cache(maxsize=64)
def _selected(
    codes: tuple[str, ...], select: tuple[str, ...], more: tuple[str, ...], ignore: tuple[str, ...]
) -> frozenset[str]:
    return frozenset(code for code in codes if _is_selected(code, select, more, ignore))


@lru_cache(maxsize=4096)
def _is_selected(
    code: str, select: tuple[str, ...], more: tuple[str, ...], ignore: tuple[str, ...]
) -> bool:
    wanted = longest_prefix(code, (*select, *more))
    if not select:
        wanted = max(wanted, 0)
    return wanted > longest_prefix(code, ignore)


def is_shown(found: Diagnostic, config: Config) -> bool:
    """Whether a finding is strong enough to be shown: who selects a rule by its code sees all."""
    return config.weak or not found.weak or _is_named(found.code, config)


def is_as_sure(confidence: Confidence, wanted: Confidence) -> bool:
    """True for a confidence that is no lower than another."""
    return _SURE.index(confidence) >= _SURE.index(wanted)


def _is_named(code: str, config: Config) -> bool:
    return code in config.select or code in config.extend_select


def applicability_of(
    code: str, offered: Applicability | None, config: Config
) -> Applicability | None:
    """How a rule's fix may be applied: the configuration may trust it more, less or not at all."""
    if offered is None:
        return None
    if not _is_fixable(code, config):
        return Applicability.DISPLAY
    raised = longest_prefix(code, config.extend_safe_fixes)
    lowered = longest_prefix(code, config.extend_unsafe_fixes)
    if offered is Applicability.UNSAFE and raised > lowered:
        return Applicability.SAFE
    if offered is Applicability.SAFE and lowered > raised:
        return Applicability.UNSAFE
    return offered


def _is_fixable(code: str, config: Config) -> bool:
    """True when ``fixable`` and ``unfixable`` let a rule's fixes be applied."""
    wanted = not config.fixable or longest_prefix(code, config.fixable) >= 0
    return wanted and longest_prefix(code, config.unfixable) < 0


def longest_prefix(code: str, prefixes: Iterable[str]) -> int:
    """The length of the longest of ``prefixes`` that ``code`` starts with; -1 for none.

    ``ALL`` counts as the empty prefix.
    """
    lengths = (0 if p == "ALL" else len(p) for p in prefixes if p == "ALL" or code.startswith(p))
    return max(lengths, default=-1)


def file_ignores(config: Config) -> Callable[[Path, str], bool]:
    """A test whether ``per-file-ignores`` silences a code in a file.

    Behind ``!`` a pattern means all other files, as ruff has it.
    """
    tables = [
        (compile_patterns([glob.removeprefix("!")]), glob.startswith("!"), codes)
        for glob, codes in config.per_file_ignores
    ]

    def ignored(path: Path, code: str) -> bool:
        return any(
            longest_prefix(code, codes) >= 0 and matches(patterns, path, config.root) != others
            for patterns, others, codes in tables
        )

    return ignored


def placing(config: Config) -> Callable[[Path], str]:
    """What tells the place of a file, as the tests, by names of folders and files."""
    known: dict[Path, str] = {}

    def place_of(path: Path) -> str:
        if path not in known:
            known[path] = place_by_name(_parts(config.root, path))
        return known[path]

    return place_of


def _parts(root: Path, path: Path) -> list[str]:
    parts = seen_from(root.absolute(), path.absolute()).split("/")
    return [part for part in parts if part != os.pardir]


def leaving_out(config: Config) -> Callable[[Path], bool]:
    """A test whether ``leave-out`` takes the findings of a file out of the report."""
    place_of = placing(config)
    entries = [(entry.startswith("!"), entry.removeprefix("!")) for entry in config.leave_out]
    patterns = {entry: compile_patterns([entry]) for _, entry in entries if entry not in _NAMES}

    def fits(entry: str, path: Path) -> bool:
        if entry in patterns:
            return matches(patterns[entry], path, config.root)
        place = place_of(path)
        return place != CODE and entry in (place, "ALL")

    def left_out(path: Path) -> bool:
        said = [not back for back, entry in entries if fits(entry, path)]
        return bool(said and said[-1])

    return left_out


def seen_from(root: Path, path: Path) -> str:
    """The way from the configuration's folder to a file, with forward slashes."""
    try:
        return Path(os.path.relpath(path, root)).as_posix()
    except ValueError:  # they are on different drives
        return path.as_posix()


def matches(patterns: Patterns, path: Path, root: Path) -> bool:
    """Whether a file, or a folder above it, is meant by the patterns."""
    parts = seen_from(root.absolute(), path.absolute()).split("/")
    for count in range(1, len(parts) + 1):
        head = "/".join(parts[:count])
        if patterns.match(head, parts[count - 1], folder=count < len(parts)):
            return True
    return False
