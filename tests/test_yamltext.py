from __future__ import annotations

from datetime import date, datetime
from typing import Any

import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

from simulator.errors import ScenarioError
from simulator.yamltext import (
    MAX_ALIASED,
    MAX_BYTES,
    MAX_DEPTH,
    Plain,
    Problem,
    Value,
    as_count,
    as_day,
    as_flag,
    as_json,
    as_text,
    quoted,
    read_yaml,
    refusal,
)


def value_of(text: str) -> Value:
    """Return the value of a file without problems."""
    document = read_yaml(text.encode(), "f.yaml")
    assert document.problems == ()
    return document.value


def problems_of(data: str | bytes) -> list[tuple[int, str]]:
    """Return the problems of a file by line, whether reading could go on after them or not."""
    try:
        document = read_yaml(data.encode() if isinstance(data, str) else data, "f.yaml")
    except ScenarioError as error:
        found = [line.split(":", 2) for line in str(error).split("\n")]
        return [(int(line), text.strip()) for _, line, text in found]
    return [(problem.line, problem.text) for problem in document.problems]


CHANGED_BY_YAML_1_1 = [
    "0712345",
    "0x1F",
    "0b1",
    "12",
    "+12",
    "1_000",
    "12:30",
    "190:20:30",
    "1.5",
    ".5",
    "5.",
    ".inf",
    "~",
    "null",
    "yes",
    "no",
    "On",
    "off",
    "y",
    "N",
    "true",
    "FALSE",
    "2026-01-01",
    ".NaN",
    "=",
]
CHANGED_BY_YAML_1_2 = ["089", "0o17", "1e3", "-1E-3", "Null"]


@pytest.mark.parametrize("written", CHANGED_BY_YAML_1_1 + CHANGED_BY_YAML_1_2)
def test_scalar_that_yaml_would_change_keeps_its_text(written: str) -> None:
    """An unquoted scalar that YAML reads as something else arrives as Plain with its text; quoted it is that text."""
    assert value_of(f"a: {written}\nb: '{written}'\nc: !!str {written}\n") == {
        "a": Plain(written),
        "b": written,
        "c": written,
    }


@pytest.mark.parametrize("written", ["TD-5208", "1.2.3", "yes-no", "nobody", "2026-1-1", "x:y", "12-30", "/"])
def test_scalar_that_is_text_to_yaml_is_text(written: str) -> None:
    """An unquoted scalar that is text in YAML 1.1 and 1.2 arrives as text."""
    assert value_of(f"[{written}]") == [written]


def test_nothing_is_an_empty_plain() -> None:
    """A key without a value has an empty Plain, which no field takes for a text."""
    assert value_of("a:\nb: x") == {"a": Plain(""), "b": "x"}


def test_lines_of_values_and_keys() -> None:
    """Every value has its own line, every key its own, and a place that does not exist that of what is around it."""
    document = read_yaml(b"a: x\nb:\n  - y\n  - c:\n      z\n", "f.yaml")
    assert [document.line(place) for place in [(), ("a",), ("b",), ("b", 0), ("b", 1), ("b", 1, "c")]] == [
        1,
        1,
        3,
        3,
        4,
        5,
    ]
    assert document.key_line(("b", 1, "c")) == 4
    assert document.line(("b", 1, "missing", 3)) == 4
    assert document.key_line(("nowhere",)) == 1
    assert document.key_line(()) == 1


def test_lines_count_as_an_editor_counts_them() -> None:
    """CRLF counts as one line end, and a mark at the beginning of the file is no part of it."""
    document = read_yaml(b"\xef\xbb\xbfa: x\r\nb: |\r\n  one\r\n  two\r\nc: z\r\n", "f.yaml")
    assert document.value == {"a": "x", "b": "one\ntwo\n", "c": "z"}
    assert document.line(("c",)) == 5


def test_aliases_and_merge_keys() -> None:
    """An alias stands for its anchor's value at its anchor's line; a key of the mapping, then an earlier base, wins."""
    document = read_yaml(
        b"a: &a {k: one, l: one}\nb: &b {l: two, m: two}\nc:\n  <<: [*a, *b]\n  k: own\nd: *a\n", "f.yaml"
    )
    assert document.problems == ()
    assert document.value == {
        "a": {"k": "one", "l": "one"},
        "b": {"l": "two", "m": "two"},
        "c": {"k": "own", "l": "one", "m": "two"},
        "d": {"k": "one", "l": "one"},
    }
    assert [document.line(("c", key)) for key in "klm"] == [5, 1, 2]
    assert document.key_line(("c", "m")) == 2
    assert document.line(("d", "k")) == 1


def test_duplicate_keys_are_all_reported() -> None:
    """A key that stands twice, quoted or not, is a problem that names both lines, and reading goes on."""
    assert problems_of('a: x\nb: y\na: z\nc: {d: x, "d": y}\n') == [
        (3, 'the key "a" stands here and on line 1; keep one of the two'),
        (4, 'the key "d" stands here and on line 4; keep one of the two'),
    ]


@pytest.mark.parametrize(
    ("data", "line", "text"),
    [
        ("closing_line: Ref: {case_id}", 1, 'the colon in this text begins a second key; write "Ref: {case_id}"'),
        ("a: [x]\nb:\n  - say: Ref: X\n", 3, 'the colon in this text begins a second key; write "Ref: X"'),
        ("a: x\n  b: y", 2, "a second `key:` stands here; indent it like its neighbours"),
        ("a:\n\tb", 2, "a tab stands here; indent with spaces"),
        ("a: |\n\ttext", 2, "a tab stands here; indent with spaces"),
        ("---\na: x\n---\nb: y", 3, "a second document begins here"),
        ("", 1, "the file holds nothing"),
        ("# only a comment\n", 2, "the file holds nothing"),
        ('a: "x\nb: y\n', 1, "the quotes that open here are never closed"),
        ("a: x\nb\nc: y", 2, "this line has no `key: value`"),
        ("a: @x", 1, "not YAML: found character '@'"),
        ("a: 'x' y", 1, "not YAML: expected <block end>"),
        ("a: *b", 1, "the alias *b has no anchor"),
        ("a: &a [*a]", 1, "the alias *a stands inside its own anchor"),
        ("a: {{ x }}", 1, "a key must be text"),
        ("no: x", 1, 'the key no is not text to YAML; write "no":'),
        ("? \n: x", 1, "a key is missing"),
        ("a: !!python/object:os.system {}", 1, "the tag !!python/object:os.system is not allowed"),
        ("a: !!int 5", 1, "the tag !!int is not allowed"),
        ("a: !important x", 1, "the tag !important is not allowed"),
        ("a: &amp x", 1, "the anchor &amp is never used"),
        ("a: Is #3314 open?", 1, '"#3314 open?" is a comment to YAML'),
        ("a: {<<: x}", 1, "the key << merges mappings only"),
        ('a: "\\UFFFFFFFF"', 1, "an escape or a number is too large"),
        ("%YAML 1." + "1" * 5000 + "\n---\na", 1, "an escape or a number is too large"),
        ("a: x\nb: y\u2028z", 2, "the character U+2028 has no place in a YAML file"),
        ("a: x\nb: y\rz", 2, "the character U+000D has no place in a YAML file"),
        ("a: x\x00", 1, "the character U+0000 has no place in a YAML file"),
        (b"a: x\nb: caf\xe9\n", 2, "byte 11 of the file (0xe9) is not UTF-8"),
        (b"\xef\xbb\xbfa: caf\xe9\n", 1, "byte 9 of the file (0xe9) is not UTF-8"),
        ("a: x".encode("utf-16"), 1, "byte 0 of the file (0xff) is not UTF-8"),
        (b"#" * (MAX_BYTES + 1), 1, "the file is larger than 1,048,576 bytes"),
    ],
)
def test_what_is_refused(data: str | bytes, line: int, text: str) -> None:
    """Each of these files has one problem, at its line, with what is wrong before what to write."""
    [(found_line, found)] = problems_of(data)
    assert found_line == line
    assert found.startswith(text)
    assert "; " in found


def test_comment_after_a_space_is_a_comment() -> None:
    """An ordinary comment behind a value is no problem."""
    assert value_of("a: x   # one\nb: z\n") == {"a": "x", "b": "z"}


def test_depth_is_bounded_with_aliases_followed() -> None:
    """Lists within each other are bounded, written out or through aliases, long before Python's recursion limit."""
    assert value_of("[" * MAX_DEPTH + "]" * MAX_DEPTH) is not None
    assert "within each other" in problems_of("[" * 100_000)[0][1]
    chain = "a0: &a0 [x]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}]\n" for n in range(1, 60))
    assert problems_of(chain)[0][0] == MAX_DEPTH


def test_aliases_are_bounded_and_files_without_them_are_not() -> None:
    """A short chain of aliases is refused before it is expanded; a long plain list is read."""
    bomb = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
        f"{name}: &{name} [{','.join([f'*{base}'] * 9)}]\n" for base, name in zip("abcdefgh", "bcdefghi", strict=True)
    )
    assert problems_of(bomb) == [
        (6, f"the aliases up to here stand for more than {MAX_ALIASED:,} values; write the values out")
    ]
    assert value_of("[" + "x," * MAX_ALIASED + "x]") == ["x"] * (MAX_ALIASED + 1)


def test_refusal_has_one_line_for_each_problem_and_an_end() -> None:
    """Problems come in the order of the file, one printable line each, and the fifty-first stands for all others."""
    problems = [Problem(line=line, text="wrong; write right") for line in range(60, 0, -1)]
    lines = str(refusal("a\nb.yaml", problems)).split("\n")
    assert len(lines) == 51
    assert lines[0] == "a\\nb.yaml:1: wrong; write right"
    assert lines[-1] == "a\\nb.yaml:51: 10 more problems from here on; correct those above first"


@pytest.mark.parametrize(
    ("take", "value", "meant"),
    [
        (as_text, "x", "x"),
        (as_count, Plain("40"), 40),
        (as_count, Plain("-1"), -1),
        (as_count, 40, 40),
        (as_flag, Plain("true"), True),
        (as_flag, Plain("false"), False),
        (as_flag, True, True),
        (as_day, "2026-12-31", date(2026, 12, 31)),
        (as_day, date(2026, 12, 31), date(2026, 12, 31)),
        (as_json, Plain("1e3"), 1000.0),
        (as_json, Plain("12"), 12),
        (as_json, Plain("null"), None),
        (as_json, None, None),
        (as_json, "12", "12"),
    ],
)
def test_scalars_that_are_taken(take: Any, value: object, meant: object) -> None:
    """A scalar is taken for what the reader means if it is written so, or is that already."""
    taken = take(value)
    assert taken == meant
    assert type(taken) is type(meant)


@pytest.mark.parametrize(
    ("take", "value", "words"),
    [
        (as_text, Plain("12:30"), '12:30 is not text to YAML; write "12:30"'),
        (as_text, Plain(""), "nothing is written here; write a text in double quotes, or take the field out"),
        (as_text, {"Ref": "X"}, 'a mapping stands where a text is meant; write "Ref: X"'),
        (as_text, {"Ref": Plain("12")}, 'a mapping stands where a text is meant; write "Ref: 12"'),
        (as_text, {"case_id": Plain("")}, 'a mapping stands where a text is meant; write "{case_id}"'),
        (as_text, ["a"], "a list stands where a text is meant; write it in double quotes"),
        (as_text, 12, "a value of type int stands where a text is meant; write it in double quotes"),
        (as_count, Plain("040"), "040 is not a whole number; write digits without quotes, such as 40"),
        (as_count, Plain("9" * 5000), "9" * 60 + "… is not a whole number; write digits without quotes, such as 40"),
        (as_count, "40", '"40" is not a whole number; write digits without quotes, such as 40'),
        (as_count, True, "a value of type bool is not a whole number; write digits without quotes, such as 40"),
        (as_flag, Plain("no"), "no is neither true nor false; write true or false, without quotes"),
        (as_flag, Plain("True"), "True is neither true nor false; write true or false, without quotes"),
        (as_flag, "true", '"true" is neither true nor false; write true or false, without quotes'),
        (as_day, Plain("2026-01-01"), 'the date 2026-01-01 is without quotes; write "2026-01-01"'),
        (as_day, "2026-02-30", '"2026-02-30" is not in the calendar; write the day that is meant'),
        (as_day, "1 May", '"1 May" is not a date; write it as in "2026-12-31", with quotes'),
        (as_day, datetime(2026, 1, 1), "a value of type datetime is not a date"),  # noqa: DTZ001 - no time at all
        (as_json, Plain("no"), 'no is neither a text nor a value of JSON; write "no" or null'),
        (as_json, Plain("1e999"), '1e999 is neither a text nor a value of JSON; write "1e999" or null'),
        (as_json, ("a",), "a value of type tuple is no value of JSON"),
    ],
)
def test_scalars_that_are_not_taken(take: Any, value: object, words: str) -> None:
    """A scalar of another kind is refused with what was written and what to write."""
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the words are compared whole
        take(value)
    assert str(caught.value).startswith(words)


def test_quoted_is_one_short_printable_line() -> None:
    """A long or odd text is shown cut and escaped."""
    assert quoted('a "b"\\\n\u2028\ud800\U000e0001') == '"a \\"b\\"\\\\\\n\\u2028\\ud800\\U000e0001"'
    assert quoted("x" * 100) == '"' + "x" * 60 + '…"'


@given(st.text(max_size=50))
def test_quoted_is_read_back(text: str) -> None:
    """What an error says to write is that text to YAML."""
    assert value_of(f"a: {quoted(text)}") == {"a": text}


@settings(max_examples=200)
@given(st.binary(max_size=200) | st.text(alphabet="ab:-[]{}&*!|>'\"%@?#,. \t\n\\<~0u", max_size=60).map(str.encode))
@example(b"\xef\xbb\xbf")
@example(b"? ? ? a")
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    """Whatever the file holds, it is read or refused in our words."""
    for line, text in problems_of(data):
        assert 1 <= line <= data.count(b"\n") + 1
        assert "; " in text


TREES = st.recursive(
    st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=20,
)


@settings(max_examples=100)
@given(TREES)
def test_quoted_trees_are_read_back(tree: Value) -> None:
    """Lists and mappings of quoted texts arrive as they were."""
    assert value_of(yaml.safe_dump(tree, default_style='"', allow_unicode=True)) == tree
