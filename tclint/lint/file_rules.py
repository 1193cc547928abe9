"""The findings that are about a file itself, not about torch: the engine makes them, no event."""

from __future__ import annotations

from typing import Any, Final

from tclint.diagnostics import Effect
from tclint.lint.codes import (
    INVALID_SUPPRESSION,
    NOT_FOLLOWED,
    SYNTAX_ERROR,
    UNUSED_SUPPRESSION,
)
from tclint.lint.rule import Bad, Finding, Good, Rule, Untouched
from tclint.semantics.events import Event


class _Own(Rule[Event]):
    """A rule that can be selected, ignored and explained like any other."""

    on = Event

    def check(self, event: Event) -> Finding | None:
        """Judge nothing: no event is of this type."""
        return None


class SyntaxErrorRule(_Own):
    """A file is not Python that the running interpreter can parse.

    ## What it does
    Reports the parser's message at its place. Where the line looks like syntax of a newer Python,
    the message says which one; tclint reads what the interpreter that runs it can read.

    ## Why it hurts
    Nothing else can be said about the file, and what calls into it is judged without it.

    ## Fix safety
    There is no fix.

    ## What to do instead
    Correct the line that the message names. If it is syntax of a newer Python, run tclint with that
    Python.

    ## When to leave it
    Where the file is not meant to be Python: a template, or a test's broken input. Exclude it
    (`extend-exclude`) instead of silencing it.
    """

    code = SYNTAX_ERROR
    name = "syntax-error"
    summary = "The file cannot be parsed"
    instead = (
        "Correct the line that the message names, or exclude a file that is not meant to be Python"
    )
    effects = (Effect.INVALID,)


class UnusedSuppression(_Own):
    """A comment silences nothing.

    ## What it does
    Reports each code in `# tclint: ignore[...]`, `ignore-file` and `disable` comments, and each
    rule of tclint's in a `# noqa:` comment, that silenced no finding. Codes of rules that did not
    run are not judged. Where single files are named, as pre-commit does, only comments in code
    that the run looked at are judged: what silences a finding may be reached from elsewhere.

    ## Why it hurts
    The comment says that something is wrong with the line. Whoever believes it is misled, and the
    next finding at the line is silenced unseen.

    ## Fix safety
    Takes the code out, or the whole comment when nothing else is in it. `# noqa` comments are left
    alone, since other linters read them too.

    ## When to leave it
    Where the comment is for a run with other settings, such as another `target-torch`. Silence this
    rule on the line, and say why there.
    """

    code = UNUSED_SUPPRESSION
    name = "unused-suppression"
    summary = "A comment silences nothing"
    instead = "Take the code out of the comment"
    effects = (Effect.NONE,)
    examples = (
        Bad(
            """
def f(x):
    return x + 1  # tclint: ignore[TCL101]
""",
            fixed="""
def f(x):
    return x + 1
""",
        ),
        Good(
            """
def f(x):
    return x * x.sum().item()  # tclint: ignore[TCL101]  -- logged once
"""
        ),
        Untouched(
            """
def f(x):
    return x + 1  # noqa: TCL101
""",
            reason="other linters read `noqa` comments, too",
        ),
    )


class InvalidSuppression(_Own):
    """A comment looks like one that silences findings but cannot be understood.

    ## What it does
    Reports comments that begin with `# tclint:` and go on with an unknown word, with codes that no
    rule has, with brackets that are empty or not closed, or that open or close no block.

    ## Why it hurts
    The comment silences nothing, though somebody wrote it to.

    ## Fix safety
    There is no fix: the message names what was expected.

    ## What to do instead
    Write `# tclint: ignore[CODE]` on the line, or `# tclint: ignore-file[CODE]` for the whole file.

    ## When to leave it
    Never: the comment does nothing as it stands.
    """

    code = INVALID_SUPPRESSION
    name = "invalid-suppression"
    summary = "A comment that should silence findings cannot be understood"
    instead = (
        "Write `# tclint: ignore[CODE]` on the line, or `# tclint: ignore-file[CODE]` for the file"
    )
    effects = (Effect.NONE,)
    examples = (
        Bad(
            """
def f(x):
    return x + 1  # tclint: ignore[TCL9999]
"""
        ),
        Good(
            """
def f(x):
    return x * x.sum().item()  # tclint: ignore[TCL101]
"""
        ),
    )


class NotFollowed(_Own):
    """The analysis stops at a place, and what lies behind it is not checked.

    ## What it does
    Reports each statement at which the analysis meets one of its bounds: a name that may mean very
    many classes or functions, a function that is called in more than 1,024 ways, syntax that nests
    a hundred levels deep. The bounds keep the time of a run in proportion to the code; hardly any
    code that people write comes near one.

    Reports, too, where compiled code first uses a name of which nobody can tell what it means: one
    that only a `from other import *` can bind whose module is not there to read, or that a package
    makes with `globals()` or `__getattr__`, or that is a module or a function of one name,
    whichever Python comes to last. The same for `torch`, or a base of layers, that nothing in the
    file binds.

    ## Why it hurts
    Findings may be missing behind the place: that nothing else is reported does not mean that
    nothing is there.

    ## Fix safety
    There is no fix.

    ## What to do instead
    Name what is called there in `compiled`, so that it is checked by itself: `compiled =
    ["models.py:Encoder.forward"]`. Import a name from the file that makes it. Where syntax nests
    too deeply, split the statement. Or measure what compiling does there with `tclint verify`.

    ## When to leave it
    Where what is called there is checked by itself already, or never compiled. Silence it on the
    line, and say why there.
    """

    code = NOT_FOLLOWED
    name = "not-followed"
    summary = "The analysis stops there, so findings may be missing"
    instead = "Name what is called there in `compiled`, so that it is checked by itself"
    effects = (Effect.NONE,)
    examples = (
        Bad(
            """
class One:
    by = 1

    def run(self, x):
        return x * self.by


class Two(One): by = 2
class Three(One): by = 3
class Four(One): by = 4
class Five(One): by = 5
class Six(One): by = 6
class Seven(One): by = 7
class Eight(One): by = 8
class Nine(One): by = 9


SCALES = [One, Two, Three, Four, Five, Six, Seven, Eight, Nine]


def f(x, number=0):
    return SCALES[number]().run(x)
"""
        ),
        Good(
            """
class One:
    by = 1

    def run(self, x):
        return x * self.by


class Two(One): by = 2


SCALES = [One, Two]


def f(x, number=0):
    return SCALES[number]().run(x)
"""
        ),
    )


OWN: Final[tuple[Rule[Any], ...]] = (
    SyntaxErrorRule(),
    UnusedSuppression(),
    InvalidSuppression(),
    NotFollowed(),
)
"""By code."""
