"""The program as a person runs it: processes of their own, a real server on loopback, files in a folder."""

from __future__ import annotations

import errno
import json
import os
import pty
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main
from library import REPLIES, SUPPORTED, answers, working_folder
from program import Forks, environment, program, python
from typer.core import TyperGroup

from simulator import __version__
from simulator.cli import models
from simulator.cli.commands import app
from simulator.testing import Answer, Delay, ScriptedServer, Step

README = Path(__file__).parent.parent / "README.md"
KEY = "sk-test-0123456789abcdef"
Script = Callable[[dict[str, Any]], Step]


# replay


def test_a_replay_records_and_says_what_came_of_it(played: Path) -> None:
    """The page ends with the run's folder and commands worth typing; the run was sealed."""
    with ScriptedServer(answers()) as server:
        done = program(played, "replay", "museum", "-n", "2", "--run", "page", "--endpoint", server.url)
    assert done.status == 0
    assert "museum attempt 2: finished" in done.err
    assert (
        "recorded in recordings/page\n  simulator show page:museum#1\n  simulator diff page:museum#1 page:museum#2"
        in (done.out)
    )
    assert json.loads((played / "recordings/page/sealed.json").read_text())["complete"]


def test_a_replay_compares_with_the_newest_earlier_run(forks: Forks, tmp_path: Path, server: ScriptedServer) -> None:
    """By default that is LAST; --against names another; --fail-on regression makes a regression status 1."""
    working_folder(tmp_path)
    play = ("replay", "library", "--json", "--endpoint")
    with ScriptedServer(answers(t2="A film may be kept for 9 days.")) as worse:
        assert forks(tmp_path, *play, server.url, "--run", "good").json["against"] is None
        bad = forks(tmp_path, *play, worse.url, "--run", "bad", "--fail-on", "regression")
        same = forks(tmp_path, *play, worse.url, "--run", "same", "--fail-on", "regression")
        named = forks(tmp_path, *play, worse.url, "--against", "good", "--fail-on", "regression")
    assert [(done.status, done.json["against"]["a"]["runs"]) for done in (bad, same, named)] == [
        (1, ["good"]),
        (0, ["bad"]),
        (1, ["good"]),
    ]


def test_fail_on_says_that_there_is_nothing_to_compare_with(
    forks: Forks, tmp_path: Path, server: ScriptedServer
) -> None:
    """A first run has no regression, and does not look like one that was compared."""
    done = forks(working_folder(tmp_path), "replay", "museum", "--endpoint", server.url, "--fail-on", "regression")
    assert done.status == 0
    assert "--fail-on: there is no earlier run to compare with" in done.err


def test_a_damaged_earlier_run_does_not_stand_in_the_way(forks: Forks, tmp_path: Path, server: ScriptedServer) -> None:
    """What nobody asked to be compared with is passed over, and that is said; named, it is an error."""
    play = ("replay", "museum", "--endpoint", server.url)
    forks(working_folder(tmp_path), *play, "--run", "old")
    path = tmp_path / "recordings/old/museum/1.jsonl"
    path.write_bytes(path.read_bytes().replace(b"noon", b"nine"))
    named = forks(tmp_path, *play, "--against", "old")
    done = forks(tmp_path, *play)
    assert (named.status, done.status) == (2, 0)
    assert "not compared with the run before: recordings/old/museum/1.jsonl:" in done.err


def test_a_suite_is_played_without_a_name(forks: Forks, tmp_path: Path, server: ScriptedServer) -> None:
    """Every scenario of --suite is played, and of several names each once."""
    play = ("replay", "--json", "--endpoint", server.url)
    suite = forks(working_folder(tmp_path), *play, "--suite", "lending", "--run", "suite")
    named = forks(tmp_path, *play, "museum", "scenarios/library.yaml", "museum", "--run", "named")
    assert (suite.status, named.status) == (0, 0)
    for done in (suite, named):
        assert [attempt["scenario"] for attempt in done.json["attempts"]] == ["library", "museum"]


def test_an_unknown_name_is_told_with_all_that_are_known(forks: Forks, played: Path) -> None:
    """The closest first, those that ship among them: a folder of one's own does not hide them."""
    told = forks(played, "replay", "libary", "--endpoint", "http://127.0.0.1:9/v1").err
    there = told.partition("write one of ")[2].strip().split(", ")
    assert there[0] == "library"
    assert {"library", "museum", "arches"} <= set(there)


def test_a_name_that_only_ships_is_played_beside_ones_own(forks: Forks, tmp_path: Path) -> None:
    """Own scenarios come first, shipped ones are the fall-back; with --scenarios only that folder counts."""
    working_folder(tmp_path)
    with ScriptedServer(lambda body: SUPPORTED if "REPLY TO CHECK" in str(body) else "Ref: PK-3314") as server:
        play = ("replay", "arches", "--endpoint", server.url)
        done, named = forks(tmp_path, *play, "--json"), forks(tmp_path, *play, "--scenarios", "scenarios")
    assert (done.status, done.json["total"]["turns"], named.status) == (0, 10, 2)
    assert "lint" not in done.err


def test_what_lint_says_is_noted_and_the_scenario_is_played(
    forks: Forks, tmp_path: Path, server: ScriptedServer
) -> None:
    """One line on stderr for each scenario with an error, with the command that lists them."""
    done = forks(working_folder(tmp_path), "replay", "museum", "library", "--endpoint", server.url)
    notes = [line for line in done.err.splitlines() if line.startswith("lint")]
    assert notes == ["lint: 1 problem in scenarios/museum.yaml, see `simulator lint scenarios/museum.yaml`"]
    assert done.status == 0
    assert forks(tmp_path, "lint", "scenarios/museum.yaml").status == 2


def test_an_empty_folder_plays_what_the_package_ships(forks: Forks, tmp_path: Path) -> None:
    """Without ./scenarios and ./templates the shipped ones are used, and only ./recordings is made."""
    with ScriptedServer(lambda body: SUPPORTED if "REPLY TO CHECK" in str(body) else "Ref: PK-3314") as server:
        done = forks(tmp_path, "replay", "arches", "--json", "--endpoint", server.url)
    assert (done.status, done.json["total"]["turns"]) == (0, 10)
    assert [path.name for path in tmp_path.iterdir()] == ["recordings"]


def test_options_of_both_models_reach_their_requests(forks: Forks, tmp_path: Path) -> None:
    """--param and the sampling options are sent to the answer's server, those with --checker- to the checker's."""
    with ScriptedServer(answers()) as answering, ScriptedServer(answers(), model="judge") as judging:
        done = forks(
            working_folder(tmp_path),
            *("replay", "museum", "--endpoint", answering.url, "--checker-endpoint", judging.url, "--seed", "5"),
            *("--temperature", "0.7", "--top-p", "0.9", "--max-tokens", "99", "--param", "top_k=40"),
            *("--param", "stop=[]", "--param", "user=me", "--checker-temperature", "0", "--checker-param", "min_p=0.1"),
            *("--checker-max-tokens", "50", "--max-tokens-field", "max_completion_tokens", "--no-seed-field"),
        )
        sent = [{**one.requests[0].body, "messages": None} for one in (answering, judging)]
    assert done.status == 0, done.err
    assert sent[0] == {
        "model": "scripted",
        "messages": None,
        "temperature": 0.7,
        "top_p": 0.9,
        "max_completion_tokens": 99,
        "top_k": 40,
        "stop": [],
        "user": "me",
    }
    assert sent[1].pop("response_format")["type"] == "json_schema"
    assert sent[1] == {
        "model": "judge",
        "messages": None,
        "temperature": 0.0,
        "min_p": 0.1,
        "max_completion_tokens": 50,
    }


def test_the_key_is_sent_and_appears_nowhere(forks: Forks, tmp_path: Path) -> None:
    """The key of the environment is the bearer of every request, and in no file and no output, echoed or not."""
    echo = answers(t4=f"The museum opens at noon, {KEY}.")
    with ScriptedServer(echo, pages={"/props": {"build_info": KEY}}) as server:
        play = ("replay", "museum", "--json", "--endpoint", server.url)
        done = forks(working_folder(tmp_path), *play, SIMULATOR_API_KEY=KEY)
        other = forks(tmp_path, *play, "--api-key-env", "OTHER", OTHER=KEY)
        shown = forks(tmp_path, "show", "LAST:museum", "--json")
        assert {request.headers["authorization"] for request in server.requests} == {f"Bearer {KEY}"}
    assert (done.status, other.status, shown.status) == (0, 0, 0)
    written = [path.read_bytes() for path in (tmp_path / "recordings").rglob("*") if path.is_file()]
    assert len(written) > 10
    assert all(KEY.encode() not in data for data in written)
    assert all(KEY not in text for one in (done, other, shown) for text in (one.out, one.err))


def test_a_dead_endpoint_is_one_line_and_leaves_nothing(forks: Forks, tmp_path: Path) -> None:
    """Status 3, one line on stderr, and no run."""
    with ScriptedServer(answers()) as server:
        url = server.url
    for more in ((), ("--model", "any")):
        done = forks(working_folder(tmp_path), "replay", "museum", "--endpoint", url, *more)
        assert (done.status, done.out, len(done.err.splitlines())) == (3, "", 1)
        assert done.err.startswith(f"error: {url}: ")
    assert not (tmp_path / "recordings").exists()


def test_an_attempt_that_fails_makes_the_run_incomplete(forks: Forks, tmp_path: Path) -> None:
    """Status 3, why, and what to do next; the page and the recording have what was played."""
    with ScriptedServer(answers(t2=Answer(status=400, body="no"))) as server:
        done = forks(working_folder(tmp_path), "replay", "library", "--run", "half", "--endpoint", server.url)
    shown = forks(tmp_path, "show", "half:library#1")
    assert done.status == 3
    assert "incomplete: library#1, turn 2: failed: HTTP 400" in done.err
    assert done.err.endswith("mend what the lines above name, and play again under another name\n")
    assert "1 of 3" in done.out
    assert "You may keep a book for 21 days." in shown.out


def test_a_template_that_breaks_in_the_middle_ends_its_attempt(
    forks: Forks, tmp_path: Path, server: ScriptedServer
) -> None:
    """Status 3; scenario, attempt, turn and the run's folder are named, the run is sealed, and others are played."""
    working_folder(tmp_path)
    (tmp_path / "templates").mkdir()
    breaks = "{% block user %}REPLY TO CHECK {% if 'film' in reply %}{{ nothing }}{% endif %}{% endblock %}"
    (tmp_path / "templates/check.jinja").write_text(breaks)
    play = ("replay", "museum", "library", "--check", "judge", "--run", "broken", "--endpoint", server.url)
    done = forks(tmp_path, *play)
    assert done.status == 3
    (told,) = [line for line in done.err.splitlines() if line.startswith("incomplete: ")]
    assert told.startswith("incomplete: library#1, turn 2: ")
    assert "check" in told
    assert "nothing" in told
    assert "what was played can be read in recordings/broken; " in done.err
    assert "museum attempt 1: finished" in done.err
    assert json.loads((tmp_path / "recordings/broken/sealed.json").read_text())["complete"] is False
    assert forks(tmp_path, "show", "broken:library#1").status == 0


def test_a_full_disk_ends_the_run_with_a_line(forks: Forks, played: Path, server: ScriptedServer) -> None:
    """Where a line cannot be written the status is 3, the file that failed is named, and what it holds reads back."""
    before, call, after = (played / "recordings/first/library/1.jsonl").read_bytes().partition(b'"id":"1.answer.0"')
    limit = len(before + call + after.partition(b"\n")[0]) + 400
    limited = (
        "import resource, runpy, sys\n"
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}))\n"
        "runpy.run_module('simulator', run_name='__main__', alter_sys=True)\n"
    )
    done = python(played, "-c", limited, "replay", "library", "--run", "full", "--endpoint", server.url)
    assert done.status == 3
    last = done.err.splitlines()[-1]
    assert last.startswith("error: recordings/full/library/1.jsonl: cannot be written: ")
    assert last.endswith("`simulator show full` reads what was recorded before")
    assert "Traceback" not in done.err
    shown = forks(played, "show", "full:library#1")
    assert "You may keep a book for 21 days." in shown.out
    assert forks(played, "show", "LAST", "--json").json["manifest"]["run"] != "full"


# show, diff, list


def test_show_prints_a_run_a_scenario_and_an_attempt(forks: Forks, played: Path) -> None:
    """A run is a table, a scenario is all its attempts, an attempt is its turns; --turn leaves the others out."""
    run, scenario, attempt, turn = (
        forks(played, "show", *arguments)
        for arguments in (["first"], ["first:library"], ["first:library#2"], ["first:library#2", "--turn", "2"])
    )
    assert {one.status for one in (run, scenario, attempt, turn)} == {0}
    assert "3 of 3" in run.out
    assert re.findall(r"^first:library#\d", scenario.out, flags=re.MULTILINE) == ["first:library#1", "first:library#2"]
    assert [f"Turn {number} ·" in attempt.out for number in (1, 2, 3, 4)] == [True, True, True, False]
    assert [f"Turn {number} ·" in turn.out for number in (1, 2, 3)] == [False, True, False]


def test_show_prints_json(forks: Forks, played: Path) -> None:
    """A run has its manifest and counts, an attempt its turns."""
    assert forks(played, "show", "first", "--json").json["manifest"]["run"] == "first"
    (attempt,) = forks(played, "show", "second:library#1", "--turn", "2", "--json").json
    assert [turn["reply"] for turn in attempt["turns"]] == ["A film may be kept for 9 days, as far as I know."]


@pytest.mark.parametrize(("turn", "stage"), [("1", "answer"), ("1", "check"), ("3", "answer")])
def test_show_prints_the_exact_request(
    forks: Forks, played: Path, server: ScriptedServer, turn: str, stage: str
) -> None:
    """The request of a stage is one that the server saw, whole."""
    shown = forks(played, "show", "first:library#1", "--turn", turn, "--request", stage)
    assert shown.json in [request.body for request in server.requests]
    assert ("REPLY TO CHECK" in shown.json["messages"][-1]["content"]) == (stage == "check")


def test_diff_of_attempts_is_about_words_and_of_runs_about_counts(forks: Forks, played: Path) -> None:
    """Two attempts show what was deleted and inserted, two runs how often; both name the regression first."""
    texts = forks(played, "diff", "first:library#1", "second:library#1")
    counts = forks(played, "diff", "first", "second")
    assert (texts.status, counts.status) == (0, 0)
    assert texts.out.startswith("3 turns: 1 regressed")
    assert "2 of 2 met → 0 of 1 met" in counts.out
    assert forks(played, "diff", "PREVIOUS:library", "LAST:library").status == 0


def test_diff_can_fail_and_can_leave_churn_out(forks: Forks, played: Path) -> None:
    """--fail-on regression is status 1 if there is one, --only regressions leaves other turns out, --json has both."""
    worse, better = ("first:library#1", "second:library#1"), ("second:library#1", "first:library#1")
    assert forks(played, "diff", *worse, "--fail-on", "regression").status == 1
    assert forks(played, "diff", *better, "--fail-on", "regression").status == 0
    whole = forks(played, "diff", *worse, "--json").json
    only = forks(played, "diff", *worse, "--json", "--only", "regressions").json
    assert {turn["kind"] for turn in only["turns"]} == {"regression"}
    assert [turn for turn in whole["turns"] if turn["kind"] == "regression"] == only["turns"]


def test_score_lists_the_worst_and_with_all_the_rest(forks: Forks, played: Path) -> None:
    """Counts come first; of each kind as many are listed as are asked for, and the heading says of how many."""
    few, every = forks(played, "score", "first", "--worst", "1"), forks(played, "score", "first", "--all")
    assert (few.status, every.status) == (0, 0)
    assert few.out.index("document turns") < few.out.index("answers side by side")
    told = "answers side by side: 2 questions; where the most replies miss the expectation, 1 of them, --all lists the"
    assert told in few.out
    assert ("How long may I keep a book" in every.out, "And a film" in every.out) == (True, True)
    assert few.out.count("none yet") < every.out.count("none yet")


def test_list_names_the_runs(forks: Forks, played: Path, tmp_path: Path) -> None:
    """Oldest first, as a table or as JSON; an empty folder says how to make a run."""
    assert [run["run"] for run in forks(played, "list", "--json").json][:2] == ["first", "second"]
    assert "complete" in forks(played, "list").out
    assert "`simulator replay` makes one" in forks(tmp_path, "list").out


# lint, new, schema


def test_a_new_scenario_lints_and_plays(forks: Forks, tmp_path: Path) -> None:
    """What `new` writes into ./scenarios is found by its name, has no finding and can be played as it is."""
    made = forks(tmp_path, "new", "desk")
    assert made.status == 0
    assert made.out.splitlines() == ["scenarios/desk.yaml", "  simulator lint desk", "  simulator replay desk -n 2"]
    linted = forks(tmp_path, "lint", "desk")
    assert (linted.status, linted.out) == (0, "1 scenario: 0 errors, 0 warnings\n")
    with ScriptedServer(lambda body: SUPPORTED if "REPLY TO CHECK" in str(body) else "Ref: RL-0001") as server:
        assert forks(tmp_path, "replay", "desk", "--endpoint", server.url).status == 0


def test_lint_names_file_and_line(forks: Forks, played: Path) -> None:
    """Every finding is FILE:LINE on stdout, and an error among them is status 2; JSON has the same."""
    done = forks(played, "lint", "bad/unknown.yaml", "library")
    assert done.status == 2
    assert done.out.startswith("bad/unknown.yaml:10: error: ")
    findings = forks(played, "lint", "bad/unknown.yaml", "--json").json
    assert [(finding["line"], finding["severity"]) for finding in findings if finding["severity"] == "error"] == [
        (10, "error")
    ]


def test_schema_is_a_json_schema(forks: Forks, tmp_path: Path) -> None:
    """It refuses unknown fields, as reading does."""
    assert forks(tmp_path, "schema").json["additionalProperties"] is False


# Help, version, completion


def test_the_version_is_printed_without_loading_what_commands_need(tmp_path: Path) -> None:
    """--version loads none of the libraries that take time."""
    code = (
        "import atexit, sys\n"
        "atexit.register(lambda: print(*sys.modules))\n"
        "sys.argv = ['simulator', '--version']\n"
        "from simulator.cli import main\n"
        "main()\n"
    )
    done = python(tmp_path, "-c", code)
    version, modules = done.out.splitlines()
    assert version == f"simulator {__version__}"
    heavy = {"rich", "httpx", "httpcore", "pydantic", "jinja2", "yaml", "deepdiff", "jsonschema", "simulator.model"}
    assert heavy.isdisjoint(modules.split())


@pytest.mark.parametrize("command", ["", "replay", "show", "diff", "lint", "new", "schema", "list", "calibrate"])
def test_every_command_has_a_page_of_help(forks: Forks, tmp_path: Path, command: str) -> None:
    """It goes to stdout with status 0 and begins with how the command is called."""
    done = forks(tmp_path, *command.split(), "--help")
    assert (done.status, done.err) == (0, "")
    assert done.out.startswith(f"Usage: simulator {command}".rstrip())


def test_the_help_names_the_token_limits_of_embedded_models(forks: Forks, tmp_path: Path) -> None:
    """They are those that the servers are started with, and the README has the default model's too."""
    told = " ".join(forks(tmp_path, "replay", "--help").out.split())
    assert (
        f"The small embedded model then stops after {models._TINY_LIMIT}, another embedded one after {models._LIMIT}."
        in told
    )
    assert f"after {models._TINY_LIMIT} tokens" in README.read_text()


def test_every_option_says_what_it_means() -> None:
    """Each argument and option of each command has a help text."""
    assert [name for name, help_text in described(typer.main.get_command(app)) if not help_text] == []


def described(command: Any) -> Iterator[tuple[str, str | None]]:
    """Yield the parameters of *command* and of those below it, by name, with their help."""
    yield from ((f"{command.name} {param.name}", param.help) for param in command.params)
    for each in command.commands.values() if isinstance(command, TyperGroup) else ():
        yield from described(each)


def test_without_a_command_the_help_goes_to_stderr(forks: Forks, tmp_path: Path) -> None:
    """Nothing was done, so nothing is on stdout, and the status is 2."""
    done = forks(tmp_path)
    assert (done.status, done.out) == (2, "")
    assert done.err.startswith("Usage: simulator [OPTIONS] COMMAND")


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("show f", {"first"}),
        ("show first:", {"first:library"}),
        ("show first:library#", {"first:library#1", "first:library#2"}),
        ("show LAST:lib", {"LAST:library"}),
        ("diff first sec", {"second"}),
        ("replay --against PRE", {"PREVIOUS"}),
        ("replay mus", {"museum"}),
        ("lint --scenarios bad l", {"latin"}),
        ("show --recordings none f", set[str]()),
    ],
)
def test_a_shell_completes_runs_and_scenarios(forks: Forks, played: Path, typed: str, offered: set[str]) -> None:
    """What begins with what was typed is offered, and nothing else."""
    done = forks(
        played, _SIMULATOR_COMPLETE="complete_fish", _TYPER_COMPLETE_FISH_ACTION="get-args", **completing(typed)
    )
    assert set(done.out.split()) & {*offered, "first", "second", "library", "museum"} == offered


def completing(typed: str) -> dict[str, str]:
    """Return what a shell tells of the words typed so far."""
    return {"_TYPER_COMPLETE_ARGS": f"simulator {typed}"}


# Bad input

BAD = [
    ("replay nope --endpoint {url}", 'there is no scenario "nope" here'),
    ("replay bad/broken.yaml --endpoint {url}", "bad/broken.yaml:"),
    ("replay bad/unknown.yaml --endpoint {url}", "bad/unknown.yaml:10: "),
    ("replay bad/other.yaml --endpoint {url}", "give both the same name"),
    ("replay bad/latin.yaml --endpoint {url}", "UTF-8"),
    ("replay bad/folder.yaml --endpoint {url}", "this is a folder"),
    ("replay ./bad --endpoint {url}", "this is a folder"),
    ("replay none.yaml --endpoint {url}", "there is no such file"),
    ("replay museum library scenarios/museum.yaml bad/museum.yaml --endpoint {url}", "no such file"),
    ("replay --endpoint {url}", 'there is no suite "parks" here'),
    ("replay museum --suite nope --endpoint {url}", "--suite nope: scenarios are named too"),
    ("replay museum --model=", "'--model': it is empty"),
    ("replay museum --checker-model= --endpoint {url}", "'--checker-model': it is empty"),
    ("replay --suite nope --endpoint {url}", 'there is no suite "nope" here'),
    ("replay museum --scenarios none --endpoint {url}", "there is no such folder"),
    ("replay museum --scenarios bad/text.gguf --endpoint {url}", "there is no such folder"),
    ("replay museum --templates none --endpoint {url}", "there is no such folder"),
    ("replay museum --templates bad/templates --endpoint {url}", "support.jinja:1: cannot be rendered: 'nothing'"),
    ("replay museum --model none.gguf", "none.gguf: no such file"),
    ("replay museum --model bad", "bad: is a folder"),
    ("replay museum --model bad/text.gguf", "it does not begin with GGUF"),
    ("replay museum --model qwen3:4b", "--model qwen3:4b: no such file"),
    ("replay museum --endpoint {url} --checker-model none.gguf", "none.gguf: no such file"),
    ("replay museum --recordings bad/text.gguf --endpoint {url}", "cannot be written: Not a directory"),
    ("replay museum --run first --endpoint {url}", "run first exists already in recordings"),
    ("replay museum --run first", "run first exists already in recordings"),
    ("replay museum --run last --endpoint {url}", "run name 'last'"),
    ("replay museum --run ../out --endpoint {url}", "run name '../out'"),
    ("replay museum -n 0", "'-n' / '--attempts'"),
    ("replay museum -n two", "'-n' / '--attempts'"),
    ("replay museum -n", "requires an argument"),
    ("replay museum --temperature warm", "'--temperature'"),
    ("replay museum --temperature -1", "'--temperature'"),
    ("replay museum --temperature nan --endpoint {url}", "temperature"),
    ("replay museum --temperature inf --endpoint {url}", "not a JSON value"),
    ("replay museum --top-p 1.5", "'--top-p'"),
    ("replay museum --max-tokens 0", "'--max-tokens'"),
    ("replay museum --timeout 0", "'--timeout'"),
    ("replay museum --timeout nan", "'--timeout'"),
    ("replay museum --deadline inf", "'--deadline'"),
    ("replay museum --tries 0", "'--tries'"),
    ("replay museum --seed -1", "'--seed'"),
    ("replay museum --concurrency 0", "'--concurrency'"),
    ("replay museum --on-unsupported delete", "'--on-unsupported'"),
    ("replay museum --fail-on churn", "'--fail-on'"),
    ("replay museum --param top_k --endpoint {url}", "--param 'top_k': write K=V"),
    ("replay museum --checker-param =1 --endpoint {url}", "--checker-param '=1': write K=V"),
    ("replay museum --param temperature=1 --endpoint {url}", "use --temperature"),
    ("replay museum --param a=\udcff --endpoint {url}", "the value is not UTF-8"),
    ("replay \udcff.yaml --endpoint {url}", "\\udcff.yaml: there is no such file"),
    ("replay museum --param x=1e999 --endpoint {url}", "not a JSON value"),
    ("replay museum --nope", "No such option: --nope"),
    ("replay museum --endpoint ftp://host/v1", "is not an http:// or https:// URL"),
    ("replay museum --endpoint host", "is not an http:// or https:// URL"),
    ("replay museum --endpoint http://me:hunter2@host/v1", "holds a credential"),
    ("replay museum --endpoint http://host/v1?api_key=hunter2", "holds a credential"),
    ("replay museum --endpoint {url} --checker-endpoint http://me:hunter2@host/v1", "holds a credential"),
    ("replay museum --endpoint {many}", "offers 2 models (large, small); choose one with --model NAME"),
    ("replay museum --endpoint {url} --checker-endpoint {many}", "choose one with --checker-model NAME"),
    ("replay museum --endpoint {url} --api-key-env hunter-2", "takes the name of an environment variable"),
    ("replay museum --endpoint {url} --against nope", "no run nope in recordings; there is first"),
    ("replay museum --endpoint {url} --against first:library", "write a run alone, such as first"),
    ("replay museum --endpoint {url} --against second", "has no attempt of museum; it has library"),
    ("show", "Missing argument 'RUN[:SCENARIO[#ATTEMPT]]'; see `simulator show --help`"),
    ("show nope", "no run nope in recordings; there is first"),
    ("show LAST --recordings none", "none has 0 runs that ended"),
    ("show LAST:nope", "runs that hold nope and ended"),
    ("show first:nope", "run first has no scenario nope; it has library"),
    ("show first:nope#1", "run first has no scenario nope; it has library"),
    ("show first:library#9", "no attempt 9 of library; it has 1, 2"),
    ("show first:library#one", "write RUN, RUN:SCENARIO or RUN:SCENARIO#ATTEMPT"),
    ("show first#1", "write RUN, RUN:SCENARIO or RUN:SCENARIO#ATTEMPT"),
    ("show ../first", "no run ../first in recordings"),
    ("show first --turn 1", "--turn: name a scenario too"),
    ("show first:library#1 --turn 9", "library has turns 1 to 3"),
    ("show first:library#1 --turn one", "'--turn'"),
    ("show first:library#1 --request answer", "name one scenario and one turn"),
    ("show first --request answer", "name one scenario and one turn"),
    ("diff first:library#1 museum:museum#1 --fail-on regression", "no turn of A and B could be compared"),
    ("show first:library#1 --turn 1 --request rewrite", "turn 1 made no rewrite call; it made answer, check"),
    ("show first:library#1 --turn 1 --request check --repeat 3", "turn 1 made no check call 3; it made answer, check"),
    ("show first:library#1 --turn 1 --request nope", "'--request'"),
    ("diff first", "Missing argument 'B'; see `simulator diff --help`"),
    ("diff first second:library#1", "name an attempt (RUN:SCENARIO#1) on both sides, or on neither"),
    ("diff first nope", "no run nope in recordings; there is first"),
    ("diff first second --only churn", "'--only'"),
    ("lint nope", 'there is no scenario "nope" here'),
    ("lint --scenarios none", "there is no such folder"),
    ("lint --templates none", "there is no such folder"),
    ("new", "Missing argument 'NAME'"),
    ("new ../out", "cannot be the name of a new scenario"),
    ("new 12", "cannot be the name of a new scenario"),
    ("new museum", "exists already"),
    ("new desk --scenarios bad/text.gguf", "cannot be written"),
    ("schema first", "unexpected extra argument"),
    ("list --recordings", "requires an argument"),
    ("frobnicate", "No such command 'frobnicate'"),
]


@pytest.fixture(scope="module")
def many() -> Iterator[ScriptedServer]:
    """Yield a server that lists two models."""
    listing = {"object": "list", "data": [{"id": "large"}, {"id": "small"}]}
    with ScriptedServer(answers(), pages={"/v1/models": listing}) as running:
        yield running


@pytest.mark.parametrize(("typed", "told"), BAD, ids=[ascii(typed) for typed, _ in BAD])
def test_bad_input_is_told_in_a_line(
    forks: Forks, played: Path, server: ScriptedServer, many: ScriptedServer, typed: str, told: str
) -> None:
    """Status 2, nothing on stdout, lines that begin with `error:` and say what is wrong, and nothing left behind."""
    before = set(played.rglob("*"))
    done = forks(played, *typed.format(url=server.url, many=many.url).split())
    assert (done.status, done.out) == (2, "")
    assert told in done.err
    assert all(line.startswith("error: ") for line in done.err.splitlines())
    assert "hunter" not in done.err
    assert set(played.rglob("*")) == before


@pytest.mark.parametrize(
    ("file", "old", "new", "told"),
    [
        ("run.json", b'"format": 1', b'"format": 2', "format 2 is newer than 1"),
        ("run.json", b'"seed"', b'"sead"', "run.json: "),
        ("run.json", b"{", b"[" * 5000, "run.json: "),
        ("sealed.json", b"true", b"maybe", "sealed.json: "),
        ("museum/1.jsonl", b"noon", b"nine", "1.jsonl:"),
        ("museum/1.jsonl", b'"kind":"text"', b'"kind":"song"', "1.jsonl:"),
        ("museum/1.jsonl", b"noon", b"n\xff\xfen", "1.jsonl:"),
        ("scenarios/museum.yaml", b"turns:", b"twists:", "museum.yaml:"),
    ],
)
def test_a_damaged_recording_is_told_in_a_line(
    forks: Forks, tmp_path: Path, played: Path, file: str, old: bytes, new: bytes, told: str
) -> None:
    """The file is named, and its line where it has lines."""
    shutil.copytree(played / "recordings/museum", tmp_path / "recordings/museum")
    path = tmp_path / "recordings/museum" / file
    data = path.read_bytes()
    assert old in data
    path.write_bytes(data.replace(old, new, 1))
    for arguments in (("show", "museum:museum#1"), ("diff", "museum", "museum")):
        done = forks(tmp_path, *arguments)
        assert (done.status, done.out) == (2, "")
        assert done.err.startswith("error: ")
        assert told in done.err
        assert "Traceback" not in done.err
    assert forks(tmp_path, "list").status == 0


def test_an_attempt_that_never_began_is_not_there(forks: Forks, tmp_path: Path, played: Path) -> None:
    """A process that ends between making a file and writing its first line leaves an empty one; the others read."""
    shutil.copytree(played / "recordings/museum", tmp_path / "recordings/museum")
    (tmp_path / "recordings/museum/museum/2.jsonl").touch()
    assert len(forks(tmp_path, "show", "museum", "--json").json["attempts"]) == 1
    assert "it has 1\n" in forks(tmp_path, "show", "museum:museum#2").err


def test_half_a_character_of_a_server_is_recorded(forks: Forks, tmp_path: Path) -> None:
    """What a server says of itself may hold a lone surrogate; the run is recorded and shown all the same."""
    with ScriptedServer(answers(), pages={"/props": {"build_info": "b\ud800"}}) as server:
        done = forks(working_folder(tmp_path), "replay", "museum", "--run", "half", "--endpoint", server.url)
    assert done.status == 0
    manifest = forks(tmp_path, "show", "half", "--json").json["manifest"]
    assert manifest["endpoints"]["answer"]["llama_cpp"] == "b\ud800"


# Terminals, pipes, encodings


def test_odd_characters_reach_every_kind_of_stdout(forks: Forks, tmp_path: Path) -> None:
    """A page and JSON with half a character and with letters that stdout cannot encode are printed, escaped."""
    odd = "The mus\u00e9e opens \U0001f55b at noon \ud800."
    with ScriptedServer(answers(t4=Answer(body=json.dumps({"choices": [{"message": {"content": odd}}]})))) as server:
        play = ("replay", "museum", "--run", "odd", "--endpoint", server.url)
        assert forks(working_folder(tmp_path), *play).status == 0
    show = ("show", "odd:museum#1")
    for variables in ({"PYTHONIOENCODING": "ascii"}, {"PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "LC_ALL": "C"}):
        page = program(tmp_path, *show, **variables)
        assert (page.status, page.err) == (0, "")
        assert "mus\\xe9e opens \\U0001f55b at noon" in page.out
    data = program(tmp_path, *show, "--json", PYTHONIOENCODING="ascii")
    assert (data.status, data.err) == (0, "")
    assert "\\ud800" in data.out
    assert data.out.isascii()


def test_a_page_fits_the_screen_and_colours_stay_off_a_pipe(forks: Forks, played: Path) -> None:
    """COLUMNS is the width; a pipe gets no escape, a terminal with NO_COLOR gets no colour."""
    for columns in (80, 200):
        done = forks(played, "show", "second:library#1", COLUMNS=str(columns), TERM="xterm")
        assert "\x1b" not in done.out
        assert max(map(len, done.out.splitlines())) <= columns
    coloured, plain = (
        on_a_terminal(forks, played, "show", "second:library#1", "--turn", "2", **variables)
        for variables in ({"NO_COLOR": ""}, {"NO_COLOR": "1"})
    )
    colour = re.compile(r"\x1b\[[0-9;]*3[0-7]")
    assert colour.search(coloured)
    assert not colour.search(plain)


def on_a_terminal(forks: Forks, folder: Path, *arguments: str, **variables: str) -> str:
    """Run the program with stdout on a terminal; return what that showed, a page that fits its buffer."""
    ours, theirs = pty.openpty()
    done = forks(folder, *arguments, out=os.ttyname(theirs), TERM="xterm", **variables)
    os.close(theirs)
    assert done.status == 0, done.err
    return read_terminal(ours)


def read_terminal(number: int) -> str:
    """Return everything that is written to a terminal until its last writer has gone."""
    shown = b""
    try:
        while piece := os.read(number, 65536):
            shown += piece
    except OSError as error:
        if error.errno != errno.EIO:
            raise
    finally:
        os.close(number)
    return shown.decode()


def test_a_terminal_shows_how_far_a_run_has_come(tmp_path: Path) -> None:
    """Turns, attempts, tokens, the stage that is under way and the time left stand on one line of 80 columns."""
    with ScriptedServer(answers(t2=Delay(seconds=0.3, step=REPLIES["And a film"]))) as server:
        play = ("replay", "library", "-n", "2", "--concurrency", "1", "--endpoint", server.url)
        command = [sys.executable, "-m", "simulator", *play]
        env = environment(TERM="xterm", COLUMNS="80")
        ours, theirs = pty.openpty()
        with subprocess.Popen(
            command, cwd=working_folder(tmp_path), env=env, stdout=subprocess.DEVNULL, stderr=theirs
        ) as process:
            os.close(theirs)
            told = read_terminal(ours)
    assert process.returncode == 0
    lines = re.split(r"[\r\n]+", re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", told))
    shown = [line for line in lines if re.search(r"\d/6 turns .* left \d/2 attempts \d+ tokens", line)]
    assert any("library#2 turn 2 answer" in line for line in shown)
    assert max(map(len, shown)) <= 80


@pytest.mark.parametrize(
    "command",
    [
        "show first:library",
        "show first --json",
        "diff first second",
        "replay museum --endpoint {url}",
        "--help",
        "diff --help",
        "--version",
    ],
)
def test_a_reader_that_goes_early_is_no_error(forks: Forks, played: Path, server: ScriptedServer, command: str) -> None:
    """With stdout closed at the other end the status is the command's own, and nothing is on stderr but progress."""
    done = forks(played, *command.format(url=server.url).split(), out="gone")
    assert done.status == 0
    assert not re.search("error|Traceback|Exception", done.err)


def test_what_is_there_to_be_copied_is_never_broken(forks: Forks, tmp_path: Path, server: ScriptedServer) -> None:
    """Paths and commands stand on one line each, however narrow the screen, and obey no terminal."""
    working_folder(tmp_path)
    folder = "a folder with a long name " * 3 + "\x1b[31m"
    long = "d" * 100
    play = ("replay", "museum", "-n", "2", "--run", "r" * 60, "--recordings", folder, "--endpoint", server.url)
    done = forks(tmp_path, *play, COLUMNS="40")
    assert done.status == 0
    assert "\x1b" not in done.out + done.err
    shown = folder.replace("\x1b", "␛")
    assert done.out.splitlines()[-3:] == [
        f"recorded in {shown}/{'r' * 60}",
        f"  simulator show {'r' * 60}:museum#1 --recordings '{shown}'",
        f"  simulator diff {'r' * 60}:museum#1 {'r' * 60}:museum#2 --recordings '{shown}'",
    ]
    made = forks(tmp_path, "new", "desk", "--scenarios", long, COLUMNS="40")
    assert made.out.splitlines()[-1] == f"  simulator replay {long}/desk.yaml -n 2"


def test_progress_without_a_reader_does_not_end_the_run(forks: Forks, played: Path, server: ScriptedServer) -> None:
    """A run whose stderr is closed at the other end is played and printed to its end."""
    done = forks(played, "replay", "museum", "--json", "--endpoint", server.url, err="gone")
    assert (done.status, done.json["complete"]) == (0, True)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("command", ["list", "schema", "--version", "--help", "show --help"])
def test_a_full_stdout_is_told_in_a_line(forks: Forks, played: Path, command: str) -> None:
    """Output that cannot be written is status 2, and one line."""
    done = forks(played, *command.split(), out="/dev/full")
    assert done.status == 2
    assert done.err == "error: stdout cannot be written: No space left on device\n"


def test_a_closed_stdout_is_no_error(played: Path) -> None:
    """With stdout closed from the start (`>&-`) the command runs and says nothing."""
    closing = "import os\nos.close(1)\nos.execv(%r, [%r, '-m', 'simulator', 'list'])"
    done = python(played, "-c", closing % (sys.executable, sys.executable))
    assert (done.status, done.out, done.err) == (0, "", "")
