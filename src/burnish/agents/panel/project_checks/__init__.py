"""The repository's own checks: compilers, type checkers, lint scripts and commit hooks that the base configures.

They run the project's code, so they run as its tests do: in the sandbox, without the network, in a throwaway copy. One
that is not installed, does not end or stops on its configuration is a note: neither clean nor a finding.
"""
