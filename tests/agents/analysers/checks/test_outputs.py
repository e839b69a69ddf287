"""What the project's own checks print, recorded from the real programs, and what becomes of it."""

from pathlib import Path

import pytest

from burnish.agents.panel.interface import Hit, ToolError, ToolName
from burnish.agents.panel.project_checks.outputs import CheckSite, failure_hit, read, skipped_hooks
from burnish.system.process import Finished, How

CORPUS = Path(__file__).with_name("corpus")
MYPY = """\
shop/cart.py:3: error: Argument 1 to "price" has incompatible type "int"; expected "str"  [arg-type]
shop/cart.py:6:5: error: Incompatible return value type (got "int", expected "str")  [return-value]
shop/cart.py:6: note: See the documentation
/elsewhere/site-packages/x.py:1: error: Not of this project  [misc]
"""
TSC = """\
src/a.ts(2,21): error TS2345: Argument of type 'string' is not assignable to parameter of type 'number'.
  Types of property 'x' are incompatible.
../outside.ts(4,1): error TS2304: Cannot find name 'foo'.
/work/project/node_modules/typescript/lib/lib.es5.d.ts
/work/project/src/b.ts
/work/project/src/a.ts
"""
GO_COMPILE = """\
# example.com/x
# [example.com/x]
vet: ./main.go:10:20: not enough arguments in call to pkg.F
\thave ()
\twant (int)
"""
ESLINT = """\

/work/project/src/x.js
  1:10  warning  'f' is defined but never used        no-unused-vars
  1:32  error    'c' is not defined                   no-undef

✖ 2 problems (1 error, 1 warning)

"""
LEFTHOOK = """\
\x1b[38;2;56;56;56m╭───╮\x1b[m
┃  marks ❯\x20
src/b.ts:3:// FORBIDDEN

exit status 1
summary: (done in 0.02 seconds)
✗ marks (0.02 seconds)
"""


def finished(out: str | bytes, code: int = 1, err: str = "") -> Finished:
    raw = out if isinstance(out, bytes) else out.encode()
    return Finished(how=How.EXITED, code=code, seconds=1.0, stdout=raw, stderr_tail=err)


def place(*files: str, project: str = "") -> CheckSite:
    return CheckSite(root="/work/project", project=project, files=frozenset(files))


def places(hits: tuple[Hit, ...]) -> list[tuple[str, int | None, str, str]]:
    return [(hit.file, hit.line, hit.rule, hit.level) for hit in hits]


def test_mypy_names_its_errors_and_not_those_of_installed_packages() -> None:
    output = read(ToolName.MYPY, finished(MYPY), place("shop/cart.py"))
    assert places(output.hits) == [
        ("shop/cart.py", 3, "arg-type", "error"),
        ("shop/cart.py", 6, "return-value", "error"),
    ]


def test_where_mypy_cannot_go_on_only_a_syntax_error_counts() -> None:
    syntax = "a.py:3: error: Invalid syntax  [syntax]\n"
    assert places(read(ToolName.MYPY, finished(syntax, 2), place("a.py")).hits) == [("a.py", 3, "syntax", "error")]
    with pytest.raises(ToolError, match="unrecognized arguments"):
        read(ToolName.MYPY, finished("", 2, "mypy: error: unrecognized arguments: --x"), place("a.py"))
    with pytest.raises(ToolError, match="Duplicate module"):
        read(ToolName.MYPY, finished('a.py: error: Duplicate module named "a"\n', 2), place("a.py"))


def test_pyright_counts_lines_from_zero() -> None:
    raw = (CORPUS / "basedpyright-1.40.json").read_bytes()
    output = read(ToolName.PYRIGHT, finished(raw), place("shop/cart.py"))
    assert places(output.hits)[0] == ("shop/cart.py", 3, "reportArgumentType", "error")


def test_pyright_that_looked_at_nothing_is_no_evidence() -> None:
    nothing = '{"generalDiagnostics": [], "summary": {"filesAnalyzed": 0}}'
    with pytest.raises(ToolError, match="no file"):
        read(ToolName.PYRIGHT, finished(nothing, 0), place())


def test_tsc_lists_errors_and_the_files_that_it_checked() -> None:
    output = read(ToolName.TSC, finished(TSC, 2), place("src/a.ts", "src/b.ts"))
    assert places(output.hits) == [("src/a.ts", 2, "TS2345", "error")]
    assert output.looked_at == {"src/a.ts", "src/b.ts"}
    inside = read(ToolName.TSC, finished(TSC, 2), place("web/src/a.ts", "outside.ts", project="web"))
    assert [hit.file for hit in inside.hits] == ["web/src/a.ts", "outside.ts"]


def test_a_file_that_tsc_cannot_parse_leaves_the_others_unchecked() -> None:
    broken = "src/a.ts(1,5): error TS1005: ';' expected.\n/work/project/src/a.ts\n"
    assert read(ToolName.TSC, finished(broken), place("src/a.ts")).looked_at == frozenset()


@pytest.mark.parametrize(
    "said",
    [
        "error TS18003: No inputs were found in config file 'tsconfig.json'.\n",
        "src/a.ts(1,1): error TS6305: Output file 'x' has not been built from source file 'y'.\n",
        "Segmentation fault\n",
    ],
)
def test_tsc_that_stops_on_its_configuration_is_no_evidence(said: str) -> None:
    with pytest.raises(ToolError):
        read(ToolName.TSC, finished(said, 2), place("src/a.ts"))


def test_go_vet_tells_analysers_apart_and_what_does_not_compile() -> None:
    raw = (CORPUS / "go-vet-1.26.json").read_bytes()
    output = read(ToolName.GO_VET, finished(raw, 1, GO_COMPILE), place("main.go", "pkg/p.go", "other/o.go"))
    assert places(output.hits) == [
        ("main.go", 10, "compile", "error"),
        ("pkg/p.go", 6, "printf", "error"),
        ("other/o.go", 5, "printf", "error"),
    ]


def test_go_vet_without_a_module_is_no_evidence() -> None:
    said = "a.go:3:8: no required module provides package example.com/y; to add it:\n\tgo get example.com/y\n"
    with pytest.raises(ToolError, match="not available here"):
        read(ToolName.GO_VET, finished("", 1, said), place("a.go"))


@pytest.mark.parametrize(
    ("said", "doubtful"),
    [
        ("missing go.sum entry for module providing package example.com/y; to add:", True),
        ("example.com/y@v1.2.0: replacement directory ../y does not exist", True),
        ("undefined: total", False),
    ],
)
def test_what_go_may_miss_here_only_is_doubtful(said: str, doubtful: bool) -> None:
    (hit,) = read(ToolName.GO_VET, finished("", 1, f"a.go:3:8: {said}\n"), place("a.go")).hits
    assert hit.doubtful is doubtful


def test_go_vet_of_another_version_is_no_evidence() -> None:
    with pytest.raises(ToolError, match=r"go\.mod requires go >= 1\.99"):
        read(ToolName.GO_VET, finished("", 1, "go: go.mod requires go >= 1.99\n"), place("a.go"))


def test_cargo_names_lints_and_errors_once_for_all_targets() -> None:
    raw = (CORPUS / "cargo-1.95.jsonl").read_bytes()
    output = read(ToolName.CARGO, finished(raw, 101), place("core/src/lib.rs", "app/src/main.rs"))
    assert places(output.hits) == [
        ("core/src/lib.rs", 2, "unused_variables", "warning"),
        ("core/src/lib.rs", 7, "clippy::eq_op", "warning"),
        ("core/src/lib.rs", 11, "clippy::eq_op", "warning"),
        ("app/src/main.rs", 2, "E0061", "error"),
    ]


def test_cargo_without_its_dependencies_is_no_evidence() -> None:
    with pytest.raises(ToolError, match="no matching package named `rand` found"):
        read(ToolName.CARGO, finished("", 101, "error: no matching package named `rand` found\n"), place("src/lib.rs"))


def test_a_lint_script_names_lines_as_eslint_does_or_beside_the_file() -> None:
    printed = f"{ESLINT}src/y.py:4:1: F401 `os` imported but unused\nsrc/z.css(2,3): bad colour\nhttp://x:80: no\n"
    output = read(ToolName.LINT, finished(printed), place("src/x.js", "src/y.py", "src/z.css"))
    assert places(output.hits) == [
        ("src/x.js", 1, "no-unused-vars", "warning"),
        ("src/x.js", 1, "no-undef", "error"),
        ("src/y.py", 4, "F401", "error"),
        ("src/z.css", 2, "reported", "error"),
    ]


def test_a_script_that_passes_reports_nothing_whatever_it_prints() -> None:
    assert read(ToolName.LINT, finished(ESLINT, 0), place("src/x.js")).hits == ()


@pytest.mark.parametrize("code", [126, 127])
def test_a_script_whose_program_is_not_there_is_no_evidence(code: int) -> None:
    with pytest.raises(ToolError, match="not found"):
        read(ToolName.LINT, finished("", code, "sh: 1: eslint: not found\n"), place())


@pytest.mark.parametrize("tool", [ToolName.LINT, ToolName.TSC, ToolName.GO_VET, ToolName.CARGO, ToolName.PRE_COMMIT])
def test_what_does_not_end_is_no_evidence(tool: ToolName) -> None:
    with pytest.raises(ToolError, match="did not end in time"):
        read(tool, Finished(how=How.TIMED_OUT, seconds=120.0, stdout=TSC.encode()), place("src/a.ts"))


def test_lefthook_names_lines_inside_of_its_frame() -> None:
    output = read(ToolName.LEFTHOOK, finished(LEFTHOOK), place("src/b.ts"))
    assert places(output.hits) == [("src/b.ts", 3, "reported", "error")]
    assert list(output.failures) == [""]


def test_pre_commit_is_read_hook_by_hook() -> None:
    raw = (CORPUS / "pre-commit.txt").read_bytes()
    output = read(ToolName.PRE_COMMIT, finished(raw), place("shop/price.py"))
    assert places(output.hits) == [("shop/price.py", 2, "no-todo", "error")]
    assert list(output.failures) == ["no-todo", "words"]
    with pytest.raises(ToolError, match="InvalidConfigError"):
        read(ToolName.PRE_COMMIT, finished("An error has occurred: InvalidConfigError\n"), place())


def test_hooks_that_were_left_out_are_named() -> None:
    assert skipped_hooks(finished("burnish: not run: black, ruff\nx...Passed\n", 0)) == "black, ruff"


def test_a_failure_without_a_line_is_known_by_the_file_that_configures_it() -> None:
    hit = failure_hit(ToolName.LINT, "", "npm run lint", "package.json", "Missing semicolon")
    assert (hit.file, hit.line, hit.rule, hit.snippet) == ("package.json", None, "failed", "Missing semicolon")
