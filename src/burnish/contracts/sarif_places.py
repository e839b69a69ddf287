"""The places of SARIF results: URIs, their bases and the table of artifacts, confined to the repository."""

from urllib.parse import unquote

from burnish.contracts.json_fields import lines_of
from burnish.contracts.json_text import Json, JsonObject
from burnish.contracts.paths import IsFile, confine
from burnish.contracts.sarif_rules import part
from burnish.core.findings import Location

_MAX_BASES = 10
MAX_PLACES = 50


class Places:
    """Resolves the locations of one run."""

    def __init__(self, run: JsonObject, is_file: IsFile) -> None:
        self._artifacts = run.get("artifacts")
        self._bases = run.get("originalUriBaseIds")
        self._is_file = is_file

    def of(self, result: JsonObject) -> tuple[Location, ...]:
        """Every place of a result inside the repository, in order, each once."""
        locations = result.get("locations")
        entries = locations[:MAX_PLACES] if isinstance(locations, list) else []
        found = [self._location(part(entry, "physicalLocation")) for entry in entries]
        return tuple(dict.fromkeys(location for location in found if location is not None))

    def examined(self) -> tuple[str, ...]:
        """The files of the repository that the log lists as artifacts: what the analyser looked at."""
        listed = self._artifacts if isinstance(self._artifacts, list) else []
        places = ((part(entry, "location", "uri"), part(entry, "location", "uriBaseId")) for entry in listed)
        paths = (self._path(uri, base) for uri, base in places if isinstance(uri, str))
        return tuple(dict.fromkeys(path for path in paths if path is not None))

    def _location(self, physical: Json) -> Location | None:
        artifact = part(physical, "artifactLocation")
        index = part(artifact, "index")
        if part(artifact, "uri") is None and isinstance(index, int) and isinstance(self._artifacts, list):
            artifact = part(self._artifacts[index], "location") if 0 <= index < len(self._artifacts) else None
        uri = part(artifact, "uri")
        path = self._path(uri, part(artifact, "uriBaseId")) if isinstance(uri, str) else None
        if path is None:
            return None
        line, end_line = lines_of(part(physical, "region", "startLine"), part(physical, "region", "endLine"))
        return Location(file=path, line=line, end_line=end_line)

    def _path(self, uri: str, base: Json) -> str | None:
        """A base says where the log was made; without it, the URI is relative to the repository."""
        prefix = self._prefix(base)
        whole = confine(unquote(prefix + uri), self._is_file) if prefix else None
        return whole or confine(unquote(uri), self._is_file)

    def _prefix(self, base: Json) -> str:
        prefix = ""
        for _ in range(_MAX_BASES):
            described = part(self._bases, base) if isinstance(base, str) else None
            uri, base = part(described, "uri"), part(described, "uriBaseId")
            if not isinstance(uri, str):
                break
            prefix = (uri if uri.endswith("/") else f"{uri}/") + prefix
        return prefix
