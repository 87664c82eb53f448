"""``simulator replay``: plays scenarios, records the run, and says what came of it."""

from __future__ import annotations

import secrets
import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.text import Text

from .. import __version__
from ..canonical import digest_bytes, digest_text
from ..clock import now
from ..diff import COUNTS_ONLY, RunDiff, diff_runs, plural
from ..errors import IncompleteError, InputError, RecordingError
from ..lint import lint
from ..model import Sampling
from ..prompt import Templates, load_templates, template_names
from ..recording import (
    FORMAT,
    Manifest,
    Reference,
    RunRecord,
    RunWriter,
    create_run,
    find_run,
    open_run,
    parse_reference,
    refuse_run_name,
)
from ..replay import Result, Settings, Stop, play
from ..report import render_summary, whole
from ..scenario import Scenario, Suite, load_suites, read_scenario, yaml_bytes
from ..stages.graded import GRADED_FIELDS, JudgeCalibration, read_calibration
from ..stages.pipeline import CHECKS, CheckBy, rehearse
from ..summary import summarise_run
from ..transcript import Transcript, read_transcripts
from .choosing import choose_scenarios
from .gate import INCOMPLETE, REGRESSION, not_compared, tell_some
from .interrupts import INTERRUPTED, heard
from .models import Load, Models, Options, open_models, read_behaviour, read_params
from .output import print_json, print_page
from .places import RECORDINGS, scenario_folder, template_folders
from .progress import ProgressDisplay
from .streams import tell

__all__ = ["run"]

_WRONG = 2


def run(**options: Any) -> int:
    """Play, and return the exit status."""
    paths = choose_scenarios(options["scenarios"], options["scenario"] or (), options["suite"])
    files = {path: yaml_bytes(path) for path in paths}
    scenarios = [read_scenario(data, str(path), stem=path.stem) for path, data in files.items()]
    snapshots = {scenario.scenario: data for scenario, data in zip(scenarios, files.values(), strict=True)}
    templates = load_templates(template_folders(options["templates"]), scenarios)
    for scenario in scenarios:
        rehearse(scenario, templates)
    if options["run"] is not None:
        refuse_run_name(options["recordings"], options["run"])
    calibration = _judge_calibration(options, scenarios, templates)
    earlier = _earlier_attempts(options, list(snapshots))
    with ExitStack() as stack:
        models = _open_models(stack, options)
        settings = _settings(options, models, calibration)
        manifest = _manifest(options, settings, models, snapshots, templates)
        with heard() as interrupts:
            writer = create_run(options["recordings"], manifest, snapshots, templates)
            _announce(manifest, models, calibration)
            _tell_lint(paths, options)
            result = _play(writer, scenarios, templates, models, settings, interrupts)
        if interrupts.at_once:
            raise KeyboardInterrupt
    return _report(open_run(writer.folder), result, earlier, options)


def _tell_lint(paths: Sequence[Path], options: Mapping[str, Any]) -> None:
    """Say on stderr which of the scenarios test something else than they seem to. They are played all the same."""
    folder, templates = scenario_folder(options["scenarios"]), template_folders(options["templates"])
    findings = (finding for path in paths for finding in lint([path], _suites(path, folder), templates))
    errors = Counter(finding.path for finding in findings if finding.severity == "error")
    where = "" if options["scenarios"] is None else f" --scenarios {shlex.quote(str(options['scenarios']))}"
    for path, number in errors.items():
        tell(f"lint: {plural(number, 'problem')} in {path}, see `simulator lint {shlex.quote(path)}{where}`")


def _suites(path: Path, folder: Path) -> Mapping[str, Suite]:
    """Return the suites that *path* may be of: those of *folder*, or of its own where it is not in there."""
    try:
        return load_suites(folder if path.is_relative_to(folder) else path.parent)
    except InputError as error:
        tell(f"lint: {error}")
        return {}


def _judge_calibration(
    options: Mapping[str, Any], scenarios: Sequence[Scenario], templates: Templates
) -> JudgeCalibration | None:
    """Return what --judge-calibration names. Raises ``InputError`` where it is not for the judge that will be asked."""
    path: Path | None = options["judge_calibration"]
    if path is None:
        return None
    if _check(options) == "evidence":
        raise InputError("--judge-calibration: no judge is asked; write --check judge or --check both")
    calibration = read_calibration(path)
    for scenario in scenarios:
        name = template_names(scenario)["check"]
        if digest_text(templates.sources[name]) != calibration.template_sha256:
            raise InputError(f"{path}: it was fitted with another check template than {name} as it is; fit again")
    return calibration


def _open_models(stack: ExitStack, options: Mapping[str, Any]) -> Models:
    answer = Options(
        prefix="",
        model=options["model"],
        endpoint=options["endpoint"],
        api_key_env=options["api_key_env"],
        sampling=_sampling(options, ""),
    )
    checker = Options(
        prefix="checker-",
        model=options["checker_model"] or (None if options["checker_endpoint"] else options["model"]),
        endpoint=options["checker_endpoint"] or _endpoint_of_checker(options),
        api_key_env=options["checker_api_key_env"] or options["api_key_env"],
        sampling=_sampling(options, "checker_"),
    )
    return open_models(
        stack,
        answer,
        checker,
        read_behaviour(options),
        Load(concurrency=options["concurrency"], threads=options["threads"]),
    )


def _endpoint_of_checker(options: Mapping[str, Any]) -> str | None:
    """Return the answer's endpoint, unless the checker is a model file to embed."""
    return None if (options["checker_model"] or "").endswith(".gguf") else options["endpoint"]


def _sampling(options: Mapping[str, Any], prefix: str) -> Sampling:
    params = read_params(options[f"{prefix}param"], f"--{prefix.replace('_', '-')}param")
    if prefix and options["judge_calibration"] is not None:
        params = {**GRADED_FIELDS, **params}
    return Sampling(
        temperature=options[f"{prefix}temperature"],
        top_p=options[f"{prefix}top_p"],
        max_tokens=options[f"{prefix}max_tokens"],
        params=params,
    )


def _settings(options: Mapping[str, Any], models: Models, calibration: JudgeCalibration | None) -> Settings:
    drawn = secrets.randbelow(2**31)
    return Settings(
        attempts=options["attempts"],
        seed=drawn if options["seed"] is None else options["seed"],
        concurrency=models.concurrency,
        overlap=models.overlap,
        check=_check(options),
        judge_calibration=calibration,
        control=options["control"],
        on_unsupported=options["on_unsupported"],
        route=options["route"],
        history=options["history"],
    )


def _check(options: Mapping[str, Any]) -> CheckBy:
    """Return --check; by default evidence, and both where somebody went to the length of naming a checker."""
    named = options["checker_model"] or options["checker_endpoint"]
    return options["check"] or ("both" if named else "evidence")


_RECORDED = ("max_tokens_field", "fold_system", "send_seed", "response_format", "timeout", "deadline", "tries")


def _manifest(
    options: Mapping[str, Any],
    settings: Settings,
    models: Models,
    snapshots: Mapping[str, bytes],
    templates: Templates,
) -> Manifest:
    recorded = {
        **asdict(settings),
        **{name: options[name] for name in _RECORDED},
        "answer": asdict(models.answer.sampling),
        "checker": asdict(models.checker.sampling),
    }
    return Manifest(
        format=FORMAT,
        run=options["run"] or datetime.now(UTC).strftime("%Y%m%d-%H%M%S-%f")[:-3],
        started=now(),
        simulator=__version__,
        checks=CHECKS,
        seed=settings.seed,
        attempts=settings.attempts,
        settings=recorded,
        endpoints={role: dict(facts) for role, facts in models.facts.items()},
        scenarios={name: digest_bytes(data) for name, data in snapshots.items()},
        templates={name: digest_text(text) for name, text in templates.sources.items()},
    )


def _announce(manifest: Manifest, models: Models, calibration: JudgeCalibration | None) -> None:
    what = f"{plural(manifest.attempts, 'attempt')} of {', '.join(manifest.scenarios)}"
    tell(f"run {manifest.run}: {what}, seed {manifest.seed}")
    if models.tiny:
        tell(models.tiny)
    judge = models.checker.endpoint.model
    if calibration is not None and calibration.model != judge:
        tell(f"--judge-calibration was fitted for {calibration.model}, and the judge here is {judge}")


def _play(
    writer: RunWriter,
    scenarios: Sequence[Scenario],
    templates: Templates,
    models: Models,
    settings: Settings,
    stop: Stop,
) -> Result:
    turns = settings.attempts * sum(len(scenario.turns) for scenario in scenarios)
    try:
        with ProgressDisplay(attempts=settings.attempts * len(scenarios), turns=turns) as display:
            return play(
                writer,
                scenarios,
                templates,
                answer=models.answer,
                checker=models.checker,
                settings=settings,
                on_event=display.show,
                stop=stop,
            )
    except RecordingError as error:
        raise IncompleteError(
            f"{error}; `simulator show {writer.manifest.run}` reads what was recorded before"
        ) from error


def _earlier_attempts(options: Mapping[str, Any], scenarios: Sequence[str]) -> list[Transcript]:
    """Return the attempts to compare with: those of --against, or of the newest run that holds each scenario."""
    root: Path = options["recordings"]
    if options["against"] is None:
        return [attempt for name in scenarios for attempt in _newest(root, name)]
    reference = parse_reference(options["against"])
    if reference.scenario is not None:
        raise InputError(f"--against {options['against']}: write a run alone, such as {reference.run}")
    run = find_run(root, reference)
    shared = [name for name in scenarios if name in run.attempts]
    if not shared:
        there = ", ".join(run.attempts) or "no attempt at all"
        raise InputError(f"--against {options['against']}: that run has no attempt of {scenarios[0]}; it has {there}")
    return [attempt for name in shared for attempt in read_transcripts(run, name)]


def _newest(root: Path, scenario: str) -> Sequence[Transcript]:
    """Return the attempts at *scenario* in the newest run that ended and holds it. One that is damaged is passed over.

    Nobody asked for it, and it is not to stand in the way of a new run.
    """
    try:
        run = find_run(root, Reference(run="LAST", scenario=scenario))
    except RecordingError:
        return ()
    try:
        return read_transcripts(run, scenario)
    except InputError as error:
        tell(f"not compared with the run before: {error}")
        return ()


def _report(run: RunRecord, result: Result, earlier: Sequence[Transcript], options: Mapping[str, Any]) -> int:
    attempts = [attempt for scenario in run.attempts for attempt in read_transcripts(run, scenario)]
    summary = summarise_run(attempts)
    compared = [attempt for attempt in earlier if attempt.scenario in run.attempts]
    diff = diff_runs(compared, attempts) if compared else None
    if options["json"]:
        print_json({"run": run.manifest.run, "complete": result.complete, **summary.to_json(), **_diff_json(diff)})
    else:
        comparison = [] if diff is None else [whole(f"against {diff.a}: {diff.summary}"), Text(COUNTS_ONLY)]
        print_page(render_summary(summary), *comparison, *map(whole, _next(run, diff)))
    return _status(run, result, diff, options)


def _diff_json(diff: RunDiff | None) -> dict[str, Any]:
    return {"against": None if diff is None else diff.to_json()}


def _next(run: RunRecord, diff: RunDiff | None) -> Iterator[str]:
    """Yield where the run is, and commands worth typing next."""
    name = run.manifest.run
    where = "" if run.folder.parent == RECORDINGS else f" --recordings {shlex.quote(str(run.folder.parent))}"
    scenario, numbers = next(iter(run.attempts.items()), ("", ()))
    yield ""
    yield f"recorded in {run.folder}"
    if numbers:
        yield f"  simulator show {name}:{scenario}#{numbers[0]}{where}"
    if len(numbers) > 1:
        yield f"  simulator diff {name}:{scenario}#{numbers[0]} {name}:{scenario}#{numbers[1]}{where}"
    if diff is not None and len(diff.a.runs) == 1:
        yield f"  simulator diff {diff.a.runs[0]} {name}{where}"


def _status(run: RunRecord, result: Result, diff: RunDiff | None, options: Mapping[str, Any]) -> int:
    if not result.complete:
        tell_some("incomplete", result.problems)
        there = f"what was played can be read in {run.folder}"
        if result.interrupted:
            tell(f"stopped on request: {there}; play again, under another name, for all of it")
            return INTERRUPTED
        tell(f"{there}; mend what the lines above name, and play again under another name")
        return INCOMPLETE
    return _gate(diff, options) if options["fail_on"] else 0


def _gate(diff: RunDiff | None, options: Mapping[str, Any]) -> int:
    """Return 1 for a regression. A run that can be compared with nothing passes, unless it was told with what."""
    if why := not_compared(diff):
        tell(f"--fail-on: {why}")
        return _WRONG if options["against"] else 0
    return REGRESSION if diff is not None and diff.regressions else 0
