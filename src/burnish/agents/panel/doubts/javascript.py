"""Doubts about what is said of JavaScript, TypeScript, Go and Rust, and of imports that no manifest declares."""

import re
from functools import lru_cache
from itertools import takewhile

from burnish.agents.panel.doubts.python import NAME
from burnish.agents.panel.doubts.source import SourceCode, above, is_for_developers
from burnish.agents.panel.interface import Hit
from burnish.agents.panel.places import in_folder_of_templates
from burnish.agents.panel.selectors import plain

_MODULE = re.compile(r"^\s*(?:import|export)\b|\brequire\s*\(|\bmodule\.exports\b", re.MULTILINE)
_PAGE = re.compile(r"\b(?:document|window|location|importScripts|jQuery)\b|\$\(")
_GIVEN_TO_SCRIPTS = re.compile(r"\b(?:argv|env|req|request|query|input|params)\b")
_FIXED_CODE = re.compile(
    r"""(['"`])javascript:\s*(?:void\(?0\)?|0|false|true|;|""|\'\')?;?\1(?!\s*\+)"""
    r"""|['"]javascript:throw new Error\('[^'"]*'\)['"]""",
    re.IGNORECASE,
)
_OR_TRUE = re.compile(r"!\s*(?P<name>[\w.$]+)\s*\|\|\s*(?P=name)\b")
_NAMED_TWICE = re.compile(r"""\[["'](?P<name>\w+)["']\]\s*(?:\|\||&&|\?\?)\s*[\w.]+\.(?P=name)\b""")
_WITH_EMPTY_CLASS = re.compile(r"/[^/\s]*\[\][^/]*/")
_RUNS_TEXT = re.compile(r"\b(?:setTimeout|setInterval|eval)\)?\(")
_RUNS_FIXED_TEXT = re.compile(r"\b(?:setTimeout|setInterval|eval)\)?\(\s*(?:\"[^\"\\]*\"|'[^'\\]*')\s*[,)]")
_PUT_IN = re.compile(r"\$\{([^}]*)\}")
_NAME_OF_TABLE = re.compile(
    r"""^[^'"`]*['"`][^'"`]*\b(?:from|into|update|table|exists)\s+(?:\$\{\w+\}|['"]\s*\+\s*[\w.]+)[^'"`+$]*(?:['"`][^+$]*)?$""",
    re.IGNORECASE,
)
"""A name of a table, which cannot be given as a parameter, is all that is put into the query."""
_PUT_INTO_GO = re.compile(r"""%(?:\[\d+\])?[svq]|["`]\s*\+\s*[\w.]""")
_BEFORE_A_TABLE = re.compile(
    r"""\b(?:from|into|update|join|table|view|sequence)\s+(?:\\?["`\[]|%s\.)*$|\b(?:set|next|curr)val\(\s*'?$""",
    re.IGNORECASE,
)
_COLUMN_OF_A_TABLE = re.compile(r"\.(?:[a-z_]+\b|%s)")
_PART_OF_A_QUERY = re.compile(r"\s*(?:sql\w*|\w+(?:Sql|SQL)|placeholders|\w*[cC]lauses?|\w*[wW]here)(?:\(\))?\s*")
_OF_THE_PROGRAM = re.compile(r"\s*(?:this(?:\.\w+)+|[A-Z][A-Z0-9_]+)\s*")
_OF_OLD_BROWSERS = frozenset({"ActiveXObject", "attachEvent", "detachEvent"})
_LIBRARIES = frozenset(
    {
        "_", "angular", "d3", "firebase", "ga", "gettext", "google", "gtag", "interpolate", "io", "jasmine", "moment",
        "ngettext", "pgettext", "requirejs",
    }
)  # fmt: skip
"""What pages load by a script of its own, and other scripts then use by these names."""
_TRIES = re.compile(r"async\b(?:\s+function\b)?[^{;]*\{\s*(?://[^\n]*\s*)*try\b")
_LONG_FUNCTION = 200
_PROTOCOL = re.compile(
    r"csp|content-security|auth|sign(?!al)|crypt|openid|oidc|csrf|token|login|session|secret|password|script-src",
    re.IGNORECASE,
)
_ARGUMENT_OF_RUST = re.compile(r"""\.arg\("-\w*c"\)\s*\.arg\(&?(?P<name>[a-z_]\w*)\)""")
_ON_PURPOSE = re.compile(r"//.*\b(?:panic|ignore|swallow|recover)", re.IGNORECASE)
_ABOVE = 4
_IS_TEST = re.compile(r"\s*(?:it|test)\s*\(")
_CONSTANT = re.compile(r"[A-Z][A-Z0-9_]+")
_JOINED = re.compile(r"""['"`]\s*\+\s*([\w$.]+)""")
_QUOTES_NAMES = re.compile(r"\b(?:quote|escape)\w*(?:id|identifier|name)?\w*\(", re.IGNORECASE)
_ONLY_PLACES = re.compile(r"""=>\s*['"`][\s?()A-Z,]*\?[\s?()A-Z,]*['"`]""")
_FILLED_IN = re.compile(r"^[^'\"`\n]*<%=", re.MULTILINE)
_OF_EMBER = re.compile(r"(?:^|/)app/(?:[\w-]+/)*[\w-]+\.[jt]s$")
_OF_A_MODULE = re.compile(r"\b(?:childProcess|cp)\.exec(?:Sync)?\(")
_METHOD_BY_NAME = re.compile(r"\bmethod\s*(?:[,}]|:\s*[^\s'\"`]|$)")
_NEARBY = 12
_WRITTEN_BY_USERS = re.compile(
    r"\b\w*(?:name|title|comment|message|text|user|query|search|input|value|data|html|body|content|label|description|response"
    r"|result|item|note|post|row|bio|email|url|error|msg|param)\w*",
    re.IGNORECASE,
)
_NO_VALUE = re.compile(
    r"""^.*?(?:innerHTML|outerHTML)\s*\+?=|^.*?insertAdjacentHTML\(|'[^'\n]*'|"[^"\n]*\"""", re.MULTILINE
)
_TEMPLATE = re.compile(r"`((?:[^`\\]|\\.)*)`?", re.DOTALL)
_MADE_SAFE = re.compile(
    r"\b\w*(?:escape|sanitize|purify|encode)\w*\([^()]*\)|\b\w+(?:Html|HTML|Markup)\b", re.IGNORECASE
)
_OWN_TEXT = re.compile(r"""\s*(?:[^?;]*\?)?\s*(?:'[^'\n]*'|"[^"\n]*")(?:\s*:\s*(?:'[^'\n]*'|"[^"\n]*"))?\s*""")
_TRANSLATES = r"\b(?:gettext|ngettext|i18n|translate|__|\$t)\b"
_DECLARATIONS = (".d.ts", ".d.mts", ".d.cts")
_LATE = re.compile(r"^\s+.*\brequire\(")
_OF_PAGES = frozenset({"static", "public", "assets", "website", "www", "htdocs", "_static"})
_OUTPUT = re.compile(
    r"['\"][./\w-]*/(?:(?:dist|build|out|lib|esm|cjs|umd|generated|__generated__)(?:-\w+)?/[^'\"]*|build(?:\.[\w.]+)?)['\"]"
)
_BUNDLED = re.compile(r"""\.(?:min|esm|umd|iife|global|bundle)\.[cm]?js['"]""")
"""How bundlers call what they write."""
_OF_TYPES = re.compile(r"\s*(?:import|export)\s+type\b")
_LARGE = 50_000
"""As many characters as no person reads in a file of this kind."""
_LARGE_IF_PACKED = 5_000
_BUNDLE = re.compile(
    r"\b__(?:commonJS|toESM|nccwpck_require__|webpack_modules__)\b|\[function\s*\(require,\s*module,\s*exports\)|\b__webpack_require__\b"
)
_RELEASE_OF_YARN = re.compile(r"(?:^|/)\.?yarn/releases/yarn-[\d.]+\.c?js$")
_LONG_LINE = 1_000
_LONG_LINES = 120
"""The mean of a file that no person wrote."""
_RUNS_CODE = ("no-eval", "no-implied-eval", "no-script-url")


def is_made_by_a_build(hit: Hit, source: SourceCode) -> bool:
    """A bundle has the modules that it imports in itself; and what a build writes is not in the repository.

    What is imported late is there by then, or is looked for from another folder; and so is what a template imports.
    Declarations of types stand for what is built, and an import of types is never run.
    """
    if _OF_EMBER.search(hit.file) and "config/environment" in source.line(hit.line):
        return True  # which ember makes of the file of this name beside the folder
    is_of_template = (
        in_folder_of_templates(hit.file) or ".template." in hit.file or _FILLED_IN.search(source.text) is not None
    )
    if is_of_template or hit.file.endswith(_DECLARATIONS):
        return True
    line = source.line(hit.line)
    late = source.function(hit.line) is not None or _LATE.search(line) is not None
    found = _BUNDLE.search(source.text) or _OUTPUT.search(line) or _BUNDLED.search(line) or _OF_TYPES.match(line)
    return late or found is not None


def is_built(hit: Hit, source: SourceCode) -> bool:
    """A bundler wrote the line, or the whole file. What that runs as code counts all the same, but in a packed line.

    The folder of a file, or a version in its head, says nothing: a change could put its own code there. Only yarn has a
    place for a release of itself, which evaluates code in several ways.
    """
    if _RELEASE_OF_YARN.search(hit.file):
        return True
    is_packed = len("".join(source.line(hit.line).split())) > _LONG_LINE
    if plain(hit.rule) in _RUNS_CODE:
        return is_packed and len(source.text) > _LARGE_IF_PACKED
    is_dense = len(source.text) > _LONG_LINES * len(source.lines)
    return is_packed or is_dense or (len(source.text) > _LARGE and _is_bundle(source.text))


@lru_cache(maxsize=16)
def _is_bundle(text: str) -> bool:
    """Asked once for a file, which may have thousands of hits."""
    return _BUNDLE.search(text) is not None


def is_script_of_a_page(hit: Hit, source: SourceCode) -> bool:
    """A comment says who defines a name, or the file asks whether it is there. Without modules, other scripts do."""
    found = NAME.search(hit.message.replace("'", "`"))
    name = found["name"] if found else ""
    asked = (
        rf"/\*\s*globals?\b[^*]*\b{name}\b|\btypeof\s+\(?{name}\b|\b(?:window|self|global|globalThis|root)\.{name}\b"
    )
    if name and (re.search(asked, source.text) or name in _OF_OLD_BROWSERS):
        return True
    if name in _LIBRARIES and _MODULE.search(source.text) is None:
        return True
    if "importScripts(" in source.text:
        return True  # a worker has all names of what it loads so
    if not _OF_PAGES.isdisjoint(hit.file.split("/")[:-1]) and re.search(r"\brequire\(|\bmodule\b", source.text) is None:
        return True  # its page loads other scripts
    # `Package.describe(…)`: what runs a script has objects of its own.
    return _MODULE.search(source.text) is None and (name[:1].isupper() or _PAGE.search(source.text) is not None)


def is_no_component(hit: Hit, source: SourceCode) -> bool:
    """Classes of other frameworks have a `state` of their own, which they set."""
    del hit
    return re.search(r"\b(?:react|preact|inferno|createClass|setState)\b", source.text, re.IGNORECASE) is None


def is_fixed_code(hit: Hit, source: SourceCode) -> bool:
    """`javascript:void(0)` runs the same code whatever happens, and so do the messages of a bundled React."""
    others, fixed = _FIXED_CODE.subn("", source.line(hit.line))
    return fixed > 0 and "javascript:" not in others.lower()


def is_fixed_text(hit: Hit, source: SourceCode) -> bool:
    """`setTimeout("poll()", 100)` and `eval("1")` run the same code whatever happens, too."""
    line = source.line(hit.line)
    return len(_RUNS_FIXED_TEXT.findall(line)) == len(_RUNS_TEXT.findall(line)) > 0


def matches_nothing(hit: Hit, source: SourceCode) -> bool:
    """`/[]/` alone is how to write a pattern that nothing matches."""
    patterns = _WITH_EMPTY_CLASS.findall(source.line(hit.line))
    return bool(patterns) and all(one in ("/[]/", "/^[]/") for one in patterns)


def is_named_twice(hit: Hit, source: SourceCode) -> bool:
    """`options["read"] || options.read`: a compiler gives the second one another name. `!a || a` is `a`, or true."""
    line = source.line(hit.line)
    return _NAMED_TWICE.search(line) is not None or _OR_TRUE.search(line) is not None


def asks_for_a_feature(hit: Hit, source: SourceCode) -> bool:
    """`typeof /./` differs between engines, whatever the standard says; `0`, on a line of its own, begins a list.

    `(kept = new Map()) && kept.get(key)` stands for two statements.
    """
    line = source.line(hit.line)
    return (
        "typeof /" in line
        or "== null ? void 0 :" in line  # a compiler wrote it for `?.`
        or re.match(r"\s*0 && \(module\.exports = \{", line) is not None  # which esbuild writes, for node to read
        or re.search(r"[(&|]\s*\(?\s*\w+\s*=\s*new\b", line) is not None
        or re.search(r"=\s*(?:0|false)\s*$", line) is not None
    )


def is_no_test(hit: Hit, source: SourceCode) -> bool:
    """A function that is called like `only` hands it on, an example shows it, and a test tries it out."""
    line = hit.line or 1
    nearby = source.lines[max(0, line - 3) : line]
    if "examples" in hit.file.split("/") or any(re.search(r"\.only\s*=[^=]", one) for one in nearby):
        return True
    return any(_IS_TEST.match(one) for one in above(source.lines, line))


def is_for_debugging(hit: Hit, source: SourceCode) -> bool:
    """The program stops where its user asks for that."""
    line = hit.line or 1
    return "debug" in hit.file.rpartition("/")[2].lower() or any(
        re.search(r"\bif\s*\(.*debug", one, re.IGNORECASE) for one in source.lines[max(0, line - 3) : line]
    )


def handles_its_errors(hit: Hit, source: SourceCode) -> bool:
    """All that the function does stands in a `try`, so that no error is lost."""
    line = hit.line or 1
    after = source.lines[line - 1 : line + _LONG_FUNCTION]
    begins = _TRIES.match("\n".join(after)[max(0, source.line(line).find("async")) :])
    if begins is None:
        return False
    inside = after[begins[0].count("\n") :]
    indented = len(inside[0]) - len(inside[0].lstrip())
    rest = (one for one in inside[1:] if one.strip())
    own = takewhile(lambda one: len(one) - len(one.lstrip()) >= indented, rest)
    return all(one.lstrip().startswith("}") for one in own if len(one) - len(one.lstrip()) == indented)


def is_of_no_protocol(hit: Hit, source: SourceCode) -> bool:
    """A number that is used once marks a message, or makes a page draw again, where nothing is signed or logged in."""
    is_nonce = re.search(r"\bnonce\b", source.line(hit.line), re.IGNORECASE) is not None
    return is_nonce and _PROTOCOL.search(source.text) is None


def is_script_of_developers(hit: Hit, source: SourceCode) -> bool:
    """A script that builds or publishes the project runs commands with values of its own.

    A method `exec` of something else than node's own module may need no shell.
    """
    if _OF_A_MODULE.search(source.line(hit.line)) and "child_process" not in source.text:
        return True
    if _holds_constants(source.line(hit.line)):
        return True
    if not is_for_developers(hit.file):
        return False
    line = hit.line or 1
    text = "\n".join(source.lines[line - 1 : max(line, hit.end_line or line)])
    # Without a value in sight, a name of the whole line says what it may be.
    values = [*_PUT_IN.findall(text), *_JOINED.findall(text)] or [text]
    return not any(map(_GIVEN_TO_SCRIPTS.search, values))


def _holds_constants(line: str) -> bool:
    """Whether nothing but constants is put into a text, which are called in capitals."""
    values = [*_PUT_IN.findall(line), *_JOINED.findall(line)]
    return bool(values) and all(_CONSTANT.fullmatch(one.strip()) for one in values)


def is_query_of_the_program(hit: Hit, source: SourceCode) -> bool:
    """Only names that an object of the program holds, or constants, are put into the query."""
    line = hit.line or 1
    text = "\n".join(source.lines[line - 1 : max(line, hit.end_line or line)])
    # The first template is the query; those after it are among its values.
    put_in = _PUT_IN.findall(found[0] if (found := _TEMPLATE.search(text)) else text)
    joined = [one for one in _JOINED.findall(text) if one not in put_in]
    if (put_in or joined) and all(_is_quoted_before(one, source) for one in (*put_in, *joined)):
        return True
    if _NAME_OF_TABLE.search(source.line(line)) or (put_in and all(map(_PART_OF_A_QUERY.fullmatch, put_in))):
        return True
    return bool(put_in) and "+" not in text and all(_OF_THE_PROGRAM.fullmatch(one) for one in put_in)


def _is_quoted_before(name: str, source: SourceCode) -> bool:
    """Whether all that the file gives to a name is quoted, or holds places for values: `list.map(() => "?")`."""
    given = re.findall(rf"\b(?:const|let|var)\s+{re.escape(name.strip())}\s*=([^;]*?)(?:;|\n\s*\n|$)", source.text)
    return bool(given) and all(_QUOTES_NAMES.search(one) or _ONLY_PLACES.search(one) for one in given)


def names_tables(hit: Hit, source: SourceCode) -> bool:
    """Only names of tables are put into the query, which cannot be given as parameters."""
    line = hit.line or 1
    text = "\n".join(source.lines[line - 1 : max(line, hit.end_line or line)])
    places = [found.span() for found in _PUT_INTO_GO.finditer(text)]
    return bool(places) and all(
        _BEFORE_A_TABLE.search(text[:start]) or _COLUMN_OF_A_TABLE.match(text, end) for start, end in places
    )


def is_recovered_on_purpose(hit: Hit, source: SourceCode) -> bool:
    """A comment at the call, or just above, says why a panic of other code is no matter."""
    line = hit.line or 1
    return any(_ON_PURPOSE.search(one) for one in source.lines[max(0, line - _ABOVE) : line + 1])


def runs_a_whole_command(hit: Hit, source: SourceCode) -> bool:
    """A program runs a command line that it is given whole, by those who mean to run it."""
    line = hit.line or 1
    text = "\n".join(source.lines[line - 1 : max(line, hit.end_line or line)])
    named = _ARGUMENT_OF_RUST.search(text)
    if named is None:
        return False
    name = re.escape(named["name"])
    return re.search(rf"\b{name}\b[^=\n]*=\s*format!|\b{name}\.push|\b{name}\s*\+=", source.text) is None


def has_another_method(hit: Hit, source: SourceCode) -> bool:
    """The method of a request is a variable, which oxlint takes for `GET`."""
    line = hit.line or 1
    return any(_METHOD_BY_NAME.search(one) for one in source.lines[max(0, line - _NEARBY) : line + _NEARBY])


def shows_its_own_text(hit: Hit, source: SourceCode) -> bool:
    """Nothing that is put into the page is called like what users write, or it is a translation."""
    line = hit.line or 1
    written = "\n".join(source.lines[line - 1 : max(line, hit.end_line or line)])
    values = _TEMPLATE.sub(lambda text: " ".join(_PUT_IN.findall(text[1])), written)
    names = {*_WRITTEN_BY_USERS.findall(_MADE_SAFE.sub(" ", _NO_VALUE.sub(" ", values)))}
    return all(name.isupper() or _is_own_text(name, source) for name in names) or is_built(hit, source)


def _is_own_text(name: str, source: SourceCode) -> bool:
    """Whether a name is given nothing but translations and texts of the file: `a ? "b" : "c"`."""
    if re.search(rf"\b{name}\b\s*=[^=].*{_TRANSLATES}", source.text):
        return True
    given = re.findall(rf"(?<![.\w]){name}\s*=(?![=>])([^;]*);", source.text)
    return bool(given) and all(_OWN_TEXT.fullmatch(one) for one in given)
