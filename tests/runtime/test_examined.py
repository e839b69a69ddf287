"""What the embedded panel says that it examined is what it examined, and every changed file has its line."""

import stat
from pathlib import Path

import pytest

from burnish.agents.panel import runner
from burnish.agents.panel.interface import TooMuchSaidError
from burnish.settings.types import AnalyserSettings
from burnish.testing.repositories import RepositoryBuilder
from tests.runtime.seats import Seats

TOKEN = "gh" + "p_" + "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7cF0hL3nR6"
LINE = f't = "{TOKEN}"\n'
POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"


def test_a_linter_examines_only_what_it_can_judge(tmp_path: Path) -> None:
    seats = Seats(
        tmp_path,
        {},
        {
            "a.py": "x = 1\n",
            "b.js": "console.log()\n",
            "run.sh": "#!/bin/sh\necho\n",
            "fragment.sh": "echo $1\n",
            "complete.sh": "#compdef tool\n_arguments\n",
            "z": "#!/bin/zsh\necho\n",
            "page.vue": "<template><a/></template>\n<script>console.log()</script>\n",
            "bundle.min.js": "console.log()\n",
            "latin.py": b"x = '\xe9'\n",
            "template.py": "{% if x %}\nclass {{ name }}:\n    pass\n{% endif %}\n",
            "big.py": "x = 1\n" + "# padding\n" * 450_000,
            "main.rs": "fn main() {}\n",
        },
    )
    examined = seats.examined("critic")

    assert {path for path, level in examined.items() if level == "linted"} == {"a.py", "b.js", "run.sh"}
    assert examined["page.vue"] == "rules"
    assert [rule for _, rule, _ in seats.found("critic")] == ["ruff:E902"]


def test_a_workflow_that_is_not_understood_hides_nothing_of_the_others(tmp_path: Path) -> None:
    job = 'jobs:\n  a:\n    runs-on: x\n    steps:\n      - run: echo "${{ github.event.issue.title }}"\n'
    dispatch = "on: { workflow_dispatch: { inputs: { a: { type: int } } } }\n"
    folder = ".github/workflows"
    files = {f"{folder}/{name}.yml": dispatch + job for name in "ac"} | {f"{folder}/b.yml": f"on: issues\n{job}"}
    seats = Seats(tmp_path, {}, files)

    found = {(place.partition(":")[0], rule) for place, rule, _ in seats.found("security-reviewer")}
    assert {(f"{folder}/{name}.yml", "zizmor:unreadable") for name in "ac"} <= found
    assert (f"{folder}/b.yml", "zizmor:template-injection") in found
    examined = seats.examined("security-reviewer")
    assert [examined[f"{folder}/{name}.yml"] for name in "abc"] == ["secrets", "linted", "secrets"]


def test_a_file_of_which_a_tool_says_too_much_hides_nothing_of_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "KEPT_BYTES", 8_000)
    noisy = "".join(f"try {{ f({number}); }} catch (e) {{}}\n" for number in range(60))
    quiet = "export function set(node, name) { node.innerHTML = `<b>${name}</b>`; }\n"
    seats = Seats(tmp_path, {}, {"a.js": quiet, "bundle.js": noisy, "c.js": quiet})
    assert ("bundle.js", "ast-grep:unreadable", "high") in seats.found("silent-failure-hunter")
    found = seats.found("security-reviewer")
    assert {place.partition(":")[0] for place, rule, _ in found if rule == "ast-grep:js-html-from-text"} == {
        "a.js",
        "c.js",
    }


def test_files_are_not_divided_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "KEPT_BYTES", 8_000)
    monkeypatch.setattr(runner, "_MOST_SPLIT", 2)
    noisy = "".join(f"try {{ f({number}); }} catch (e) {{}}\n" for number in range(60))
    seats = Seats(tmp_path, {}, {f"{number}.js": noisy for number in range(8)})
    with pytest.raises(TooMuchSaidError):
        seats.review("security-reviewer")


def test_only_the_base_marks_a_file_as_generated(tmp_path: Path) -> None:
    code = "def f(x=[]):\n    return x\n"
    base = {".gitattributes": "api/** linguist-generated\n*.gen.py -linguist-generated\n"}
    head = {
        "api/a.py": code,
        "api/b.gen.py": code,
        "mine/a.py": code,
        "made/a.py": code,
        ".gitattributes": "* linguist-generated\n",
    }
    seats = Seats(tmp_path, base, head, settings=AnalyserSettings(generated=("made/**",)))

    needs = seats.needs()
    assert {path: needs[path] for path in head} == {
        "api/a.py": "data",
        "api/b.gen.py": "code",
        "mine/a.py": "code",
        "made/a.py": "data",
        ".gitattributes": "data",
    }
    assert {place for place, rule, _ in seats.found("critic") if rule == "ruff:B006"} == {
        "api/b.gen.py:1",
        "mine/a.py:1",
    }


def test_a_deletion_is_examined_where_nothing_refers_to_it(tmp_path: Path) -> None:
    base = {
        "legacy.py": "x = 1\n",
        "helper.py": "y = 1\n",
        "worker.rs": "fn f() {}\n",
        "app.py": "import helper\nprint(helper.y)\n",
        "lib.rs": "mod worker;\n",
        "notes.md": "legacy is old\n",
    }
    gone: dict[str, None] = dict.fromkeys(("legacy.py", "helper.py", "worker.rs"))
    left = Seats(tmp_path / "left", base, gone)
    assert left.needs() == {"legacy.py": "code", "helper.py": "code", "worker.rs": "code"}
    assert left.examined("critic") == {"legacy.py": "linted"}

    linted = Seats(tmp_path / "linted", base, {**gone, "app.py": "print(1)\n# no helper any more\n"})
    assert linted.examined("critic") == {"legacy.py": "linted", "helper.py": "linted", "app.py": "linted"}


def test_what_no_reviewer_can_look_into(tmp_path: Path) -> None:
    def shape(builder: RepositoryBuilder) -> None:
        builder.link("out", "../../etc/passwd").link("d", ".").link("hooks", "d/.git/hooks").link("inside", "a.py")
        builder.link("run.py", "notes.txt")
        (builder.path / "notes.txt").chmod(0o755)

    base = {"a.py": "x = 1\n", "notes.txt": "print(1)\n", ".gitattributes": "*.dat filter=ours\n"}
    head = {
        "a.bin": POINTER,
        "b.yml": "$ANSIBLE_VAULT;1.1;AES256\n00\n",
        "c.py": "x = 1\n",
        "d.dat": "x\n",
        ".gitattributes": "*.dat filter=ours\n*.py working-tree-encoding=UTF-7\n",
    }
    seats = Seats(tmp_path, base, head, shape=shape)

    assert seats.needs() == {
        ".gitattributes": "data",
        "a.bin": "opaque",
        "b.yml": "opaque",
        "c.py": "opaque",
        "d": "nothing",
        "d.dat": "code",
        "hooks": "opaque",
        "inside": "nothing",
        "notes.txt": "code",
        "out": "opaque",
        "run.py": "code",
    }
    assert stat.S_IMODE((seats.builder.path / "notes.txt").stat().st_mode) == 0o755


def test_every_file_is_scanned_for_secrets_and_none_is_repeated(tmp_path: Path) -> None:
    def shape(builder: RepositoryBuilder) -> None:
        builder.link("out", "/etc/passwd")
        RepositoryBuilder(builder.path / "module").commit({"a.py": "x = 1\n"})

    token = f"  token: {TOKEN}\n"
    password = f"correct-horse-{7}"
    files = {
        "src/a.py": LINE,
        "package-lock.json": f'{{"a": "{TOKEN}"}}\n',
        "node_modules/a.js": LINE,
        "dist/a.min.js": LINE,
        "picture.svg": f"<svg>{TOKEN}</svg>\n",
        "blob.bin": b"\0\1\2\n" + LINE.encode(),
        "large.csv": "a,b\n" * 1_500_000 + LINE,
        "marked.py": f"# @generated by a tool. DO NOT EDIT.\n{LINE}",
        "ignored.yml": token,
        "silent.py": f't = "{TOKEN}"  # kingfisher:ignore\n',
        "tests/fixtures/a.json": f'"{TOKEN}"\n',
        "docs/guide.md": LINE,
        "examples/a.py": LINE,
        "aws.md": "AKIA" + "IOSFODNN7EXAMPLE\n",
        "config.yml": f"db:\n  password: {password}\n  a_password: ${{DB_PASSWORD}}\n  b_password: <password1>\n",
        "url.env": "DATABASE_URL=postgres://app:Zk38Vn1qP0x" + "@db.prod.internal:5432/app\n",
        "script.sh": "#!/bin/sh\necho a\0b\n",
        ".gitattributes": "*.png filter=lfs\n*.py filter=evil\n",
    }
    seats = Seats(tmp_path, {}, files, shape=shape)
    review = seats.review("security-reviewer")

    found = {one.location.file: one.severity.value for one in review.answer.findings if one.location}
    critical = {"src/a.py", "package-lock.json", "node_modules/a.js", "dist/a.min.js", "picture.svg", "blob.bin"}
    critical |= {"large.csv", "marked.py", "ignored.yml", "silent.py", "config.yml", "url.env"}
    high = {"tests/fixtures/a.json", "docs/guide.md", "examples/a.py", "out", "script.sh", ".gitattributes"}
    assert found == {**dict.fromkeys(critical, "critical"), **dict.fromkeys(high, "high"), "module": "medium"}
    assert {one.path for one in review.evidence.examined} == set(files)
    said = repr(review) + "".join(path.read_text(errors="replace") for path in tmp_path.rglob("run/logs/*"))
    kept = str(review.given + review.transcript)
    assert all(secret not in text for secret in (TOKEN, password, "Zk38Vn1qP0x") for text in (said, kept))
