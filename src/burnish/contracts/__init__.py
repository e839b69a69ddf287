"""Words ↔ values: one module for each form in which a reviewer may answer.

Each module has `parse(text, is_file) -> Answer`, which raises `UnreadableError`, and one or more `render…` functions.
Text is decoded once, by `burnish.contracts.text`; `burnish.contracts.registry` maps names to parsers.
"""
