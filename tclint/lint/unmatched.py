"""Settings that name nothing: what somebody expects to be looked at, and is not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tclint.config import Config
from tclint.lint.engine import Run


def unmatched(run: Run, configs: Sequence[Config]) -> Iterator[str]:
    """A warning for each pattern that names nothing, and for a scope in which there is nothing.

    A run over single files need not hold what they name.
    """
    known = {*run.looked.patterns}
    for config in (config for config in configs if not config.partial):
        where = config.source or "command line"
        for pattern in config.compiled:
            if pattern not in known:
                yield (
                    f"{where}: compiled: {pattern!r} names no function or class of the checked "
                    "files; a name is `package.module:name`, with `*` for anything"
                )
    whole = all(not config.partial and config.scope == "compiled" for config in configs)
    if run.files and whole and not (run.looked.regions or run.looked.unseen):
        yield (
            'scope = "compiled": nothing in the checked files is compiled, so no function was '
            "checked; name what other code compiles in `compiled`"
        )
