"""From facts to a verdict: may it be rewritten, what changes then, and why not."""
