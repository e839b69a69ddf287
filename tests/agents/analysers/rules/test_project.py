"""What the project says against a hit, as its base has it, and what it does not."""

import pytest

from burnish.agents.panel.doubts.project import Project
from burnish.agents.panel.interface import Hit
from tests.agents.analysers.rules.making import Tree, hit

Files = dict[str, str]

GO_MOD = (
    "module shop.example/shop\n\ngo 1.22\n\nrequire (\n\tgithub.com/kr/text v0.2.0\n\t// github.com/kr/pty v1.1.1\n)\n"
    "\nrequire gopkg.in/yaml.v3 v3.0.1 // indirect\n\nreplace github.com/kr/logs => github.com/me/logs v1.0.0\n"
)
MODULES = {"go.mod": GO_MOD, "tools/go.mod": "module shop.example/tools\n\nrequire github.com/kr/pretty v0.3.1\n"}


def _is_doubtful(one: Hit, base: Files, head: Files | None = None) -> bool:
    head = base if head is None else head
    (looked,) = Project(Tree(files=head), Tree(files=base)).with_doubts([one])
    return looked.doubtful


@pytest.mark.parametrize(
    ("rule", "file", "doubtful"),
    [
        ("ast-grep:go-not-verified", "vendor/github.com/kr/text/a.go", True),
        ("ast-grep:go-not-verified", "vendor/gopkg.in/yaml.v3/a.go", True),
        ("shellcheck:SC2296", "tools/vendor/github.com/kr/pretty/a.sh", True),
        ("kingfisher:betterleaks.private-key", "vendor/github.com/kr/text/a.go", False),
        ("burnish:password-in-code", "vendor/github.com/kr/text/a.go", False),
        ("ast-grep:go-not-verified", "vendor/github.com/kr/textile/a.go", False),
        ("ast-grep:go-not-verified", "vendor/github.com/kr/pty/a.go", False),
        ("ast-grep:go-not-verified", "vendor/github.com/me/logs/a.go", False),
        ("ast-grep:go-not-verified", "vendor/github.com/kr/pretty/a.go", False),
        ("ast-grep:go-not-verified", "web/vendor/github.com/kr/text/a.go", False),
        ("ast-grep:go-not-verified", "github.com/kr/text/a.go", False),
    ],
)
def test_what_go_vendors_is_that_of_others(rule: str, file: str, doubtful: bool) -> None:
    assert _is_doubtful(hit(rule, file=file), MODULES) is doubtful


def test_modules_of_go_may_be_listed_for_vendoring_alone() -> None:
    one = hit("ast-grep:go-not-verified", file="vendor/github.com/kr/text/a.go")
    assert _is_doubtful(one, {"vendor.mod": GO_MOD})
    assert not _is_doubtful(one, {"vendor.txt": GO_MOD})


@pytest.mark.parametrize(
    ("name", "package", "doubtful"),
    [
        ("shop", "shop", True),
        ("Shop", "@acme/shop.js", True),
        ("shop", "shop-js", True),
        ("shops", "shop", False),
        ("acme", "@acme/shop", False),
        ("shop", "shop-prices", False),
    ],
)
def test_pages_have_the_package_itself_by_its_name(name: str, package: str, doubtful: bool) -> None:
    one = hit("oxlint:no-undef", file="demo.js", message=f"'{name}' is not defined.")
    manifest = f'{{"author": {{"name": "acme"}}, "name": "{package}"}}'
    assert _is_doubtful(one, {"web/package.json": manifest}) is doubtful
    assert not _is_doubtful(one, {"web/package.json": f"{manifest}, {package}"})


def test_libraries_typed_by_flow_are_no_scripts() -> None:
    assert _is_doubtful(hit("oxlint:invalid-syntax", file="flow-typed/npm/a.js"), {})
    assert not _is_doubtful(hit("oxlint:invalid-syntax", file="src/flow-typed/a.js"), {})


@pytest.mark.parametrize(
    ("path", "code", "doubtful"),
    [
        ("shop/lang.py", "builtins.T = str\n", True),
        ("shop/lang.py", "builtins.__dict__['T'] = str\n", True),
        ("shop/lang.py", "setattr(__builtin__, 'T', str)\n", True),
        ("shop/lang.py", "builtins.TT = str\n", False),
        ("shop/lang.py", "print(builtins.T == str)\n", False),
        ("shop/lang.py", "T = builtins.str\n", False),
        ("shop/lang.md", "builtins.T = str\n", False),
    ],
)
def test_a_program_may_give_a_name_to_all_its_modules(path: str, code: str, doubtful: bool) -> None:
    one = hit("ruff:F821", message="Undefined name `T`")
    assert _is_doubtful(one, {}, {path: code}) is doubtful
    assert not _is_doubtful(hit("ruff:F811", message="Redefinition of `T`"), {}, {path: code})


@pytest.mark.parametrize(
    ("one", "files"),
    [
        (hit("ast-grep:go-not-verified", file="vendor/github.com/kr/text/a.go"), MODULES),
        (hit("oxlint:no-undef", message="'shop' is not defined."), {"package.json": '{"name": "shop"}'}),
    ],
)
def test_what_only_the_change_says_excuses_nothing(one: Hit, files: Files) -> None:
    assert _is_doubtful(one, files, {})
    assert not _is_doubtful(one, {}, files)


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("ty:import-not-found", "Cannot resolve imported module `dns.exception`"),
        ("burnish:missing-module", "There is no `dns.exception` in the project."),
    ],
)
@pytest.mark.parametrize(
    ("more", "text", "doubtful"),
    [
        ({}, "import dns.exception\nfrom stack import config\n", True),
        ({}, "import dns.exception\n", False),
        ({"dns/__init__.py": ""}, "import dns.exception\nfrom stack import config\n", False),
    ],
)
def test_a_package_within_another_is_not_imported_by_its_own_name(
    rule: str, message: str, more: Files, text: str, *, doubtful: bool
) -> None:
    files = {"core/stack/dns/__init__.py": "", "core/stack/net.py": text, **more}
    assert _is_doubtful(hit(rule, file="core/stack/net.py", message=message), files) is doubtful
