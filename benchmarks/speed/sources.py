"""What is checked: the sources of packages, as their wheels bring them."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from importlib.util import find_spec
from pathlib import Path

WHEELS = {
    "transformers": "5.23.0",
    "diffusers": "0.42.1",
    "timm": "1.0.31",
    "lightning": "2.6.6",
    "torch_geometric": "2.8.1",
    "monai": "1.6.1",
}
NAMES = (*WHEELS, "torch")


def unpacked(name: str, work: Path) -> Path:
    """The folder with a package's source; torch's is the installed one, without its wheel's bulk.

    Raises:
        RuntimeError: it is not to be had.
    """
    folder = work / "sources" / (f"{name}-{WHEELS[name]}" if name in WHEELS else name)
    if not folder.is_dir():
        if name == "torch":
            shutil.copytree(_installed_torch(), folder, ignore=_all_but_python)
        else:
            _unpack(_download(name, work / "wheels"), folder)
    return folder


def _installed_torch() -> Path:
    spec = find_spec("torch")
    if spec is None or spec.origin is None:
        raise RuntimeError("torch is not installed beside this benchmark")
    return Path(spec.origin).parent


def _all_but_python(folder: str, names: list[str]) -> list[str]:
    return [n for n in names if not n.endswith(".py") and not Path(folder, n).is_dir()]


def _download(name: str, wheels: Path) -> Path:
    version = WHEELS[name]
    command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary", ":all:"]
    subprocess.run([*command, "-d", str(wheels), f"{name}=={version}"], check=True)
    return next(wheels.glob(f"{name}-{version}-*.whl"))


def _unpack(wheel: Path, folder: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if name.endswith(".py")]
        archive.extractall(folder, names)


def sample(source: Path, count: int, folder: Path) -> Path:
    """A folder with some files of a package that import torch, evenly picked."""
    if folder.is_dir():
        shutil.rmtree(folder)
    folder.mkdir(parents=True)
    files = [file for file in sorted(source.rglob("*.py")) if b"import torch" in file.read_bytes()]
    step = max(1, len(files) // count)
    for number, file in enumerate(files[::step][:count]):
        shutil.copy(file, folder / f"m{number}_{file.name}")
    return folder


def size(source: Path) -> tuple[int, int]:
    """How many files and how many lines."""
    files = [*source.rglob("*.py")]
    return len(files), sum(file.read_bytes().count(b"\n") for file in files)
