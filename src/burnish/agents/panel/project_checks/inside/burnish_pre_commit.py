"""Starts pre-commit with those of a configuration's hooks that need nothing to be installed or downloaded.

Arguments: the configuration, where to write what is left of it, and the rest of the command line of `pre-commit run`.
It runs in pre-commit's own interpreter, which brings a parser of YAML; so it uses the syntax of Python 3.8.
"""

import importlib
import sys
from pathlib import Path
from typing import Any

READY = ("system", "script", "unsupported", "unsupported_script", "pygrep", "fail")


def main() -> int:
    source, target, *rest = sys.argv[1:]
    yaml = importlib.import_module("pre_commit.yaml")
    configuration: dict[str, Any] = yaml.yaml_load(Path(source).read_text(encoding="utf-8"))
    kept: list[dict[str, Any]] = []
    skipped: list[str] = []
    for repository in configuration.get("repos", ()):
        hooks: list[dict[str, Any]] = repository.get("hooks", ())
        ready = [hook for hook in hooks if repository.get("repo") == "local" and hook.get("language") in READY]
        skipped += [hook.get("id", "") for hook in hooks if hook not in ready]
        if ready:
            kept.append({**repository, "hooks": ready})
    if skipped:
        sys.stdout.write("burnish: not run: " + ", ".join(skipped) + "\n")
        sys.stdout.flush()
    if not kept:
        return 0
    Path(target).write_text(yaml.yaml_dump({**configuration, "repos": kept}), encoding="utf-8")
    return importlib.import_module("pre_commit.main").main(["run", "--config", target, *rest])


if __name__ == "__main__":
    sys.exit(main())
