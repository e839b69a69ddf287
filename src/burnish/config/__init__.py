"""Merged settings: defaults, the user's file, the repository's, the environment, flags; each value with its origin."""
