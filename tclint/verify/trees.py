"""Where "before" comes from: a folder, another file, or a git revision."""

from __future__ import annotations

import subprocess
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile

from tclint.records import record
from tclint.verify.contract import TargetError
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
        with TemporaryDirectory(prefix="tclint-before-") as folder:
            yield Tree(_unpack(before, working, Path(folder)))


def _unpack(revision: str, working: Path, folder: Path) -> Path:
    wanted = f"{revision}^{{tree}}"
    tree = _git(working, "rev-parse", "--verify", "--quiet", "--end-of-options", wanted)
    if tree is None:
        raise TargetError(f"{revision!r} is neither a folder, nor a file, nor a git revision")
    top = _git(working, "rev-parse", "--show-toplevel")
    assert top is not None
    with TemporaryFile() as archive:
        command = ["git", "archive", "--format=tar", tree]
        subprocess.run(command, cwd=top, stdout=archive, check=True)
        archive.seek(0)
        with tarfile.open(fileobj=archive) as tar:
            tar.extractall(folder, filter="data")
    return folder / working.resolve().relative_to(Path(top).resolve())


def _git(working: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", *arguments], cwd=working, capture_output=True, text=True, check=False
        )
    except FileNotFoundError:
        return None
    # ``--end-of-options`` is echoed by older git; the answer is the last line.
    lines = done.stdout.split()
    return lines[-1] if done.returncode == 0 and lines else None
