"""Assertions in the helpers of the end-to-end tests say as much as those in the tests."""

import pytest

pytest.register_assert_rewrite("tests.end_to_end.cutting", "tests.end_to_end.playing", "tests.end_to_end.world")
