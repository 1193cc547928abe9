"""Numbers that numpy makes: where they go, and what changes if Python's own take their place."""
