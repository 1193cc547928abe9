"""``tclint clean``."""

from pathlib import Path

from tclint.cli import options


def clean(
    cache_dir: options.CacheDir = None,
    config: options.ConfigOption = None,
    isolated: options.Isolated = False,
    quiet: options.Quiet = False,
) -> None:
    """Remove the cache of `tclint check`."""
    from tclint.cache.store import remove
    from tclint.cli.configuration import Overrides, configure
    from tclint.cli.execution import cache_folder
    from tclint.cli.terminal import fail, note
    from tclint.files import exists
    from tclint.source.errors import reason

    settings = configure(Overrides(entries=config or (), isolated=isolated), Path.cwd())
    folder = cache_folder(settings, cache_dir)
    if not exists(folder):
        removed = False
    else:
        try:
            removed = remove(folder)
        except OSError as error:
            fail(f"cannot remove the cache {folder}: {reason(error)}")
        if not removed:
            fail(f"{folder} is not a cache of tclint: it has no CACHEDIR.TAG of tclint's")
    if not quiet:
        note(f"Removed {folder}." if removed else f"There is no cache in {folder}.")
