"""The pure core: findings, gates and the one loop.

Nothing here does IO, reads a clock, looks at the environment or draws a random number. Time and the outside world
arrive in events; what should happen next leaves as effects.
"""
