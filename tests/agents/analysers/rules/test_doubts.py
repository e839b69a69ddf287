"""What the code around a hit says against it, and what it does not."""

import pytest

from burnish.agents.panel.doubts.table import with_doubts
from burnish.agents.panel.interface import Hit
from burnish.agents.panel.rulings import rule_on
from tests.agents.analysers.rules.making import DEFAULTS, hit

BODY = "try:\n        work()\n    except Exception:\n        pass\n"
ATTRIBUTE = "Object of type `str` has no attribute `{}`"
OPTIONAL = "try:\n    from web import NotFound\nexcept ImportError:\n    NotFound = object\n"
LITERALS = "Operator `|` is not supported between objects of type `Literal['B']` and `Literal['C']`"
METHOD = "No argument provided for required parameter `b` of bound method `Key.sign`"
CONSTRUCTOR = "Argument `name` does not match any known parameter of `Key.__init__`"


REAL_KEY = (
    "MIIG/gIBADANBgkqhkiG9w0BAQEFAASCBugwggbkAgEAAoIBgQDBGvj+Uy/VUyTR\nmmIA1UEENThh0+pWODcvvUlkeIo+XTJ3FhF4/RVj\n"
)


def _severity(one: Hit, code: str) -> str:
    (looked,) = with_doubts((one,), lambda path: code.splitlines() if path == one.file else None)
    ruling = rule_on(looked, DEFAULTS)
    return ruling.severity.value if ruling else "none"


@pytest.mark.parametrize(
    ("rule", "line", "message", "code"),
    [
        (
            "ty:missing-argument",
            6,
            "No argument provided for required parameter `b` of function `f`",
            f"{OPTIONAL}def f():\n    raise NotFound()\n",
        ),
        (
            "ty:missing-argument",
            2,
            "No argument provided for required parameter `b` of function `f`",
            "try:\n    f()\nexcept TypeError:\n    b\n",
        ),
        ("ruff:B006", 2, "", "@typing.overload\ndef f(a=[]): ...\n"),
        ("ruff:B006", 2, "", "def f():\n    def g(a=[]):\n        a.append(1)\n    return g\n"),
        ("ruff:B039", 1, "", "session = ContextVar('session', default=Session())\n"),
        ("ruff:B909", 2, "", "for a in b:\n    b += c(a)\n"),
        ("ruff:B909", 3, "", "def f(self):\n    for a in self:\n        self.clear(a)\n"),
        ("ruff:F601", 1, "Dictionary key literal `f'{next(a)}'` repeated", "b = {f'{next(a)}': 1, f'{next(a)}': 2}\n"),
        ("ruff:F821", 1, "Undefined name `unicode`", "text = unicode\nfrom six import PY2\n"),
        ("ruff:F821", 2, "Undefined name `frozendict`", "if sys.version_info >= (3, 15):\n    a = frozendict\n"),
        ("ruff:F821", 1, "Undefined name `content`", "{content}\n\nprint(1)\n"),
        (
            "ruff:F821",
            5,
            "Undefined name `b`",
            "def f():\n    def g():\n        nonlocal b\n        b = 1\n    return b\n",
        ),
        ("ruff:F821", 2, "Undefined name `test`", "inject('socket', globals())\ntest()\n"),
        ("ruff:F821", 3, "Undefined name `test`", "for a in b:\n    globals()[a] = 1\ntest()\n"),
        ("ruff:PLE0302", 2, "", "class IView(IMapping):\n    def __contains__(key): ...\n"),
        ("ruff:PLE1205", 1, "", "self.app.log.error('failed', error)\n"),
        ("ruff:PLR0124", 1, "`a == a`", "if a == a and a != float('inf'):\n    b()\n"),
        (
            "ty:import-not-found",
            2,
            "Cannot resolve imported module `.local`",
            "if path.exists():\n    from .local import *\n",
        ),
        (
            "ty:missing-argument",
            3,
            "No argument provided for required parameter `a` of function `read`",
            "class B:\n    def f(self):\n        self.Record.read(1)\n",
        ),
        ("ruff:S201", 2, "", "if settings.debug:\n    app.run(debug=True)\n"),
        ("ruff:S301", 3, "", "def f(args):\n    with os.fdopen(args.pipe) as a:\n        pickle.load(a)\n"),
        ("ruff:S506", 3, "", "def f():\n    text = 'a: b'\n    yaml.load(text, Loader=Loader)\n"),
        ("ruff:S301", 2, "", "with os.fdopen(args.pipe) as a:\n    pickle.load(a)\n"),
        ("ruff:F811", 2, "Redefinition of unused `model` from line 1", "import model\ndef f(self, model): ...\n"),
        ("ruff:S506", 3, "", "def f(text):\n    loader = SafeLoaderWrapper\n    yaml.load(text, loader)\n"),
        ("ruff:S604", 2, "", "def f(args):\n    return [compat_quote(a, shell=True) for a in args]\n"),
        ("ty:unsupported-operator", 2, LITERALS, "def f():\n    a: 'B' | 'C' = None\n"),
        ("ruff:F821", 2, "Undefined name `channel`", "if __name__ == '__channelexec__':\n    channel.receive()\n"),
        ("ruff:T100", 3, "", "if break_flag:\n    def f():\n        breakpoint()\n"),
        (
            "ruff:F601",
            1,
            "Dictionary key literal `True` repeated (`True` hashes to the same value as `1`)",
            "{1: 2, True: 3}\n",
        ),
        ("ast-grep:py-random-secret", 1, "", "api_key = random.choice(api_keys)\n"),
        ("ruff:T100", 2, "", "if options.pdb:\n    pdb.set_trace()\n"),
        (
            "ast-grep:py-broad-handler-does-nothing",
            4,
            "",
            "def f(a):\n    try:\n        return a.b()\n    except Exception:\n        pass\n    return a.c()\n",
        ),
        (
            "ast-grep:py-broad-handler-does-nothing",
            5,
            "",
            "for a in b:\n    try:\n        c = d(a)\n        break\n    except Exception:\n        continue\n",
        ),
        (
            "ast-grep:py-broad-handler-does-nothing",
            3,
            "",
            "try:\n    a = str(b)\nexcept Exception:\n    pass\nelse:\n    use(a)\n",
        ),
        (
            "ast-grep:py-broad-handler-does-nothing",
            5,
            "",
            "def close(self):\n    try:\n        a.flush()\n        a.end()\n    except Exception:\n        pass\n",
        ),
        (
            "ty:invalid-await",
            3,
            "`str` is not awaitable",
            "class A:\n    async def f(self):\n        await self.work()\n",
        ),
        (
            "ty:missing-attribute",
            3,
            ATTRIBUTE.format("describe"),
            "def f(a: str):\n    a = find(a)\n    return a.describe()\n",
        ),
        (
            "ty:missing-attribute",
            5,
            "Object of type `list[str]` has no attribute `split`",
            "class A:\n    def f(self):\n        self.a = []\n    def g(self):\n        self.a = self.a.split()\n",
        ),
        (
            "ty:missing-attribute",
            1,
            "Module `sys` has no member `pypy_version_info`",
            "a = is_pypy and sys.pypy_version_info\n",
        ),
        ("ruff:B006", 1, "", "def f(a, b=[]):\n    a += b\n    return [*b, g(b)]\n"),
        ("ruff:B006", 2, "", "def f(\n    *, a={}\n):\n    return a.get(1)\n"),
        (
            "ruff:B909",
            3,
            "",
            "for a in b:\n    if a:\n        b.remove(a)\n        if c:\n            break\n        raise d\n",
        ),
        (
            "ruff:F821",
            4,
            "Undefined name `unicode`",
            "def f(a):\n    if is_python3():\n        return a\n    return unicode(a)\n",
        ),
        ("ruff:F821", 1, "Undefined name `__BIN_NAME__`", "name = __BIN_NAME__\nprint(name)\n"),
        ("ruff:PLE1205", 1, "", "log.debug('{} {}', a, b)\n"),
        ("ruff:RUF024", 1, "", "assert a == dict.fromkeys(b, [])\n"),
        ("ruff:S102", 2, "", "for a in ('b', 'c'):\n    exec('%s = 1' % a)\n"),
        ("ruff:S102", 2, "", "code = open('plugin').read()\nexec(code)\n"),
        ("ruff:S102", 2, "", "def f(code):\n    exec(compile(code, 'a', 'exec'))\n"),
        ("ruff:S301", 3, "", "def f(path):\n    with open(path, 'rb') as file:\n        return pickle.load(file)\n"),
        ("ruff:S301", 3, "", "def f(self):\n    data = self.cache.read_bytes()\n    return pickle.loads(data)\n"),
        ("ruff:S301", 2, "", "def f(path):\n    return shelve.open(path)\n"),
        ("ruff:S102", 2, "", "HERE = Path(__file__).parent\nexec((HERE / 'version.py').read_text())\n"),
        ("ruff:S701", 1, "", "pages = Environment(**options)\n"),
        ("ruff:S301", 2, "", "def f(data):\n    return pickle.loads(data)\n"),
        ("ruff:S102", 3, "", "def f(path):\n    with open(path) as file:\n        exec(file.read(), {})\n"),
        ("ruff:S608", 3, "", "def f(self, a):\n    b = len(self) - a\n    execute(f'select c from d limit {b}')\n"),
        ("ruff:S608", 2, "", "def f(a):\n    return 'Usage: records <query>, as in select 1 from b: ' + a\n"),
        ("ast-grep:py-unreachable", 3, "", "def f():\n    raise A\n    return b\n"),
        ("burnish:undeclared-package", 2, "", "def serve():\n    import flup\n"),
        (
            "ruff:S102",
            5,
            "",
            "import os\ndef f(a):\n    b = os.path.join(a, 'c')\n    with open(b) as file:\n        exec(file.read())",
        ),
        ("ruff:S506", 2, "unsafe loader `A`", "class A(yaml.SafeLoader): ...\nyaml.load(b, Loader=A)\n"),
        ("ty:missing-argument", 1, METHOD.replace("Key", "IKey"), "key.sign(1)\n"),
        ("ruff:S307", 2, "", "def f(code, globals):\n    return eval(code, globals)\n"),
        ("ruff:S307", 3, "", "import os\ndef f():\n    eval(compile(os.environ['A'], 'b', 'exec'))\n"),
        ("ruff:S608", 2, "", "def f(a):\n    execute('select 1 from %s limit 1' % a)\n"),
        ("ruff:S608", 2, "", "def f(self, a):\n    execute('select 1 where b = %s' % self.quote_name(a))\n"),
        ("ty:missing-argument", 1, CONSTRUCTOR, "ast.comprehension(ifs=[])\n"),
        (
            "ruff:PLE0237",
            6,
            "Attribute `b` is not defined in class's `__slots__`",
            "class A:\n  __slots__ = ['_b']\n  @setter\n  def b(self, c): ...\n  def __init__(self):\n    self.b = 1\n",
        ),
        ("ruff:B909", 2, "", "for i, a in enumerate(b):\n    b[i] = c\n"),
        ("kingfisher:betterleaks.resend-api-key", 1, "", "KEY = 're_FmABCDEF_987654321'\n"),
        ("ruff:S608", 2, "", "def f(a):\n    run('insert into %(t)s values (%(v)s)' % {'t': a, 'v': sqlify(a)})\n"),
        ("ruff:S608", 3, "", "def f(a):\n    b = a.v > 8 and 'c' or 'null'\n    execute('select d, %s from e' % b)\n"),
        (
            "ruff:F821",
            6,
            "Undefined name `unicode`",
            "try:\n    import builtins\nexcept ImportError:\n    pass\nelse:\n    a = unicode(b)\n",
        ),
        (
            "ty:missing-attribute",
            4,
            ATTRIBUTE.format("search"),
            "RULES = [['a', 'b']]\ndef f(word):\n    for rule, _ in RULES:\n        rule.search(word)\n",
        ),
        ("ruff:S610", 1, "", "stream.extra(TLSAttribute.alpn)\n"),
        ("ruff:S602", 2, "", "def run(command):\n    return Popen(command, shell=True)\n"),
        ("ruff:S602", 2, "", "def run(*args):\n    return Popen(args, shell=True)\n"),
        ("ruff:S602", 3, "", "def f(self):\n    line = f'{self.editor} {NAME}'\n    call(line, shell=True)\n"),
        ("ruff:S605", 2, "", "VERSION = '1.0'\nos.system('git tag ' + VERSION)\n"),
        ("ruff:F821", 3, "Undefined name `Key`", "from __future__ import annotations\n\ndef f() -> Key: ...\n"),
        ("ty:import-not-found", 2, "", "with suppress(ImportError):\n    from socket import AF_A\n"),
        ("ty:missing-argument", 3, METHOD, "class A:\n  def f(self):\n    self.sign(1)\n"),
        ("ty:missing-argument", 2, METHOD, "def f(parts):\n    Key().sign(*parts)\n"),
        ("ast-grep:py-broad-handler-does-nothing", 3, "", "try:\n    a.close()\nexcept Exception:\n    pass\n"),
        (
            "ruff:S102",
            3,
            "",
            "def f(self, space):\n    code = compile(str(self), 'a', 'exec')\n    exec(code, space)\n",
        ),
        ("ruff:S307", 2, "", "def f():\n    return eval(FORMULA)\n"),
        ("ruff:S608", 2, "", "def f(self, a):\n    execute(f'select a from {self.table} where b = ?', a)\n"),
        (
            "ruff:S608",
            3,
            "",
            "def f(a):\n    b = ' or '.join(['c = ?'] * len(a))\n    execute('select d from e where ' + b, a)\n",
        ),
        (
            "ruff:S608",
            3,
            "",
            "def f(a):\n    b = ', '.join('?' for _ in a)\n    execute(f'select d from e where f in ({b})', a)\n",
        ),
        ("ruff:S608", 2, "", "def f(a):\n    execute('select b from c where d = %s' % int(a))\n"),
        ("ruff:S608", 2, "", "def f(table):\n    execute(f'select a from {table} where b = ?', 1)\n"),
        ("ruff:S702", 1, "", "Template(a)\n"),
        ("ruff:S608", 2, "", "def f(a):\n    execute('insert into b (c) values (%d)' % a)\n"),
        ("ruff:PLE0101", 2, "", "def __init__(self):\n    return super().__init__()\n"),
        (
            "ast-grep:py-dict-changed",
            4,
            "",
            "def f(a):\n    b = OggVorbis(a)\n    for c in b.keys():\n        b.pop(c)\n",
        ),
        ("kingfisher:betterleaks.generic-credential-uri", 1, "", ">>> parse('ftp://a:b@host.example/')\n"),
        ("ruff:S701", 1, "", "Environment().from_string('port = {{ port }}')\n"),
        ("ruff:B030", 3, "", "try:\n    a()\nexcept b.errors + (c if d else ()):\n    raise\n"),
        ("ty:missing-argument", 3, METHOD, "def f(self):\n    key, a = self.key, self.a\n    key.sign(1)\n"),
        ("ruff:F811", 3, "`fc` from line 1", "from tools import fc\ndef f(conf):\n    fc = conf.find()\n"),
        ("ruff:F821", 2, "Undefined name `author`", "execfile('release.py', globals())\nsetup(author=author)\n"),
        (
            "ruff:T100",
            1,
            "Trace found: `IPython.terminal.embed.InteractiveShellEmbed` used",
            "InteractiveShellEmbed()\n",
        ),
        ("ast-grep:py-dict-changed", 2, "", "for a in b.keys('c/*'):\n    del b[a]\n"),
        ("ruff:B006", 1, "", "def f(a='', b={}):\n    self.a = a\n    print(b)\n"),
        ("ruff:F821", 1, "Undefined name `shop`", "site: 'shop.Site | None' = None\nprint(site)\n"),
        ("ruff:F821", 3, "Undefined name `_all`", "_all = globals()\ndef f():\n    _all['a'] = 1\nf()\ndel _all\n"),
        ("ty:missing-attribute", 1, ATTRIBUTE.format("langformat"), "self.config['FOOTER'].langformat(1)\n"),
        (
            "ty:unknown-argument",
            2,
            "Argument `microsecond` does not match any known parameter of bound method `date.replace`",
            "def f(day: date):\n    return day.replace(microsecond=0)\n",
        ),
        ("ty:missing-attribute", 2, "Object of type `None` has no attribute `a`", "def f():\n    package.options.a\n"),
        (
            "ty:missing-attribute",
            3,
            "Object of type `None` has no attribute `a`",
            "options = None\ndef f():\n    options.a\n",
        ),
        ("ty:missing-attribute", 2, "Module `sys` has no member `a`", "if PYPY:\n    sys.a\n"),
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
        ("ruff:S608", 1, "", "execute(f'select a from b where c in ({placeholders(d)})', d)\n"),
        ("ruff:S608", 1, "", "raise ValueError(f'Cannot delete from {a}')\n"),
        ("ty:call-non-callable", 3, "Object of type `str` is not callable", "class A:\n  def f(self):\n    self.g()\n"),
        ("ast-grep:py-broad-handler-does-nothing", 5, "", f'def f():\n    """Errors are ignored."""\n    {BODY}'),
        ("ast-grep:py-broad-handler-does-nothing", 4, "", "# May fail.\ntry:\n    a()\nexcept Exception:\n    pass\n"),
        ("ast-grep:py-broad-handler-does-nothing", 4, "", f"def __del__(self):\n    {BODY}"),
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
        ("ruff:B006", 1, "", "def f(a={}):\n    a[1] = 2\n"),
        ("ruff:B006", 1, "", "def f(a=[]):\n    a += [1]\n"),
        ("ruff:B006", 1, "", "def f(a=[]):\n    return a\n"),
        ("ruff:B006", 1, "", "def f(self, a=[]):\n    self.a = a or b\n"),
        ("ruff:B909", 3, "", "for a in b:\n    if a:\n        b.remove(a)\n        if c:\n            break\n"),
        (
            "ruff:F821",
            2,
            "Undefined name `unicode`",
            "def f(a):\n    return unicode(a)\ndef g():\n    return is_python3()\n",
        ),
        ("ruff:F821", 1, "Undefined name `BIN_NAME`", "name = BIN_NAME\nprint(name)\n"),
        ("ruff:PLE1205", 1, "", "log.debug('done', a, b)\n"),
        ("ruff:PLR0124", 1, "`a == a`", "if a == a and b:\n    b()\n"),
        ("ty:import-not-found", 1, "Cannot resolve imported module `.local`", "from .local import *\n"),
        (
            "ty:missing-argument",
            2,
            "No argument provided for required parameter `a` of function `read`",
            "def f(self):\n    records.read(1)\n",
        ),
        ("ruff:B006", 1, "", "def g(a=[]):\n    a.append(1)\n"),
        ("ruff:B039", 1, "", "session = ContextVar('session', default=[])\n"),
        ("ruff:B909", 3, "", "def f(self):\n    for a in self.b:\n        self.b.remove(a)\n"),
        ("ruff:F601", 1, "Dictionary key literal `'a'` repeated", "b = {'a': 1, 'a': 2}\n"),
        ("ruff:F821", 2, "Undefined name `unicode`", "#!/usr/bin/env python3\ntext = unicode\n"),
        ("ruff:F821", 3, "Undefined name `a`", "if sys.version_info >= (3, 15):\n    pass\nprint(a)\n"),
        ("ruff:F821", 4, "Undefined name `b`", "def f():\n    def g():\n        b = 1\n    return b\n"),
        ("ruff:F821", 1, "Undefined name `content`", "a = {content}\n"),
        ("ruff:S201", 2, "", "if settings.port:\n    app.run(debug=True)\n"),
        ("ruff:S301", 2, "", "def f(request):\n    pickle.loads(request.body)\n"),
        ("ruff:S506", 2, "", "def f(text):\n    yaml.load(text, Loader=Loader)\n"),
        ("ruff:F811", 2, "Redefinition of unused `model` from line 1", "import model\ndef model(): ...\n"),
        ("ruff:S604", 2, "", "def f(args):\n    call('ls ' + args, shell=True)\n"),
        ("ruff:S602", 2, "", "def f(a, b):\n    run('ls ' + quote(a) + b, shell=True)\n"),
        ("ty:unsupported-operator", 1, LITERALS, "a: 'B' | 'C' = None\n"),
        ("ruff:F821", 2, "Undefined name `channel`", "if __name__ == '__main__':\n    channel.receive()\n"),
        ("ast-grep:py-random-secret", 1, "", "token = ''.join(random.choice(letters) for _ in range(9))\n"),
        ("ruff:T100", 2, "", "if options.fast:\n    pdb.set_trace()\n"),
        (
            "ast-grep:py-broad-handler-does-nothing",
            4,
            "",
            "def f(a):\n    try:\n        a.save()\n    except Exception:\n        pass\n",
        ),
        (
            "ast-grep:py-broad-handler-does-nothing",
            4,
            "",
            "def read(path):\n    try:\n        return open(path).read()\n    except Exception:\n        pass\n",
        ),
        (
            "ast-grep:py-broad-handler-does-nothing",
            4,
            "",
            "def load(self):\n    try:\n        self.a = b()\n    except Exception:\n        pass\n",
        ),
        (
            "ty:invalid-await",
            3,
            "`str` is not awaitable",
            "class A:\n    async def f(self):\n        await self.work()\n    def work(self): ...\n",
        ),
        ("ty:missing-attribute", 2, ATTRIBUTE.format("describe"), "def f(a: str):\n    return a.describe()\n"),
        ("ruff:RUF024", 1, "", "a = dict.fromkeys(b, [])\n"),
        ("ruff:S307", 3, "", "def f():\n    expression = request.args['a']\n    return eval(expression)\n"),
        ("ruff:S307", 2, "", "def f(self):\n    return eval(self.get_argument('a'))\n"),
        ("ruff:S307", 4, "", "def f(a):\n    parts = []\n    parts.append(a)\n    return eval(' + '.join(parts))\n"),
        ("ruff:S307", 2, "", "from config import formula\neval(formula)\n"),
        ("ruff:S608", 2, "", "def f(a):\n    execute(f\"select b from c where d = '{a}'\")\n"),
        ("ruff:S608", 2, "", "def f(a):\n    execute('select b from c where d = %s' % a)\n"),
        ("ruff:S608", 2, "", "def f(a):\n    execute(f'select b from c order by {request.args[a]}')\n"),
        (
            "ruff:S608",
            4,
            "",
            "def f(a):\n    for b in a:\n        c = f'd = {b}'\n    execute('select e from f where ' + c)\n",
        ),
        ("ruff:F821", 1, "Undefined name `shop`", "site: shop.Site | None = None\nprint(site)\n"),
        ("ruff:F821", 2, "Undefined name `_all`", "def f():\n    _all['a'] = 1\nf()\n"),
        (
            "ty:missing-argument",
            6,
            "No argument provided for required parameter `b` of function `f`",
            f"{OPTIONAL}def f():\n    raise Missing()\n",
        ),
        ("ruff:B030", 3, "", "try:\n    a()\nexcept 1:\n    raise\n"),
        ("ruff:S608", 2, "", "def f(a, b):\n    execute('insert into c (d) values (%d, %s)' % (a, b))\n"),
        ("ruff:F821", 2, "Undefined name `total`", 'text = f"""\n{total} pieces"""\nprint(text)\n'),
        (
            "ty:missing-attribute",
            3,
            "Object of type `list[int]` has no attribute `push`",
            "class A:\n  def f(self):\n    self.a.push(1)\n",
        ),
        (
            "ty:missing-attribute",
            3,
            "Object of type `dict[str, int]` has no attribute `add`",
            "seen = {}\ndef f(a):\n    seen.add(a)\n",
        ),
        ("ruff:S102", 3, "", "def f(code):\n    def g():\n        exec(code)\n    code = 1\n"),
        ("ruff:S102", 5, "", "def f():\n    code = '1'\n\nfrom plugins import code\nexec(code)\n"),
        ("ruff:S608", 2, "", "def f(a, b):\n    execute('select %d' % a + b)\n"),
        ("ruff:S608", 2, "", "def f(a, b):\n    execute(f'update c set {a} where d = ?', b)\n"),
        ("ruff:PLE0101", 2, "", "def __init__(self):\n    return load(self)\n"),
        ("ast-grep:py-dict-changed", 4, "", "def f(a):\n    b = dict(a)\n    for c in b.keys():\n        b.pop(c)\n"),
        ("kingfisher:betterleaks.generic-credential-uri", 1, "", "parse('ftp://a:b@host.example/')\n"),
        ("ruff:S701", 1, "", "Environment().get_template('order.html')\n"),
        ("ty:missing-argument", 3, METHOD, "def f(self):\n    key = Key()\n    key.sign(1)\n"),
        ("ruff:F811", 2, "`fc` from line 1", "from tools import fc\ndef fc(conf): ...\n"),
        ("ruff:F811", 4, "`fc` from line 2", "def f():\n    def fc(): ...\n    a()\n    def fc(): ...\n"),
        ("ruff:F821", 1, "Undefined name `author`", "setup(author=author)\nprint(globals())\n"),
        ("ruff:T100", 1, "Trace found: `pdb.set_trace` used", "pdb.set_trace()\n"),
        ("ast-grep:py-dict-changed", 2, "", "for a in b.keys():\n    del b[a]\n"),
        ("ty:missing-argument", 2, METHOD, "def f(key: Key):\n    key.sign(1)\n"),
        ("ty:missing-attribute", 3, "Object of type `None` has no attribute `a`", "def f():\n    b = None\n    b.a\n"),
        ("ruff:B909", 2, "", "for a in b:\n    b.remove(a)\n"),
        ("ruff:F811", 2, "`f` from line 1", "def f(): ...\ndef f(): ...\n"),
        ("ruff:F811", 4, "`f` from line 2", "@a\ndef f(): ...\n@a\ndef f(): ...\n"),
        ("ruff:F821", 1, "Undefined name `a`", "a\nb()\n"),
        ("ruff:F821", 2, "Undefined name `unicod`", "if PY2:\n    text = unicod\n"),
        ("ruff:F821", 2, "Undefined name `unicode`", "if a:\n    text = unicode\n"),
        ("ast-grep:py-broad-handler-does-nothing", 4, "", f"def f():\n    {BODY}"),
        ("ruff:S608", 1, "", "execute(f'select {a} from b where c in ({placeholders(d)})', d)\n"),
        ("ty:import-not-found", 1, "", "import a.b\n"),
        ("ty:unknown-argument", 1, CONSTRUCTOR, "Key(name=1)\n"),
        ("ty:missing-argument", 1, METHOD, "key.sign(1)\n"),
        ("ty:call-non-callable", 2, "Object of type `int` is not callable", "a = 1\na()\n"),
        ("ty:missing-attribute", 2, ATTRIBUTE.format("append"), 'a = "b"\na.append(1)\n'),
        ("ty:missing-attribute", 2, ATTRIBUTE.format("trim"), "def f(a: str):\n    a.trim()\n"),
        ("ruff:B006", 1, "", "def f(a=[]) this is no Python\n"),
        ("ruff:S102", 2, "", "def f(code):\n    exec(code)\n"),
        ("ruff:S102", 2, "", "def f():\n    exec(compile(request.body, 'a', 'exec'))\n"),
        ("ruff:S301", 2, "", "def f(cookie):\n    return pickle.loads(b64decode(cookie))\n"),
        ("ruff:S610", 2, "", "from django.db import models\nquery.extra(where=[text])\n"),
        ("ruff:S301", 2, "", "def f(self):\n    return pickle.loads(self.socket.recv(9))\n"),
        ("ruff:S301", 2, "", "def f(self):\n    return pickle.load(request.files['a'])\n"),
        ("ruff:S602", 2, "", "def f(path):\n    call(f'convert {path} a.png', shell=True)\n"),
        ("ruff:S602", 3, "", "def f(path):\n    line = 'convert ' + path\n    call(line, shell=True)\n"),
        ("ruff:S602", 2, "", "def f():\n    call(request.args['a'], shell=True)\n"),
        ("ruff:F821", 4, "Undefined name `Key`", "from __future__ import annotations\n\ndef f():\n    return Key()\n"),
        ("ty:missing-argument", 3, METHOD, "def f():\n    key = Key()\n    key.sign(1)\n"),
        ("ast-grep:py-broad-handler-does-nothing", 3, "", "try:\n    a.save()\nexcept Exception:\n    pass\n"),
        (
            "ast-grep:py-broad-handler-does-nothing",
            4,
            "",
            "try:\n    a.save()\n    a.close()\nexcept Exception:\n    pass\n",
        ),
        ("ruff:S602", 2, "", "def f(path):\n    run(f'convert {path} {small(Path(path))}', shell=True)\n"),
        ("ruff:S605", 2, "", "def f(path):\n    os.system('convert ' + path)\n"),
        ("ruff:S608", 2, "", "def f(a):\n    execute('select b from c where d = ' + a)\n"),
        ("ast-grep:py-unreachable", 3, "", "def f():\n    return a\n    b()\n"),
        ("burnish:undeclared-package", 1, "", "import flup\n"),
        ("ruff:S506", 2, "unsafe loader `A`", "class A(yaml.Loader): ...\nyaml.load(b, Loader=A)\n"),
        ("ruff:S307", 2, "", "def f(code):\n    return eval(code, {'__builtins__': {}}, {})\n"),
        ("ruff:S608", 2, "", "def f(a, b):\n    execute('select 1 from %s where c = %s' % (a, b))\n"),
        (
            "ruff:PLE0237",
            4,
            "Attribute `b` is not defined in class's `__slots__`",
            "class A:\n  __slots__ = ['_b']\n  def __init__(self):\n    self.b = 1\n",
        ),
        ("ruff:B909", 2, "", "for a in b:\n    del b[a]\n"),
        ("kingfisher:betterleaks.resend-api-key", 1, "", "KEY = 're_Fm7xKq2LpZ4vTgWm'\n"),
        ("kingfisher:betterleaks.resend-api-key", 1, "", "KEY = 're_Fm7xKq2LpZ4vTgWm'  # abc123, abcdef123456abcdef\n"),
        ("ruff:S608", 2, "", "def f(a):\n    run('insert into t values (%(v)s)' % {'v': a})\n"),
    ],
)
def test_without_one_it_blocks(rule: str, line: int, message: str, code: str) -> None:
    assert _severity(hit(rule, message=message, file="a.py", line=line), code) in ("high", "critical")


@pytest.mark.parametrize(
    ("rule", "file", "line", "code", "severity"),
    [
        ("burnish:missing-module", "a.js", 2, "},{}],2:[function(require,module,exports){\nrequire('./a')\n", "medium"),
        ("oxlint:no-undef", "node.js", 2, "/* global a, base_url */\nbase_url + require('b')\n", "medium"),
        ("oxlint:no-undef", "page.js", 1, "base_url + document.title\n", "medium"),
        ("oxlint:no-undef", "page.js", 2, "import a from './a.js'\nbase_url + document.title\n", "high"),
        ("oxlint:no-undef", "node.js", 1, "base_url + 1\n", "high"),
        ("oxlint:no-undef", "node.js", 2, "require('a')\nif (typeof base_url === 'string') base_url + 1\n", "medium"),
        ("oxlint:no-undef", "node.js", 2, "require('a')\nbase_url + 1\n", "high"),
        ("oxlint:no-dupe-keys", "web/vendor/a.js", 1, "a = a\n", "high"),
        (
            "oxlint:no-dupe-keys",
            "web/static/jquery.js",
            3,
            "/*!\n * jQuery JavaScript Library v1.7\n */ a = a\n",
            "high",
        ),
        ("oxlint:no-dupe-keys", "web/static/shop.js", 1, "a = a // jQuery v1.7\n", "high"),
        ("oxlint:no-eval", "web/node_modules/a.js", 1, "eval(a)\n", "high"),
        ("oxlint:no-eval", "web/static/jquery.js", 2, "// jQuery v1.7\neval(a)\n", "high"),
        ("oxlint:no-constant-binary-expression", "a.js", 1, "if (typeof /./ != 'function' && a) b()\n", "medium"),
        ("oxlint:no-constant-binary-expression", "a.js", 1, "if ('a' != 'b' && a) b()\n", "high"),
        ("ast-grep:js-command-from-text", "scripts/publish.js", 1, "execSync(`npm view ${name} version`)\n", "medium"),
        ("ast-grep:js-command-from-text", "jakefile.js", 1, "exec(path + ' --config a')\n", "medium"),
        (
            "ast-grep:js-command-from-text",
            "scripts/bump-version.js",
            1,
            "execSync(`npm view ${process.argv[2]}`)\n",
            "high",
        ),
        ("ast-grep:js-command-from-text", "scripts/convert.js", 1, "execSync(`convert ${name} a.png`)\n", "medium"),
        ("ast-grep:js-command-from-text", "scripts/convert.js", 1, "execSync(`convert ${argv[2]} a.png`)\n", "high"),
        ("ast-grep:js-command-from-text", "src/convert.js", 1, "execSync(`convert ${name} a.png`)\n", "high"),
        ("burnish:missing-module", "a.js", 1, "const a = require('../../dist-module/a.js')\n", "medium"),
        ("burnish:missing-module", "a.js", 1, "const a = require('../dist/a')\n", "medium"),
        ("burnish:missing-module", "a.js", 1, "const a = require('../distance/a')\n", "high"),
        ("burnish:missing-module", "a.js", 2, "run(() => {\n  const a = require('./tools/a')\n})\n", "medium"),
        ("oxlint:no-dupe-keys", "yarn.cjs", 2, f"{'a();' * 300}\nb({{c: 1, c: 2}})\n", "medium"),
        ("zizmor:template-injection", "a.yml", 1, "run: a ${{ matrix.b || inputs.c }}-${{ github.job }}\n", "medium"),
        ("zizmor:template-injection", "a.yml", 1, "run: a ${{ inputs.c || github.head_ref }}\n", "critical"),
        ("zizmor:template-injection", "a.yml", 1, "run: a ${{ steps.b.outputs.title }}\n", "critical"),
        ("shellcheck:SC2296", "a.sh", 2, "if [[ -n $ZSH_VERSION ]]; then\n  a=${(%):-%x}\nfi\n", "medium"),
        ("shellcheck:SC2296", "a.sh", 1, "a=${(%):-%x}\n", "high"),
        ("burnish:not-verified", "a.sh", 2, "if [[ $insecure == true ]]; then\n  curl --insecure a\nfi\n", "medium"),
        ("burnish:not-verified", "a.sh", 1, "curl --insecure a\n", "high"),
        ("burnish:tests-may-fail", "a.yml", 1, "continue-on-error: true # Beta browsers have bugs\n", "high"),
        ("burnish:tests-may-fail", "a.yml", 1, "continue-on-error: true # flaky\n", "high"),
        ("burnish:password-in-configuration", ".github/workflows/a.yml", 2, "services:\n  password: a1\n", "medium"),
        ("burnish:password-in-configuration", ".github/workflows/a.yml", 1, "password: a1\n", "critical"),
        ("burnish:password-in-configuration", "dev/compose.yml", 1, "password: a1\n", "medium"),
        ("burnish:password-in-configuration", "scripts/deploy.yml", 1, "password: a1\n", "critical"),
        ("kingfisher:betterleaks.curl-auth-user", "a.sh", 1, "curl -u a:$B c; curl -u me:Xk92ksl2 b\n", "critical"),
        ("burnish:password-in-configuration", "compose.yml", 1, "password: a1\n", "critical"),
        ("burnish:password-in-code", "a.py", 2, 'def f():\n  """Give {\'password\': \'Xk9!\'}."""\n', "medium"),
        ("burnish:password-in-code", "a.py", 1, "login(password='Xk9!')\n", "high"),
        ("kingfisher:betterleaks.curl-auth-user", "a.sh", 1, 'curl -u "me:${{ secrets.A }}" b\n', "medium"),
        ("kingfisher:betterleaks.curl-auth-user", "a.sh", 1, "# curl -u username:access-token b\n", "medium"),
        ("kingfisher:betterleaks.curl-auth-user", "a.sh", 1, "curl -u me:Xk92ksl2 b\n", "critical"),
        ("kingfisher:betterleaks.curl-auth-header", "a.md", 2, "curl localhost\n-H 'Authorization: Token A'", "medium"),
        ("kingfisher:betterleaks.curl-auth-header", "a.sh", 1, "curl a.b -H 'Authorization: Token A'", "critical"),
        ("kingfisher:betterleaks.generic-credential-uri", "a.yml", 1, "a: postgres://b:c@database/d\n", "medium"),
        ("kingfisher:betterleaks.generic-credential-uri", "a.yml", 1, "a: postgres://b:c@db.prod.io/d\n", "critical"),
        ("ast-grep:js-html-from-text", "a.js", 1, "row.innerHTML = '<td>' + stat + '</td>';\n", "medium"),
        ("ast-grep:js-html-from-text", "a.js", 1, "row.innerHTML = '<td>' + comment + '</td>';\n", "high"),
        ("ast-grep:js-html-from-text", "a.js", 1, "row.innerHTML = `<b>${user.name}</b>`;\n", "high"),
        ("ast-grep:js-html-from-text", "a.js", 2, "var text = gettext('a');\nb.innerHTML = '<b>' + text;\n", "medium"),
        ("oxlint:no-eval", "yarn.cjs", 2, f"{'a();' * 300}\neval(b)\n", "high"),
        ("oxlint:no-script-url", "a.js", 1, "frame.src = 'javascript:void(0)'\n", "medium"),
        ("oxlint:no-script-url", "a.js", 1, "frame.src = 'javascript:go()'\n", "high"),
        ("oxlint:no-script-url", "a.js", 1, "frame.src = 'javascript:false;'\n", "medium"),
        ("ast-grep:js-html-from-text", "a.js", 1, "a.innerHTML = `<b class='user-name'>${id}</b>`;\n", "medium"),
        ("ast-grep:js-html-from-text", "a.js", 1, "a.innerHTML = `<b>${id}</b>${message}`;\n", "high"),
        ("ast-grep:js-html-from-text", "a.js", 1, "a.innerHTML = start + `<b>${listHtml}</b>`;\n", "medium"),
        (
            "ast-grep:js-html-from-text",
            "a.js",
            2,
            "const text = a ? 'b' : 'c';\nd.innerHTML = `<b>${text}</b>`;\n",
            "medium",
        ),
        (
            "ast-grep:js-html-from-text",
            "a.js",
            2,
            "const text = a ? 'b' : c;\nd.innerHTML = `<b>${text}</b>`;\n",
            "high",
        ),
        (
            "ast-grep:js-sql-from-text",
            "a.js",
            1,
            "t.executeSql('DROP TABLE IF EXISTS ' + name, [], () => {\n",
            "medium",
        ),
        ("ast-grep:js-sql-from-text", "a.js", 1, "q(`select a from ${table} where b = ${c}`)\n", "high"),
        ("ast-grep:js-sql-from-text", "a.js", 1, "q('select a from ' + table + ' where b = ' + c)\n", "high"),
        (
            "ast-grep:js-not-verified",
            "a.js",
            2,
            "case 'no-verify':\n  return { rejectUnauthorized: false }\n",
            "medium",
        ),
        ("ast-grep:js-not-verified", "a.js", 1, "return { rejectUnauthorized: false }\n", "high"),
        ("ast-grep:js-not-verified", "a.js", 2, "// in case of unauthorized\nrejectUnauthorized: false\n", "high"),
        (
            "ast-grep:js-focused-test",
            "tests/a.js",
            2,
            "test.only = (name, run) => {\n  it.only(name, run)\n}\n",
            "medium",
        ),
        ("ast-grep:js-focused-test", "tests/a.js", 1, "it.only('works', run)\n", "high"),
        (
            "ast-grep:js-promise-dropped",
            "a.js",
            1,
            "run(a)\nasync function run(b) {\n  try { await b() } catch (e) {}\n}\n",
            "medium",
        ),
        ("ast-grep:js-promise-dropped", "a.js", 1, "run(a)\nasync function run(b) {\n  await b()\n}\n", "high"),
        ("oxlint:no-debugger", "a.js", 2, "if (options.debug) {\n  debugger\n}\n", "medium"),
        ("oxlint:no-debugger", "a.js", 1, "debugger\n", "high"),
        ("oxlint:invalid-syntax", "src/wrapper.end.js", 1, "}));\n", "critical"),
        ("oxlint:invalid-syntax", "src/price.js", 1, "}));\n", "critical"),
        ("oxlint:invalid-syntax", "src/start.js", 1, "}));\n", "critical"),
        ("oxlint:invalid-syntax", "config.js", 3, "// all\n{\n  port: 8125\n, host: 'a'\n}\n", "critical"),
        ("oxlint:invalid-syntax", "config.js", 2, "module.exports = {\n  port 8125\n}\n", "critical"),
        ("shellcheck:SC1073", "a.sh", 1, "url=http://<your server>\n", "high"),
        ("shellcheck:SC1073", "a.sh", 1, "if [ a; then\n", "high"),
        ("ast-grep:js-not-verified", "a.js", 2, "if (options.unsafeTls) {\n  rejectUnauthorized: false\n}\n", "medium"),
        ("ast-grep:js-sql-from-text", "a.js", 1, "q(`delete from a where ${sqlHours} < ?`, [b])\n", "medium"),
        ("ast-grep:js-sql-from-text", "a.js", 1, "q(`delete from a where ${sqlHours} < ${b}`)\n", "high"),
        ("oxlint:no-constant-binary-expression", "a.js", 1, "let a = 0\n  || b\n", "medium"),
        ("hadolint:DL1000", "Dockerfile", 4, "RUN <<EOF\necho a\nEOF\nRUN echo b\n", "high"),
        ("hadolint:DL1000", "Dockerfile", 2, "RUN echo a\nRNU echo b\n", "high"),
        ("burnish:password-in-configuration", "a.yml", 2, "algolia:\n  api_key: 3151f502c7b9e9da\n", "critical"),
        ("burnish:password-in-configuration", "a.yml", 2, "shop:\n  api_key: 3151f502c7b9e9da\n", "critical"),
        ("kingfisher:betterleaks.generic-credential-uri", "a.yml", 1, "a: postgres://b:c@127.0.0.1/d\n", "medium"),
        (
            "kingfisher:betterleaks.private-key",
            "a.pem",
            1,
            f"-----BEGIN PRIVATE KEY-----\n{'s3cr3t' * 20}\n-----END\n",
            "medium",
        ),
        ("kingfisher:betterleaks.private-key", "a.pem", 1, "-----BEGIN PRIVATE KEY-----\n" + REAL_KEY, "critical"),
        ("ast-grep:js-sql-from-text.ts", "a.ts", 1, "q(`insert into ${this.table} (a) values ($1)`, [a])\n", "medium"),
        ("ast-grep:js-sql-from-text.ts", "a.ts", 1, "q(`insert into ${this.table} (a) values (${a})`)\n", "high"),
        ("ast-grep:js-sql-from-text", "a.js", 1, "q('select ' + a + `from ${this.table}`)\n", "high"),
        ("shellcheck:SC1065", "a.sh", 1, "coproc worker (python3 a.py)\n", "medium"),
        ("shellcheck:SC1065", "a.sh", 1, "worker(name) {\n", "high"),
        ("shellcheck:SC2078", "a.sh", 1, "[[ ROOT::PERMISSION ]]\n{\n", "medium"),
        ("shellcheck:SC2078", "a.sh", 1, "if [[ false ]]; then\n", "high"),
        ("shellcheck:SC2078", "a.sh", 1, "[[ false ]] && exit 1\n", "high"),
        ("shellcheck:SC2261", "a.sh", 1, "echo quit >&${worker[1]} 2>/dev/null\n", "medium"),
        ("shellcheck:SC2261", "a.sh", 1, "work 2>a 2>b\n", "high"),
        ("oxlint:no-dupe-keys", "built.js", 1, f"a = a;{'b;' * 500}\n", "medium"),
        ("oxlint:no-eval", "built.js", 1, f"eval(a);{'b;' * 500}\n", "high"),
        ("oxlint:unicorn/no-invalid-fetch-options", "a.js", 3, "fetch(url, {\n  method,\n  body,\n})\n", "medium"),
        ("oxlint:unicorn/no-invalid-fetch-options", "a.js", 2, "fetch(url, {\n  body, method: 'GET' })\n", "high"),
        ("zizmor:template-injection", ".github/workflows/a.yml", 1, "run: make ${{ github.ref_name }}\n", "medium"),
        ("zizmor:template-injection", ".github/workflows/a.yml", 1, "run: make ${{ inputs.version }}\n", "medium"),
        (
            "zizmor:template-injection",
            ".github/workflows/a.yml",
            1,
            "run: make ${{ github.ref_name }} ${{ github.head_ref }}\n",
            "critical",
        ),
        ("shellcheck:SC2260", "a.sh", 1, "timeout &>/dev/stdout | grep -q t\n", "medium"),
        ("shellcheck:SC2260", "a.sh", 1, "work > file | grep -q t\n", "high"),
    ],
)
def test_scripts(rule: str, file: str, line: int, code: str, severity: str) -> None:
    assert (
        _severity(
            hit(
                rule,
                file=file,
                line=line,
                level="high" if rule.startswith("zizmor") else "error",
                message="`base_url` is not defined.",
            ),
            code,
        )
        == severity
    )


def test_objects_of_what_runs_a_script() -> None:
    missing = hit("oxlint:no-undef", file="package.js", line=1, message="`Package` is not defined.")
    assert _severity(missing, "Package.describe({name: 'a'})\n") == "medium"
    assert _severity(missing, "import a from 'a'\nPackage.describe({name: 'a'})\n") == "high"


@pytest.mark.parametrize(("names", "doubtful"), [(7, False), (8, True)])
def test_many_unknown_names_come_from_elsewhere(names: int, doubtful: bool) -> None:
    code = ["import a from 'a';", *(f"b{number}();" for number in range(names))]
    hits = [
        hit("oxlint:no-undef", file="a.js", line=number + 2, message=f"'b{number}' is not defined.")
        for number in range(names)
    ]
    assert {one.doubtful for one in with_doubts(hits, lambda _: code)} == {doubtful}


def test_one_unknown_name_in_many_places_is_a_missing_import() -> None:
    code = ["import a from 'a';", *["b();"] * 20]
    hits = [hit("oxlint:no-undef", file="a.js", line=line, message="'b' is not defined.") for line in range(2, 22)]
    assert not any(one.doubtful for one in with_doubts(hits, lambda _: code))


@pytest.mark.parametrize(("code", "doubtful"), [("_.map(a)\n", True), ("import a from 'a'\n_.map(a)\n", False)])
def test_scripts_of_pages_use_libraries_by_their_names(code: str, doubtful: bool) -> None:
    one = hit("oxlint:no-undef", file="a.js", line=code.count("\n"), message="'_' is not defined.")
    assert [each.doubtful for each in with_doubts([one], lambda _: code.splitlines())] == [doubtful]


@pytest.mark.parametrize("rule", ["ruff:S301", "ruff:S307", "ruff:S602", "ruff:S608", "ruff:B006", "ruff:F821"])
def test_nothing_is_doubted_in_code_that_cannot_be_parsed(rule: str) -> None:
    deep = "x = " + "not " * 500 + "y\n"
    one = hit(rule, file="a.py", line=2, message="`name`")
    assert not with_doubts([one], lambda _: f"{deep}pickle.loads(eval(a))\n".splitlines())[0].doubtful


@pytest.mark.parametrize(("files", "doubtful"), [(7, False), (8, True)])
def test_a_name_that_many_files_use_and_none_defines_is_given_to_them(files: int, doubtful: bool) -> None:
    hits = [hit("ruff:F821", file=f"{n}.py", line=1, message="Undefined name `logger`") for n in range(files)]
    assert {one.doubtful for one in with_doubts(hits, lambda _: ["logger.debug(1)"])} == {doubtful}
