"""The `sarif` contract: the results of analysers in SARIF 2.1.0, read.

A run that failed, or that has no list of results, is not a review. Every document in the text is read, or none is.
"""

import re
from urllib.parse import unquote

from burnish.contracts.json_answers import Found
from burnish.contracts.json_text import (
    Json,
    JsonObject,
    action_of,
    confidence_of,
    corrections_of,
    first_text,
    lines_of,
    number_of,
    read_documents,
    refuse_too_many,
    text_of,
    title_of,
)
from burnish.contracts.paths import IsFile, confine
from burnish.contracts.sarif_record import OWN_RULE
from burnish.contracts.text import UnreadableError
from burnish.core.findings import Finding, Location, Severity
from burnish.core.reviews import Answer

_HINT = "Run the analyser by hand and read its messages."
_DEATHS = ("exitSignalName", "exitSignalNumber", "processStartFailureMessage")
_LEVELS = {"error": Severity.HIGH, "warning": Severity.MEDIUM, "note": Severity.LOW, "none": Severity.INFO}
_NOT_FINDINGS = ("pass", "notApplicable", "informational")
_PLACEHOLDER = re.compile(r"\{(\d{1,3})\}")
_MAX_BASES = 10
MAX_PLACES = 50


def _part(record: Json, *keys: str) -> Json:
    """What stands under a path of keys, or None."""
    for key in keys:
        record = record.get(key) if isinstance(record, dict) else None
    return record


def _list(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []


def _dict(value: Json) -> JsonObject:
    return value if isinstance(value, dict) else {}


def _first(value: Json) -> Json:
    return value[0] if isinstance(value, list) and value else None


class _Rules:
    """The rules of one run, looked up by index or by id."""

    def __init__(self, run: JsonObject) -> None:
        driver, extensions = _part(run, "tool", "driver"), _part(run, "tool", "extensions")
        self._driver = _list(_part(driver, "rules"))
        self._extensions = [_list(_part(one, "rules")) for one in _list(extensions)]
        self._by_id: dict[str, JsonObject] = {}
        for rule in (rule for rules in (self._driver, *self._extensions) for rule in rules):
            if isinstance(rule, dict) and isinstance(identity := rule.get("id"), str):
                self._by_id.setdefault(identity, rule)

    def of(self, result: JsonObject) -> tuple[str, JsonObject]:
        """The id of a result's rule, and the rule itself, empty where the run does not describe it."""
        reference = result.get("rule")
        identity = result.get("ruleId") or _part(reference, "id")
        name = identity if isinstance(identity, str) else ""
        rule = self._by_index(
            result.get("ruleIndex", _part(reference, "index")), _part(reference, "toolComponent", "index")
        )
        if not rule:
            # An id may name a _part of a rule, as in `CA1000/1`.
            rule = self._by_id.get(name) or self._by_id.get(name.rpartition("/")[0], {})
        return text_of(name or rule.get("id"), 200), rule

    def _by_index(self, index: Json, component: Json) -> JsonObject:
        rules = self._driver
        if isinstance(component, int):
            rules = self._extensions[component] if 0 <= component < len(self._extensions) else []
        rule = rules[index] if isinstance(index, int) and 0 <= index < len(rules) else None
        return rule if isinstance(rule, dict) else {}


class _Places:
    """Resolves the locations of one run."""

    def __init__(self, run: JsonObject, is_file: IsFile) -> None:
        self._artifacts = _list(run.get("artifacts"))
        self._bases = run.get("originalUriBaseIds")
        self._is_file = is_file

    def of(self, result: JsonObject) -> tuple[Location, ...]:
        """Every place of a result inside the repository, in order, each once."""
        entries = _list(result.get("locations"))[:MAX_PLACES]
        found = (self._location(_part(entry, "physicalLocation")) for entry in entries)
        return tuple(dict.fromkeys(location for location in found if location))

    def examined(self) -> tuple[str, ...]:
        """The files of the repository that the log lists as artifacts: what the analyser looked at."""
        paths = (self._path(_part(entry, "location")) for entry in self._artifacts)
        return tuple(dict.fromkeys(path for path in paths if path))

    def _location(self, physical: Json) -> Location | None:
        artifact = _part(physical, "artifactLocation")
        index = _part(artifact, "index")
        if _part(artifact, "uri") is None and isinstance(index, int):
            artifact = _part(self._artifacts[index], "location") if 0 <= index < len(self._artifacts) else None
        path = self._path(artifact)
        line, end_line = lines_of(_part(physical, "region", "startLine"), _part(physical, "region", "endLine"))
        return Location(file=path, line=line, end_line=end_line) if path else None

    def _path(self, artifact: Json) -> str | None:
        """A base says where the log was made; without it, the URI is relative to the repository."""
        uri = _part(artifact, "uri")
        if not isinstance(uri, str):
            return None
        prefix = self._prefix(_part(artifact, "uriBaseId"))
        whole = confine(unquote(prefix + uri), self._is_file) if prefix else None
        return whole or confine(unquote(uri), self._is_file)

    def _prefix(self, base: Json) -> str:
        prefix = ""
        for _ in range(_MAX_BASES):
            described = _part(self._bases, base) if isinstance(base, str) else None
            uri, base = _part(described, "uri"), _part(described, "uriBaseId")
            if not isinstance(uri, str):
                break
            prefix = (uri if uri.endswith("/") else f"{uri}/") + prefix
        return prefix


def parse(text: str, is_file: IsFile) -> Answer:
    """Read a SARIF log, or several in a row. Clean means that every run has a list of results, and none fails."""
    documents = read_documents(text)
    if documents.broken:
        raise UnreadableError(f"The log is not valid JSON: {documents.broken[0].reason}.", hint=_HINT)
    if documents.lists or not documents.objects:
        raise UnreadableError("The text contains no SARIF log, or something other than logs.", hint=_HINT)
    findings: list[Finding] = []
    corrections: list[str] = []
    examined: list[str] = []
    for document in documents.objects:
        for run in _runs(document):
            _refuse_failed(run)
            read = _read_run(run, is_file, corrections)
            if not read:
                _refuse_exit_codes(run)
            findings += read
            examined += _Places(run, is_file).examined()
            refuse_too_many(len(findings))
    examined += [finding.location.file for finding in findings if finding.location is not None]
    answer = Answer(
        clean=not findings,
        findings=tuple(findings),
        corrections=corrections_of(corrections),
        examined=tuple(dict.fromkeys(examined)),
    )
    return Found(answers=documents.objects, prose=documents.prose).settled(answer)


def _runs(document: JsonObject) -> list[JsonObject]:
    version = document.get("version")
    if not isinstance(version, str) or not version.startswith("2.1"):
        raise UnreadableError(f"'{text_of(version, 40)}' is not a supported SARIF version.", hint="Ask for 2.1.0.")
    for properties in _objects(document.get("inlineExternalProperties") or [], "inlineExternalProperties"):
        if {"results", "invocations"} & properties.keys():
            raise UnreadableError(
                "Results or invocations are outside their run, in inlineExternalProperties.", hint=_HINT
            )
    return _objects(document.get("runs"), "runs", at_least=1)


def _objects(value: Json, name: str, at_least: int = 0) -> list[JsonObject]:
    entries = [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []
    if not isinstance(value, list) or len(entries) < max(len(value), at_least):
        raise UnreadableError(f"'{name}' is missing, empty or malformed in the SARIF log.", hint=_HINT)
    return entries


def _refuse_failed(run: JsonObject) -> None:
    """Whatever a run lists: one that failed, or keeps what it found elsewhere, has not said everything."""
    if {"results", "invocations"} & _dict(run.get("externalPropertyFileReferences")).keys():
        raise UnreadableError("The results are in another file, which is missing.", hint=_HINT)
    for invocation in _invocations(run):
        if invocation.get("executionSuccessful", True) is not True:
            raise UnreadableError("The analyser reports that its run failed.", hint=_HINT)
        for key in _DEATHS:
            if invocation.get(key) not in (None, "", 0):
                raise UnreadableError(f"The analyser did not finish: {key} is {_quoted(invocation[key])}.", hint=_HINT)
        for key in ("toolExecutionNotifications", "toolConfigurationNotifications"):
            for notification in _objects(invocation.get(key) or [], key):
                if notification.get("level") == "error":
                    said = _quoted(notification.get("message"))
                    raise UnreadableError(f"The analyser reports an error of its own: {said}", hint=_HINT)


def _invocations(run: JsonObject) -> list[JsonObject]:
    """The runs of the analyser, and of the program that converted its output."""
    conversion = _part(run, "conversion", "invocation")
    return [
        *_objects(run.get("invocations") or [], "invocations"),
        *_objects([] if conversion is None else [conversion], "conversion.invocation"),
    ]


def _quoted(message: Json) -> str:
    return text_of(message.get("text") if isinstance(message, dict) else message, 300)


def _refuse_exit_codes(run: JsonObject) -> None:
    """Many analysers end with 1 where they found something. Where nothing counts, another code than 0 is a failure."""
    for invocation in _invocations(run):
        code = invocation.get("exitCode")
        if code is not None and number_of(code) != 0:
            raise UnreadableError(
                f"The analyser failed with exit code {text_of(code, 40)}, but its log has no result that counts.",
                hint=_HINT,
            )


def _read_run(run: JsonObject, is_file: IsFile, corrections: list[str]) -> list[Finding]:
    results = _objects(run.get("results"), "results")
    refuse_too_many(len(results))
    rules, places = _Rules(run), _Places(run, is_file)
    findings: list[Finding] = []
    suppressed = absent = 0
    for result in results:
        if _is_suppressed(result):
            suppressed += 1
        elif result.get("baselineState") == "absent":
            absent += 1
        elif finding := _read_result(result, rules, places, corrections):
            findings.append(finding)
    if suppressed:
        corrections.append(f"{suppressed} suppressed results are not counted.")
    if absent:
        corrections.append(f"{absent} results that are gone since the baseline are not counted.")
    return findings


def _is_suppressed(result: JsonObject) -> bool:
    """Suppressed, and not merely proposed to be."""
    suppressions = result.get("suppressions")
    if not isinstance(suppressions, list) or not suppressions:
        return False
    return all(isinstance(one, dict) and one.get("status", "accepted") == "accepted" for one in suppressions)


def _read_result(result: JsonObject, rules: _Rules, places: _Places, corrections: list[str]) -> Finding | None:
    """The finding that a result stands for; None where the result says that nothing is wrong."""
    name, rule = rules.of(result)
    severity = _severity_of(result, rule, corrections)
    if severity is None:
        return None
    described = text_of(_part(rule, "shortDescription", "text")) or text_of(_part(rule, "fullDescription", "text"))
    message = _message_of(result.get("message"), rule) or described or name or "A result without a message"
    properties = _dict(result.get("properties"))
    found_at = places.of(result)
    physical, fix = _part(_first(result.get("locations")), "physicalLocation"), _first(result.get("fixes"))
    if not found_at and physical is not None:
        corrections.append(f"A result of {name or 'no rule'} names no path inside the repository.")
    return Finding(
        severity=severity,
        title=title_of(text_of(properties.get("title")) or message),
        rule="" if name.startswith(OWN_RULE) else name,
        category=_category(properties, rule),
        location=found_at[0] if found_at else None,
        also_at=found_at[1:],
        problem=message,
        impact=text_of(properties.get("impact")),
        evidence=text_of(properties.get("evidence")) or text_of(_part(physical, "region", "snippet", "text")),
        suggestion=text_of(properties.get("suggestion")) or text_of(_part(fix, "description", "text")),
        confidence=confidence_of(properties.get("confidence")),
        action=action_of(properties.get("action")),
    )


def _category(properties: JsonObject, rule: JsonObject) -> str:
    own = first_text(properties, "category") or first_text(_dict(rule.get("properties")), "category")
    return text_of(own or rule.get("name"), 100)


def _severity_of(result: JsonObject, rule: JsonObject, corrections: list[str]) -> Severity | None:
    """How bad a result is; None where it says that nothing is wrong."""
    level, kind = result.get("level"), result.get("kind", "fail")
    if kind in _NOT_FINDINGS:
        if level in (None, "none"):
            return None
        corrections.append(f"A result of kind {kind} has level {text_of(level, 20)}: it counts.")
    if level is None:
        level = _part(rule, "defaultConfiguration", "level") or "warning"
    base = _LEVELS.get(level) if isinstance(level, str) else None
    if base is None:
        corrections.append(f"The level '{text_of(level, 20)}' is unknown: it counts as error.")
        base = Severity.HIGH
    score = number_of(_part(result, "properties", "security-severity"))
    if score is None:
        score = number_of(_part(rule, "properties", "security-severity")) or 0
    if score >= 9:
        return Severity.CRITICAL
    return Severity.HIGH if score >= 7 else base


def _message_of(message: Json, rule: JsonObject) -> str:
    """The text of a message: its own, or the rule's wording with the arguments filled in."""
    own = text_of(_part(message, "text")) or text_of(_part(message, "markdown"))
    identity = _part(message, "id")
    if not own and isinstance(identity, str):
        own = text_of(_part(rule, "messageStrings", identity, "text"))
    arguments = [text_of(argument, 500) for argument in _list(_part(message, "arguments"))]
    return text_of(_PLACEHOLDER.sub(lambda found: _argument(found, arguments), own)) if arguments else own


def _argument(found: re.Match[str], arguments: list[str]) -> str:
    index = int(found.group(1))
    return arguments[index] if index < len(arguments) else found.group()
