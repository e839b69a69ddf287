"""Reasons to doubt a hit, by language; `table` says which doubt belongs to which rule."""
