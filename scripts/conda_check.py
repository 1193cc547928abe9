"""Build the conda recipe and test the package: ``python -m scripts.conda_check``.

Needs ``py-rattler-build``, and of the network only a package index: Python and what tclint requires
come from a channel that is made here, of this Python. So what is tried is the recipe, and not what
conda-forge holds.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import warnings
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parent.parent
RECIPE = ROOT / "install" / "conda" / "recipe.yaml"
PLATFORM = "linux-64"


def main() -> None:
    """Make the channel, build, test, and say what was built."""
    import rattler_build

    warnings.simplefilter("ignore", DeprecationWarning)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        channel = _channel(rattler_build, folder)
        rattler_build.build_recipes(
            [RECIPE],
            channel=[channel.as_uri()],
            output_dir=folder / "built",
            test="native",
            no_include_recipe=True,
        )
        (built,) = (folder / "built" / "noarch").glob("*.conda")
        rattler_build.test_package(built, channel=[channel.as_uri()])
        print(f"built and tested {built.name}")


def _channel(builder: Any, folder: Path) -> Path:
    """A channel with a Python that has all requirements, and an empty package for each of them."""
    channel = folder / "channel"
    required = _required()
    packed = {"archive_type": builder.ArchiveType.TarBz2, "compression_level": 1}
    python = "{}.{}.{}".format(*sys.version_info)
    builder.assemble_package(
        "python", python, PLATFORM, "0_cpython", channel / PLATFORM,
        files_dir=_python(folder / "python", required), detect_prefix=False, **packed,
    )  # fmt: skip
    for requirement in required:
        builder.assemble_package(
            requirement.split()[0], _least(requirement), "noarch", "0", channel / "noarch",
            files=[], noarch="generic", **packed,
        )  # fmt: skip
    for part in (PLATFORM, "noarch"):
        _index(channel / part)
    return channel


def _required() -> list[str]:
    """What the recipe asks for, but Python."""
    wanted = yaml.safe_load(RECIPE.read_text("utf-8"))["requirements"]
    every = dict.fromkeys([*wanted["host"], *wanted["run"]])
    return [one for one in every if one.split()[0] != "python"]


def _least(requirement: str) -> str:
    """The oldest version that a requirement allows."""
    return requirement.partition(">=")[2].partition(",")[0] or "1"


def _python(folder: Path, required: list[str]) -> Path:
    """An environment that stays one wherever it is moved."""
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    real = Path(sysconfig.get_config_var("BINDIR")) / version
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / version).symlink_to(real)
    (folder / "bin" / "python").symlink_to(version)
    (folder / "pyvenv.cfg").write_text(f"home = {real.parent}\n", "utf-8")
    packages = folder / "lib" / version / "site-packages"
    named = [one.replace(" ", "") for one in required]
    command = (sys.executable, "-m", "pip", "install", "--quiet", "--target", str(packages), *named)
    subprocess.run(command, check=True)
    return folder


def _index(folder: Path) -> None:
    """The list of a channel's packages, which is how they are found."""
    packages = {}
    for file in folder.glob("*.tar.bz2"):
        with tarfile.open(file) as archive:
            about = archive.extractfile("info/index.json")
            assert about is not None
            index = json.load(about)
        data = file.read_bytes()
        packages[file.name] = index | {
            "size": len(data),
            "sha256": hashlib.sha256(data).hexdigest(),
        }
    listed = {"info": {"subdir": folder.name}, "packages": packages, "packages.conda": {}}
    (folder / "repodata.json").write_text(json.dumps(listed), "utf-8")


if __name__ == "__main__":
    main()
