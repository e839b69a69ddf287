"""Reads what test runners print or write, one function each: go, cargo, TAP of node, unittest.

Each gives the cases that it understands. Whether the tests as a whole have failed is for the exit code to say: a runner
that failed without naming a test is never read as one that passed.
"""

import posixpath
import re
from collections import defaultdict
from collections.abc import Iterator

import msgspec

from burnish.agents.panel.project_tests.reports import clean_name, worst_of_each
from burnish.agents.panel.project_tests.values import Case, CaseOutcome
from burnish.core.text import clean_text
from burnish.core.values import Value, replace

MOST_TEXT = 6_000
MOST_BLOCK_LINES = 400


def _case(name: str, outcome: CaseOutcome, text: str = "", file: str = "", line: int | None = None) -> Case:
    return Case(name=clean_name(name), outcome=outcome, text=shortened(clean_text(text)), file=file, line=line)


def shortened(text: str, most: int = MOST_TEXT) -> str:
    """A text without its middle, where it is too long: runners begin or end with the assertion."""
    return text if len(text) <= most else f"{text[: most // 2]}\n…\n{text[-most // 2 :]}"


class GoEvent(Value, forbid_unknown_fields=False, rename="pascal"):
    action: str
    package: str = ""
    test: str = ""
    output: str = ""


_MODULE = re.compile(r'^module\s+"?([^\s"]+)', re.MULTILINE)
_GO_OUTCOMES = {"pass": CaseOutcome.PASSED, "fail": CaseOutcome.FAILED, "skip": CaseOutcome.SKIPPED}


def go_cases(text: str, go_mod: str = "", project: str = "") -> tuple[Case, ...]:
    """From `go test -json`. A package that does not build has no tests, and fails itself."""
    found = _MODULE.search(go_mod)
    module = found[1] if found else ""
    said: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    cases: list[Case] = []
    failed_within: set[str] = set()
    for event in _go_events(text):
        key = (event.package, event.test)
        said[key].append(event.output)
        outcome = _GO_OUTCOMES.get(event.action)
        if outcome is None or (
            not event.test and (outcome is not CaseOutcome.FAILED or event.package in failed_within)
        ):
            continue
        if outcome is CaseOutcome.FAILED:
            failed_within.add(event.package)
        name = f"{event.package}.{event.test}" if event.test else event.package
        case = _case(name, outcome, "".join(said.pop(key)) if outcome is CaseOutcome.FAILED else "")
        inside = event.package == module or event.package.startswith(f"{module}/")
        folder = posixpath.join(project, event.package.removeprefix(module).lstrip("/")) if module and inside else ""
        cases.append(replace(case, folder=folder, loading=not event.test))
    return worst_of_each(cases)


def go_packages(text: str) -> frozenset[str]:
    """The packages whose tests have ended."""
    return frozenset(event.package for event in _go_events(text) if not event.test and event.action in _GO_OUTCOMES)


def _go_events(text: str) -> Iterator[GoEvent]:
    """What a build prints stands between the lines of JSON."""
    decoder = msgspec.json.Decoder(GoEvent)
    for line in text.splitlines():
        if line.startswith("{"):
            try:
                yield decoder.decode(line)
            except msgspec.DecodeError:
                continue


_CARGO_TEST = re.compile(r"^test (?P<name>.+?) \.\.\. (?P<outcome>ok|FAILED|ignored)(?:,.*|<.*)?$", re.MULTILINE)
_CARGO_OUTCOMES = {"ok": CaseOutcome.PASSED, "FAILED": CaseOutcome.FAILED, "ignored": CaseOutcome.SKIPPED}
_CARGO_OUTPUT = re.compile(
    r"^---- (?P<name>.+?) stdout ----\n(?P<text>.*?)(?=^---- |^failures:$)", re.MULTILINE | re.DOTALL
)


def cargo_cases(text: str) -> tuple[Case, ...]:
    """From what `cargo test` prints: each test on a line, what failing ones said further down."""
    said = {match["name"]: match["text"].strip() for match in _CARGO_OUTPUT.finditer(text)}
    return worst_of_each(
        _case(match["name"], _CARGO_OUTCOMES[match["outcome"]], said.get(match["name"], ""))
        for match in _CARGO_TEST.finditer(text)
    )


_TAP_POINT = re.compile(
    r"^(?P<indent> *)(?P<not>not )?ok \d+(?: - (?P<name>.*?))?(?P<directive> # (?:SKIP|TODO)\b.*)?$"
)
_TAP_LOCATION = re.compile(r"^\s*location: '(?P<file>.+):(?P<line>\d+):\d+'$", re.MULTILINE)
_TAP_PARENT = re.compile(r"^\s*failureType: 'subtestsFailed'$", re.MULTILINE)


def tap_cases(text: str) -> tuple[Case, ...]:
    """From the TAP that `node --test` writes. Points of a group come before the group, and further to the right."""
    waiting: defaultdict[int, list[tuple[str, CaseOutcome, str]]] = defaultdict(list)
    for depth, name, outcome, block in _tap_points(text):
        inner = waiting.pop(depth + 1, [])
        waiting[depth] += [(f"{name} > {below}", result, said) for below, result, said in inner]
        if not inner or (outcome is CaseOutcome.FAILED and not _TAP_PARENT.search(block)):
            waiting[depth].append((name, outcome, block))
    return worst_of_each(_tap_case(*point) for point in waiting.get(0, []))


def _tap_case(name: str, outcome: CaseOutcome, block: str) -> Case:
    place = _TAP_LOCATION.search(block)
    text = block if outcome is CaseOutcome.FAILED else ""
    return _case(name, outcome, text, place["file"] if place else "", int(place["line"]) if place else None)


def _tap_points(text: str) -> Iterator[tuple[int, str, CaseOutcome, str]]:
    """Each result: how deep it stands, its name, and the block that explains it."""
    lines = text.splitlines()
    for number, line in enumerate(lines):
        point = _TAP_POINT.match(line)
        if point is None:
            continue
        indent = len(point["indent"])
        block: list[str] = []
        if number + 1 < len(lines) and lines[number + 1].strip() == "---":
            for following in lines[number + 2 : number + 2 + MOST_BLOCK_LINES]:
                if following.strip() == "..." and len(following) - len(following.lstrip()) == indent + 2:
                    break
                block.append(following[indent + 2 :])
        outcome = CaseOutcome.FAILED if point["not"] else CaseOutcome.PASSED
        yield indent // 4, point["name"] or "", CaseOutcome.SKIPPED if point["directive"] else outcome, "\n".join(block)


_UNITTEST_FAILURE = re.compile(
    r"^=+\n(?:FAIL|ERROR): (?P<name>.+)\n(?:.*\n)??-+\n(?P<text>.*?)(?=^=+\n(?:FAIL|ERROR): |^-+\nRan )",
    re.MULTILINE | re.DOTALL,
)


def unittest_cases(text: str) -> tuple[Case, ...]:
    """The failures in what unittest prints; what passed is not listed there."""
    return worst_of_each(
        _case(match["name"], CaseOutcome.FAILED, match["text"]) for match in _UNITTEST_FAILURE.finditer(text)
    )
