"""Quantities with their units, and when two are the same."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.evidence.quantities import Quantity, carries, folded_quantities, quantities, same


def one(text: str) -> Quantity:
    """Return the only quantity of *text*."""
    found = quantities(text)
    assert len(found) == 1, found
    return found[0]


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("It is valid for a week.", "valid for 7 consecutive days"),
        ("one day", "1 day"),
        ("good for seven days", "7 days in a row"),
        ("$35", "35.00 dollars"),
        ("US$1,200.00", "1200 dollars"),
        ("30 dollars and 50 cents", "$30.50"),
        ("35 €", "€35"),
        ("£350m", "£350 million"),
        ("1,200 visitors", "1200 people"),
        ("890 million", "890,000,000"),
        ("\uff11\uff15 days", "15 days"),
        ("\u0667 days", "7 days"),
        ("forty percent", "40%"),
        ("5 per cent", "5 %"),
        ("one year", "12 months"),
        ("half an hour", "30 minutes"),
        ("a couple of days", "2 days"),
        ("160 cm", "1.6 m"),
        ("children under 16", "15 and under"),
        ("aged 15 or younger", "anyone aged 15 and under"),
        ("over the age of 61", "62 or over"),
        ("62 years or older", "at the age of 62 and over"),
        ("a 12-year-old", "aged 12"),
        ("7 am", "07:00"),
        ("4.30 p.m.", "16:30"),
        ("noon", "12 pm"),
        ("20 July 1969", "July 20th, 1969"),
        ("2026-07-03", "3 Jul 2026"),
        ("May 27", "the 27th of May"),
        ("twenty-one riders", "21 people"),
        ("nineteen eighty-four", "in 1984"),
        ("two dozen seats", "24 seats"),
        ("the third year", "the 3rd"),
        ("up to 15 seats", "15 or fewer passenger seats"),
        ("7.0 days", "\uff17 days"),
        ("two hundred and fifty", "250"),
        ("a thousand", "1,000"),
        ("7/4/26", "July 4, 2026"),
        ("24/12/2025", "24 December 2025"),
        ("a full day", "one day"),
        ("EUR 30", "30 \u20ac"),
        ("\uff0430", "30 dollars"),
        ("30 \u00a2", "30 cents"),
        ("seven consecutive days", "7-day"),
    ],
)
def test_two_spellings_of_one_quantity_are_the_same(text: str, other: str) -> None:
    """Digits and words, signs and units, scripts and groupings make no difference."""
    assert same(one(text), one(other))


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("30 days", "$30"),
        ("30 days", "30.00 dollars"),
        ("15 days", "15 and under"),
        ("15 seats", "15 and under"),
        ("30 days", "one month"),
        ("7 days", "7 hours"),
        ("$35", "€35"),
        ("at least 7 days", "up to 7 days"),
        ("15 and under", "15 and over"),
        ("children under 16", "16 and under"),
        ("15 seats", "15 dogs"),
        ("7 am", "7 pm"),
        ("May 27", "May 28"),
        ("January 2005", "January 23, 2003"),
        ("the 1910s", "in 1910"),
        ("40%", "40 people"),
        ("30 CAD", "30 USD"),
        ("30 \u20a6", "\u20b930"),
    ],
)
def test_a_quantity_with_another_unit_is_another(text: str, other: str) -> None:
    """The same number with another unit, bound or date is not the same quantity."""
    assert not same(one(text), one(other))
    assert not carries(one(other), one(text))


@pytest.mark.parametrize(
    "text",
    [
        "Your booking is TD-5208.",
        "Ref: PK-3314",
        "Ref: 30",
        "Call 435-719-2299.",
        "Car No. 8 and room 12",
        "1. First of all\n2) After that [3]",
        "no one knows",
        "one of the passes",
        "you may march",
        "a first and a second time",
        "9" * 5000,
        "TD-35, #8, B2, 4A, https://a.org/5",
        "one of them, a pass",
    ],
)
def test_names_and_list_numbers_are_no_quantities(text: str) -> None:
    """Reference ids, phone numbers, numbered things and the marks of lists count nothing."""
    assert quantities(text) == ()


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("20-35 people, 40 apples", [20, 35, 40]),
        ("30 every day", [30]),
        ("a hundred and one, 1,200.50, thirty-five", [101, Fraction("1200.5"), 35]),
    ],
)
def test_counts_are_found_in_order(text: str, values: list[Fraction]) -> None:
    """Both ends of a range, numbers in words and with decimals; "30 every day" is no 30 days."""
    found = quantities(text)
    assert [quantity.value for quantity in found] == values
    assert {quantity.kind for quantity in found} == {"count"}


def test_a_day_is_not_a_week() -> None:
    """Articles count one, in digits, words or with "full"; the unit tells one from the other."""
    one_day, other, week = quantities("one day, a full day, a week")
    assert same(one_day, other)
    assert not same(other, week)
    assert [quantity.unit for quantity in quantities("15 people, 7 days")] == ["", "second"]


def test_characters_without_width_make_no_difference_in_folded_lines() -> None:
    """A soft hyphen or a bullet changes no quantity; each line is read by itself."""
    assert [quantity.text for quantity in folded_quantities("1. 3\u00ad0 days\n- 7\u00a0days")] == ["30 days", "7 days"]


def test_a_measure_before_a_noun_is_marked_as_possible_name() -> None:
    """A "52-week high" is a measure that may be part of a name."""
    assert one("a 52-week high").attributive
    assert not one("valid for 52 weeks").attributive


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("$20-$35", [20, 35]),
        ("$20\u201335", [20, 35]),
        ("20 to 35 dollars", [20, 35]),
        ("between 15 and 20 dollars", [15, 20]),
    ],
)
def test_the_ends_of_a_range_share_their_unit(text: str, values: list[int]) -> None:
    """A bare end of a range takes the unit of the other."""
    found = quantities(text)
    assert [quantity.value for quantity in found] == values
    assert {(quantity.kind, quantity.unit) for quantity in found} == {("money", "dollar")}


def test_a_range_of_hours_shares_its_half_of_the_day() -> None:
    """In "7-9 am" the seven may be either half, and is carried by 7 am."""
    first, last = quantities("7-9 am")
    assert last.value == 9 * 60
    assert same(first, one("7 am"))


def test_an_age_inside_a_bound_is_carried_by_it() -> None:
    """The rule for fifteen and under carries an age of twelve, and not one of sixteen."""
    bound = one("15 and under")
    assert carries(bound, one("a 12-year-old"))
    assert not carries(bound, one("a 16-year-old"))
    assert not carries(one("a 12-year-old"), bound)


def test_an_age_from_which_a_rule_holds_is_a_bound() -> None:
    """A rule "from the age of 16" is for sixteen or older, not for a person of sixteen; a bare number carries it."""
    assert same(one("from the age of 16"), one("16 and over"))
    assert not carries(one("16 or older"), one("from the age of 18"))
    assert carries(one("from 16 it is due"), one("from the age of 16"))
    assert not carries(one("16 seats"), one("from the age of 16"))


def test_a_date_is_carried_by_one_that_names_more_parts() -> None:
    """A passage with the day carries the month, and one with the month does not carry the day."""
    day, month = one("January 23, 2003"), one("January 2003")
    assert carries(day, month)
    assert not carries(month, day)
    assert same(day, month)


def test_number_words_are_read_in_other_languages() -> None:
    """German number words give a number; the unit is read in English only."""
    (found,) = quantities("einundzwanzig Personen", language="de")
    assert found.value == 21


def test_offsets_point_into_the_text_as_given() -> None:
    """Every quantity says where it stands."""
    text = "Valid for seven consecutive days,\nfree under 16; $30."
    for found in quantities(text):
        assert text[found.start : found.end] == found.text


WORDS = """
7 days a week 7-day $30 30 dollars 15 and under under 16 people 16 or older 12 months one year 7 am 19:00 noon May 27
July 20, 1969 1984 the third 40 % five seats up to at least
"""
PIECES = st.sampled_from(WORDS.split())


@given(st.lists(PIECES, max_size=6), st.lists(PIECES, max_size=6))
def test_comparison_is_symmetric(left: list[str], right: list[str]) -> None:
    """Whether two quantities are the same does not depend on their order, and each is the same as itself."""
    for a in quantities(" ".join(left)):
        assert same(a, a)
        for b in quantities(" ".join(right)):
            assert same(a, b) == same(b, a)
            assert not (carries(a, b) and carries(b, a)) or same(a, b)


@given(st.text(max_size=60))
def test_any_text_can_be_read(text: str) -> None:
    """No text raises, and quantities stand in order and apart."""
    found = quantities(text)
    assert all(text[q.start : q.end] == q.text for q in found)
    assert all(a.end <= b.start for a, b in pairwise(found))


@given(st.integers(min_value=3, max_value=999_999))
def test_groups_of_digits_do_not_matter(number: int) -> None:
    """A number with thousands separators is the number without."""
    assert one(f"{number:,} metres").value == one(f"{number} metres").value == Fraction(number)
