"""What all checks share: the names of their rules, how they report a hit, and the data in `rules/` that they follow."""

import re
import tomllib
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any

from burnish.agents.panel.interface import Hit, ToolName

_RULES = Path(__file__).parent.parent / "rules"


class OwnRule(Enum):
    """Every rule of burnish's own, by its name in the rule files."""

    PASSWORD = "password-in-configuration"  # noqa: S105 - the name of a rule
    PASSWORD_IN_CODE = "password-in-code"  # noqa: S105 - the name of a rule
    ACCESS_KEY = "access-key"
    NUL_BYTE = "nul-byte"
    CHECKOUT = "checkout-differs"
    EXPANDED = "text-is-expanded"
    LINK = "link-out-of-tree"
    SUBMODULE = "submodule"
    INVALID_DATA = "invalid-data"
    DUPLICATE_KEY = "duplicate-key"
    MERGE_MARKER = "merge-marker"
    TESTS_MAY_FAIL = "tests-may-fail"
    JOB_MAY_FAIL = "job-may-fail"
    STEP_MAY_FAIL = "step-may-fail"
    TESTS_NOT_RUN = "tests-not-run"
    UNKNOWN_JOB = "unknown-job"
    WRITE_ALL = "write-all"
    MOVING_ACTION = "moving-action"
    DOWNLOAD_RUN = "download-run"
    NOT_VERIFIED = "not-verified"
    EVERYONE_WRITES = "everyone-writes"
    DELETES_ROOT = "deletes-root"
    UNDECLARED_PACKAGE = "undeclared-package"
    MISSING_MODULE = "missing-module"
    RUNS_STRANGERS = "runs-strangers"
    MISSING_EXPORT = "missing-export"
    PROMISE_IGNORED = "promise-ignored"
    MISSING_FILE = "missing-file"
    UNKNOWN_STAGE = "unknown-stage"
    RUNS_AS_ROOT = "runs-as-root"


def hit(rule: OwnRule, path: str, line: int | None, message: str) -> Hit:
    return Hit(tool=ToolName.BURNISH, rule=rule.value, file=path, line=line, message=message)


@cache
def rule_data(name: str) -> dict[str, Any]:
    """A file of data, as it is; its users know what is in it."""
    return tomllib.loads((_RULES / f"{name}.toml").read_text(encoding="utf-8"))


@cache
def pattern(file: str, name: str) -> re.Pattern[str]:
    """A regular expression of a file of data, in which white space does not count."""
    return re.compile(rule_data(file)[name], re.VERBOSE | re.MULTILINE)
