"""Drivers of the one loop: they carry out effects and append events, and decide nothing themselves."""
