"""`python benchmarks/shape.py [CHECKOUT …]`: the shape of the program in figures, one column for each checkout.

It imports nothing of burnish, so that it can measure a checkout of any age. A figure compares two of them; none is a
goal by itself. Complexity is counted as radon counts it. What a `fix` does is measured on a small repository whose
agents are shell scripts, with the source of the checkout and this interpreter.

To time two checkouts side by side: `python benchmarks/shape.py --time OLD NEW`. Five instant reviewers, in turns.
"""

import argparse
import ast
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tokenize
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

WORDS = re.compile(r"\b(whoever|nobody|somebody)\b", re.IGNORECASE)
VENDORS = ("claude", "codex", "gemini", "opencode")
_VALUE_BASES = frozenset({"Value", "Struct", "NamedTuple", "TypedDict"})
_TEXTS = ("*.py", "*.toml", "*.md", "*.json")
_TIMES = 7


class Module(NamedTuple):
    """One file of the source."""

    name: str
    text: str
    tree: ast.Module

    @property
    def package(self) -> str:
        return self.name.rpartition(".")[0]


def modules_of(checkout: Path) -> list[Module]:
    source = checkout / "src"
    found: list[Module] = []
    for path in sorted((source / "burnish").rglob("*.py")):
        name = ".".join(path.relative_to(source).with_suffix("").parts).removesuffix(".__init__")
        text = path.read_text(encoding="utf-8")
        found.append(Module(name, text, ast.parse(text)))
    return found


def measures(checkout: Path) -> dict[str, str]:
    """Every figure of a checkout, by its name."""
    modules = modules_of(checkout)
    lines = sum(module.text.count("\n") for module in modules)
    values = value_classes(modules)
    complexity = [number for module in modules for number in complexities(module.tree)]
    functions, once = private_functions(modules)
    comments = sum(map(comment_lines, modules))
    several = names_with_several_meanings(modules)
    return {
        "lines": f"{lines:,}",
        "files": f"{len(modules):,}",
        "value classes": f"{values:,}",
        "value classes per 1,000 lines": f"{1000 * values / lines:.1f}",
        "public class names with two or more meanings": str(len(several)),
        "modules with one importer, in their own package": str(len(single_importers(modules))),
        "mean cyclomatic complexity": f"{sum(complexity) / len(complexity):.2f}",
        "private functions used once, of all functions": f"{100 * once / functions:.0f} %",
        "comment lines": f"{100 * comments / lines:.1f} %",
        "whoever, nobody, somebody in source and documents": str(words(checkout)),
        **{f"files of the source that name {vendor}": str(naming(checkout, vendor)) for vendor in VENDORS},
        **whole_fixes(checkout),
    }


def value_classes(modules: list[Module]) -> int:
    """Classes that only hold values: structs, named tuples, data classes, and what is derived from them."""
    known = set(_VALUE_BASES)
    classes = [node for module in modules for node in ast.walk(module.tree) if isinstance(node, ast.ClassDef)]
    found: set[ast.ClassDef] = set()
    while True:
        new = {node for node in classes if node not in found and _is_value(node, known)}
        if not new:
            return len(found)
        found |= new
        known |= {node.name for node in new}


def _is_value(node: ast.ClassDef, known: set[str]) -> bool:
    return any(_last_name(base) in known for base in node.bases) or any(
        _last_name(decorator) == "dataclass" for decorator in node.decorator_list
    )


def _last_name(node: ast.expr) -> str:
    match node:
        case ast.Name():
            return node.id
        case ast.Attribute():
            return node.attr
        case ast.Call():
            return _last_name(node.func)
        case _:
            return ""


def names_with_several_meanings(modules: list[Module]) -> list[str]:
    """Public names of classes that more than one module defines."""
    names = Counter(
        node.name
        for module in modules
        for node in module.tree.body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    return sorted(name for name, count in names.items() if count > 1)


def single_importers(modules: list[Module]) -> list[str]:
    """Modules that exactly one other module imports, which is in the same package."""
    names = {module.name for module in modules}
    importers: defaultdict[str, set[Module]] = defaultdict(set)
    for module in modules:
        for imported in _imports(module.tree, names):
            importers[imported].add(module)
    return sorted(
        module.name
        for module in modules
        if len(importers[module.name]) == 1 and next(iter(importers[module.name])).package == module.package
    )


def _imports(tree: ast.Module, names: set[str]) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.Import():
                yield from (alias.name for alias in node.names if alias.name in names)
            case ast.ImportFrom(module=str(origin)):
                for alias in node.names:
                    whole = f"{origin}.{alias.name}"
                    yield whole if whole in names else origin
            case _:
                pass


def complexities(tree: ast.Module) -> Iterator[int]:
    """The complexity of every function, method and class, as radon has it: what is nested in a function is left out."""
    for node in _blocks(tree):
        if isinstance(node, ast.ClassDef):
            yield from _class_complexities(node)
        else:
            yield _function_complexity(node)


_Function = ast.FunctionDef | ast.AsyncFunctionDef


def _blocks(node: ast.AST) -> Iterator[_Function | ast.ClassDef]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, _Function | ast.ClassDef):
            yield child
        else:
            yield from _blocks(child)


def _class_complexities(node: ast.ClassDef) -> Iterator[int]:
    methods = [_function_complexity(child) for child in _blocks(node) if not isinstance(child, ast.ClassDef)]
    whole = 1 + sum(methods) + sum(_decisions(child) for child in node.body)
    yield int(whole / len(methods)) + (len(methods) > 1) if methods else whole
    yield from methods


def _function_complexity(node: _Function) -> int:
    return 1 + sum(map(_decisions, node.body))


def _decisions(node: ast.AST) -> int:
    if isinstance(node, _Function | ast.ClassDef):
        return 0
    if isinstance(node, ast.Assert):
        return 1
    return _own_decisions(node) + sum(map(_decisions, ast.iter_child_nodes(node)))


def _own_decisions(node: ast.AST) -> int:
    match node:
        case ast.Try():
            return len(node.handlers) + bool(node.orelse)
        case ast.BoolOp():
            return len(node.values) - 1
        case ast.If() | ast.IfExp():
            return 1
        case ast.Match():
            others = any(isinstance(case.pattern, ast.MatchAs) and case.pattern.pattern is None for case in node.cases)
            return max(0, len(node.cases) - others)
        case ast.For() | ast.While() | ast.AsyncFor():
            return 1 + bool(node.orelse)
        case ast.comprehension():
            return 1 + len(node.ifs)
        case _:
            return 0


def private_functions(modules: list[Module]) -> tuple[int, int]:
    """How many functions and methods there are, and how many are private and named in one place only."""
    total = once = 0
    for module in modules:
        nodes = list(ast.walk(module.tree))
        names = [node.name for node in nodes if isinstance(node, _Function)]
        uses = Counter(node.id for node in nodes if isinstance(node, ast.Name))
        uses.update(node.attr for node in nodes if isinstance(node, ast.Attribute))
        private = [name for name in names if name.startswith("_") and not name.startswith("__")]
        total += len(names)
        once += sum(uses[name] == 1 for name in private)
    return total, once


def comment_lines(module: Module) -> int:
    """Lines that hold nothing but a comment."""
    tokens = tokenize.generate_tokens(io.StringIO(module.text).readline)
    return sum(token.type == tokenize.COMMENT and not token.line[: token.start[1]].strip() for token in tokens)


def words(checkout: Path) -> int:
    """How often people stand in for processes."""
    places = [*_texts(checkout / "src"), *_texts(checkout / "docs"), *checkout.glob("*.md")]
    return sum(len(WORDS.findall(path.read_text(encoding="utf-8", errors="replace"))) for path in places)


def naming(checkout: Path, vendor: str) -> int:
    """How many files of the source name a vendor: as many are looked at for another one."""
    files = (path for path in _texts(checkout / "src") if "testing" not in path.parts)
    return sum(vendor in path.read_text(encoding="utf-8", errors="replace").lower() for path in files)


def _texts(folder: Path) -> list[Path]:
    return sorted(path for pattern in _TEXTS for path in folder.rglob(pattern))


def whole_fixes(checkout: Path) -> dict[str, str]:
    """What a `fix` of two rounds starts and passes: with agents that are scripts, and with the embedded analysers."""
    found: dict[str, str] = {}
    for name, make in (("scripted agents", scripted_project), ("the analysers", unused_import)):
        with tempfile.TemporaryDirectory(prefix="burnish-shape-") as folder:
            project = Project(Path(folder), checkout)
            make(project)
            processes = project.git_processes("fix", "--json")
            found[f"git processes in a two-round fix by {name}"] = str(processes)
        with tempfile.TemporaryDirectory(prefix="burnish-shape-") as folder:
            project = Project(Path(folder), checkout)
            make(project)
            passed, functions = project.passed("fix", "--json")
            found[f"modules passed by a two-round fix by {name}"] = str(passed)
            found[f"functions passed by a two-round fix by {name}"] = str(functions)
    return found


class Project:
    """A small repository, and the command of a checkout."""

    def __init__(self, folder: Path, checkout: Path) -> None:
        self.folder = folder
        self.checkout = checkout.absolute()
        self.root = folder / "work"
        self.root.mkdir()
        self.environment = {
            "PATH": os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"])),
            "HOME": str(folder / "home"),
            "LANG": "C.UTF-8",
            "PYTHONPATH": str(self.checkout / "src"),
        }
        self.git("init", "--quiet", "--initial-branch=main")
        self.git("config", "user.name", "A. Developer")
        self.git("config", "user.email", "developer@example.com")

    def git(self, *arguments: str) -> None:
        subprocess.run(["git", *arguments], cwd=self.root, env=self.environment, check=True)

    def commit(self, files: Mapping[str, str]) -> None:
        for name, text in files.items():
            (self.root / name).write_text(text)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", "Change")

    def burnish(self, *arguments: str, tracer: str = "-m burnish") -> None:
        command = [sys.executable, *tracer.split(), *arguments]
        done = subprocess.run(command, cwd=self.root, env=self.environment, capture_output=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"{command}: {done.returncode}\n{done.stderr.decode()}")

    def git_processes(self, *arguments: str) -> int:
        """How many processes of git a command starts, counted by a `git` before the real one."""
        programs = self.folder / "programs"
        programs.mkdir()
        count = self.folder / "started"
        shim = programs / "git"
        shim.write_text(f'#!/bin/sh\necho "$@" >> {count}\nexec {shutil.which("git")} "$@"\n')
        shim.chmod(0o755)
        self.environment["PATH"] = os.pathsep.join((str(programs), self.environment["PATH"]))
        self.burnish(*arguments)
        return len(count.read_text().splitlines())

    def passed(self, *arguments: str) -> tuple[int, int]:
        """How many modules and functions of burnish a command runs."""
        out = self.folder / "passed"
        self.environment["BURNISH_SHAPE_OUT"] = str(out)
        self.burnish(*arguments, tracer=f"{Path(__file__).absolute()} --trace")
        seen = {tuple(line.rsplit(":", 1)) for line in out.read_text().splitlines()}
        return len({module for module, _ in seen}), len(seen)


def scripted_project(project: Project) -> None:
    """One reviewer finds something once, and a fixer fixes it."""
    clean = '{"issues":[],"summary":{"critical":0,"warning":0,"info":0,"verdict":"clean"}}'
    issue = '{"severity":"critical","file":"app.py","line":1,"title":"Wrong","description":"It is wrong."}'
    found = clean.replace("[]", f"[{issue}]").replace('"critical":0', '"critical":1').replace("clean", "issues_found")
    agent = f"""cat > /dev/null
case $BURNISH_ROLE-$BURNISH_ROUND in
  review-1) echo '{found}' ;;
  review-*) echo '{clean}' ;;
  fix-*) echo "x = 3" > app.py; echo done ;;
esac
"""
    policy = """protocol = "panel"
[agents.scripted]
kind = "command"
command = ["sh", "./agent.sh"]
[roles]
default = "scripted"
"""
    project.commit({"agent.sh": agent, "burnish.toml": policy, "app.py": "x = 1\n"})
    project.git("checkout", "--quiet", "-b", "change")
    project.commit({"app.py": "x = 2\n"})


def unused_import(project: Project) -> None:
    """What the analysers find and fix by themselves."""
    project.commit({"burnish.toml": 'protocol = "panel"\n', "app.py": "def answer():\n    return 42\n"})
    project.git("checkout", "--quiet", "-b", "change")
    project.commit({"app.py": "import os\n\n\ndef answer():\n    return 43\n"})


def instant_reviews(checkout: Path, folder: Path) -> Callable[[], None]:
    """A review by the five reviewers of a panel, all of whom answer at once."""
    project = Project(folder, checkout)
    scripted_project(project)
    project.git("checkout", "--quiet", "main")
    clean = '{"issues":[],"summary":{"critical":0,"warning":0,"info":0,"verdict":"clean"}}'
    project.commit({"agent.sh": f"cat > /dev/null\necho '{clean}'\n"})
    project.git("checkout", "--quiet", "-b", "other")
    project.commit({"app.py": "x = 4\n"})
    return lambda: project.burnish("review", "--json")


def side_by_side(old: Path, new: Path) -> None:
    """The best of some repeats in turns, so that both meet the same noise."""
    with tempfile.TemporaryDirectory() as first, tempfile.TemporaryDirectory() as second:
        jobs = (instant_reviews(old, Path(first)), instant_reviews(new, Path(second)))
        best = [float("inf"), float("inf")]
        for _ in range(_TIMES):
            for place, job in enumerate(jobs):
                began = time.perf_counter()
                job()
                best[place] = min(best[place], time.perf_counter() - began)
    print(f"a review by five instant reviewers: {best[0]:.3f} s, {best[1]:.3f} s; ratio {best[1] / best[0]:.2f}")


def trace(arguments: list[str]) -> int:
    """Run the command in this process and write down which functions of burnish it passed."""
    import threading  # noqa: PLC0415 - only here

    seen: set[tuple[str, str]] = set()

    def profile(frame: object, event: str, _argument: object) -> None:
        code = getattr(frame, "f_code", None)
        if event == "call" and code is not None and "/burnish/" in code.co_filename:
            seen.add((code.co_filename, code.co_qualname))

    threading.setprofile(profile)
    sys.setprofile(profile)
    sys.argv = ["burnish", *arguments]
    from burnish.__main__ import main  # noqa: PLC0415 - that of the checkout

    try:
        return main()
    finally:
        sys.setprofile(None)
        functions = sorted((file, name) for file, name in seen if not name.startswith("<"))
        Path(os.environ["BURNISH_SHAPE_OUT"]).write_text("".join(f"{file}:{name}\n" for file, name in functions))


def main(arguments: list[str]) -> int:
    if arguments[:1] == ["--trace"]:
        return trace(arguments[1:])
    parser = argparse.ArgumentParser(prog="python benchmarks/shape.py", description="The shape of the program.")
    parser.add_argument("--time", action="store_true", help="time a review of two checkouts in turns")
    parser.add_argument("--names", action="store_true", help="list the names behind the figures, too")
    parser.add_argument("checkouts", nargs="*", type=Path, default=[Path()])
    options = parser.parse_args(arguments)
    if options.time:
        side_by_side(*options.checkouts)
        return 0
    columns = [measures(checkout) for checkout in options.checkouts]
    for name in columns[0]:
        print(f"{name:<58}" + "".join(f"{column[name]:>12}" for column in columns))
    if options.names:
        modules = modules_of(options.checkouts[-1])
        print("\nnames with several meanings:", ", ".join(names_with_several_meanings(modules)))
        print("\nmodules with one importer:", "\n".join(single_importers(modules)), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
