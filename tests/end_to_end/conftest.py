"""Assertions in the helpers say as much as those in the tests."""

import pytest

pytest.register_assert_rewrite(
    "tests.end_to_end.advice",
    "tests.end_to_end.cutting",
    "tests.end_to_end.machine",
    "tests.end_to_end.playing",
    "tests.end_to_end.world",
)


@pytest.fixture(scope="session", autouse=True)
def _next_steps(pytestconfig: pytest.Config) -> None:  # pyright: ignore[reportUnusedFunction]
    from tests.end_to_end.machine import Machine  # noqa: PLC0415 - after its assertions are rewritten

    Machine.types_steps = bool(pytestconfig.getoption("--type-next-steps"))
