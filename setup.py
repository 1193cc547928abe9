"""Where the packages are, and what of them may be compiled; the rest is in pyproject.toml.

The built-in rules live in ``rules/`` and are installed as ``tclint_rules``, because a bare
``rules`` would claim that name for everybody.

With ``TCLINT_COMPILE=1`` the analysis is compiled with mypyc, as ``make wheel`` does. Without it
the same sources are installed as they are: slower, and in need of no C compiler. TCLINT_OPTIMIZE
is the C compiler's level, from 0 to 3; at 0 the code that mypyc makes checks itself as well, and
nothing is written for debuggers.
"""

import os
import sys
from pathlib import Path

from setuptools import Extension, find_packages, setup

# Dataclasses compared by content, which mypyc would do by identity, protocols of properties, with
# which its modules crash when they are imported, and what runs now and then.
INTERPRETED = {
    "__init__.py", "bounds.py", "events.py", "evidence.py", "explain.py", "mentions.py",
    "records.py", "rows.py", "whereabouts.py",
}  # fmt: skip


def extensions() -> list[Extension]:
    """The compiled modules, if they were asked for; needs mypy, and takes four minutes.

    What only asks for the metadata does not need them, and mypyc would do its work twice.
    """
    if os.environ.get("TCLINT_COMPILE") != "1" or "dist_info" in sys.argv:
        return []
    from mypyc.build import mypycify

    sources = sorted(Path("tclint/semantics").rglob("*.py"))
    names = [str(path) for path in sources if path.name not in INTERPRETED]
    level = os.environ.get("TCLINT_OPTIMIZE", "2")
    made: list[Extension] = mypycify(
        names, opt_level=level, debug_level="0" if level == "0" else "1"
    )
    if os.name != "nt":
        # No other library calls these functions: without stubs between them, caches miss less.
        for extension in made:
            extension.extra_compile_args.append("-fvisibility=hidden")
    return made


setup(
    packages=[
        *find_packages(include=["tclint", "tclint.*"]),
        "tclint_rules",
        *(f"tclint_rules.{name}" for name in find_packages("rules")),
    ],
    package_dir={"tclint_rules": "rules"},
    ext_modules=extensions(),
)
