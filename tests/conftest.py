"""What all tests share: how long property tests look. `make prove` looks much longer."""

from hypothesis import settings

settings.register_profile("test", max_examples=60, deadline=None, derandomize=True)
settings.register_profile("prove", max_examples=2_000, deadline=None)
settings.load_profile("test")
