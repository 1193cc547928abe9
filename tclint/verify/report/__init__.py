"""Reports of a verification: one module a format, each with ``render(reports, base)``."""
