"""Which of the modes and models that a session offers is taken.

Agents offer them as options of the session, as modes, or as models, according to their age.
"""

import re
from typing import NamedTuple

from burnish.agents.acp_bridge.values import BridgeError, JsonObject, Trouble, inner, objects, words

_READS_ONLY = (
    re.compile(r"read[ _-]?only", re.IGNORECASE),
    re.compile(r"\b(?:ask|asks|manual|approval)\b", re.IGNORECASE),
    re.compile(r"\bplan\b", re.IGNORECASE),
)
"""Words for modes of a reviewer, best first. Whoever is asked says no; a plan is not quite what a review is."""


class OptionValue(NamedTuple):
    """One thing to choose."""

    id: str
    name: str
    description: str

    @property
    def text(self) -> str:
        return f"{self.id} {self.name} {self.description}"


class Offer(NamedTuple):
    """Things to choose from, and the request by which one of them is chosen."""

    method: str
    fixed: JsonObject
    field: str
    current: str
    values: list[OptionValue]

    def request(self, session: str, value: str) -> JsonObject:
        return {"sessionId": session, **self.fixed, self.field: value}


def modes(session: JsonObject) -> Offer | None:
    offered = inner(session, "modes")
    values = [_value(mode, "id") for mode in objects(offered.get("availableModes"))]
    older = Offer("session/set_mode", {}, "modeId", words(offered.get("currentModeId")), values)
    return _option(session, "mode") or (older if values else None)


def models(session: JsonObject) -> Offer | None:
    offered = inner(session, "models")
    values = [_value(model, "modelId") for model in objects(offered.get("availableModels"))]
    older = Offer("session/set_model", {}, "modelId", words(offered.get("currentModelId")), values)
    return _option(session, "model") or (older if values else None)


def _option(session: JsonObject, category: str) -> Offer | None:
    for option in objects(session.get("configOptions")):
        if category in (option.get("category"), option.get("id")) and option.get("type", "select") == "select":
            listed = objects(option.get("options"))
            grouped = [value for group in listed for value in objects(group.get("options"))]
            values = [_value(value, "value") for value in (*listed, *grouped) if words(value.get("value"))]
            fixed: JsonObject = {"configId": option.get("id")}
            current = words(option.get("currentValue"))
            return Offer("session/set_config_option", fixed, "value", current, values)
    return None


def _value(record: JsonObject, key: str) -> OptionValue:
    return OptionValue(words(record.get(key)), words(record.get("name")), words(record.get("description")))


def reading_mode(offer: Offer) -> str:
    """The mode in which least can be written; empty where none says so of itself."""
    for pattern in _READS_ONLY:
        for value in offer.values:
            if pattern.search(value.text):
                return value.id
    return ""


def named(offer: Offer | None, wanted: str, what: str) -> str:
    """The one that is wanted, by its id or its name."""
    values = [] if offer is None else offer.values
    for value in values:
        if wanted in (value.id, value.name):
            return value.id
    listed = ", ".join(value.id for value in values[:20]) or "none"
    raise BridgeError(Trouble.CANNOT_RUN, f"it does not offer the {what} '{wanted}', only: {listed}")
