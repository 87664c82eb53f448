"""``simulator calibrate`` as a person runs it, against a scripted judge."""

from __future__ import annotations

import json
import math
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from program import Ended

from simulator.cli import main
from simulator.testing import Answer, ScriptedServer, chat_body

Script = Callable[[dict[str, Any]], Any]

ROWS = [
    ("a", "park", True, "The park opens at noon.", 0.9),
    ("b", "park", True, "The park is open from noon on.", 0.8),
    ("c", "park", False, "The park opens at ten.", 0.6),
    ("d", "park", False, "The park opens at noon, and dogs are welcome.", 0.3),
    ("e", "museum", True, "The park opens at midday.", 0.7),
    ("f", "museum", False, "The museum sells tickets for the park.", 0.4),
    ("g", "museum", False, "Thank you!", 0.5),
]
"""Id, source, label, reply, and the probability with which the judge finds it supported."""


Run = Callable[..., Ended]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Run]:
    """Yield a function that runs the program in a folder with labelled replies, ``labels.jsonl``."""
    lines = [
        {"id": name, "source": source, "supported": label, "reply": reply, "document": "The park opens at noon."}
        for name, source, label, reply, _ in ROWS
    ]
    (tmp_path / "labels.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")

    def program(*arguments: str) -> Ended:
        monkeypatch.setattr(sys, "argv", ["simulator", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        captured = capsys.readouterr()
        return Ended(status=int(ended.value.code or 0), out=captured.out, err=captured.err)

    before = signal.getsignal(signal.SIGINT)
    yield program
    signal.signal(signal.SIGINT, before)


def graded(chance: float, *, flagged: str = "") -> dict[str, Any]:
    """Return an answer whose verdict word comes in pieces, with the probability *chance* of supported."""
    word = "supported" if chance >= 0.5 else "unsupported"
    spans = json.dumps([] if word == "supported" else [flagged])
    tokens = [
        '{"verdict":',
        ' "',
        *(["supported"] if word == "supported" else ["un", "supported"]),
        f'", "unsupported": {spans}}}',
    ]
    top = [{"token": "supported", "logprob": math.log(chance)}, {"token": "un", "logprob": math.log(1 - chance)}]
    content = [{"token": token, "logprob": 0.0, "top_logprobs": [{"token": token, "logprob": 0.0}]} for token in tokens]
    content[2]["top_logprobs"] = top
    body = chat_body("".join(tokens), model="judge-1")
    body["choices"][0]["logprobs"] = {"content": content}
    return body


def judge(body: dict[str, Any]) -> dict[str, Any]:
    """Answer as ``ROWS`` says."""
    shown = body["messages"][-1]["content"].partition("REPLY TO CHECK\n")[2].strip()
    chance = next(chance for _, _, _, reply, chance in ROWS if reply == shown)
    return graded(chance, flagged=shown)


def test_the_evidence_is_measured_without_a_model(run: Run) -> None:
    """Counts, ranges, intervals, sources and errors are one JSON object."""
    done = run("calibrate", "labels.jsonl", "--json")
    assert done.status == 0, done.err
    figures = done.json
    assert (figures["check"], figures["n"], figures["supported"], figures["judge"]) == ("evidence", 7, 3, None)
    assert figures["words"]["confusion"]["unsupported"] == {"supported": 0, "unsupported": 3, "unknown": 0, "none": 1}
    assert set(figures["sources"]) == {"park", "museum"}
    assert [each["source"] for each in figures["left_out"]] == ["museum", "park"]
    assert run("calibrate", "labels.jsonl", "--json").json == figures
    for part in ("precision", "recall", "balanced_accuracy"):
        assert set(figures["scores"][f"{part}_95"]) == set(figures["words"][f"{part}_95"]) == {"low", "high"}


def test_the_page_names_what_was_measured(run: Run) -> None:
    """Unknown has a column of its own, each source a row, and as many errors are listed as are asked for."""
    done = run("calibrate", "labels.jsonl", "--threshold", "0", "--worst", "1")
    assert done.status == 0, done.err
    for part in ("7 rows, 3 labelled supported, 4 unsupported", "unknown", "0 on", "museum", "the worst 1 of them"):
        assert part in done.out
    assert done.out.count("read as") == 1
    assert "read as" not in run("calibrate", "labels.jsonl", "--worst", "0").out


def test_the_judge_is_asked_once_and_its_calls_tell_the_figures_again(run: Run, tmp_path: Path) -> None:
    """What was asked is in the file; with it no server is needed, and the figures are the same."""
    with ScriptedServer(judge, model="judge-1") as server:
        first = run(
            "calibrate", "labels.jsonl", "--check", "judge", "--calls", "c.jsonl", "--json", "--endpoint", server.url
        )
        sent = [request.body for request in server.requests]
    assert first.status == 0, first.err
    assert len(sent) == 7
    assert {(body["logprobs"], body["top_logprobs"], body["model"]) for body in sent} == {(True, 5, "judge-1")}
    assert len({body["seed"] for body in sent}) == 7
    again = run("calibrate", "labels.jsonl", "--check", "judge", "--calls", "c.jsonl", "--json")
    assert again.json == first.json
    assert first.json["scores"]["auroc"] == pytest.approx(1.0)
    assert (first.json["judge"]["model"], first.json["judge"]["graded"]) == ("judge-1", 7)
    assert len((tmp_path / "c.jsonl").read_text().splitlines()) == 8
    page = run("calibrate", "labels.jsonl", "--check", "judge", "--calls", "c.jsonl").out
    assert "judge-1" in page
    assert "P(supported) could be read of 7 rows" in page


def test_a_row_that_has_its_call_is_not_asked_again(run: Run, tmp_path: Path) -> None:
    """Where the server went away the calls so far stay, and the same command goes on; a torn line is asked again."""
    asked: list[str] = []

    def failing(body: dict[str, Any]) -> Any:
        asked.append(body["messages"][-1]["content"])
        return judge(body) if len(asked) <= 3 else Answer(status=503, body="busy")

    command = (
        "calibrate",
        "labels.jsonl",
        "--check",
        "judge",
        "--calls",
        "c.jsonl",
        "--tries",
        "1",
        "--model",
        "judge-1",
    )
    with ScriptedServer(failing, model="judge-1") as server:
        stopped = run(*command, "--endpoint", server.url)
    assert stopped.status == 3
    assert "row 'd': HTTP 503" in stopped.err
    assert "give the same command again to go on" in stopped.err
    path = tmp_path / "c.jsonl"
    assert len(path.read_text().splitlines()) == 4
    path.write_bytes(path.read_bytes()[:-20])
    with ScriptedServer(judge, model="judge-1") as server:
        done = run(*command, "--endpoint", server.url)
        assert len(server.requests) == 5
    assert done.status == 0, done.err
    assert len(path.read_text().splitlines()) == 8


def test_a_call_that_fails_for_its_row_alone_is_kept_as_unknown(run: Run) -> None:
    """A request that is turned down is that row's, once another was answered; a refused key is everybody's."""
    command = ("calibrate", "labels.jsonl", "--check", "judge", "--calls", "c.jsonl", "--json", "--endpoint")

    def refusing(status: int, name: str) -> Script:
        reply = next(reply for each, _, _, reply, _ in ROWS if each == name)
        return lambda body: Answer(status=status, body="no") if reply in str(body["messages"]) else judge(body)

    for status, name in ((400, "a"), (401, "c")):
        with ScriptedServer(refusing(status, name), model="judge-1") as server:
            stopped = run(*command, server.url)
        assert stopped.status == 3
        assert f"row '{name}': HTTP {status}" in stopped.err
    with ScriptedServer(refusing(400, "c"), model="judge-1") as server:
        done = run(*command, server.url)
    assert done.status == 0, done.err
    assert done.json["words"]["confusion"]["unsupported"]["unknown"] == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--model", "other"), "model 'judge-1', and not 'other'"),
        (("--temperature", "0.5"), "temperature 0.0, and not 0.5"),
        (("--param", "top_k=1"), "top_k None, and not 1"),
        (("--seed", "3"), "seed 0, and not 3"),
        (("--templates", "own"), "check template"),
    ],
)
def test_calls_that_were_made_otherwise_are_not_taken_for_these(
    run: Run, tmp_path: Path, options: tuple[str, ...], message: str
) -> None:
    """The options must be those of the file, also where nothing need be asked."""
    (tmp_path / "own").mkdir()
    (tmp_path / "own/check.jinja").write_text("{% block user %}\n{{ reply }}\n{% endblock %}\n")
    command = ("calibrate", "labels.jsonl", "--check", "judge", "--calls", "c.jsonl", "--endpoint")
    with ScriptedServer(judge, model="judge-1") as server:
        assert run(*command, server.url, "--temperature", "0").status == 0
    done = run(*command, "http://127.0.0.1:9/v1", *options)
    assert done.status == 2
    assert message in done.err
    assert "name another file with --calls" in done.err


def test_rows_asked_of_another_server_are_not_added(run: Run, tmp_path: Path) -> None:
    """What is missing from the file is asked under its own settings only."""
    command = ("calibrate", "labels.jsonl", "--check", "judge", "--calls", "c.jsonl", "--endpoint")
    with ScriptedServer(judge, model="judge-1") as server:
        assert run(*command, server.url, "--temperature", "0").status == 0
        path = tmp_path / "c.jsonl"
        path.write_text("".join(path.read_text().splitlines(keepends=True)[:3]))
        less = run(*command, server.url)
    with ScriptedServer(judge, model="judge-2") as server:
        other = run(*command, server.url, "--temperature", "0")
        assert server.requests == []
    assert (less.status, other.status) == (2, 2)
    assert "temperature 0.0, and not None" in less.err
    assert "model 'judge-1', and not 'judge-2'" in other.err


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("no\n", "c.jsonl:1: not JSON"),
        ("{}\n", "c.jsonl:1: kind"),
        (
            '{"kind":"judge","format":9,"server":{},"body":{},"template_sha256":"","seed":0}\n',
            "format 9 is newer than 1",
        ),
        (
            '{"kind":"judge","format":1,"server":{},"body":{},"template_sha256":"","seed":0}\n[]\n',
            "c.jsonl:2: the line",
        ),
    ],
)
def test_a_file_that_holds_no_calls_is_named(run: Run, tmp_path: Path, content: str, message: str) -> None:
    """It is neither read as something else nor written over."""
    (tmp_path / "c.jsonl").write_text(content)
    done = run("calibrate", "labels.jsonl", "--check", "judge", "--calls", "c.jsonl")
    assert done.status == 2
    assert message in done.err
    assert (tmp_path / "c.jsonl").read_text() == content


def test_a_changed_request_is_seen(run: Run, tmp_path: Path) -> None:
    """Each request is held against its digest."""
    command = ("calibrate", "labels.jsonl", "--check", "judge", "--calls", "c.jsonl")
    with ScriptedServer(judge, model="judge-1") as server:
        assert run(*command, "--endpoint", server.url).status == 0
    path = tmp_path / "c.jsonl"
    path.write_text(path.read_text().replace("from noon on", "from nine on", 1))
    done = run(*command)
    assert done.status == 2
    assert "c.jsonl:3: the request does not have its recorded digest" in done.err


def test_a_judge_that_says_nothing_is_unknown(run: Run) -> None:
    """Each row is asked twice; figures are ranges, and there is no score."""
    with ScriptedServer(lambda _body: "%&/", model="judge-1") as server:
        done = run(
            "calibrate", "labels.jsonl", "--check", "judge", "--calls", "c.jsonl", "--json", "--endpoint", server.url
        )
        assert len(server.requests) == 14
    assert done.status == 0, done.err
    words = done.json["words"]
    assert (words["unknown"], words["balanced_accuracy"], done.json["scores"]) == (7, {"low": 0.0, "high": 1.0}, None)
    assert done.json["judge"]["graded"] == 0
    fitted = run("calibrate", "labels.jsonl", "--check", "judge", "--calls", "c.jsonl", "--fit", "judge.json")
    assert fitted.status == 2
    assert "nothing to fit: 0 supported and 0 unsupported rows have a grade" in fitted.err


def test_a_fit_is_written_and_measured(run: Run, tmp_path: Path) -> None:
    """The file holds threshold, band, rule, model and template; the figures printed are those under it."""
    command = ("calibrate", "labels.jsonl", "--check", "judge", "--calls", "c.jsonl", "--json")
    with ScriptedServer(judge, model="judge-1") as server:
        done = run(*command, "--fit", "judge.json", "--endpoint", server.url)
    assert done.status == 0, done.err
    written = json.loads((tmp_path / "judge.json").read_text())
    assert (written["threshold"], written["band"]) == (pytest.approx(0.65), None)
    assert (written["n"], written["supported"], written["model"], written["reported"]) == (7, 3, "judge-1", ["judge-1"])
    assert done.json["words"]["confusion"]["unsupported"]["unsupported"] == 4
    assert done.json["judge"]["fit"]["decided_balanced_accuracy"] == 1.0
    later = run(*command, "--judge-calibration", "judge.json").json
    assert later["words"] == done.json["words"]
    assert later["scores"] == done.json["scores"]
    refused = run(*command, "--fit", "judge.json")
    assert refused.status == 2
    assert "judge.json: it exists already" in refused.err
    page = run("calibrate", "labels.jsonl", "--check", "judge", "--calls", "c.jsonl", "--fit", "second.json").out
    assert "supported from 0.650 on, unknown band none" in page
    assert "found on these very rows" in page
    assert (tmp_path / "second.json").read_bytes() == (tmp_path / "judge.json").read_bytes()


def test_a_calibration_of_another_template_is_refused(run: Run, tmp_path: Path) -> None:
    """A threshold is that of one prompt."""
    command = ("calibrate", "labels.jsonl", "--check", "judge", "--calls", "c.jsonl")
    with ScriptedServer(judge, model="judge-1") as server:
        assert run(*command, "--fit", "judge.json", "--endpoint", server.url).status == 0
    path = tmp_path / "judge.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "template_sha256": "0" * 64}))
    done = run(*command, "--judge-calibration", "judge.json")
    assert done.status == 2
    assert "fitted with another check template" in done.err


def test_both_are_measured_together(run: Run) -> None:
    """A reply without a claim is not put to the judge; a hard failure stands, whatever the judge says."""
    with ScriptedServer(judge, model="judge-1") as server:
        done = run(
            *("calibrate", "labels.jsonl", "--check", "both", "--calls", "c.jsonl", "--json", "--worst", "9"),
            *("--endpoint", server.url),
        )
        assert len(server.requests) == 6
    assert done.status == 0, done.err
    assert done.json["words"]["confusion"]["unsupported"]["none"] == 1
    assert done.json["scores"]["n"] == 7
    assert done.json["judge"]["calls"] == 6


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--calls", "c.jsonl"), "--calls: no judge is asked; write --check judge or --check both"),
        (("--fit", "f.json"), "--fit: no judge is asked"),
        (("--judge-calibration", "f.json"), "--judge-calibration: no judge is asked"),
        (("--check", "judge"), "name a file for the judge's calls with --calls FILE"),
        (
            ("--check", "judge", "--calls", "c.jsonl", "--fit", "f.json", "--judge-calibration", "g.json"),
            "--fit and --judge-calibration: write one of them",
        ),
        (("--check", "judge", "--calls", "labels.jsonl"), "labels.jsonl:1: "),
        (("--check", "judge", "--calls", "c.jsonl", "--model", "none.gguf"), "none.gguf"),
    ],
)
def test_options_that_do_not_go_together_are_named(run: Run, options: tuple[str, ...], message: str) -> None:
    """One line says what to write, and nothing is asked or written."""
    done = run("calibrate", "labels.jsonl", *options)
    assert done.status == 2
    assert message in done.err
    assert not Path("c.jsonl").exists()


# replay


SCENARIO = """\
scenario: park
title: The park
passages: [{id: hours, text: The park opens at noon.}]
turns:
  - {say: "When does it open?", answer_from: document}
"""


def replayed(run: Run, *options: str, chance: float) -> tuple[Ended, dict[str, Any], list[dict[str, Any]]]:
    """Play one turn with a judge; return how it ended, the transcript's turn and the manifest, and what was sent."""

    def script(body: dict[str, Any]) -> Any:
        checks = "REPLY TO CHECK" in body["messages"][-1]["content"]
        return graded(chance, flagged="noon") if checks else "The park opens at noon."

    Path("park.yaml").write_text(SCENARIO)
    with ScriptedServer(script, model="judge-1") as server:
        done = run("replay", "park.yaml", "--run", "r", "--check", "judge", "--endpoint", server.url, *options)
        sent = [request.body for request in server.requests]
    shown = run("show", "r:park#1", "--json") if done.status == 0 else None
    return done, shown.json[0]["turns"][0] if shown else {}, sent


def test_a_replay_takes_the_judges_word_from_its_calibration(run: Run) -> None:
    """The grade decides, the alternatives are asked for on checks alone, and the manifest holds the calibration."""
    with ScriptedServer(judge, model="judge-1") as server:
        command = ("calibrate", "labels.jsonl", "--check", "judge", "--calls", "c.jsonl", "--fit", "judge.json")
        assert run(*command, "--endpoint", server.url).status == 0
    done, turn, sent = replayed(run, "--judge-calibration", "judge.json", chance=0.6)
    assert done.status == 0, done.err
    assert (turn["verdict"]["word"], turn["verdict"]["score"]) == ("unsupported", pytest.approx(0.6))
    assert turn["verdict"]["spans"] == ["The park opens at noon."]
    assert turn["decision"]["word"] == "suppressed"
    assert ["logprobs" in body for body in sent] == [False, True]
    manifest = run("show", "r", "--json").json["manifest"]
    assert manifest["settings"]["judge_calibration"]["threshold"] == pytest.approx(0.65)
    assert manifest["settings"]["checker"]["params"] == {"logprobs": True, "top_logprobs": 5}
    assert "P(supported)" in run("show", "r:park#1").out


def test_without_a_calibration_the_plain_word_counts_and_the_grade_is_shown(run: Run) -> None:
    """A server that gives the probabilities unasked has them in the transcript."""
    done, turn, sent = replayed(run, chance=0.6)
    assert done.status == 0, done.err
    assert (turn["verdict"]["word"], turn["verdict"]["score"]) == ("supported", pytest.approx(0.6))
    assert ["logprobs" in body for body in sent] == [False, False]
    assert "0.60 by the judge" in run("show", "r:park#1").out
    assert run("show", "r", "--json").json["manifest"]["settings"]["judge_calibration"] is None


def test_a_calibration_for_another_judge_is_said_or_refused(run: Run, tmp_path: Path) -> None:
    """Another model is said, another template is refused, and so is a run that asks no judge."""
    with ScriptedServer(judge, model="judge-2") as server:
        command = ("calibrate", "labels.jsonl", "--check", "judge", "--calls", "c.jsonl", "--fit", "judge.json")
        assert run(*command, "--endpoint", server.url).status == 0
    done, _, _ = replayed(run, "--judge-calibration", "judge.json", chance=0.6)
    assert "fitted for judge-2, and the judge here is judge-1" in done.err
    path = tmp_path / "judge.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "template_sha256": "0" * 64}))
    for options, message in (
        (("--check", "judge"), "another check template than check"),
        (("--check", "evidence"), "no judge is asked"),
    ):
        refused = run("replay", "park.yaml", "--judge-calibration", "judge.json", *options)
        assert refused.status == 2
        assert message in refused.err
