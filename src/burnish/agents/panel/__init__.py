"""The embedded panel: reviewers and a fixer made of analysers that come with burnish. No model, no key, no network.

Everything here is knowledge: what to run, what its output means, how bad it is. The runtime runs it.
"""
