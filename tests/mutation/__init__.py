"""Mutation testing of the core: small faults, one at a time, and whether a fast test notices each of them."""
