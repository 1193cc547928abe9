"""Files as text: finding, decoding, positions, suppressions, edits and atomic writes."""
