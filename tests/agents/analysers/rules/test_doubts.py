"""What the code around a hit says against it, and what it does not."""

import pytest

from burnish.agents.panel.doubts import with_doubts
from burnish.agents.panel.interface import Hit
from burnish.agents.panel.rulings import rule_on
from tests.agents.analysers.rules.making import DEFAULTS, hit

BODY = "try:\n        work()\n    except Exception:\n        pass\n"
ATTRIBUTE = "Object of type `str` has no attribute `{}`"
METHOD = "No argument provided for required parameter `b` of bound method `Key.sign`"
CONSTRUCTOR = "Argument `name` does not match any known parameter of `Key.__init__`"
UNDECLARED = "`flup` is imported, but the project does not declare it."


def _severity(one: Hit, code: str) -> str:
    (looked,) = with_doubts((one,), lambda path: code.splitlines() if path == one.file else None)
    ruling = rule_on(looked, DEFAULTS)
    return ruling.severity.value if ruling else "none"


@pytest.mark.parametrize(
    ("rule", "line", "message", "code"),
    [
        ("ruff:B006", 2, "", "@typing.overload\ndef f(a=[]): ...\n"),
        (
            "ruff:F811",
            5,
            "`f` from line 3",
            "def t():\n    @app.route\n    def f(): ...\n    @app.route\n    def f(): ...\n",
        ),
        ("ruff:F811", 2, "`A` from line 1", "A = None\nclass A: ...\n"),
        ("ruff:F811", 3, "`b` from line 2", "class A:\n    b = None\n    def b(self): ...\n"),
        ("ruff:F821", 1, "Undefined name `a`", "a\nb.c\n"),
        ("ruff:F821", 1, "Undefined name `unicode`", "text = str if PY3 else unicode\nprint(text)\n"),
        ("ruff:F821", 1, "Undefined name `A`", "def f(a: Literal['A']): ...\n"),
        ("ruff:PLE0302", 2, "", "class IShop(Interface):\n    def __contains__(key): ...\n"),
        ("ruff:RUF027", 2, "", "def f(a):\n    text = '{a}'\n    return text.format(a=a)\n"),
        ("ruff:S608", 1, "", "execute(f'select a from b where c in ({placeholders(d)})', d)\n"),
        ("ruff:S608", 1, "", "raise ValueError(f'Cannot delete from {a}')\n"),
        ("ty:call-non-callable", 3, "Object of type `str` is not callable", "class A:\n  def f(self):\n    self.g()\n"),
        ("ty:not-iterable", 2, "Object of type `type` is not iterable", "try:\n    [*a]\nexcept TypeError:\n    b\n"),
        ("ast-grep:py-broad-handler-does-nothing", 5, "", f'def f():\n    """Errors are ignored."""\n    {BODY}'),
        ("ast-grep:py-broad-handler-does-nothing", 4, "", "# May fail.\ntry:\n    a()\nexcept Exception:\n    pass\n"),
        ("ast-grep:py-broad-handler-does-nothing", 4, "", f"def __del__(self):\n    {BODY}"),
        ("burnish:undeclared-package", 2, UNDECLARED, "def serve():\n    import flup\n"),
        ("ty:import-not-found", 2, "", "try:\n    import a.b\nexcept ImportError:\n    a = None\n"),
        ("ty:unknown-argument", 2, CONSTRUCTOR, "def load(cls):\n    return cls(name=1)\n"),
        ("ty:missing-argument", 1, METHOD, "self.key.sign(1)\n"),
        ("ty:call-non-callable", 2, "Object of type `int` is not callable", "def f(a: int):\n    a()\n"),
        ("ty:missing-attribute", 2, ATTRIBUTE.format("append"), "def f(a: str):\n    a.append(1)\n"),
        (
            "ty:missing-attribute",
            2,
            "Module `re` has no member `a`",
            "try:\n    re.a\nexcept AttributeError:\n    re.b\n",
        ),
        ("ty:missing-attribute", 4, ATTRIBUTE.format("b"), "try:\n    a()\nexcept TypeError:\n    a.b()\n"),
    ],
)
def test_a_reason_in_the_code_keeps_a_hit_below_the_gate(rule: str, line: int, message: str, code: str) -> None:
    assert _severity(hit(rule, message=message, file="a.py", line=line), code) == "medium"


@pytest.mark.parametrize(
    ("rule", "line", "message", "code"),
    [
        ("ruff:B006", 1, "", "def f(a=[]):\n    a.append(1)\n"),
        ("ruff:B909", 2, "", "for a in b:\n    b.remove(a)\n"),
        ("ruff:F811", 2, "`f` from line 1", "def f(): ...\ndef f(): ...\n"),
        ("ruff:F811", 4, "`f` from line 2", "@a\ndef f(): ...\n@a\ndef f(): ...\n"),
        ("ruff:F821", 1, "Undefined name `a`", "a\nb()\n"),
        ("ruff:F821", 2, "Undefined name `unicod`", "if PY2:\n    text = unicod\n"),
        ("ruff:F821", 2, "Undefined name `unicode`", "if a:\n    text = unicode\n"),
        ("ast-grep:py-broad-handler-does-nothing", 4, "", f"def f():\n    {BODY}"),
        ("burnish:undeclared-package", 1, UNDECLARED, "import flup\n"),
        ("ruff:S608", 1, "", "execute(f'select {a} from b where c in ({placeholders(d)})', d)\n"),
        ("ruff:RUF027", 2, "", "def f(a):\n    return '{a}'\n"),
        ("ty:import-not-found", 1, "", "import a.b\n"),
        ("ty:unknown-argument", 1, CONSTRUCTOR, "Key(name=1)\n"),
        ("ty:missing-argument", 1, METHOD, "key.sign(1)\n"),
        ("ty:call-non-callable", 2, "Object of type `int` is not callable", "a = 1\na()\n"),
        ("ty:missing-attribute", 2, ATTRIBUTE.format("append"), 'a = "b"\na.append(1)\n'),
        ("ty:missing-attribute", 2, ATTRIBUTE.format("trim"), "def f(a: str):\n    a.trim()\n"),
        ("ruff:B006", 1, "", "def f(a=[]) this is no Python\n"),
    ],
)
def test_without_one_it_blocks(rule: str, line: int, message: str, code: str) -> None:
    assert _severity(hit(rule, message=message, file="a.py", line=line), code) in ("high", "critical")


@pytest.mark.parametrize(
    ("rule", "file", "line", "code", "severity"),
    [
        ("burnish:undeclared-package", "a.js", 2, "function f() {\n  const a = require('a')\n}\n", "medium"),
        ("burnish:undeclared-package", "a.js", 1, "const a = require('a')\n", "high"),
        ("burnish:missing-module", "a.js", 2, "},{}],2:[function(require,module,exports){\nrequire('./a')\n", "medium"),
        ("oxlint:no-undef", "node.js", 2, "/* global a, base_url */\nbase_url + require('b')\n", "medium"),
        ("oxlint:no-undef", "page.js", 1, "base_url + document.title\n", "medium"),
        ("oxlint:no-undef", "page.js", 2, "import a from './a.js'\nbase_url + document.title\n", "high"),
        ("oxlint:no-undef", "node.js", 1, "base_url + 1\n", "high"),
        ("oxlint:no-self-assign", "built.js", 1, f"a = a;{'b;' * 500}\n", "medium"),
        ("oxlint:no-eval", "built.js", 1, f"eval(a);{'b;' * 500}\n", "high"),
        ("oxlint:unicorn/no-invalid-fetch-options", "a.js", 3, "fetch(url, {\n  method,\n  body,\n})\n", "medium"),
        ("oxlint:unicorn/no-invalid-fetch-options", "a.js", 2, "fetch(url, {\n  body, method: 'GET' })\n", "high"),
        ("shellcheck:SC1087", "a.sh", 1, 'grep "^$name[-.]" file\n', "medium"),
        ("shellcheck:SC1087", "a.sh", 1, "echo $names[1]\n", "high"),
        ("shellcheck:SC2260", "a.sh", 1, "timeout &>/dev/stdout | grep -q t\n", "medium"),
        ("shellcheck:SC2260", "a.sh", 1, "work > file | grep -q t\n", "high"),
    ],
)
def test_scripts(rule: str, file: str, line: int, code: str, severity: str) -> None:
    assert (
        _severity(hit(rule, file=file, line=line, level="error", message="`base_url` is not defined."), code)
        == severity
    )
