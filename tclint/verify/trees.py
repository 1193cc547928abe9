"""Where "before" comes from: a folder, another file, or a git revision."""

from __future__ import annotations

import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tclint.git.run import GitError, answering, ask, borrowing, in_repository
from tclint.records import record
from tclint.scratch import scratch
from tclint.verify.errors import TargetError
from tclint.verify.targets import Target


@record(frozen=True)
class Tree:
    """A place to take a target from; ``file`` is set when "before" is a single file."""

    root: Path
    file: Path | None = None

    def locate(self, target: Target, working: Path) -> str:
        """How the target of the working tree is written for this tree."""
        if self.file is not None:
            if not target.is_file:
                raise TargetError(f"{target.text}: --before is a file, so name the target by file")
            return f"{self.file}:{target.factory}"
        if not target.is_file or not Path(target.place).is_absolute():
            return target.text
        try:
            inside = Path(target.place).relative_to(working)
        except ValueError:
            raise TargetError(f"{target.place} is not inside {working}") from None
        return f"{inside}:{target.factory}"


@contextmanager
def before_tree(before: str, working: Path) -> Iterator[Tree]:
    """Open what ``--before`` names; a git revision is unpacked for as long as the block runs."""
    path = Path(before)
    if path.is_dir():
        yield Tree(path.resolve())
    elif path.is_file():
        yield Tree(working, path.resolve())
    else:
        with scratch("before") as folder:
            yield Tree(_unpack(before, working, folder))


def _unpack(revision: str, working: Path, folder: Path) -> Path:
    here = in_repository(working)
    wanted = f"{revision}^{{tree}}"
    try:
        said = ask(here, "rev-parse", "--verify", "--quiet", "--end-of-options", wanted)
        tree = said.decode("ascii").split()[-1]  # older ones say the option again
        # Without the repository's settings, as its files were committed: no filter is run.
        with borrowing(here) as call, answering(call, "archive", "--format=tar", tree) as archive:
            with tarfile.open(fileobj=archive, mode="r|") as tar:
                tar.extractall(folder, filter="data")
            archive.read()  # what fills the last block
    except GitError as error:
        message = f"{revision!r} is neither a folder, nor a file, nor a git revision"
        raise TargetError(f"{message} ({error})") from error
    return folder / working.resolve().relative_to(here.folder)
