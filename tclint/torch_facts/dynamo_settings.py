"""Settings of Dynamo that let it trace what breaks the graph otherwise, and what each one risks.

Kept by hand: what they do is in no signature. ``tests/test_remedies.py`` compiles the examples of
the rules that name them. Which releases have them is in the table of lifetimes.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from tclint.records import record
from tclint.torch_facts.lifetimes import Lifetime, lifetime

MODULE: Final = "torch._dynamo.config"
SCALARS: Final = "capture_scalar_outputs"
DYNAMIC_SHAPES: Final = "capture_dynamic_output_shape_ops"
RECURRENT: Final = "allow_rnn"


@record(frozen=True)
class DynamoSetting:
    """A switch that is off by default; ``needs`` are those without which it rarely helps."""

    name: str
    risk: str
    needs: tuple[str, ...] = ()

    @property
    def dotted(self) -> str:
        """The whole name."""
        return f"{MODULE}.{self.name}"

    @property
    def line(self) -> str:
        """The statement that turns it on."""
        return f"{self.dotted} = True"

    @property
    def lifetime(self) -> Lifetime | None:
        """The releases that have it."""
        return lifetime(self.dotted)


_KNOWN: Final = (
    DynamoSetting(
        SCALARS,
        "code that must know the number, such as a branch on it, may fail while compiling",
    ),
    DynamoSetting(
        DYNAMIC_SHAPES,
        "code that must know the length or a number, such as a branch on it, may fail while "
        "compiling",
        (SCALARS,),
    ),
    DynamoSetting(RECURRENT, "the steps of the layer are unrolled, which can take long to compile"),
)
SETTINGS: Final = {setting.name: setting for setting in _KNOWN}
"""All of them by name, in the order in which they are written."""
FULLGRAPH: Final = frozenset({SCALARS, DYNAMIC_SHAPES})
"""What ``fullgraph=True`` turns on."""


def with_needed(names: Iterable[str]) -> tuple[DynamoSetting, ...]:
    """The settings of these names, and those that they need, in the order of the table."""
    wanted = set(names)
    wanted |= {need for name in wanted for need in SETTINGS[name].needs}
    return tuple(setting for name, setting in SETTINGS.items() if name in wanted)
