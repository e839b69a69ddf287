"""Epics: pieces of work with dependencies, each built and reviewed by its own run, and merged once it is approved."""
