"""``tclint run`` on public training scripts."""
