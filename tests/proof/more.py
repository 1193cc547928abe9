"""Examples that would crowd a rule's page: mostly one for each way in which a fix is weighed."""

from __future__ import annotations

from tclint.lint.rule import Example

from .assert_examples import ASSERTS
from .branch_examples import BRANCHES
from .idiom_examples import IDIOMS
from .masked_examples import MASKED
from .number_examples import NUMBERS
from .random_examples import RANDOM
from .read_examples import READS
from .repair_examples import REPAIRS
from .slice_examples import SLICES
from .state_examples import STATE

_ALL: tuple[dict[str, tuple[Example, ...]], ...] = (
    READS,
    NUMBERS,
    RANDOM,
    SLICES,
    STATE,
    ASSERTS,
    BRANCHES,
    REPAIRS,
    IDIOMS,
    {"TCL170": MASKED},
)

MORE: dict[str, tuple[Example, ...]] = {
    code: sum((examples.get(code, ()) for examples in _ALL), ())
    for code in dict.fromkeys(code for examples in _ALL for code in examples)
}
