"""The fixer of the embedded panel in a real clone, with the real tools."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from burnish.agents.panel.autofix.trials import write_file
from burnish.settings.types import AnalyserSettings
from burnish.testing.repositories import Content, RepositoryBuilder
from burnish.workspace.errors import UnsafeResultError
from tests import compiled_rules
from tests.runtime.fixers_desk import FixersDesk, found, texts

_PYTHON = {"PATH": f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin"}
Desk = Callable[..., FixersDesk]


@pytest.fixture
def harness(tmp_path: Path) -> Desk:
    """Makes the clone of a change that adds these files."""

    def make(files: dict[str, Content], *, unsafe: bool = False, base: dict[str, Content] | None = None) -> FixersDesk:
        builder = RepositoryBuilder(tmp_path / "repository").commit(base or {"README": "A project.\n"}).branch("change")
        for name, content in files.items():
            builder.executable(name, content) if name.endswith(".sh") else builder.write({name: content})
        builder.commit()
        settings = AnalyserSettings(unsafe_fixes=unsafe, test_seconds=60.0)
        made = FixersDesk(tmp_path / "cache", builder, settings, _PYTHON)
        compiled_rules.offer_to(made.services.cache)
        return made

    return make


def test_only_the_findings_at_hand_are_fixed(harness: Desk) -> None:
    at = harness({"a.py": "import os\nimport re\nimport sys\n\nprint(f'x')\n"})
    mended = at.apply_autofixes(found("ruff:F401", "a.py", 2), may=[found("ruff:F541", "a.py", 5)])
    assert at.read("a.py") == b"import os\nimport sys\n\nprint('x')\n"
    assert texts(mended) == {
        "ruff:F401@a.py:2": "+ ruff's safe fix: Remove unused import: `re`",
        "ruff:F541@a.py:5": "+ ruff's safe fix: Remove extraneous `f` prefix",
    }
    assert mended.summary == "2 of 2 findings fixed by safe fixes of ruff"
    assert at.changed() == ["a.py"]


def test_bytes_that_are_not_part_of_a_fix_stay(harness: Desk) -> None:
    before = "\ufeffimport os; import sys\r\nx = 'é𝒳\t'; import re\r\n\x0c\r\nprint(sys)  \r\nprint(x)".encode()
    at = harness({"a.py": before})
    mended = at.apply_autofixes(found("ruff:F401", "a.py", 1), found("ruff:F401", "a.py", 2))
    assert at.read("a.py") == before.replace(b"import os; ", b"").replace(b"; import re", b"; ")
    assert [said.fixed for said in mended.answers] == [True, True]


def test_fixes_that_meet_are_made_one_after_the_other(harness: Desk) -> None:
    """Each of both removes a line; both together would leave a body empty."""
    at = harness({"a.py": "def f():\n    import os\n    import re\n"})
    mended = at.apply_autofixes(found("ruff:F401", "a.py", 2), found("ruff:F401", "a.py", 3))
    assert at.read("a.py") == b"def f():\n    pass\n"
    assert [said.fixed for said in mended.answers] == [True, True]


def test_a_shell_script_keeps_its_mode(harness: Desk) -> None:
    at = harness({"run.sh": '#!/bin/sh\ncd "$1"\n\tcd /tmp\n'})
    mended = at.apply_autofixes(found("shellcheck:SC2164", "run.sh", 2), found("shellcheck:SC2164", "run.sh", 3))
    assert at.read("run.sh") == b'#!/bin/sh\ncd "$1" || exit\n\tcd /tmp || exit\n'
    assert (at.clone.path / "run.sh").stat().st_mode & 0o777 == 0o755
    assert mended.summary == "2 of 2 findings fixed by safe fixes of shellcheck"


def test_oxlint_rewrites_only_the_lines_at_hand(harness: Desk) -> None:
    text = "export const f = (a, b) => !a in b;\n\nexport const g = (a, b) => !a in b;\nif (g === NaN) f();\n"
    at = harness({"a.js": text})
    mended = at.apply_autofixes(found("oxlint:no-unsafe-negation", "a.js", 3), found("oxlint:use-isnan", "a.js", 4))
    assert at.read("a.js").decode().splitlines() == [
        "export const f = (a, b) => !a in b;",
        "",
        "export const g = (a, b) => !(a in b);",
        "if (isNaN(g)) f();",
    ]
    assert [said.fixed for said in mended.answers] == [True, True]
    assert mended.summary == "2 of 2 findings fixed by safe fixes of oxlint"


def test_zizmor_makes_its_safe_fixes_and_no_others(harness: Desk) -> None:
    text = (
        "name: ci\non: [push]\npermissions: {}\njobs:\n  a:\n    runs-on: ubuntu-latest\n    steps:\n"
        "      - run: make\n        if: |\n          ${{ github.ref == 'x' }}\n"
        "      - run: make\n        if: |\n          ${{ github.ref == 'y' }}\n"
        "      - run: echo ${{ github.event.issue.title }}\n"
    )
    name = ".github/workflows/ci.yml"
    at = harness({name: text})
    mended = at.apply_autofixes(
        found("zizmor:unsound-condition", name, 12), found("zizmor:template-injection", name, 14)
    )
    assert at.read(name).decode() == text.replace(
        "if: |\n          ${{ github.ref == 'y'", "if: |-\n          ${{ github.ref == 'y'"
    )
    assert [said.fixed for said in mended.answers] == [True, False]
    assert "unsafe" in mended.answers[1].text or "no safe fix" in mended.answers[1].text


def test_an_unsafe_fix_is_only_made_when_asked_for(harness: Desk) -> None:
    at = harness({"a.py": "def f(g):\n    x = g\n"})
    mended = at.apply_autofixes(found("ruff:F841", "a.py", 2))
    assert at.changed() == []
    assert texts(mended)["ruff:F841@a.py:2"].startswith("- only with --unsafe-fixes: Remove assignment")
    assert mended.summary == "no automatic fix for 1 finding"


def test_an_unsafe_fix_that_adds_a_finding_is_taken_back(harness: Desk) -> None:
    text = "import os\n\n\ndef f():\n    x = os\n\n\ndef g(h):\n    y = h\n"
    at = harness({"a.py": text}, unsafe=True)
    mended = at.apply_autofixes(found("ruff:F841", "a.py", 5), found("ruff:F841", "a.py", 9))
    assert b"x = os" in at.read("a.py")
    assert b"y = h" not in at.read("a.py")
    first, second = mended.answers
    assert (first.fixed, second.fixed) == (False, True)
    assert first.text.startswith("reverted: it added ruff:F401")
    assert second.text.startswith("ruff's unsafe fix: Remove assignment")
    assert mended.summary == "1 of 2 findings fixed by fixes of ruff"


@pytest.mark.prove
def test_a_fix_that_breaks_a_test_is_taken_back_and_the_others_stay(harness: Desk) -> None:
    files: dict[str, Content] = {
        "lib.py": "def helper():\n    return 1\n",
        "used.py": "from lib import helper\n",
        "unused.py": "import os\n",
        "test_used.py": "import used\n\n\ndef test_helper():\n    assert used.helper() == 1\n",
    }
    at = harness(files)
    mended = at.apply_autofixes(found("ruff:F401", "used.py", 1), found("ruff:F401", "unused.py", 1))
    assert at.changed() == ["unused.py"], "neither the file that breaks the test nor what the tests left behind"
    first, second = mended.answers
    assert (first.fixed, second.fixed) == (False, True)
    assert first.text.startswith("reverted: ")
    assert "test_helper" in first.text


@pytest.mark.prove
def test_tests_that_failed_before_speak_against_nothing(harness: Desk) -> None:
    at = harness({"a.py": "import os\n", "test_a.py": "def test_never():\n    raise AssertionError\n"})
    mended = at.apply_autofixes(found("ruff:F401", "a.py", 1))
    assert at.changed() == ["a.py"]
    assert mended.answers[0].fixed


def test_findings_of_others_are_answered_honestly(harness: Desk) -> None:
    at = harness({"a.py": "import os\n\nprint(os)\n", "b.py": "try:\n    x = 1\nexcept ValueError:\n    pass\n"})
    secret, outside = found("kingfisher:aws.1", "a.py", 1), found("ruff:F401", "../secret.py", 1)
    mended = at.apply_autofixes(found("", "a.py", 1), found("ruff:F401", "a.py", 1), secret, outside)
    assert at.changed() == []
    assert [said.fixed for said in mended.answers] == [False] * 4
    assert mended.answers[2].text == "no safe fix here"
    assert "not an analyser's finding" in mended.answers[0].text
    assert "ruff did not report it again" in mended.answers[1].text


def test_an_order_without_findings_changes_nothing(harness: Desk) -> None:
    at = harness({"a.py": "import os\n"})
    mended = at.apply_autofixes()
    assert (mended.answers, at.changed()) == ((), [])


def test_no_link_is_followed(tmp_path: Path) -> None:
    outside, clone = tmp_path / "outside", tmp_path / "clone"
    outside.mkdir()
    clone.mkdir()
    (outside / "a.py").write_bytes(b"theirs")
    (clone / "a.py").symlink_to(outside / "a.py")
    (clone / "folder").symlink_to(outside)
    write_file(clone, "a.py", b"ours")
    with pytest.raises(UnsafeResultError):
        write_file(clone, "folder/a.py", b"ours")
    assert (outside / "a.py").read_bytes() == b"theirs"


def test_what_a_hook_rejects_is_told_of_every_fix(harness: Desk) -> None:
    at = harness({"a.py": "import os\n"})
    mended = at.apply_autofixes(found("ruff:F401", "a.py", 1), found("", "a.py", 1)).taken_back(
        "the hook said no:\nline 1"
    )
    assert [said.fixed for said in mended.answers] == [False, False]
    assert mended.answers[0].text == "reverted: the hook said no:\nline 1"
    assert mended.summary == "all fixes were reverted: the hook said no:"
    assert "not an analyser's" in mended.answers[1].text
