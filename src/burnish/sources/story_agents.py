"""Who builds and reviews a story, as an orchestrator's state document and agents file say."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from burnish.core.brief_text import front_matter, front_matter_values
from burnish.core.story_text import is_story
from burnish.core.values import Value
from burnish.core.work import Assignment
from burnish.settings.documents import Problem
from burnish.settings.yaml_nodes import NOTHING, YamlNode
from burnish.sources.fields import read_yaml
from burnish.sources.interface import SourceError, read_text, source_error

LEVELS = ("low", "medium", "high")
_TASKS = {"build": "dev", "fix": "dev", "review": "review"}
"""Which task of the orchestrator each role does: fixes are made by the agent that implemented the story."""
_NO_FALLBACK = ("false", "none", "null", "")
_AGENT_CONFIG = "agentConfig"
_PLACES = (".", "story-automator", "../story-automator")
"""Where a state document may be, seen from the sprint status."""


class StoryAgents(Value):
    """What both files say. Nothing where there is no state document."""

    file: str = ""
    protocol: str = ""
    """`story` or `epic`, where the document names one; `story` where it is an orchestrator's."""
    config: YamlNode = NOTHING
    stories: tuple[dict[str, Any], ...] = ()
    """Those of the agents file."""

    def complexity_of(self, story: str) -> str:
        found = self._listed(story).get("complexity")
        return found.lower() if isinstance(found, str) else ""

    def agents_of(self, story: str, complexity: str) -> dict[str, Assignment]:
        """The agent of each role. Roles that neither file speaks of are left to the settings."""
        tasks = self._listed(story).get("tasks")
        listed: dict[str, Any] = cast("dict[str, Any]", tasks) if isinstance(tasks, dict) else {}
        found: dict[str, Assignment] = {}
        for role, task in _TASKS.items():
            own = listed.get(task)
            chosen = _from_json(cast("dict[str, Any]", own)) if isinstance(own, dict) else None
            chosen = chosen or self._configured(task, complexity)
            if chosen is not None:
                found[role] = chosen
        return found

    def _listed(self, story: str) -> dict[str, Any]:
        nothing: dict[str, Any] = {}
        return next((one for one in self.stories if is_story(str(one.get("storyId", "")), story)), nothing)

    def _configured(self, task: str, complexity: str) -> Assignment | None:
        """Complexity before task before default, for an agent and for its fallback apart."""
        by_level = self.config.get("complexityOverrides").get(complexity).get(task) if complexity else NOTHING
        nodes = (by_level, self.config.get("perTask").get(task))
        agents = [node.get("primary") for node in nodes] + [self.config.get("defaultPrimary")]
        fallbacks = [node.get("fallback") for node in nodes] + [self.config.get("defaultFallback")]
        agent = next((node.text.strip() for node in agents if node is not NOTHING and node.text.strip()), "")
        if not agent:
            return None
        fallback = next((node.text.strip() for node in fallbacks if node is not NOTHING), "")
        return _assignment(agent, fallback)


def _assignment(agent: str, fallback: str) -> Assignment:
    none = fallback.lower() in _NO_FALLBACK or fallback == agent
    return Assignment(agent=agent, fallback=None if none else fallback)


def _from_json(task: Mapping[str, Any]) -> Assignment | None:
    agent, fallback = task.get("primary"), task.get("fallback")
    if not isinstance(agent, str) or not agent.strip():
        return None
    return _assignment(agent.strip(), fallback.strip() if isinstance(fallback, str) else "")


def read_story_agents(named: str, sprint: Path, root: Path, problems: list[Problem]) -> StoryAgents:
    """What the state document says that is named, else the only one that is near the sprint status."""
    path = _state_document(named, sprint, root)
    if path is None:
        return StoryAgents()
    text = read_text(path)
    node = read_yaml(front_matter(text), str(path))
    if not node.pairs:
        raise source_error(path, "The state document has no front matter.", "Begin it with '---' and YAML.")
    config = node.get(_AGENT_CONFIG)
    _check_levels(config, str(path), problems)
    agents = node.get("agentsFile").text.strip() if node.get("agentsFile") is not NOTHING else ""
    return StoryAgents(
        file=str(path),
        protocol=node.get("protocol").text.strip() or "story",
        config=config,
        stories=_agents_file(agents, path, root, problems) if agents else (),
    )


def _state_document(named: str, sprint: Path, root: Path) -> Path | None:
    if named:
        path = Path(named)
        there = next((place for place in (path, root / named, sprint.parent / named) if place.is_file()), None)
        if there is None:
            raise source_error(named, "There is no such state document.", "Correct --state-file.")
        return there
    found: list[Path] = []
    for place in _PLACES:
        try:
            files = sorted((sprint.parent / place).glob("*.md"))
        except OSError:
            continue
        found += [file for file in files if file.is_file() and _is_state_document(file)]
    if len(found) > 1:
        names = ", ".join(str(file) for file in found)
        raise source_error(sprint, f"There are several state documents: {names}.", "Name one with --state-file.")
    return found[0] if found else None


def _is_state_document(file: Path) -> bool:
    try:
        with file.open(encoding="utf-8", errors="replace") as stream:
            head = stream.read(65_536)
    except OSError:
        return False
    return head.startswith("---") and _AGENT_CONFIG in front_matter_values(head)


def _check_levels(config: YamlNode, file: str, problems: list[Problem]) -> None:
    if config is not NOTHING and not config.pairs:
        message, hint = "It must be a mapping.", "Write 'defaultPrimary: NAME' below it."
        problems.append(Problem(file=file, line=config.line, key=_AGENT_CONFIG, message=message, hint=hint))
    for key, _ in config.get("complexityOverrides").pairs:
        if key.text not in LEVELS:
            hint = f"The levels are {', '.join(LEVELS)}."
            message = f"There is no complexity '{key.text}'."
            problems.append(Problem(file=file, line=key.line, key="complexityOverrides", message=message, hint=hint))


def _agents_file(named: str, state: Path, root: Path, problems: list[Problem]) -> tuple[dict[str, Any], ...]:
    """The stories of the first JSON block of an agents file."""
    places = (state.parent / named, root / named, Path(named))
    path = next((place for place in places if place.is_file()), None)
    if path is None:
        problems.append(
            Problem(file=str(state), key="agentsFile", message=f"There is no file '{named}'.", hint="Correct the path.")
        )
        return ()
    try:
        text = read_text(path)
        begin = text.index("{")
        value: object = json.JSONDecoder().raw_decode(text, begin)[0]
        listed = cast("dict[str, Any]", value)["stories"] if isinstance(value, dict) else None
        if isinstance(listed, list):
            return tuple(cast("dict[str, Any]", one) for one in cast("list[Any]", listed) if isinstance(one, dict))
        raise KeyError("stories")
    except SourceError as error:
        problems += error.problems
    except (ValueError, KeyError, RecursionError):
        message = "It holds no JSON object with 'stories'."
        problems.append(Problem(file=str(path), message=message, hint='Write {"stories": [{"storyId": "1.1", …}]}.'))
    return ()
