"""What earlier versions had, and what to use instead: the only place that remembers it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

COMMANDS: Final[Mapping[str, str]] = {
    "fleet bisect": "`git bisect run tclint verify TARGET` finds the commit",
    "fleet fix": "`tclint fix --verify TARGETS` keeps the fixes that the targets confirm",
    "fleet export": "the store is an SQLite file, which pandas and DuckDB read",
    "new-rule": "copy the rule of docs/rule-pack, with its page, and change both",
    "review serve": "a CI job of each repository runs `tclint review`, as the action does",
}
OPTIONS: Final[Mapping[str, str]] = {
    "--baseline": "`max-graph-breaks` of `[[tool.tclint.verify]]` allows the breaks of a target",
    "--statistics": "the report of `--output-format json` names the rule and status of each fix",
    "--tcp": "editors start `tclint server` and talk to its standard streams",
    "--changed": "`--diff-only HEAD` reports only findings on uncommitted lines",
    "--diff": "`tclint fix --diff` prints what the fixes would change",
    "--extend-select": "`--config 'extend-select = [\"CODE\"]'` enables a rule in addition",
    "--min-confidence": "`--weak` also reports weak findings",
    "--min-worth": "`--weak` also reports weak findings",
    "--preset": "`--leave-out tests,benchmarks` leaves such findings out",
    "--ray": "a fleet runs on one machine: give each machine a file with a part of the targets",
    "--run-report": "`tclint run --output-format markdown` says what lines cost, for any page",
    "--verify-report": "`tclint verify --output-format github` annotates lines in a job of its own",
    "--trace": "`TORCH_TRACE=DIR tclint verify ...` keeps torch's structured log",
    "--show-declined": "each finding says what to do instead, and why there is no fix",
}
KEYS: Final[Mapping[str, str]] = {
    "min-confidence": "`weak = true` also reports weak findings",
    "min-worth": "`weak = true` also reports weak findings",
    "per-file-places": "`leave-out` takes patterns, too",
    "preset": "`leave-out` names the kinds of code to leave out, such as `tests`",
    "side-effects": "fixes put output under `if not torch.compiler.is_compiling():`",
}
FLEET_KEYS: Final[Mapping[str, str]] = {
    "catalogue": "`registry` takes a mapping of names to factories, such as `zoo.py:MODELS`",
}
"""Keys of FLEET.toml."""
VALUES: Final[Mapping[str, str]] = {
    "check-run": "`annotations` shows them on the check of the job; `--sarif` is for code scanning",
    "hatches": "pass the number that only the caller knows in, or let `settings` capture it",
    "grouped": "`concise` starts each line with the file",
    "html": "`json` says everything; only `tclint run` makes a page",
    "junit": "`json` says everything; the pytest plugin makes test cases of targets",
    "json-lines": "`json` holds the same objects",
    "rdjson": "reviewdog reads `sarif`",
}
"""Values of options."""
SETTINGS: Final[Mapping[str, str]] = {
    "inlayHints": "hovering over a name tells what it holds",
}
"""What editors could set."""
CODES: Final[Mapping[str, str]] = {
    "TCL166": "give `torch._check` a message that is a function defined in the call, such as "
    "`lambda: 'text'`; no rule looks for it",
    "TCL333": "read a number that no step changes once, before the loop; no rule looks for it",
    "TCL601": "write `F.log_softmax(x, dim)`; no rule looks for it",
    "TCL602": "write `torch.logsumexp(x, dim)`; no rule looks for it",
    "TCL603": "write `F.softmax(x, dim)`; no rule looks for it",
    "TCL604": "write `F.silu(x)` or `F.gelu(x)`; no rule looks for it",
    "TCL605": "write `F.embedding(indices, weight)`; no rule looks for it",
    "TCL608": "write `F.layer_norm` or `F.rms_norm`; no rule looks for it",
}
"""Codes of rules."""


def gone(name: str, among: Mapping[str, str]) -> str:
    """The end of an error about a name that is unknown now; empty for one that never was."""
    return f"; it was removed: {among[name]}" if name in among else ""
