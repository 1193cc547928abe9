"""Where the packages are; everything else is in pyproject.toml.

The built-in rules live in ``rules/`` and are installed as ``tclint_rules``, because a bare
``rules`` would claim that name for everybody.
"""

from setuptools import find_packages, setup

setup(
    packages=[
        *find_packages(include=["tclint", "tclint.*"]),
        "tclint_rules",
        *(f"tclint_rules.{name}" for name in find_packages("rules")),
    ],
    package_dir={"tclint_rules": "rules"},
)
