"""Fixes: repairs, which are data, become edits of the text; all of LibCST's use is here."""
