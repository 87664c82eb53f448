"""The JSON Schema of a reply: what is taken, how long it can take, and a reply that declines under it."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from simulator.scenario.declining import declining_reply
from simulator.scenario.schema import MAX_PLACES, MAX_WORK, TooLargeError, mismatch, schema_problems

REFUSAL = "The sources do not say."


def problems(schema: dict[str, Any]) -> list[str]:
    """Return what is wrong with *schema*, without the places."""
    return [problem for _, problem in schema_problems(schema)]


def doubled(levels: int) -> dict[str, Any]:
    """Return a small schema that refers to each of its definitions twice, one level after the other."""
    names = [f"a{level}" for level in range(levels + 1)]
    definitions = {name: {"anyOf": [{"$ref": f"#/$defs/{below}"}] * 2} for name, below in pairwise(names)}
    return {"$defs": {**definitions, names[-1]: {"not": {}}}, "$ref": "#/$defs/a0"}


def chained(length: int) -> dict[str, Any]:
    """Return a schema of definitions that refer to one another in a row."""
    definitions = {f"a{at}": {"$ref": f"#/$defs/a{at + 1}"} for at in range(length - 1)}
    return {"$defs": {**definitions, f"a{length - 1}": {}}, "$ref": "#/$defs/a0"}


def test_a_schema_may_refer_to_its_definitions() -> None:
    """The reference is followed when a value is held against the schema."""
    schema = {"$defs": {"name": {"type": "string"}}, "properties": {"a": {"$ref": "#/$defs/name"}}}
    assert problems(schema) == []
    assert mismatch({"a": "x"}, schema) == ""
    assert mismatch({"a": 1}, schema) == "against the schema at ['a']: 1 is not of type 'string'"


def test_references_that_multiply_are_counted_and_not_followed() -> None:
    """A few definitions that each refer to the next twice are refused, however many values they stand for."""
    assert problems(doubled(5)) == []
    for levels in (12, 200):
        assert problems(doubled(levels)) == [
            f"with its references followed the schema has more than {MAX_PLACES:,} values; refer less often"
        ]


def test_definitions_in_a_row_are_bounded() -> None:
    """A long row would end in a recursion that Python refuses."""
    assert problems(chained(19)) == []
    [problem] = problems(chained(400))
    assert problem.startswith("more than 20 definitions refer to each other in a row; ")


def test_a_schema_has_so_many_values_and_no_more() -> None:
    """A large schema is refused before anything else is looked at."""
    assert problems({"enum": list(range(MAX_PLACES - 2))}) == []
    assert problems({"enum": list(range(MAX_PLACES))}) == [
        f"the schema has more than {MAX_PLACES:,} values; write a smaller one"
    ]


def test_a_value_is_held_against_a_schema_only_as_far_as_the_bound_allows() -> None:
    """The bound is on the values of the reply times the places of the schema."""
    schema = {"items": {"enum": list(range(50))}}
    assert mismatch([7] * 1_000, schema) == ""
    with pytest.raises(TooLargeError, match="too large to be held against the schema"):
        mismatch([7] * MAX_WORK, schema)


def test_a_number_too_large_to_divide_is_not_known_to_fit() -> None:
    """Whether it is a multiple of a fraction cannot be computed."""
    with pytest.raises(TooLargeError, match="a number in it is too large"):
        mismatch(10**400, {"multipleOf": 0.5})


TEXT = {"type": "string"}
FILLED = {"type": "string", "minLength": 1}
NOTHING = {"type": "null"}
STATUS = {"enum": ["answered", "not_stated"]}
EACH_TYPE = {
    "ok": {"type": "boolean"},
    "number": {"type": "integer"},
    "list": {"type": "array"},
    "object": {"type": "object"},
    "text": FILLED,
}


def an_object(*required: str, **properties: Any) -> dict[str, Any]:
    """Return the schema of an object."""
    return {"type": "object", "required": list(required), "properties": properties}


SCHEMAS: list[tuple[dict[str, Any], Any]] = [
    (an_object("answer", answer={"type": ["string", "null"]}), {"answer": REFUSAL}),
    (an_object("answer", answer=NOTHING), {"answer": None}),
    (an_object("answer", answer={"type": "string", "maxLength": 5}), {"answer": ""}),
    (an_object(answer={}, note={}), {"answer": REFUSAL}),
    (an_object("status", status=STATUS, answer={}), {"status": "not_stated", "answer": REFUSAL}),
    (
        an_object("status", status={**STATUS, "default": "answered"}, answer={}),
        {"status": "answered", "answer": REFUSAL},
    ),
    (an_object("text", text={"const": "a"}), {"text": "a"}),
    (
        an_object(*EACH_TYPE, **EACH_TYPE),
        {"ok": False, "number": 0, "list": [], "object": {}, "text": REFUSAL},
    ),
    (
        {"$defs": {"r": an_object("answer", answer={"$ref": "#/$defs/n"}), "n": NOTHING}, "$ref": "#/$defs/r"},
        {"answer": None},
    ),
    (
        {"oneOf": [an_object("answer", "quote", answer=TEXT, quote=FILLED), an_object("answer", answer=NOTHING)]},
        {"answer": None},
    ),
]


@pytest.mark.parametrize(("schema", "expected"), SCHEMAS)
def test_a_reply_that_declines_under_a_schema(schema: dict[str, Any], expected: object) -> None:
    """It has the required fields and the answer, says the refusal where it may, and is valid."""
    assert problems(schema) == []
    found = declining_reply(json.dumps(schema), REFUSAL)
    assert found is not None
    assert json.loads(found) == expected
    assert Draft202012Validator(schema).is_valid(json.loads(found))


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "array"},
        {"required": ["answer"], "properties": {"answer": {"type": "integer"}}},
        {"required": ["quote"], "properties": {"answer": {}, "quote": {"type": "string", "minLength": 1}}},
        {"required": [f"f{at}" for at in range(30)], "not": {}},
    ],
)
def test_a_schema_under_which_nothing_declines(schema: dict[str, Any]) -> None:
    """No object, an answer that must be given, a quote that must be there, or nothing valid at all."""
    assert declining_reply(json.dumps(schema), REFUSAL) is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
KEYWORDS = st.sampled_from(
    ["type", "enum", "const", "$ref", "$defs", "items", "properties", "anyOf", "not", "required", "pattern", "if", "x"]
)


@settings(max_examples=200)
@given(st.dictionaries(KEYWORDS, JSON, max_size=4), JSON)
def test_any_schema_is_refused_or_can_be_used(schema: dict[str, Any], value: object) -> None:
    """A schema without problems takes any value, and says of it what the library says."""
    if problems(schema) == []:
        assert (mismatch(value, schema) == "") == Draft202012Validator(schema).is_valid(value)
        assert isinstance(declining_reply(json.dumps(schema), REFUSAL), str | None)
