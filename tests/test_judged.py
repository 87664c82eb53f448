"""The calls of a judge as a file: what it keeps, what it does not, and what is wrong with one."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest

from simulator.calibrate import LabelledReply
from simulator.errors import IncompleteError, InputError
from simulator.judged import SCENARIO, CallFile, Opened, RowJudge
from simulator.model import Endpoint, Limits, Secret
from simulator.model.key import KeyFilter
from simulator.prompt import Templates, load_templates
from simulator.testing import Answer, Content, ScriptedModel, chat_body

KEY = "sk-Test-0123456789"
ROW = LabelledReply(id="a", document="The park opens at noon.", reply="It opens at ten.", supported=False)
VERDICT = json.dumps({"verdict": "supported", "unsupported": []})


@pytest.fixture(scope="module")
def templates() -> Templates:
    """Return the templates that the project ships."""
    return load_templates([Path(__file__).parents[1] / "templates"], [SCENARIO])


def judge_of(path: Path, templates: Templates, *answers: Content) -> RowJudge:
    """Return a judge with a key, of these answers, whose calls are kept at *path*."""
    endpoint = Endpoint(base_url="http://scripted.test/v1", model="judge-1", api_key=Secret(KEY))
    model = ScriptedModel(answers, endpoint=endpoint, limits=Limits(tries=1))
    return RowJudge(CallFile(path), templates, lambda: Opened(model=model, server={"server": "scripted"}))


@pytest.mark.parametrize(
    "spelled",
    [
        KEY,
        "".join(f"\\u{ord(each):04x}" for each in KEY),
        "".join(f"%{ord(each):02X}" for each in KEY),
        base64.b64encode(f"Bearer {KEY}".encode()).decode(),
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_the_file_does_not_tell_the_key(tmp_path: Path, templates: Templates, spelled: str, encoding: str) -> None:
    """A server that sends the key back, however spelled, leaves no trace of it, and the call can be read again."""
    path = tmp_path / "c.jsonl"
    body = '{"choices": [{"message": {"content": "It is %s."}}]}' % spelled  # noqa: UP031 - braces
    answer = Answer(body=body.encode(encoding), headers={"x-request-id": spelled, "server": spelled})
    verdict = judge_of(path, templates, answer, answer).verdict(ROW)
    assert verdict.word == "unknown"
    written = path.read_bytes()
    assert b"[key]" in written
    kept = [json.loads(line) for line in written.splitlines()]
    coded = b"".join(base64.b64decode(each.get("response_base64") or "") for each in kept)
    assert not KeyFilter(Secret(KEY)).is_in(written + coded)
    assert judge_of(path, templates).verdict(ROW) == verdict


def test_an_error_does_not_tell_the_key(tmp_path: Path, templates: Templates) -> None:
    """Where the server does not answer, the line quotes it without the key, and nothing is written of the call."""
    path = tmp_path / "c.jsonl"
    answer = Answer(status=503, body={"error": f"busy\nerror: all is lost, {KEY}"})
    with pytest.raises(IncompleteError, match=r"row 'a': HTTP 503: busy error: all is lost, \[key\]") as error:
        judge_of(path, templates, answer).verdict(ROW)
    assert str(error.value).isprintable()
    assert len(path.read_bytes().splitlines()) == 1


def test_a_call_is_read_as_it_was(tmp_path: Path, templates: Templates) -> None:
    """A row that has its call is not asked again, and its verdict is the same."""
    path = tmp_path / "c.jsonl"
    first = judge_of(path, templates, chat_body(VERDICT, model="judge-1-x")).verdict(ROW)
    again = judge_of(path, templates)
    assert again.verdict(ROW) == first
    assert (first.word, again.calls.reported) == ("supported", ("judge-1-x",))


@pytest.mark.parametrize(
    "line",
    [
        json.dumps({"kind": "call", "a\nerror: all is lost\x1b[2J": 1}),
        json.dumps({"kind": "\nerror: all is lost"}),
        "[" * 100_000,
        "nothing",
    ],
)
def test_a_damaged_file_is_one_short_line(tmp_path: Path, templates: Templates, line: str) -> None:
    """File and line number are named, and what stands in the file makes no line of its own."""
    path = tmp_path / "c.jsonl"
    judge_of(path, templates, chat_body(VERDICT)).verdict(ROW)
    with path.open("a") as file:
        file.write(line + "\n")
    with pytest.raises(InputError) as error:
        CallFile(path)
    told = str(error.value)
    assert told.startswith(f"{path}:3: ")
    assert told.isprintable()
    assert len(told) < len(str(path)) + 400


def test_calls_made_otherwise_are_told_apart_in_a_short_line(tmp_path: Path, templates: Templates) -> None:
    """The field is named with what it was and what it would be, cut where they are long."""
    path = tmp_path / "c.jsonl"
    judge_of(path, templates, chat_body(VERDICT)).verdict(ROW)
    calls = CallFile(path)
    with pytest.raises(InputError, match="its calls were made with model 'judge-1', and not 'xxxxx") as error:
        calls.refuse_other({"model": "x" * 5000}, template="", seed=0)
    assert len(str(error.value)) < len(str(path)) + 400
