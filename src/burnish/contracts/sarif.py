"""The `sarif` contract: the results of analysers in SARIF 2.1.0, read.

A run that failed, or that has no list of results, is not a review. Every document in the text is read, or none is.
"""

from burnish.contracts.errors import UnreadableError
from burnish.contracts.json_answers import Found
from burnish.contracts.json_fields import corrections_of, number_of, refuse_too_many, text_of
from burnish.contracts.json_text import Json, JsonObject, read_documents
from burnish.contracts.paths import IsFile
from burnish.contracts.sarif_places import Places
from burnish.contracts.sarif_results import read_result
from burnish.contracts.sarif_rules import Rules, part
from burnish.core.findings import Finding
from burnish.core.reviews import Answer

_HINT = "Run the analyser by hand and look at its messages."


def parse(text: str, is_file: IsFile) -> Answer:
    """Read a SARIF log, or several in a row. Clean means that every run has a list of results, and none fails."""
    documents = read_documents(text)
    if documents.broken:
        raise UnreadableError(f"The log is not valid JSON: {documents.broken[0].reason}.", hint=_HINT)
    if documents.lists or not documents.objects:
        raise UnreadableError("The text holds no SARIF log, or something else than logs.", hint=_HINT)
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
            examined += Places(run, is_file).examined()
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
        raise UnreadableError(f"'{text_of(version, 40)}' is no SARIF version that is read.", hint="Ask for 2.1.0.")
    for properties in _objects(document.get("inlineExternalProperties") or [], "inlineExternalProperties"):
        if {"results", "invocations"} & properties.keys():
            raise UnreadableError(
                "Results or invocations stand apart from their run, in inlineExternalProperties.", hint=_HINT
            )
    return _objects(document.get("runs"), "runs", at_least=1)


def _objects(value: Json, name: str, at_least: int = 0) -> list[JsonObject]:
    entries = [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []
    if not isinstance(value, list) or len(entries) < max(len(value), at_least):
        raise UnreadableError(f"'{name}' is missing, empty or malformed in the SARIF log.", hint=_HINT)
    return entries


def _refuse_failed(run: JsonObject) -> None:
    """Whatever a run lists: one that failed, or keeps what it found elsewhere, has not said everything."""
    external = run.get("externalPropertyFileReferences")
    if isinstance(external, dict) and {"results", "invocations"} & external.keys():
        raise UnreadableError("The results are in another file, which was not handed over.", hint=_HINT)
    for invocation in _invocations(run):
        if invocation.get("executionSuccessful", True) is not True:
            raise UnreadableError("The analyser says that its run failed.", hint=_HINT)
        for key in _DEATHS:
            if invocation.get(key) not in (None, "", 0):
                raise UnreadableError(
                    f"The analyser did not end by itself: {key} is {_quoted(invocation[key])}.", hint=_HINT
                )
        for key in ("toolExecutionNotifications", "toolConfigurationNotifications"):
            for notification in _objects(invocation.get(key) or [], key):
                if notification.get("level") == "error":
                    said = _quoted(notification.get("message"))
                    raise UnreadableError(f"The analyser reports an error of its own: {said}", hint=_HINT)


_DEATHS = ("exitSignalName", "exitSignalNumber", "processStartFailureMessage")


def _invocations(run: JsonObject) -> list[JsonObject]:
    """The runs of the analyser, and of the program that converted its output."""
    conversion = part(run, "conversion", "invocation")
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
                f"The analyser ended with exit code {text_of(code, 40)}, but its log has no result that counts.",
                hint=_HINT,
            )


def _read_run(run: JsonObject, is_file: IsFile, corrections: list[str]) -> list[Finding]:
    results = _objects(run.get("results"), "results")
    refuse_too_many(len(results))
    rules, places = Rules(run), Places(run, is_file)
    findings: list[Finding] = []
    suppressed = absent = 0
    for result in results:
        if _is_suppressed(result):
            suppressed += 1
        elif result.get("baselineState") == "absent":
            absent += 1
        elif finding := read_result(result, rules, places, corrections):
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
