"""burnish: the quality gate that autonomous coding agents must pass."""

__version__ = "0.1.0"
