"""Why a test failed, in words: each line with what happened, the rule, and what removes it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from tclint.config import load_config
from tclint.diagnostics import Applicability, Diagnostic
from tclint.errors import UserError
from tclint.lint.engine import check_files
from tclint.pytest_plugin.watching import Seen
from tclint.verify.join import match_lines
from tclint.verify.results import Joined


def explain(over: Sequence[str], seen: Seen) -> str:
    """What is over its limit, and the lines at which it happened."""
    return "\n".join([f"tclint: {'; '.join(over)}", *_lines(seen)])


def _lines(seen: Seen) -> Iterator[str]:
    findings = _findings(seen)
    for one in match_lines("test", seen.breaks, findings):
        if one.status != "not-seen":
            yield f"  {_shown(one.filename)}:{one.row}: graph break, {_known(one, findings)}"
    for again in seen.recompiles:
        yield f"  {_shown(again.filename)}:{again.row}: recompiled, because {again.reason} failed"
    for sync in seen.syncs:
        yield f"  {_shown(sync.filename)}:{sync.row}: waits for the GPU ({sync.count} times)"


def _known(one: Joined, findings: Sequence[Diagnostic]) -> str:
    ids = f"{one.gb_id} " if one.gb_id else ""
    if one.code is None:
        return f"{ids}{one.message}"
    finding = next(d for d in findings if d.code == one.code and d.message == one.message)
    return f"{ids}{one.code} {one.message}{_remedy(finding)}"


def _remedy(finding: Diagnostic) -> str:
    if finding.fixable in {Applicability.SAFE, Applicability.UNSAFE}:
        option = " --unsafe-fixes" if finding.fixable is Applicability.UNSAFE else ""
        return f"; `tclint fix{option}` can fix it: {finding.fix_message}"
    return f"; instead: {finding.instead}"


def _findings(seen: Seen) -> list[Diagnostic]:
    names = {one.filename for one in seen.breaks}
    files = sorted(Path(name).resolve() for name in names if Path(name).is_file())
    if not files:
        return []
    try:
        run = check_files(files, load_config(Path.cwd()))
    except UserError:
        return []  # a test tells what happened, whatever is wrong with the configuration
    return [result.diagnostic for result in run.results]


def _shown(filename: str) -> str:
    path, here = Path(filename), Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else filename
