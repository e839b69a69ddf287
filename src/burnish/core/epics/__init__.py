"""Epics: pieces of work with dependencies, each built and reviewed by a run of its own, merged once approved."""
