"""The parts of the generator of tclint's tables about torch; each reads one kind of source."""
