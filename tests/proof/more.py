"""Examples that would crowd a rule's page: mostly one for each way in which a fix is weighed."""

from __future__ import annotations

from tclint.lint.rule import Example

from .assert_examples import ASSERTS
from .branch_examples import BRANCHES
from .read_examples import READS

MORE: dict[str, tuple[Example, ...]] = READS | ASSERTS | BRANCHES
