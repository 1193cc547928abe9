"""``tclint config``."""

from typing import Annotated

import typer


def config(
    key: Annotated[
        str | None, typer.Argument(help="A configuration key.", show_default=False)
    ] = None,
) -> None:
    """Explain the configuration: all keys, or one with its type and default."""
    from tclint.cli.terminal import fail, write
    from tclint.config import describe_keys
    from tclint.config_keys import nearest
    from tclint.report.keys import key_text

    keys = {described.name: described for described in describe_keys()}
    if key is None:
        wide = max(map(len, keys))
        write("".join(f"{name:<{wide}}  {k.doc}\n" for name, k in keys.items()))
        return
    described = keys.get(key.replace("_", "-"))
    if described is None:
        fail(f"unknown key {key!r}{nearest(key, keys)}")
    write(key_text(described))
