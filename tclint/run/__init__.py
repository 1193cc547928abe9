"""``tclint run``: the user's own command, recorded, priced, and proved."""
