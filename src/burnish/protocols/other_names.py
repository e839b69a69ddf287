"""What other review loops call their settings, and what says the same here.

If you move a configuration over, the error tells you the new name. No such key is taken as it is: a setting
that switches reviews off, or allows more of them, must be a decision and not a leftover.
"""

from collections.abc import Mapping

_REVIEWS = "'reviews' in [limits] of a protocol of your own"
_BRANCH = "burnish reviews one branch at a time, so there is nothing to set."
_ROLE = 'Name agents in [roles], such as review = { agent = "claude", fallback = "codex" }.'

_HINTS: Mapping[str, str] = {
    # How often.
    "reviewMaxFixAttempts": f"Use --review-max-fix-attempts N, or set {_REVIEWS} to one more than that.",
    "maxFixAttempts": f"Use --review-max-fix-attempts N, or set {_REVIEWS} to one more than that.",
    "maxRevisions": f"Set {_REVIEWS} to one more than that, or use --max-rounds.",
    "maxRounds": f"Use --max-rounds N, or set {_REVIEWS}.",
    "maxReviewRounds": f"Use --max-rounds N, or set {_REVIEWS}.",
    "maxCycles": f"Use --max-rounds N, or set {_REVIEWS}.",
    "maxIterations": f"Use --max-rounds N, or set {_REVIEWS}.",
    "reviewCycle": "burnish counts the rounds itself; remove the key.",
    "iteration": "burnish counts the rounds itself; remove the key.",
    # Whether.
    "reviewEnabled": "Remove it: reviews are on. 'burnish fix --build --no-review' leaves one out, and seals nothing.",
    "coverageThreshold": "Set 'coverage_floor' in [validate], in percent.",
    "minCoverage": "Set 'coverage_floor' in [validate], in percent.",
    # Who.
    "agentConfig": _ROLE,
    "defaultPrimary": 'Set \'default\' in [roles], such as default = { agent = "codex", fallback = "claude" }.',
    "defaultFallback": 'Set \'default\' in [roles], such as default = { agent = "codex", fallback = "claude" }.',
    "perTask": "Set 'review', 'fix' and 'build' in [roles].",
    "primary": "Set 'agent' in its place; 'fallback' stays.",
    "complexityOverrides": "Set [roles.complexity.low], medium and high, and give --complexity.",
    "agentsFile": _ROLE,
    "stateFile": "burnish keeps its state in the git directory; remove the key, and name agents in [roles].",
    "provider": "Set 'default' in [roles], such as default = \"claude\".",
    "reviewerProvider": "Set 'review' in [roles], such as review = \"claude\".",
    "reviewerModel": "Define an agent with that 'model' in [agents.NAME], and name it as 'review' in [roles].",
    "reasoningEffort": "Choose the 'model' of [agents.NAME]; how hard it thinks is left to the client.",
    "command": "Define an agent, [agents.NAME] with kind = \"command\" and its 'command', and name it in [roles].",
    "yolo": "Remove it: agents are never asked for permissions, and run in a sandbox ('sandbox').",
    # What they are told.
    "promptPath": "Set 'builder' in [prompts], or use --developer-prompt.",
    "developerPromptPath": "Set 'builder' in [prompts], or use --developer-prompt.",
    "reviewerPromptPath": "Set 'reviewer' in [prompts], or use --reviewer-prompt.",
    # Where work comes from, and how it is shown.
    "beadMode": "Name the bead with --story ID.",
    "taskMode": "Name the task with --story ID.",
    "topLevelBeadId": "Name the bead with --story ID.",
    "parallelAgents": _BRANCH,
    "iterationLimit": _BRANCH,
    "pauseMs": _BRANCH,
    "previewLines": "Remove it; 'burnish logs -f RUN' shows all that agents write.",
    "logDir": "Remove it; 'burnish logs RUN' shows the logs, which are kept in the git directory.",
}


def _plain(key: str) -> str:
    return key.replace("_", "").replace("-", "").lower()


_BY_PLAIN_KEY = {_plain(key): hint for key, hint in _HINTS.items()}


def hint_for(key: str) -> str:
    """What to write instead of a key of another tool, however it is spelled; empty where it is none."""
    return _BY_PLAIN_KEY.get(_plain(key), "")
