"""Recordings: what is written, that it reads back whole, and what is refused."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from recorded import ANSWERED, LONG, REVIEWED, exchange, make_run, play_turns, prompt, record_run

from simulator.canonical import digest_bytes
from simulator.errors import InputError, RecordingError
from simulator.model import Message
from simulator.recording import FORMAT, AttemptRecord, find_run, list_runs, open_run, parse_reference


def recorded(root: Path) -> tuple[Path, AttemptRecord]:
    """Record two turns and read them back; return the file too. The run is not sealed: its process ended early."""
    folder = record_run(root)
    (folder / "sealed.json").unlink()
    return folder / "library" / "1.jsonl", open_run(folder).attempt("library", 1)


def test_a_call_reads_back_whole(tmp_path: Path) -> None:
    """Request, response, reply, tries and template values are what they were."""
    _, record = recorded(tmp_path)
    first, second = record.calls
    assert [call.id for call in record.calls] == ["1.answer.0", "2.answer.0"]
    assert first.request.messages[1].content == f"Question 1? {LONG}"
    assert first.reply.text == f"Reply 1. {LONG}"
    assert first.values == {"passage": LONG}
    assert second.request.messages[2].content == f"Reply 1. {LONG}"
    assert second.request.body == {"model": "m", "seed": 3}
    assert first.tries[0].seconds == 0.5
    assert record.end is not None
    assert record.end.state == "finished"
    assert not record.torn


def test_every_text_is_stored_once(tmp_path: Path) -> None:
    """A text that ten prompts hold stands in one line; a reply stands only in the body of its call."""
    run = make_run(tmp_path, turns=10)
    play_turns(run.attempt("library", 1), 10)
    data = (run.folder / "library" / "1.jsonl").read_text()
    for text in ["Question 1?", "Question 9?", "Reply 1.", "Reply 10."]:
        assert data.count(text) == 1
    assert data.count('"kind":"values"') == 1


def test_size_grows_with_the_conversation_and_not_with_its_square(tmp_path: Path) -> None:
    """Forty turns take about four times the bytes of ten."""
    sizes: list[int] = []
    for turns in (10, 40):
        run = make_run(tmp_path, turns=turns, run=f"r{turns}")
        play_turns(run.attempt("library", 1), turns)
        sizes.append((run.folder / "library" / "1.jsonl").stat().st_size)
    # Each call also names its messages by digest, which grows with the square, by some 90 bytes a message.
    references = 90 * (2 * 40) * 40 / 2
    assert sizes[1] < 4 * sizes[0] + references


def test_lines_are_chained_from_the_manifest_on(tmp_path: Path) -> None:
    """Each line names the digest of the one before, the first that of run.json; the seal names the last."""
    folder = record_run(tmp_path)
    head = digest_bytes((folder / "run.json").read_bytes())
    lines = (folder / "library/1.jsonl").read_bytes().splitlines()
    for line in lines:
        assert json.loads(line)["prev"] == head
        head = digest_bytes(line)
    seal = open_run(folder).seal
    assert seal is not None
    assert seal.files["library/1.jsonl"].model_dump() == {"lines": len(lines), "head": head}


def test_a_torn_last_line_is_set_aside(tmp_path: Path) -> None:
    """Whatever is left of a last line that was cut, what stands before it reads back, and the tear is reported."""
    path, whole = recorded(tmp_path)
    data = path.read_bytes()
    last = data.rstrip(b"\n").rfind(b"\n") + 1
    for cut in range(last + 1, len(data) - 1, 7):
        path.write_bytes(data[:cut])
        record = open_run(path.parent.parent).attempt("library", 1)
        assert record.calls == whole.calls
        assert record.end is None
        assert record.torn


def test_a_damaged_line_in_the_middle_is_an_error_with_its_number(tmp_path: Path) -> None:
    """Any change to a line that is not the last one is refused, naming file and line."""
    path, _ = recorded(tmp_path)
    lines = path.read_bytes().splitlines(keepends=True)
    for number in range(1, len(lines)):
        changed = lines[number - 1].replace(b"kind", b"kimd") if number % 2 else lines[number - 1][:-2] + b"\n"
        path.write_bytes(b"".join([*lines[: number - 1], changed, *lines[number:]]))
        with pytest.raises(RecordingError, match=rf"1\.jsonl:{number}: "):
            open_run(path.parent.parent).attempt("library", 1)


def test_a_line_that_was_dropped_is_noticed(tmp_path: Path) -> None:
    """The line after a missing one is not chained to the one before it."""
    path, _ = recorded(tmp_path)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:2], *lines[3:]]))
    with pytest.raises(RecordingError, match=r"1\.jsonl:3: the line is not chained"):
        open_run(path.parent.parent).attempt("library", 1)


def test_a_body_that_is_not_utf8_is_kept_byte_for_byte(tmp_path: Path) -> None:
    """Invalid UTF-8 is recorded in Base64 and read back as it came."""
    run = make_run(tmp_path)
    writer = run.attempt("library", 1)
    call = exchange(Message(role="user", content="x"), body=b"\xff\xfe junk")
    writer.call(turn=1, stage="answer", repeat=0, exchange=call, prompt=prompt())
    writer.close()
    (read,) = open_run(run.folder).attempt("library", 1).calls
    assert read.response is not None
    assert read.response.body == b"\xff\xfe junk"
    assert read.outcome == "failed"


# As text comes out of JSON: a surrogate may stand alone, and a pair of them is one character.
JSON_TEXT = st.text(st.characters()).map(
    lambda text: text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
)


@given(texts=st.lists(JSON_TEXT, min_size=1, max_size=5), value=JSON_TEXT)
@example(texts=["cut \ud83d", "\u2028"], value="\udc00")
def test_any_text_survives(tmp_path_factory: pytest.TempPathFactory, texts: list[str], value: str) -> None:
    """Any text, lone surrogates and line separators included, is read back as it was written."""
    run = make_run(tmp_path_factory.mktemp("run"))
    writer = run.attempt("library", 1)
    messages = [Message(role="user", content=text) for text in texts]
    writer.call(turn=1, stage="answer", repeat=0, exchange=exchange(*messages), prompt=prompt({"v": value * 300}))
    writer.outcome(turn=1, stage="answer", result={**ANSWERED, "sources": [value, value * 300]})
    writer.outcome(turn=1, stage="review", result={**REVIEWED, "delivered": value * 300})
    writer.close()
    record = open_run(run.folder).attempt("library", 1)
    assert [message.content for message in record.calls[0].request.messages] == texts
    assert record.calls[0].values == {"v": value * 300}
    assert record.answers[1].sources == (value, value * 300)
    assert record.reviews[1].delivered == value * 300


def test_two_threads_write_whole_lines(tmp_path: Path) -> None:
    """Lines of two stages that are recorded at once stay whole and chained."""
    run = make_run(tmp_path, turns=20)
    writer = run.attempt("library", 1)

    def record(stage: str) -> None:
        for turn in range(1, 21):
            call = exchange(Message(role="user", content=f"{stage} {turn} {LONG}"), text=f"{stage} {turn}")
            writer.call(turn=turn, stage=stage, repeat=0, exchange=call, prompt=prompt())

    threads = [threading.Thread(target=record, args=(stage,)) for stage in ("answer", "check")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    writer.close()
    assert len(open_run(run.folder).attempt("library", 1).calls) == 40


def test_an_attempt_has_one_writer(tmp_path: Path) -> None:
    """A file that exists is never opened for writing again."""
    run = make_run(tmp_path)
    run.attempt("library", 1).close()
    with pytest.raises(RecordingError, match=r"library.1\.jsonl exists already"):
        run.attempt("library", 1)


@pytest.mark.parametrize(
    "name",
    [
        *("LAST", "previous", "a/b", "..", ".hidden", "", "a:b", "a#b", "x" * 101, "a b", "é", "a.", "a "),
        *("nul", "CON", "NUL.txt", "aux.a.b", "com1", "Lpt9.jsonl"),
    ],
)
def test_a_run_name_is_a_plain_file_name(tmp_path: Path, name: str) -> None:
    """Names that mean something else, or another place, are refused."""
    with pytest.raises(InputError, match="run name"):
        make_run(tmp_path, run=name)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["last.1", "common", "com", "com10", "null", "x" * 100, "20261201-100000-000"])
def test_a_name_that_only_looks_like_another_is_a_run_name(tmp_path: Path, name: str) -> None:
    """Whole words are reserved, not what begins like them."""
    assert make_run(tmp_path, run=name).folder.name == name


def test_an_existing_run_is_refused(tmp_path: Path) -> None:
    """A run is never played into the folder of another."""
    make_run(tmp_path)
    with pytest.raises(InputError, match="run first exists already"):
        make_run(tmp_path)


def test_a_newer_format_is_refused(tmp_path: Path) -> None:
    """A recording of a format that this version does not know is not guessed at."""
    run = make_run(tmp_path)
    path = run.folder / "run.json"
    path.write_text(path.read_text().replace(f'"format": {FORMAT}', f'"format": {FORMAT + 1}'))
    with pytest.raises(RecordingError, match=f"format {FORMAT + 1} is newer than {FORMAT}"):
        open_run(run.folder)


def test_last_and_previous_go_by_manifest_and_scenario(tmp_path: Path) -> None:
    """LAST is the newest run that ended and holds the scenario asked for, whatever the folders are called."""
    record_run(tmp_path, run="zz", started="2026-12-01T10:00:00.000Z")
    record_run(tmp_path, run="aa", started="2026-12-01T12:00:00.000Z")
    make_run(tmp_path, run="unsealed", started="2026-12-01T13:00:00.000Z")
    assert find_run(tmp_path, parse_reference("LAST:library#1")).name == "aa"
    assert find_run(tmp_path, parse_reference("PREVIOUS")).name == "zz"
    assert find_run(tmp_path, parse_reference("zz")).name == "zz"
    assert [run.name for run in list_runs(tmp_path).readable] == ["zz", "aa", "unsealed"]
    with pytest.raises(RecordingError, match=r"LAST: .* has 0 runs that hold other and ended"):
        find_run(tmp_path, parse_reference("LAST:other"))
    with pytest.raises(RecordingError, match=r"no run nobody in .*; there is zz, aa, unsealed"):
        find_run(tmp_path, parse_reference("nobody"))


def test_one_run_is_told_in_the_singular(tmp_path: Path) -> None:
    """Where PREVIOUS asks for a second run, there is one run that ended."""
    record_run(tmp_path)
    for text, told in [("PREVIOUS", "1 run that ended; "), ("PREVIOUS:library", "1 run that holds library and ended")]:
        with pytest.raises(RecordingError, match=told):
            find_run(tmp_path, parse_reference(text))


@pytest.mark.parametrize("name", ["other", "a copy", "été", "com1", "first.2", "\x1b[31m"])
def test_a_run_is_called_by_its_folder(tmp_path: Path, name: str) -> None:
    """A run that was renamed is listed and opened under its new name alone, and keeps its place in time."""
    record_run(tmp_path, run="first").rename(tmp_path / name)
    (run,) = list_runs(tmp_path).readable
    assert (run.name, run.manifest.run) == (name, "first")
    assert find_run(tmp_path, parse_reference(name)).folder == find_run(tmp_path, parse_reference("LAST")).folder
    with pytest.raises(RecordingError, match="no run first in"):
        find_run(tmp_path, parse_reference("first"))


@pytest.mark.parametrize("name", ["a:b", "a#1", "LAST", "PREVIOUS"])
def test_a_run_whose_name_means_something_else_is_listed_with_what_to_do(tmp_path: Path, name: str) -> None:
    """A folder of which nobody can ask is not listed as if it could be opened."""
    record_run(tmp_path, run="first").rename(tmp_path / name)
    runs = list_runs(tmp_path)
    assert (runs.readable, [run.name for run in runs.unreadable]) == ((), [name])
    assert "rename the folder" in runs.unreadable[0].reason


@pytest.mark.parametrize("text", ["", "a:", "a#1", "a:b#", "a:b#x", "a:b:c", ":b", "a:b#1#2"])
def test_a_reference_that_is_none_is_refused(text: str) -> None:
    """The complaint shows how to write one."""
    with pytest.raises(InputError, match="write RUN, RUN:SCENARIO or RUN:SCENARIO#ATTEMPT"):
        parse_reference(text)


def test_what_a_run_does_not_hold_is_named_with_what_it_holds(tmp_path: Path) -> None:
    """A missing scenario or attempt is one line that lists what there is."""
    run = open_run(record_run(tmp_path))
    with pytest.raises(RecordingError, match="run first has no scenario zoo; it has library"):
        run.attempt("zoo", 1)
    with pytest.raises(RecordingError, match="run first has no attempt 9 of library; it has 1"):
        run.attempt("library", 9)
    with pytest.raises(RecordingError, match="run first has no scenario zoo; it has library"):
        run.scenario("zoo")
