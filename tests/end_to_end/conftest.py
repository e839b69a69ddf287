"""Assertions in the helpers say as much as those in the tests."""

import pytest

pytest.register_assert_rewrite(
    "tests.end_to_end.advice",
    "tests.end_to_end.cutting",
    "tests.end_to_end.machine",
    "tests.end_to_end.playing",
    "tests.end_to_end.world",
)
