"""The generator of tclint's tables about torch: one module per table, or per kind of source."""
