"""How a command works: in how many processes, and with which cache."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tclint.cache.envelope import FOLDER
from tclint.cli.terminal import has_told
from tclint.lint.execution import Execution
from tclint.records import record

if TYPE_CHECKING:
    from tclint.cache.report_inputs import Recorder
    from tclint.cli.inputs import Inputs
    from tclint.config import Config
    from tclint.lint.engine import Run


@record(frozen=True)
class Means:
    """What the command line says about it."""

    jobs: int = 0
    use_cache: bool = True
    cache_dir: Path | None = None


def execution(inputs: Inputs, paths: Sequence[Path] | None, means: Means) -> Execution:
    """How to check the inputs; what comes from standard input is not worth remembering."""
    if not means.use_cache or inputs.stdin is not None:
        return Execution(means.jobs)
    from tclint.cache.store import Cache

    label = tuple(map(str, paths or [Path()]))
    return Execution(means.jobs, Cache(cache_folder(inputs.config, means.cache_dir), label))


def recorder_of(
    how: Execution, inputs: Inputs, paths: Sequence[Path] | None, started: int
) -> Recorder | None:
    """What remembers the report of a run that began at ``started``, in nanoseconds."""
    if how.cache is None:
        return None
    from tclint.cache.report_inputs import Recorder, Sources

    configs = [config for config, _ in inputs.parts]
    sources = Sources(paths or [Path()], inputs.files, inputs.walked, configs)
    return Recorder(how.cache.folder, sources, started)


def remember(recorder: Recorder, run: Run, text: str, code: int, aside: str = "") -> None:
    """Remember a report with which all was said that the run had to say."""
    # Files that do not parse are findings; all other errors were told besides the report.
    if not has_told():
        recorder.record(run, text, code, aside)


def cache_folder(config: Config, named: Path | None) -> Path:
    """Where the cache is: beside the configuration file, else in the current folder."""
    beside = config.source.absolute().parent if config.source else Path.cwd()
    return named or beside / FOLDER
