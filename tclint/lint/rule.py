"""The interface that every rule implements, the built-in ones and third parties' alike."""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from enum import Enum
from typing import Any, ClassVar, Generic, TypeVar

from tclint.diagnostics import Confidence, Decline, Effect, Worth
from tclint.lint.options import Option
from tclint.lint.rewrite import Repair
from tclint.records import record
from tclint.semantics.events import Event
from tclint.torch_bounds.releases import Version

E = TypeVar("E", bound=Event)


class SpentIn(str, Enum):
    """The part of a step that a remedy makes shorter: the line itself, or another one."""

    LINE = "line"
    OPTIMIZER = "optimizer"
    LOADING = "loading"
    FLOAT32_MATMUL = "float32-matmul"


@record(frozen=True)
class Bad:
    """Code on which the rule fires.

    ``code`` is a module without its imports (:data:`PRELUDE` is put in front) that defines ``f``: a
    function, or a ``torch.nn.Module`` class that can be made without arguments. ``inputs`` is the
    source of a tuple of arguments, or of a list of such tuples for several calls. ``fixed`` is what
    ``tclint fix`` makes of it, None when the finding has no safe fix; ``unsafe`` is what
    ``--unsafe-fixes`` makes of it. ``proves`` is what compiling ``f`` shows: the GB ids, or one of
    ``"recompile"``, ``"host-sync"``, ``"launches"`` (more operators run than with the fix),
    ``"raises"``, ``"warns"`` (of something deprecated), or ``()`` when only the finding is checked;
    what some releases of torch do not show says of which it is true: ``"GB0059 < 2.14"``.
    ``torch`` are the releases that the example is about where it is not about all: ``"< 2.14"``.
    ``fails_on`` are inputs on which eager raises: the fix must raise the same.
    """

    code: str
    inputs: str = "(torch.ones(4, 3),)"
    fixed: str | None = None
    unsafe: str | None = None
    proves: tuple[str, ...] = ()
    fails_on: str | None = None
    title: str = ""
    torch: str = ""


@record(frozen=True)
class Good:
    """Code on which the rule stays silent, and that shows none of its effects."""

    code: str
    inputs: str = "(torch.ones(4, 3),)"
    title: str = ""
    torch: str = ""


@record(frozen=True)
class Untouched:
    """Code on which the rule fires but declines to fix; ``reason`` is part of what it says."""

    code: str
    reason: str
    inputs: str = "(torch.ones(4, 3),)"
    proves: tuple[str, ...] = ()
    title: str = ""
    torch: str = ""


Example = Bad | Good | Untouched

PRELUDE = """\
import logging
import math  # noqa: F401
import warnings  # noqa: F401

import numpy as np  # noqa: F401
import torch  # noqa: F401
import torch.nn.functional as F  # noqa: F401
from torch import nn  # noqa: F401

logger = logging.getLogger(__name__)
"""
"""What examples may import; the comments keep the fixes from taking out what one no longer uses."""


@record(frozen=True)
class Finding:
    """What a rule says about an event.

    ``node`` overrides the event's node as the reported place. ``fix`` is the repair, the reason why
    there is none, or None where the rule never fixes. ``effect`` and ``gb_ids`` default to the
    rule's first effect and to its ids. A ``confidence`` of None lets the engine derive it: from how
    sure the analysis is of the values and of the region. ``worth`` defaults to the rule's.
    ``related`` are other places where the effect shows. ``cedes_to`` is a call around it: where
    another finding of the same effect stands at that very call, this one is left out.
    ``removed_by_settings`` names the settings of Dynamo
    (:mod:`tclint.torch_facts.dynamo_settings`) with which the break goes, and breaks nowhere else
    instead.
    ``instead`` says what to do where there is no fix, with names from the code; the rule's own
    ``instead`` if it is empty.
    ``since`` is the first torch on which it holds, and ``before`` the first on which it holds no
    more: the engine compares them with the versions that the project is for.
    """

    message: str
    fix: Repair | Decline | None = None
    node: ast.expr | ast.stmt | None = None
    effect: Effect | None = None
    gb_ids: tuple[str, ...] | None = None
    confidence: Confidence | None = None
    worth: Worth | None = None
    related: tuple[ast.expr | ast.stmt, ...] = ()
    cedes_to: ast.Call | None = None
    removed_by_settings: tuple[str, ...] = ()
    instead: str = ""
    since: Version | None = None
    before: Version | None = None


class Rule(ABC, Generic[E]):
    """A claim about torch: code, documentation, examples that prove it, and a verdict on events.

    The rule's page is the Markdown file beside its module (:mod:`tclint.lint.pages`), in these
    sections: ``What it does``, ``Why it hurts``, ``Fix safety``, ``References``, ``Examples``.
    Without such a file the class docstring has the sections, and ``examples`` the examples. Rules
    hold no state: one instance serves all files.

    ``worth`` is what was ``measured``: how much, of what, and on what. None means that nobody has
    measured, and that the worth is taken to be that of the effect.

    ``instead`` is what to do about a finding that has no fix, in one line: an order without a full
    stop, such as "Count where the compiled function is called". It says what to write, never why
    there is no fix.

    ``spent_in`` is the part of a step that its remedy makes shorter: a recorded run prices it by
    that. ``on_gpu`` is for rules that hold only where a GPU works.

    ``settings`` are those of Dynamo that some of its findings name in ``removed_by_settings``.

    ``former_names`` are names that the rule had before: ``tclint rule`` still knows them.

    ``called`` is for rules on `Call` that look at some functions only: their last names. Such a
    rule is not asked about other calls, of which there are many. Without names it is asked about
    all.
    """

    code: ClassVar[str]
    name: ClassVar[str]
    former_names: ClassVar[Sequence[str]] = ()
    summary: ClassVar[str]
    instead: ClassVar[str] = ""
    on: ClassVar[type[Event]]
    effects: ClassVar[tuple[Effect, ...]]
    gb_ids: ClassVar[tuple[str, ...]] = ()
    worth: ClassVar[Worth | None] = None
    measured: ClassVar[str] = ""
    called: ClassVar[Collection[str]] = ()
    settings: ClassVar[Sequence[str]] = ()
    examples: ClassVar[Sequence[Example]] = ()
    outside_regions: ClassVar[bool] = False
    spent_in: ClassVar[SpentIn] = SpentIn.LINE
    on_gpu: ClassVar[bool] = False
    options: ClassVar[Sequence[Option]] = ()

    def option(self, event: E, name: str) -> Any:
        """The value of an option that the rule declares, as the configuration has it."""
        default = next(option.default for option in self.options if option.name == name)
        return event.site.settings.option(self.code, name, default)

    @abstractmethod
    def check(self, event: E) -> Finding | None:
        """Judge one event; None means that there is nothing to say."""
