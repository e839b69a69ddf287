"""The fixer of the embedded panel, as far as it can be worked out without running anything.

Everything is bytes and places: what a fix replaces, which fixes go together, and what is said of each finding. Files
are read and written, and tools are run, by the runtime.
"""
