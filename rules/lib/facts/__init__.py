"""Questions about code: where a value goes, who writes it, what is certain about it."""
