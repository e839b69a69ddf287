"""The witness at work: the project's tests on the base and on the change, each in a throwaway copy, in the sandbox.

What is run, what its output means and what is a finding is knowledge of `burnish.agents.analysers.witness`. Nothing is
installed here but by `[workspace] prepare`. That there is nothing to run is no failure, and no evidence either.
"""

import asyncio
import importlib.util
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from burnish.agents.analysers.witness import inside
from burnish.agents.analysers.witness.commands import (
    COVERAGE_FOLDER,
    PLUGIN,
    REPORT_NAME,
    command_line,
    environment_of,
)
from burnish.agents.analysers.witness.comparison import Comparison, NoEvidence, compare, settled
from burnish.agents.analysers.witness.detection import CONFIGURED, Site, configured_plan, detect
from burnish.agents.analysers.witness.findings import MOST_FAILURES, Trial, findings_of, notes_of
from burnish.agents.analysers.witness.places import Tree
from burnish.agents.analysers.witness.pythons import Interpreter
from burnish.agents.analysers.witness.reports import MOST_BYTES
from burnish.agents.analysers.witness.results import result_of
from burnish.agents.analysers.witness.uncovered import uncovered
from burnish.agents.analysers.witness.values import Case, Ended, NoTests, TestPlan, TestResult
from burnish.config.settings import OFF, Settings
from burnish.core.effects import StartReview
from burnish.core.evidence import Examined, Missing
from burnish.core.findings import Finding, Severity
from burnish.core.reviews import Failure
from burnish.core.values import Value, replace
from burnish.runtime.performing.reviewing import clone_name
from burnish.runtime.performing.witnessed import Witnessed
from burnish.runtime.performing.workshop import Job, StoppedError, Workshop
from burnish.system.process import Command, Finished, How, Limits, run_now
from burnish.workspace.clones import Clone
from burnish.workspace.inside import read_inside
from burnish.workspace.removal import remove_folder

LEAST_SECONDS, TIMES_THE_BASE = 60.0, 20.0
"""How long the tests of a change may take where those of its base have ended: at least, and as a multiple."""
_LOG_TAIL = 64 * 1024
_PROBE = "import sys, importlib.util as u; print(sys.executable, bool(not sys.argv[1] or u.find_spec(sys.argv[1])))"


class Testimony(Value):
    """What the witness has to say."""

    __test__ = False

    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()
    log: str = ""
    """What was run, with exit codes and the end of the output."""
    examined: tuple[Examined, ...] = ()
    """The changed files that passing tests ran."""
    missing: Missing | None = None
    """Why there was no evidence. Without, what was found earlier cannot be said to be gone."""

    @property
    def looked(self) -> bool:
        return self.missing is None


class _Sides(NamedTuple):
    """The copies in which the tests are run."""

    base: Clone
    head: Clone


class _Tests(NamedTuple):
    """One run of tests: where, how, and under which name."""

    folder: Path
    plan: TestPlan
    effect: str
    measured: tuple[str, ...] = ()
    only: tuple[Case, ...] = ()


def plan_for(
    folder: Path, settings: Settings, environment: Mapping[str, str], checkout: Path | None = None
) -> TestPlan | NoTests:
    """How the tests of a tree would be run. `checkout` is where the user works on it, with its virtual environment."""
    commands = settings.validate.commands
    configured = next((commands[name] for name in CONFIGURED if name in commands), None)
    if configured is not None:
        return configured_plan(configured, environment)

    def python(module: str) -> Interpreter | None:
        return _python_on_path(checkout or Path("/"), environment, module)

    return detect(Site(folder=folder, checkout=checkout, environment=environment, python=python))


def _python_on_path(folder: Path, environment: Mapping[str, str], module: str) -> Interpreter | None:
    """The user's own interpreter; a manager's shim is asked which one it stands for. No code of the change is run."""
    program = shutil.which("python3", path=environment.get("PATH", ""))
    if program is None:
        return None
    command = Command(argv=(program, "-I", "-c", _PROBE, module), folder=str(folder), environment=dict(environment))
    probed = run_now(command)
    found, _, able = probed.stdout.decode(errors="replace").strip().rpartition(" ")
    return Interpreter(program=found) if probed.code == 0 and able == "True" and found else None


async def run_tests(shop: Workshop, folder: Path, plan: TestPlan, effect: str, stop: asyncio.Event) -> TestResult:
    """Run the tests of one work tree as it is."""
    return await _run(shop, _Tests(folder, plan, effect), stop, stop)


async def _run(shop: Workshop, tests: _Tests, stop: asyncio.Event, leash: asyncio.Event) -> TestResult:
    """Run tests until they end, or their time is up, or the leash is pulled, which then means the same."""
    desk = await asyncio.to_thread(_lay_out, shop, tests)
    command = Command(
        argv=command_line(tests.plan, str(desk), tests.only),
        folder=str(tests.folder),
        environment=environment_of(tests.plan, tests.folder, str(desk), shop.tool_environment(), tests.measured),
    )
    limits = Limits(seconds=shop.inputs.settings.analysers.test_seconds, kept_bytes=MOST_BYTES)
    writable = (str(tests.folder), str(desk))
    began = asyncio.get_running_loop().time()
    try:
        finished = await shop.run_command(command, limits, effect=tests.effect, writable=writable, stop=leash)
    except StoppedError:
        if stop.is_set():
            raise
        seconds = asyncio.get_running_loop().time() - began
        said = await asyncio.to_thread(_end_of, shop.log_of(tests.effect))
        finished = Finished(how=How.TIMED_OUT, seconds=seconds, stdout=said)
    report = await asyncio.to_thread(read_inside, desk, REPORT_NAME, MOST_BYTES + 1)
    await asyncio.to_thread(remove_folder, desk)
    return result_of(tests.plan, finished, report, str(tests.folder))


def _lay_out(shop: Workshop, tests: _Tests) -> Path:
    """A fresh folder with what reports from inside the tests."""
    remove_folder(shop.desk(tests.effect))
    desk = shop.desk(tests.effect)
    name = f"{PLUGIN}.py"
    shutil.copyfile(Path(inside.__file__).with_name(name), desk / name)
    spec = importlib.util.find_spec("coverage") if tests.measured else None
    if spec is not None and spec.origin is not None:
        target = desk / COVERAGE_FOLDER / "coverage"
        shutil.copytree(Path(spec.origin).parent, target, ignore=shutil.ignore_patterns("__pycache__"))
    return desk


def _end_of(log: Path) -> bytes:
    with log.open("rb") as stream:
        stream.seek(max(0, log.stat().st_size - _LOG_TAIL))
        return stream.read()


async def testify(shop: Workshop, job: Job[StartReview]) -> Testimony | Failure:
    """Run the tests on the base and on the change, and say what the change did to them."""
    name = clone_name(job.effect.id)
    changed = await asyncio.to_thread(Witnessed, shop.repository, job.run.subject.base_commit, job.run.commit)
    made: list[Clone] = []
    try:
        for side, commit in (("base", changed.base), ("head", changed.head)):
            made.append(await shop.clone(f"{name}-{side}", changed.base, commit, writable=True))
        sides = _Sides(*made)
        prepared = await asyncio.gather(
            shop.prepare(sides.base, f"{job.effect.id}:base", job.stop),
            shop.prepare(sides.head, f"{job.effect.id}:head", job.stop),
        )
        return next((failure for failure in prepared if failure), None) or await _try(shop, job, sides, changed)
    finally:
        for clone in made:
            await asyncio.shield(asyncio.to_thread(shop.clones.remove, clone))


async def _try(shop: Workshop, job: Job[StartReview], sides: _Sides, changed: Witnessed) -> Testimony:
    """The base says how a project is tested, so that a change cannot switch its own witness off."""
    before, now = [await asyncio.to_thread(_plan, shop, side) for side in sides]
    first = isinstance(before, NoTests) and before.absent
    plan = now if first else before
    if isinstance(plan, NoTests):
        return _no_evidence(NoEvidence(reason=plan.reason, hint=plan.hint), "", excused=plan.absent)
    measured = tuple(changed.lines) if shop.inputs.settings.analysers.uncovered != OFF else ()
    head = _Tests(sides.head.path, plan, f"{job.effect.id}:head", measured)
    base = None if first else _Tests(sides.base.path, plan, f"{job.effect.id}:base")
    results = await _both(shop, base, head, job.stop)
    log = [_said("base", plan, results.base), _said("head", plan, results.head)]
    compared = compare(results.base, results.head, changed.renames)
    if isinstance(compared, NoEvidence):
        return _no_evidence(compared, "\n\n".join(log))
    if compared.new_failures or compared.whole is Ended.EXITED:
        again = await _again(shop, head, compared, job.stop)
        log.append(_said("head, once more", plan, again))
        compared = settled(compared, again, plan.text)
    trial = Trial(plan=plan, head=results.head, base_seconds=results.base_seconds, comparison=compared)
    return replace(await asyncio.to_thread(_judged, shop, trial, head, changed), log="\n\n".join(log))


def _judged(shop: Workshop, trial: Trial, head: _Tests, changed: Witnessed) -> Testimony:
    """What a trial means."""
    tree = Tree(root=str(head.folder), is_file=changed.files.__contains__)
    change = changed.change()
    idle = _idle(trial.head, changed, shop.inputs.settings.analysers.uncovered)
    return Testimony(
        findings=(*findings_of(trial, change, tree), *idle),
        notes=(*notes_of(trial, change, tree), *_unmeasured(trial.head, head.measured)),
    )


def _plan(shop: Workshop, clone: Clone) -> TestPlan | NoTests:
    return plan_for(clone.path, shop.inputs.settings, shop.tool_environment(), shop.repository.root)


def _no_evidence(why: NoEvidence, log: str, *, excused: bool = False) -> Testimony:
    missing = Missing(reason=why.reason, hint=why.hint, excused=excused)
    return Testimony(notes=(f"no evidence: {why.reason}. {why.hint}".strip(),), log=log, missing=missing)


class _Results(NamedTuple):
    """What the tests said on both sides."""

    base: TestResult | NoTests
    head: TestResult

    @property
    def base_seconds(self) -> float:
        return self.base.seconds if isinstance(self.base, TestResult) else 0.0


async def _both(shop: Workshop, base: _Tests | None, head: _Tests, stop: asyncio.Event) -> _Results:
    """Run both sides at once. What one side does not need any more is ended."""
    if base is None:
        return _Results(NoTests(reason="there were none", absent=True), await _run(shop, head, stop, stop))
    leash = asyncio.Event()
    on_base = asyncio.create_task(_run(shop, base, stop, stop))
    on_head = asyncio.create_task(_run(shop, head, stop, leash))
    watch = asyncio.create_task(_hold(leash, on_base, stop))
    try:
        return _Results(*await asyncio.gather(on_base, on_head))
    finally:
        for task in (on_base, on_head, watch):
            task.cancel()
        await asyncio.gather(on_base, on_head, watch, return_exceptions=True)


async def _hold(leash: asyncio.Event, on_base: asyncio.Task[TestResult], stop: asyncio.Event) -> None:
    """Pull the leash when the work is to stop, or when the change takes far longer than its base did."""
    began = asyncio.get_running_loop().time()
    stopped = asyncio.create_task(stop.wait())
    try:
        await asyncio.wait((on_base, stopped), return_when=asyncio.FIRST_COMPLETED)
        left: float | None = None
        if not stopped.done() and on_base.exception() is None and on_base.result().complete:
            allowed = max(LEAST_SECONDS, TIMES_THE_BASE * on_base.result().seconds)
            left = max(0.0, began + allowed - asyncio.get_running_loop().time())
        await asyncio.wait((stopped,), timeout=left)
        leash.set()
    finally:
        stopped.cancel()


async def _again(shop: Workshop, head: _Tests, compared: Comparison, stop: asyncio.Event) -> TestResult:
    """Run what failed once more, alone where the framework can: what passes now is flaky."""
    only = compared.new_failures[:MOST_FAILURES]
    tests = head._replace(effect=f"{head.effect}-again", measured=(), only=only)
    return await _run(shop, tests, stop, stop)


def _idle(head: TestResult, changed: Witnessed, wanted: str) -> tuple[Finding, ...]:
    """Changed lines that no test ran. Where tests could not even be loaded, it would be no news."""
    if wanted == OFF or not head.complete or any(case.loading for case in head.failing):
        return ()
    return uncovered(head.lines, changed.lines, Severity(wanted))


def _unmeasured(head: TestResult, measured: tuple[str, ...]) -> Iterator[str]:
    missing = [name for name in measured if name not in head.lines]
    if missing and head.complete:
        reason = head.unmeasured or "the tests are not run by pytest or unittest"
        yield f"which changed lines the tests run was not measured in {len(missing)} of {len(measured)} files: {reason}"


def _said(side: str, plan: TestPlan, result: TestResult | NoTests) -> str:
    """One run, for the transcript."""
    if isinstance(result, NoTests):
        return f"{side}: {result.reason}"
    counted = f"{len(result.cases)} tests, {len(result.failing)} failing" if result.cases else "no tests listed"
    head = f"{side}: $ {plan.text}\n{result.ended.value}, exit code {result.code}, {result.seconds:.1f} s, {counted}"
    return f"{head}\n{result.message}\n{result.output}".rstrip()
