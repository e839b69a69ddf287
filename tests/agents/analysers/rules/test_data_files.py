"""Files of data that cannot be parsed, keys that are there twice, and committed conflicts."""

import pytest

from burnish.agents.panel.own_checks.data_files import data_hits, merge_markers
from burnish.agents.panel.own_checks.reporting import OwnRule

CONFLICT = f"a\n{'<' * 7} HEAD\nb\n{'=' * 7}\nc\n{'>' * 7} other\n"


def found(path: str, text: str) -> list[tuple[str, int | None]]:
    return [(hit.rule, hit.line) for hit in data_hits(path, text.encode())]


@pytest.mark.parametrize(
    ("path", "text", "line"),
    [
        ("a.json", '{"a": 1,\n}\n', 2),
        ("a.json", '{"a": [1, 2\n', 2),
        ("package.json", '{\n  // why\n  "a": 1\n}\n', 2),
        ("a.json", "", 1),
        ("tsconfig.json", '{"a": 1 /* c */,, }\n', 1),
        ("a.yaml", "a:\n\tb: 1\n", 2),
        ("a.yml", "title: Shop\nerror: Not found: try again\n", 2),
        (".github/workflows/x.yml", "a: ${{ b }}\nsteps:\n- a: 1\n - b: 2\n", 4),
        ("a.yml", 'a: "{{ count }} pieces"\nb: [1\n', 3),
        ("a.toml", "[a]\nb = 1\n\n[a]\nc = 2\n", 4),
        ("a.toml", "a = b\n", 1),
    ],
)
def test_what_cannot_be_parsed_is_found_with_its_line(path: str, text: str, line: int) -> None:
    assert found(path, text) == [(OwnRule.INVALID_DATA.value, line)]


@pytest.mark.parametrize(
    ("path", "text", "line"),
    [
        ("a.json", '{"a": {"b": 1},\n "c": {"b": 2,\n "b": 3}}\n', 3),
        (".vscode/settings.json", '{"a": 1, // "a": 2\n"a": 2,}\n', 2),
        ("a.yaml", "a: 1\nb:\n  - c: 1\n    d: 2\n    c: 3\n", 5),
    ],
)
def test_a_key_that_is_there_twice_is_found(path: str, text: str, line: int) -> None:
    assert found(path, text) == [(OwnRule.DUPLICATE_KEY.value, line)]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.json", '\ufeff{"a": [1, {"a": 1}], "b": "// no comment, }"}\n'),
        ("tsconfig.build.json", '{\n  // why\n  "a": ["b",], /* c\n */ "d": "/*",\n}\n'),
        (".vscode/launch.json", '{"a": 1,}'),
        ("x.code-workspace", '{"a": 1,}'),
        ("a.json5", "{a: 1}"),
        ("chart/templates/service.yaml", "a: {{ .Values.a }}\n{{- if .b }}\nc: 1\n{{- end }}\n"),
        ("chart/templates/service.yaml", '{{- if .a }}\nb: "1"\n{{- else }}\nb: "2"\n{{- end }}\n'),
        ("a.yml", "{% for x in y %}\n- {{ x }}\n{% endfor %}\n"),
        ("a.json", '{"a": {{ value }} }\n'),
        ("a.toml", "a = {{ cookiecutter.name }}\n"),
        ("a.yaml", "a: !Ref b\n---\na: &x {c: 1}\nd:\n  <<: *x\n  <<: *x\n"),
        ("a.txt", "{"),
        ("a.json", "[" * 100_000),
    ],
)
def test_data_that_is_whole_is_not_reported_and_a_template_is_no_data(path: str, text: str) -> None:
    assert not found(path, text)


@pytest.mark.parametrize("path", ["a.md", "src/a.rs", "a.yaml", "Makefile"])
def test_a_committed_conflict_is_found_in_every_text(path: str) -> None:
    (hit,) = merge_markers(path, CONFLICT.encode())
    assert (hit.rule, hit.line) == (OwnRule.MERGE_MARKER.value, 2)
    (hit,) = merge_markers(path, CONFLICT.replace("\n", "\r\n").encode())
    assert hit.line == 2


@pytest.mark.parametrize(
    "text",
    [
        "Title\n=======\n\ntext\n",
        f"{'<' * 7} HEAD\nb\n",
        "".join(f"    {line}\n" for line in CONFLICT.split("\n")),
        f"{'>' * 7} quoted\n{'=' * 7}\n{'<' * 7} the other way round\n",
        f"\0{CONFLICT}",
    ],
)
def test_what_only_looks_like_a_conflict_is_not_reported(text: str) -> None:
    assert not list(merge_markers("a.rst", text.encode()))


@pytest.mark.parametrize("text", ["[" * 200_000, "- " * 200_000, "{a: " * 100_000])
def test_a_file_of_brackets_does_not_end_the_process(text: str) -> None:
    assert found("a.yaml", text) == [(OwnRule.INVALID_DATA.value, 1)]


def test_an_empty_file_of_an_editor_is_fine() -> None:
    assert not found(".vscode/settings.json", "\n")
    assert found("web/settings.json", "\n")
    assert found(".vscode/settings.json", "{,\n")


@pytest.mark.parametrize(
    ("path", "text", "doubtful"),
    [
        ("schema.json", '// Licensed to all\n{"a": 1}\n', True),
        ("tool.json", '{\n  "a": 1, // b\n  "c": 2\n}\n', True),
        ("schema.json", '// Licensed to all\n{"a": 1,}\n', False),
        ("package.json", '{\n  // why\n  "a": 1\n}\n', False),
        ("books.json", '{"a": 1}\n{"a": 2}\n', True),
        ("books.json", '{"a": 1}\n{"a": 2\n', False),
        ("books.json", '"a" "b"\n', False),
        ("books.json", '{"a": {"b": 1}} 2 {"a": 2}\n', False),
        ("books.json", '{"a": {"b": 1}}\n' * 100_000, True),
        ("package.json", '{"a": 1}\n{"a": 2}\n', False),
    ],
)
def test_comments_alone_are_doubtful_where_a_reader_may_allow_them(path: str, text: str, *, doubtful: bool) -> None:
    assert [hit.doubtful for hit in data_hits(path, text.encode())] == [doubtful]


def test_readers_of_some_files_take_comments_and_a_last_comma() -> None:
    assert found("pyrightconfig.stricter.json", '{\n  // why\n  "a": [1,],\n}\n') == []
    assert found("config.stricter.json", '{"a": [1,]}\n')


def test_a_line_that_is_filled_in_makes_a_template() -> None:
    assert found("a.yml", "body:\n  %(more)s\n  - a: 1\n") == []
    assert found("a.yml", "body:\n  more\n  - a: 1\n")


def test_something_to_fill_in_between_dollars_is_a_template() -> None:
    assert found("a.template.json", "{$ doc.data | json $}\n") == []
