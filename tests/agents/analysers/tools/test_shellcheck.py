"""shellcheck on real scripts."""

from pathlib import Path

import pytest

from burnish.agents.panel.interface import RuleSelection, SourceFile, ToolError
from burnish.agents.panel.programs import program
from burnish.agents.panel.tools.shellcheck import Shellcheck
from burnish.system.process import Command, run_now
from tests.agents.analysers.tools.running import edited, in_order, look, places, start, write

MASKED = '#!/bin/bash\nf() {\n\tlocal x=$(cmd)\n\tcd foo\n\techo "$x"\n}\nf\n'


def test_what_is_found_where(tmp_path: Path) -> None:
    hits = look(Shellcheck(), tmp_path, {"a.sh": MASKED})
    assert places(hits) == [("a.sh", 3, "SC2155"), ("a.sh", 4, "SC2164")]
    assert [hit.level for hit in hits] == ["warning", "warning"]
    assert [hit.fixable for hit in hits] == [False, True]


def test_only_what_is_selected_is_found(tmp_path: Path) -> None:
    chosen = look(Shellcheck(), tmp_path, {"a.sh": MASKED}, RuleSelection(select=("SC2155",)))
    without = look(Shellcheck(), tmp_path, {"a.sh": MASKED}, RuleSelection(ignore=("SC2155",)))
    assert ([hit.rule for hit in chosen], [hit.rule for hit in without]) == (["SC2155"], ["SC2164"])


@pytest.mark.parametrize(
    "body",
    [
        '\trm $x/é𝒳 "é" $1\n',
        "\tcd foo\n",
        'echo "é𝒳" "$(ls `pwd`)"\n',
        "x=\"é\"; \t[ $x = 'é' ] && echo `date`\n",
        "if [ x$a == x ]; then\n\techo ${b}\nfi\n",
    ],
)
def test_edits_give_what_shellcheck_itself_would_make_of_the_script(tmp_path: Path, body: str) -> None:
    text = f"#!/bin/bash\n{body}"
    hits = look(Shellcheck(), tmp_path, {"a.sh": text})
    edits = [edit for hit in hits if hit.remedy for edit in hit.remedy.edits]
    assert edited(text, edits) == _as_shellcheck_fixes(tmp_path, "a.sh")


def _as_shellcheck_fixes(folder: Path, name: str) -> str:
    path = {"PATH": "/usr/bin:/bin", "HOME": str(folder), "LC_ALL": "C.UTF-8"}
    shellcheck = program(Shellcheck.name)
    difference = run_now(
        Command(
            argv=(shellcheck, "--extended-analysis=false", "--format=diff", name), folder=str(folder), environment=path
        )
    )
    applied = run_now(Command(argv=("git", "apply"), folder=str(folder), environment=path, stdin=difference.stdout))
    assert applied.code == 0, applied.stderr_tail
    return (folder / name).read_text()


def test_quotes_around_a_variable_are_no_safe_fix(tmp_path: Path) -> None:
    (hit,) = look(Shellcheck(), tmp_path, {"a.sh": "#!/bin/sh\nrm $1\n"})
    assert (hit.rule, hit.fixable) == ("SC2086", False)
    assert hit.remedy is not None
    assert hit.remedy.safe is False


def test_a_broken_script_hides_nothing_of_the_others(tmp_path: Path) -> None:
    hits = look(Shellcheck(), tmp_path, {"broken.sh": "#!/bin/sh\nif [ x\n", "a.sh": "#!/bin/sh\necho `date`\n"})
    assert ("a.sh", 2, "SC2006") in places(hits)
    assert any(hit.file == "broken.sh" and hit.level == "error" for hit in hits)


@pytest.mark.parametrize(
    ("script", "rules"),
    [('if [["$a" != "$b"]]; then c; fi', {"SC1035", "SC1020"}), ("echo 'it's <here>'", {"SC1073"})],
)
def test_that_a_script_cannot_be_parsed_is_said_once(tmp_path: Path, script: str, rules: set[str]) -> None:
    hits = look(Shellcheck(), tmp_path, {"a.sh": f"#!/bin/bash\n{script}\n"})
    assert {hit.rule for hit in hits if hit.level == "error"} == rules


def test_settings_in_the_tree_change_nothing(tmp_path: Path) -> None:
    write(tmp_path, {".shellcheckrc": "disable=all\n"})
    assert look(Shellcheck(), tmp_path, {"a.sh": MASKED})


@pytest.mark.parametrize("name", ["-f.sh", "sp ace.sh", "new\nline.sh", "[a].sh", "é.sh"])
def test_every_name_is_looked_at(tmp_path: Path, name: str) -> None:
    assert places(look(Shellcheck(), tmp_path, {name: "#!/bin/sh\necho $1\n"})) == [(name, 2, "SC2086")]


def test_a_clean_script_gives_nothing(tmp_path: Path) -> None:
    assert look(Shellcheck(), tmp_path, {"a.sh": "#!/bin/sh\necho hello\n"}) == ()


def test_a_file_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    write(tmp_path, {"a.sh": MASKED})
    names = ("a.sh", "missing.sh")
    with pytest.raises(ToolError, match=r"exit code 2.*missing\.sh"):
        in_order(Shellcheck().read(start(Shellcheck(), tmp_path, names, RuleSelection()), names))


@pytest.mark.parametrize(
    ("path", "opening", "taken"),
    [
        ("a.sh", b"#!/bin/sh\n", True),
        ("a.sh", b"# shellcheck shell=bash\n", True),
        ("a.bash", b"", True),
        ("a.sh", b"x=1\n", False),
        ("a.sh", b"#compdef tool\n", False),
        ("a.bash", b"#!/usr/bin/env bash\n", True),
        ("run", b"#!/usr/bin/env -S bash -e\n", True),
        ("run", b"#!/bin/dash\n", True),
        ("run", b"#!/usr/bin/env FOO=1 sh\n", True),
        ("a.sh", b"#!/usr/bin/fish\n", False),
        ("a.zsh", b"", False),
        ("install.sh.j2", b"#!/bin/sh\n", False),
        ("install.bash.erb", b"#!/bin/bash\n", False),
        ("install.j2.sh", b"#!/bin/sh\n", True),
        ("a.zsh", b"#!/bin/bash\n", False),
        ("a.py", b"#!/bin/sh -\n", False),
        ("run", b"#!/usr/bin/python3\n", False),
        ("run", b"", False),
    ],
)
def test_which_files_it_takes(path: str, opening: bytes, taken: bool) -> None:
    assert Shellcheck().takes(SourceFile(path=path, opening=opening)) is taken
