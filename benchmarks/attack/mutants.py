"""Broken programs through check, fix, and fix again.

Programs (the fixtures, and the examples of all rules) are broken: bytes, tokens, lines, encodings.
Promised: every run ends with findings and errors. What Python can read it can still read after
fixing, a second fix finds nothing more to do, and every finding lies inside of its file. Failures
are exceptions, findings elsewhere, fixed texts that do not parse or are fixed once more, and a
minute of the processor's time for one program.
"""

from __future__ import annotations

import ast
import traceback
import warnings
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from random import Random

from benchmarks.attack.kind import Kind, Slice, Tried
from benchmarks.attack.mutate import mutated
from benchmarks.preserve.children import TooLongError, at_most
from tclint.config import SCOPES, Config
from tclint.fix.apply import fix_files
from tclint.lint.engine import Run, check_files
from tclint.lint.pages import page_of
from tclint.lint.registry import load_rules
from tclint.lint.rule import PRELUDE, Bad
from tclint.report.formats import OutputFormat, render
from tclint.report.view import View
from tclint.source.errors import SourceError
from tclint.source.write import NewText, write_all

FIXTURES = Path(__file__).parents[2] / "fixtures"
SECONDS = 60
MOST_DRAWS = 20


def tried(part: Slice) -> Iterator[Tried]:
    """Break programs, one after the other, and put each through the runs."""
    for number in part.numbers:
        chance = part.chance(number)
        path = part.folder / f"m{number}.py"
        path.write_bytes(broken(chance))
        config = Config(
            part.folder, scope=chance.choice(SCOPES), third_party=False, compiled=("*:f",)
        )
        seen: list[str] = []
        failure = None
        try:
            with at_most(SECONDS), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                put_through(path, config, seen, unsafe=chance.random() < 0.5)
        except TooLongError:
            failure = f"more than {SECONDS} seconds"
        except SourceError:
            seen.append("not written")  # its encoding spells some texts in several ways
        except Exception:  # noqa: BLE001 (the point of the exercise)
            failure = traceback.format_exc()
        yield Tried(number, "mutant", failure and f"{path}: {failure}", tuple(seen))
        if failure is None:
            path.unlink()


def broken(chance: Random) -> bytes:
    """A program after some mutations; of three, two are drawn again until Python can read them."""
    draws = chance.choice((1, MOST_DRAWS, MOST_DRAWS))
    for _ in range(draws):
        data = mutated(chance.choice(seeds()), chance.choice(seeds()), chance)
        if parses(data):
            break
    return data


@cache
def seeds() -> tuple[bytes, ...]:
    """The programs to start from; those that have a fix thrice."""
    files = [file.read_bytes() for file in sorted(FIXTURES.rglob("*.py"))]
    examples = [one for rule in load_rules() for one in page_of(rule).examples]
    fixable = [one for one in examples if isinstance(one, Bad) and (one.fixed or one.unsafe)]
    texts = [PRELUDE + one.code for one in (*examples, *fixable, *fixable)]
    return (*files, *(text.encode() for text in texts))


def put_through(path: Path, config: Config, seen: list[str], *, unsafe: bool) -> None:
    """Check, fix, and fix again; adds to ``seen`` how far the program came.

    Raises:
        AssertionError: something is not as promised.
    """
    bad = failures([path], config)
    assert not bad, bad[0]
    readable = parses(path.read_bytes())
    if readable:
        seen.append("readable")
    first = fix_files([path], config, unsafe=unsafe)
    if not first.changed:
        return
    seen.append("fixed")
    for file in first.changed:
        write_all([NewText(file.path, file.after, file.encoding, file.before)])
    assert parses(path.read_bytes()) or not readable, (
        f"not Python any more:\n{first.changed[0].after}"
    )
    again = fix_files([path], config, unsafe=unsafe)
    assert not again.changed, (
        f"fixed once more:\n{first.changed[0].after}\ninto:\n{again.changed[0].after}"
    )


def parses(data: bytes) -> bool:
    """Whether this Python can read a program."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(data)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def failures(paths: Sequence[Path], config: Config) -> list[str]:
    """What goes wrong in checking some files together and reporting on them."""
    try:
        run = check_files(paths, config)
        for kind in (OutputFormat.FULL, OutputFormat.JSON):
            render(kind, run, View(config.root))
    except Exception:  # noqa: BLE001 (the point of the exercise)
        return [traceback.format_exc()]
    return [*misplaced(run)]


def misplaced(run: Run) -> Iterator[str]:
    """Findings whose place is not in their file."""
    for result in run.results:
        span, lines = result.diagnostic.span, result.file.lines
        first, last = span.start, span.end
        inside = 1 <= first.row <= last.row <= max(len(lines), 1) and first <= last
        if not inside or first.column < 1:
            yield f"{result.diagnostic.path}: {result.diagnostic.code} at {span}"


KIND = Kind("mutants", 20_000, 250, tried)
