"""Doubts about what is said of workflows, and about secrets."""

import ast
import re
import zlib
from collections.abc import Sequence
from itertools import pairwise, takewhile
from pathlib import PurePosixPath

from burnish.agents.panel.doubts.source import SourceCode, above
from burnish.agents.panel.interface import Hit

_EXPRESSION = re.compile(r"\$\{\{(.*?)\}\}", re.DOTALL)
_OF_STRANGERS = re.compile(
    r"github\.head_ref\b"
    r"|github\.event\.(?!inputs\.|client_payload\.)[\w.*-]*"
    r"\b(?:title|body|message|description|homepage|email|page_name|display_title|head_branch|text)\b"
    r"|github\.event\.[\w.*-]*\bhead\.(?:ref|label|repo\.default_branch)\b"
    r"|github\.event\.[\w.*-]*\b(?:author|committer)\.name\b"
    r"|steps\.[\w-]+\.outputs\.\w*(?:title|body|message|head_ref|head-ref|branch|comment)\b"
    r"|tojson\(\s*github(?:\.event(?:\.(?!inputs\b)\w+)?)?\s*\)",
    re.IGNORECASE,
)
"""What everyone can write who opens an issue or a pull request. All else, maintainers or GitHub itself give."""
_INDEX = re.compile(r"""\[\s*(?:'([\w-]+)'|"([\w-]+)"|\d+|\*)\s*\]""")
_LONG_EXPRESSION = 8
_THIS_MACHINE = ("127.0.0.1", "0.0.0.0")  # noqa: S104 - looked for, not listened on
_HOST = re.compile(r"://[^\s/:@]*:[^\s/@]+@(?P<host>[\w.-]+|\[::1\])")
_STARTS_SERVERS = re.compile(r"^\s*services:|\bdocker run\b", re.MULTILINE)
_FOR_REQUESTS = re.compile(r"^(?:on|'on'|\"on\"|\s+-?)\s*:?.*\bpull_request\b(?!_)", re.MULTILINE)
_PUBLISHES = re.compile(
    r"deploy|publish|release|upload|\bprod|\bpush\s+(?!:)\S|\blogin\b|\bssh\b|\bscp\b", re.IGNORECASE
)
_CI_FOLDERS = frozenset({".github", ".circleci", ".builds", ".buildkite", ".woodpecker"})
_CI_FILES = (".gitlab-ci", ".travis", "appveyor", ".appveyor", "azure-pipelines", ".cirrus", "Jenkinsfile")
_CURL_VALUE = re.compile(
    r"""(?:-u|--user)(?:\s+|=)["']?(?P<user>[^\s"']+)|Authorization:\s*\w+\s+(?P<token>[^\s"'\\]+)""", re.IGNORECASE
)
_FILLED_IN = re.compile(
    r"\$|\{\{|<[^>]*>|%s|^(?:your)?user(?:name)?:(?:your)?(?:pass(?:word)?|(?:access-)?token|secret)$", re.IGNORECASE
)
_VERIFIES = re.compile(r"\b(?:VerifyPeerCertificate|VerifyConnection|PeerCertSANs)\s*[:=]")
_SEARCHES = re.compile(r"\bdocsearch\b|\balgoliasearch\b", re.IGNORECASE)
_BESIDE_FIREBASE = ("authDomain", "projectId", "storageBucket", "messagingSenderId", "appId")
_TELLING = 2
_LONG_TEXT = re.compile(r"[A-Za-z0-9+/=]{1000,}")
"""Longer than any token."""
_BEGINNING = re.compile(r"bedrock-api-key-\w{28}")
_MORE = re.compile(rf"{_BEGINNING.pattern}[\w+/=%-]")
_ANY_WORDS = re.compile(r"://(?:foo|bar|baz)\w?:(?:foo|bar|baz)\w?@|,(?:foo|bar|baz):(?:foo|bar|baz)@")
_BESIDE = 5
_HOST_HERE = re.compile(
    r"""\b(?:host(?:name)?|server)["']?\s*[:=]\s*["']?(?:localhost|127\.0\.0\.1)\b""", re.IGNORECASE
)
_LOCAL = re.compile(r"\b(?:localhost|127\.0\.0\.1|example\.(?:com|org))\b")
_DOCUMENTS = (".md", ".markdown", ".rst", ".adoc", ".txt")
_LEFT_OUT = re.compile(r"KEY-----\[|^\s*\.\.\.\s*$")
_NEXT = 6
_BODY_OF_A_KEY = re.compile(r"[A-Za-z0-9+/]{24,}")
_SAYS_EXAMPLE = re.compile(r"""\s*(?:-\s+)?["']?(?:examples?|description)["']?\s*:""")
_OF_AN_API = re.compile(r"""^\s*["']?(?:openapi|swagger)["']?\s*:""", re.MULTILINE)
_DATA = (".yaml", ".yml", ".json", ".j2")
_LINES_OF_A_KEY = 60
_PART_OF_A_KEY = re.compile(r"[A-Za-z0-9+/=]{16,}")
_LONG_WORD = re.compile(r"[\w.+/=-]{16,}")
_LONG_PART = re.compile(r"[\w+-]{12,}")
_TYPED = re.compile(
    r"abc123|123abc|abcdef|123456|987654|qwerty|([a-z0-9])\1{5}"
    r"|test|fake|dummy|example|sample|hello|invalid|placeholder|not_?real",
    re.IGNORECASE,
)


def is_of_maintainers(hit: Hit, source: SourceCode) -> bool:
    """Only who may push to the repository names its branches and tags, and starts a workflow by hand or by a call."""
    line = hit.line or 1
    found = _EXPRESSION.findall(source.line(line))
    if not found:  # it has several lines
        around = "\n".join(source.lines[max(0, line - _LONG_EXPRESSION) : line + _LONG_EXPRESSION])
        found = _EXPRESSION.findall(around)
    # `github.event['issue'].title` is `github.event.issue.title`.
    plain = (_INDEX.sub(lambda index: f".{index[1] or index[2] or '*'}", one) for one in found)
    return bool(found) and not any(map(_OF_STRANGERS.search, plain))


def is_example_address(hit: Hit, source: SourceCode) -> bool:
    """An example that is tested, or what comes of it; or a server that only the containers beside it can reach.

    Tests of Rust stand in the file of the program, in a module of their own.
    """
    line = hit.line or 1
    if hit.file.endswith(".rs") and _is_in_tests_of_rust(source.lines[:line]):
        return True
    if any(one.lstrip().startswith(">>>") for one in source.lines[max(0, line - 2) : line]):
        return True
    if _ANY_WORDS.search(source.line(hit.line)):
        return True
    hosts = [found["host"] for found in _HOST.finditer(source.line(hit.line))]
    return bool(hosts) and all("." not in one or one in _THIS_MACHINE for one in hosts)


def _is_in_tests_of_rust(lines: Sequence[str]) -> bool:
    """Whether the last line stands in a module that only tests are built with."""
    ends = max((place for place, one in enumerate(lines) if one.startswith("}")), default=-1)
    return any(
        first.startswith("#[cfg(test)]") and then.startswith("mod ") for first, then in pairwise(lines[ends + 1 :])
    )


def is_example_call(hit: Hit, source: SourceCode) -> bool:
    """`curl` with a variable or a word instead of a secret, or, in a document, of a server on the reader's machine."""
    line = hit.line or 1
    values = [found["user"] or found["token"] for found in _CURL_VALUE.finditer(source.line(line))]
    if values and all(map(_FILLED_IN.search, values)):
        return True
    nearby = "\n".join(source.lines[max(0, line - _BESIDE) : line])
    is_document = hit.file.endswith(_DOCUMENTS) or is_in_a_docstring(hit, source)
    return is_document and _LOCAL.search(nearby) is not None


def is_in_a_comment(hit: Hit, source: SourceCode) -> bool:
    """The name of a key in a comment shows what an answer looks like. What is secret is the key itself."""
    return source.line(hit.line).lstrip().startswith(("//", "#", "*", "--"))


def is_in_an_archive(hit: Hit, source: SourceCode) -> bool:
    """A chart that is packed has templates of secrets, which it fills in later."""
    del source
    return hit.line is None


def is_of_a_server_for_tests(hit: Hit, source: SourceCode) -> bool:
    """A workflow, or a file below `dev`, starts a server for itself, with a password that nothing else has.

    A workflow that runs for everyone who opens a pull request, and publishes nothing, only builds and tests.

    Nor is a password of a server on the reader's own machine one for others.
    """
    path = PurePosixPath(hit.file)
    if "dev" in path.parts[:-1] or is_of_this_machine(hit, source):
        return True
    of_ci = not _CI_FOLDERS.isdisjoint(path.parts) or path.name.startswith(_CI_FILES)
    if not of_ci:
        return False
    for_requests = _FOR_REQUESTS.search(source.text) is not None and _PUBLISHES.search(source.text) is None
    return for_requests or _STARTS_SERVERS.search(source.text) is not None


def is_of_this_machine(hit: Hit, source: SourceCode) -> bool:
    """The server that a value is for is named beside it, and is the reader's own machine."""
    line = hit.line or 1
    return any(_HOST_HERE.search(one) for one in source.lines[max(0, line - _BESIDE) : line + _BESIDE])


def is_a_pattern(hit: Hit, source: SourceCode) -> bool:
    """How all keys of Bedrock begin, without the rest of one: a scanner looks for it."""
    line = source.line(hit.line)
    return _BEGINNING.search(line) is not None and _MORE.search(line) is None


def is_shown(hit: Hit, source: SourceCode) -> bool:
    """A docstring shows how a key is passed on; or there is none, but how one begins, or its middle is left out."""
    lines = source.lines[(hit.line or 1) - 1 : (hit.line or 1) + _NEXT]
    if not lines or "PRIVATE KEY" not in lines[0]:
        return is_in_a_docstring(hit, source)
    after = (lines[0].partition("KEY")[2], *lines[1:])
    is_whole = any(map(_BODY_OF_A_KEY.search, after)) and not any(map(_LEFT_OUT.search, lines))
    return not is_whole or is_in_a_docstring(hit, source)


def is_example_of_an_api(hit: Hit, source: SourceCode) -> bool:
    """A description of an API shows what its answers look like, below a key or in a text that says so."""
    if not hit.file.endswith(_DATA) or _OF_AN_API.search(source.text) is None:
        return False
    line = hit.line or 1
    return any(map(_SAYS_EXAMPLE.match, (source.line(line), *above(source.lines, line))))


def is_profile(hit: Hit, source: SourceCode) -> bool:
    """The name of a person at LinkedIn looks like a secret of an application to the rule for them."""
    line = source.line(hit.line)
    return "linkedin.com/in/" in line and not re.search(r"secret|token|client", line, re.IGNORECASE)


def is_verified_otherwise(hit: Hit, source: SourceCode) -> bool:
    """A connection that does not check the name of the server checks its certificate by itself."""
    del hit
    return _VERIFIES.search(source.text) is not None


def is_search_of_a_page(hit: Hit, source: SourceCode) -> bool:
    """The client in a page has a key that may only search, and that every reader of the page gets."""
    del hit
    return _SEARCHES.search(source.text) is not None


def is_of_firebase(hit: Hit, source: SourceCode) -> bool:
    """A page tells everyone who opens it which project of Firebase it belongs to; its key opens nothing by itself."""
    line = hit.line or 1
    near = source.lines[max(0, line - _BESIDE) : line + _BESIDE]
    return sum(any(word in one for one in near) for word in _BESIDE_FIREBASE) >= _TELLING


def is_in_a_long_text(hit: Hit, source: SourceCode) -> bool:
    """A program or a picture that is written as text has everything in it, and so letters that look like a token."""
    others, found = _LONG_TEXT.subn("", source.line(hit.line))
    is_key = any(word in hit.rule for word in ("key-file", "private-key", "jwt", "service-account", "pkcs"))
    return found > 0 and not is_key and _LONG_WORD.search(others) is None


def looks_made_up(hit: Hit, source: SourceCode) -> bool:
    """A token with the alphabet, with digits in their order, or with a word such as `example` was typed by a person.

    So must be every long word of the line, and every long part of it: neither a comment beside a real token nor its
    name (`TEST_KEY=…`) excuses anything.
    """
    if "PRIVATE KEY" in source.line(hit.line):
        return _is_no_key(source.lines[(hit.line or 1) - 1 : (hit.line or 1) + _LINES_OF_A_KEY])
    words = _LONG_WORD.findall(source.line(hit.line))
    parts = [part for one in words for part in _LONG_PART.findall(one) or [one]]
    return bool(parts) and all(map(_TYPED.search, parts))


def _is_no_key(lines: Sequence[str]) -> bool:
    """Whether the lines of a key, below its first one, repeat themselves, or are code that puts a key together.

    One that is real looks like chance, and cannot be compressed.
    """
    inside = [*takewhile(lambda one: "-----END" not in one, lines)]
    if not any(map(_PART_OF_A_KEY.search, inside)):
        return len(inside) < len(lines)
    key = "".join(map(str.strip, takewhile(lambda one: "-----" not in one, lines[1:])))
    return 0 < len(zlib.compress(key.encode(), 9)) < len(key) / 2


def is_in_a_docstring(hit: Hit, source: SourceCode) -> bool:
    """A text that documents something shows what a call looks like."""
    texts = [
        node.value
        for node in source.around(hit.line)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    ]
    return any(isinstance(one.value, str) for one in texts)
