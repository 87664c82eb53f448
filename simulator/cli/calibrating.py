"""``simulator calibrate``: how good a checker is on labelled replies."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ..calibrate import (
    FIT_RULE,
    THRESHOLD,
    Calibration,
    Check,
    Fit,
    LabelledReply,
    evidence_check,
    fit,
    measure,
    read_labels,
)
from ..errors import InputError
from ..judged import SCENARIO, CallFile, JudgeFacts, Opened, RowJudge
from ..model import Sampling
from ..outcome import VerdictWord
from ..prompt import load_templates
from ..report import render_calibration
from ..stages.graded import CALIBRATION_FORMAT, GRADED_FIELDS, JudgeCalibration, read_calibration
from .models import Load, Options, open_models, read_behaviour, read_params
from .output import print_json, print_page
from .places import template_folders
from .streams import tell

__all__ = ["run"]

_TOLD_EVERY = 10


def run(**options: Any) -> int:
    """Print the figures, and return the exit status."""
    _refuse(options)
    rows = read_labels(options["file"])
    if options["check"] == "evidence":
        _show(_measured(rows, evidence_check, options, THRESHOLD), options)
        return 0
    with ExitStack() as stack:
        _measure_judge(rows, stack, options)
    return 0


def _refuse(options: Mapping[str, Any]) -> None:
    """Raise ``InputError`` for options that do not go together."""
    judged = options["check"] != "evidence"
    for name in ("fit", "judge_calibration", "calls"):
        if options[name] is not None and not judged:
            raise InputError(f"--{name.replace('_', '-')}: no judge is asked; write --check judge or --check both")
    if judged and options["calls"] is None:
        raise InputError("--check judge and both: name a file for the judge's calls with --calls FILE")
    if options["fit"] is not None and options["judge_calibration"] is not None:
        raise InputError("--fit and --judge-calibration: write one of them")
    if options["fit"] is not None and os.path.lexists(options["fit"]):
        raise InputError(f"--fit {options['fit']}: it exists already; name another file")


def _measured(rows: Sequence[LabelledReply], check: Check, options: Mapping[str, Any], threshold: float) -> Calibration:
    chosen = threshold if options["threshold"] is None else options["threshold"]
    return measure(rows, check, threshold=chosen, seed=options["seed"])


def _measure_judge(rows: Sequence[LabelledReply], stack: ExitStack, options: Mapping[str, Any]) -> None:
    judge, fitted = _judge(stack, options), None
    if options["fit"] is not None:
        fitted = _fitted(judge, rows, options)
        calibration = _calibration(fitted, judge)
        _write(options["fit"], calibration.content())
        judge = judge.calibrated(calibration)
    figures = _measured(rows, _telling(_check(judge, options), judge, len(rows)), options, _threshold(judge, options))
    _show(figures, options, judge.facts(rows, fitted))


def _judge(stack: ExitStack, options: Mapping[str, Any]) -> RowJudge:
    templates = load_templates(template_folders(options["templates"]), [SCENARIO])
    path: Path | None = options["judge_calibration"]
    calibration = None if path is None else read_calibration(path)
    judge = RowJudge(
        CallFile(options["calls"]),
        templates,
        lambda: _open(stack, options),
        calibration=calibration,
        seed=options["seed"],
    )
    if calibration is not None and calibration.template_sha256 != judge.template_sha256:
        raise InputError(f"{path}: it was fitted with another check template; fit again with --fit")
    judge.calls.refuse_other(_named(options), template=judge.template_sha256, seed=options["seed"])
    return judge


def _fitted(judge: RowJudge, rows: Sequence[LabelledReply], options: Mapping[str, Any]) -> Fit:
    check = _telling(_check(judge, options), judge, len(rows))
    for row in rows:
        check(row)
    return fit(judge.graded(rows))


def _threshold(judge: RowJudge, options: Mapping[str, Any]) -> float:
    """Return the threshold of the score: the judge's own where its grade is the score."""
    calibration = judge.calibration
    return calibration.threshold if calibration and options["check"] == "judge" else THRESHOLD


def _named(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a request that the options name, without looking at a server."""
    fields = _sampling(options).fields(options["max_tokens_field"])
    model: str | None = options["model"]
    if model is not None:
        fields["model"] = Path(model).name if options["endpoint"] is None else model
    return fields


def _sampling(options: Mapping[str, Any]) -> Sampling:
    return Sampling(
        temperature=options["temperature"],
        top_p=options["top_p"],
        max_tokens=options["max_tokens"],
        params={**GRADED_FIELDS, **read_params(options["param"], "--param")},
    )


def _open(stack: ExitStack, options: Mapping[str, Any]) -> Opened:
    role = Options(
        prefix="",
        model=options["model"],
        endpoint=options["endpoint"],
        api_key_env=options["api_key_env"],
        sampling=_sampling(options),
    )
    models = open_models(stack, role, role, read_behaviour(options), Load(concurrency=1, threads=options["threads"]))
    if models.tiny:
        tell(models.tiny)
    return Opened(model=models.checker, server=models.facts["checker"])


def _check(judge: RowJudge, options: Mapping[str, Any]) -> Check:
    return judge.judge if options["check"] == "judge" else judge.both


def _telling(check: Check, judge: RowJudge, rows: int) -> Check:
    """Return *check*, which also says how far it has come where something was asked."""
    read, there = 0, len(judge.calls)

    def telling(row: LabelledReply) -> tuple[VerdictWord, float | None]:
        nonlocal read, there
        result = check(row)
        read += 1
        if len(judge.calls) >= there + _TOLD_EVERY:
            there = len(judge.calls)
            tell(f"judged {read} of {rows} rows")
        return result

    return telling


def _calibration(fitted: Fit, judge: RowJudge) -> JudgeCalibration:
    return JudgeCalibration(
        format=CALIBRATION_FORMAT,
        rule=FIT_RULE,
        threshold=fitted.threshold,
        band=fitted.band,
        n=fitted.n,
        supported=fitted.supported,
        model=str(judge.calls.body["model"]),
        reported=judge.calls.reported,
        template_sha256=judge.template_sha256,
    )


def _write(path: Path, data: bytes) -> None:
    try:
        with path.open("xb") as file:
            file.write(data)
    except OSError as error:
        raise InputError(f"--fit {path}: cannot be written: {error.strerror}; name another file") from error


def _show(figures: Calibration, options: Mapping[str, Any], judge: JudgeFacts | None = None) -> None:
    worst: int = options["worst"]
    if not options["json"]:
        print_page(render_calibration(figures, str(options["file"]), options["check"], worst=worst, judge=judge))
        return
    plain = figures.to_json()
    plain |= {
        "wrong": len(figures.errors),
        "errors": plain["errors"][:worst],
        "judge": asdict(judge) if judge else None,
    }
    print_json({"file": str(options["file"]), "check": options["check"], **plain})
