"""What all tests share: how long property tests look, and which skips CI accepts."""

import os
from collections.abc import Generator

import pytest
from hypothesis import settings

from tests import compiled_rules

settings.register_profile("test", max_examples=60, deadline=None, derandomize=True)
settings.register_profile("prove", max_examples=1_000, deadline=None)
settings.load_profile("test")

LISTED_SKIPS = (
    "optional: cargo",
    "optional: make",
    "optional: npm",
    "optional: only root with setpriv can become another user",
    "optional: there is no interpreter that everybody may run",
)
"""What even CI may lack. Every other part is installed there, and a skip would hide that it was not."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--fail-on-unlisted-skips", action="store_true", help="Fail where an unlisted part is missing.")
    parser.addoption("--type-next-steps", action="store_true", help="Type every next step that a whole run offers.")


@pytest.fixture(scope="session", autouse=True)
def _shared_rules(tmp_path_factory: pytest.TempPathFactory) -> None:  # pyright: ignore[reportUnusedFunction]
    base = tmp_path_factory.getbasetemp()
    compiled_rules.share((base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "compiled-rules")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """In CI, a skip that is not listed is a failure."""
    report = yield
    if report.skipped and item.config.getoption("--fail-on-unlisted-skips"):
        reason = str(report.longrepr)
        if not any(listed in reason for listed in LISTED_SKIPS):
            report.outcome = "failed"
            report.longrepr = f"skipped, which is not listed in tests/conftest.py: {reason}"
    return report


@pytest.fixture(scope="session", autouse=True)
def _next_steps(pytestconfig: pytest.Config) -> None:  # pyright: ignore[reportUnusedFunction]
    if pytestconfig.getoption("--type-next-steps"):
        from tests.end_to_end.machine import Machine  # noqa: PLC0415 - after its assertions are rewritten

        Machine.types_steps = True
