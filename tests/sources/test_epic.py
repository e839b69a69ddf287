"""Epics in YAML: both dialects, the files of tickets, and every mistake named at once with its line."""

import shutil
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from burnish.core.values import replace
from burnish.sources.registry import read_source
from tests.sources.reading import SAMPLES, fields, read, refused


def test_the_dialect_of_ids(tmp_path: Path) -> None:
    shutil.copytree(SAMPLES / "login", tmp_path / "login")
    plan = read_source(tmp_path / "login", tmp_path)
    assert (plan.id, plan.title, plan.kind, plan.rollback_on_failure) == ("user-login", "User Login", "epic", True)
    assert plan.source == "login/epic.yaml"
    assert plan.acceptance == ("A user can sign in", "Errors: none tells which part was wrong")
    assert "intent: check a password}" in plan.coordination
    assert plan.coordination.endswith("- the session cookie  # other services read it")
    base, form, audit = plan.tickets
    assert base.text == (SAMPLES / "login/tickets/auth-base.md").read_text()
    assert fields(replace(base, text="")) == snapshot(
        {
            "id": "auth-base",
            "title": "auth-base",
            "text": "",
            "file": "login/tickets/auth-base.md",
            "acceptance": ("Passwords are hashed", "A user can be removed, with all sessions", "Names are unique"),
            "ticked": ("Passwords are hashed",),
            "boxes": ("Passwords are hashed", "A user can be removed, with all sessions"),
            "touches": ("src/auth/base.py", "src/auth/table.sql"),
            "role": "Provides Auth.authenticate",
            "critical": True,
        }
    )
    assert fields(form) == snapshot(
        {
            "id": "login-form",
            "title": "login-form",
            "text": """\
# login-form

The page with the form.

## Dependencies

- auth-base
""",
            "depends_on": ("auth-base",),
        }
    )
    # The dependencies and files of both places; what the epic says holds over the file's own fields.
    assert fields(replace(audit, text="")) == snapshot(
        {
            "id": "audit",
            "title": "Record who signed in",
            "text": "",
            "file": "login/notes/audit.md",
            "depends_on": ("auth-base", "login-form"),
            "touches": ("src/audit/**", "src/log.py"),
            "critical": True,
            "reviewed": False,
        }
    )


def test_the_dialect_of_names() -> None:
    plan = read_source(SAMPLES / "shop/shop.epic.yaml", SAMPLES)
    assert plan.id == "shop"
    assert plan.description == snapshot("""\
Sell things.

## Context

There is a list of things already.

## Objectives

- People can pay

## Constraints

- No framework
- Speed: a page in 100 ms\
""")
    assert [fields(ticket) for ticket in plan.tickets] == snapshot(
        [
            {
                "id": "basket",
                "title": "basket",
                "text": """\
# basket

Keep what people chose.

It survives a restart.

## Acceptance Criteria

- Two of a kind are one line

## Files to Modify

- `src/basket.py`
- `src/basket_test.py`
""",
                "acceptance": ("Two of a kind are one line",),
                "touches": ("src/basket.py", "src/basket_test.py"),
            },
            {
                "id": "payment",
                "title": "payment",
                "text": """\
# payment

Take the money.

## Acceptance Criteria

- Nothing is paid twice

## Files to Modify

- `src/payment.py`

## Dependencies

- basket
""",
                "depends_on": ("basket",),
                "acceptance": ("Nothing is paid twice",),
                "touches": ("src/payment.py",),
            },
        ]
    )


def test_the_dialects_may_be_mixed(tmp_path: Path) -> None:
    plan = read(
        tmp_path,
        "plan.yaml",
        "defaults: &all {critical: true, dependencies: [b]}\n"
        "tickets:\n- {<<: *all, id: a, name: The first, depends_on: c}\n- id: b\n- name: c\n  title: Third\n",
    )
    assert plan.id == "plan"
    assert [(ticket.id, ticket.title, ticket.depends_on) for ticket in plan.tickets] == [
        ("a", "The first", ("c", "b")),
        ("b", "b", ()),
        ("c", "Third", ()),
    ]
    assert plan.tickets[0].critical


def test_all_mistakes_are_told_at_once(tmp_path: Path) -> None:
    (tmp_path.parent / "outside.md").write_text("secret")
    (tmp_path / "link.md").symlink_to(tmp_path.parent / "outside.md")
    text = """\
epic: x
ticket_count: 9
rollback_on_failure: "yes"
tickets:
  - id: a b
    depends_on: a b
  - id: logon
    critical: "yes"
    depends_on: [login, {x: y}]
    path: missing.md
  - id: Logon
    path: ../outside.md
  - description: no id
  - just text
  - id: logon
    file: link.md
    acceptance_criteria: {a: b}
  - id: x/y
    critical: true
    critical: false
"""
    assert refused(tmp_path, "epic.yaml", text) == snapshot(
        [
            "epic.yaml:2: ticket_count: It says 9, but the epic lists 7 tickets.",
            "epic.yaml:3: rollback_on_failure: It must be true or false, without quotes.",
            "epic.yaml:5: The id 'a b' cannot be part of the branch 'ticket/<id>': it contains a space.",
            "epic.yaml:6: The ticket 'a b' depends on itself.",
            "epic.yaml:8: tickets[1].critical: It must be true or false, without quotes.",
            "epic.yaml:9: tickets[1].depends_on: Each item must be a name.",
            "epic.yaml:9: The ticket 'logon' depends on 'login', which is unknown.",
            "epic.yaml:10: tickets[1].path: There is no file 'missing.md' beside the epic or in the repository.",
            "epic.yaml:11: The ids 'logon' and 'Logon' differ only in case.",
            "epic.yaml:12: tickets[2].path: The file '../outside.md' is outside the repository and the epic's folder.",
            "epic.yaml:13: tickets[3].id: The ticket has no id.",
            "epic.yaml:14: tickets[4]: A ticket must be a mapping.",
            "epic.yaml:15: The id 'logon' is used twice, first on line 7.",
            "epic.yaml:16: tickets[5].file: The file 'link.md' is outside the repository and the epic's folder.",
            "epic.yaml:17: tickets[5].acceptance_criteria: It must be a list.",
            "epic.yaml:18: The id 'x/y' cannot be part of the branch 'ticket/<id>': it contains '/'.",
            "epic.yaml:20: tickets[6].critical: The key is there twice.",
        ]
    )


@pytest.mark.parametrize("name", ["a/b", "a b", "a..b", ".a", "a.", "a.lock", "a~", "a^", "a:b", "a?", "a[", "a\\"])
def test_an_id_that_cannot_be_a_branch(tmp_path: Path, name: str) -> None:
    (problem,) = refused(tmp_path, "epic.yaml", f"tickets:\n- id: '{name}'\n")
    assert problem.startswith(f"epic.yaml:2: The id '{name}' cannot be part of the branch 'ticket/<id>': it ")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a:\n  b: c: d\n", "epic.yaml:2: The YAML cannot be read: mapping values are not allowed in this context."),
        ("[" * 100_000, "epic.yaml:1: The YAML cannot be read: nested too deeply."),
        ("- a\n", "epic.yaml:1: The file is not a mapping."),
        ("", "epic.yaml: The file is empty."),
        ("a: 1\n---\nb: 1\n", "epic.yaml: The file holds 2 YAML documents."),
        ("name: x\n", "epic.yaml:1: tickets: The file is not an epic: it has no 'tickets'."),
        ("tickets:\n", "epic.yaml:1: tickets: The file is not an epic: it has no 'tickets'."),
        ("tickets: []\n", "epic.yaml:1: tickets: The epic has no tickets."),
        ("tickets: {a: {}}\n", "epic.yaml:1: tickets: It must be a list."),
        (b"tickets:\n- id: \xff\n", "epic.yaml:2: The file is not UTF-8 text."),
        ("#" * (4 * 1024 * 1024 + 1), "epic.yaml: The file is larger than 4,194,304 bytes."),
        (
            "tickets:\n- {id: a, depends_on: c}\n- {id: b, depends_on: a}\n- {id: c, depends_on: [b]}\n",
            "epic.yaml:2: The dependencies form a cycle: a → c → b → a.",
        ),
        ("{coordination_requirements: x, tickets: [id: a]}", "epic.yaml:1: coordination_requirements: It cannot be …"),
        (f"tickets:\n- id: a\n  description: {'x' * 300_000}\n", "epic.yaml:3: tickets[0].description: The text is …"),
    ],
)
def test_one_mistake(tmp_path: Path, text: str | bytes, problem: str) -> None:
    (found,) = refused(tmp_path, "epic.yaml", text)
    assert found.startswith(problem.removesuffix("…"))


def test_aliases_that_explode_are_refused(tmp_path: Path) -> None:
    levels = "".join(f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 10)}]\n" for n in range(1, 10))
    text = f"l0: &l0 text\n{levels}tickets:\n- id: a\n  depends_on: *l9\n"
    assert refused(tmp_path, "epic.yaml", text) == [
        "epic.yaml: With its aliases written out, the file is larger than 16,777,216 bytes."
    ]


def test_a_long_list_of_mistakes_is_cut(tmp_path: Path) -> None:
    found = "".join(f"- id: t{n}\n  depends_on: u{n}\n" for n in range(100))
    with pytest.raises(Exception, match="There are 60 more errors"):
        read(tmp_path, "epic.yaml", f"tickets:\n{found}")


@pytest.mark.parametrize(
    ("section", "depends_on"),
    [
        ("None", ()),
        ("- No dependencies\n- Python 3.12", ()),
        ("- `b`: makes it\n* [c](tickets/c.md)", ("b", "c")),
        ("b, c", ("b", "c")),
        ("### Upstream\n- b\n### Blocks\n- c", ("b",)),
    ],
)
def test_the_dependencies_that_a_file_names(tmp_path: Path, section: str, depends_on: tuple[str, ...]) -> None:
    (tmp_path / "a.md").write_text(f"# a\n## Dependencies\n\n{section}\n\n## Notes\n- d\n")
    plan = read(tmp_path, "epic.yaml", "tickets:\n- id: a\n- id: b\n- id: c\n")
    assert plan.tickets[0].depends_on == depends_on


def test_a_dependency_in_a_sentence_is_not_lost(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# a\n## Dependencies\nIt waits until b is there.\n- bb\n")
    assert refused(tmp_path, "epic.yaml", "tickets:\n- id: a\n- id: b\n") == [
        "a.md:3: The sentence names the ticket 'b', which is not listed as a dependency of 'a'.",
        "a.md:4: The ticket 'a' depends on 'bb', which is unknown.",
    ]


def test_front_matter_with_a_mistake_is_named_by_its_line(tmp_path: Path) -> None:
    (tmp_path / "tickets").mkdir()
    (tmp_path / "tickets/a.md").write_text("# ---\n# id: a\n# critical: maybe\n# ---\n# a\n")
    (tmp_path / "b.md").write_bytes(b"\xff")
    assert refused(tmp_path, "epic.yaml", "tickets:\n- id: a\n- id: b\n") == [
        "b.md:1: The file is not UTF-8 text.",
        "tickets/a.md:3: critical: It must be true or false, without quotes.",
    ]
