from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.evidence.folding import contains, find, find_all, find_words, fold, words
from simulator.evidence.sentences import cut, folded_lines, occurrences, sentences

AWKWARD = st.text(
    alphabet=st.one_of(
        st.sampled_from(
            "ab .,1'\"-*\n\r\t\u00a0\u00ad\u200b\u200d\u2011\u2019\u201c\u2026\u2028\u0301\u0327\ufeff\u1fef"
        ),
        st.characters(),
    ),
    max_size=40,
)


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("\u2018a\u2019 \u201cb\u201d \u00abc\u00bb", '\'a\' "b" "c"'),
        ("7\u20118 a\u2013b c\u2014d \u22125", "7-8 a-b c-d -5"),
        ("va\u00adlid", "valid"),
        ("and so on\u2026", "and so on..."),
        (" 7\u00a0\u2009days\r\n\tlong ", "7 days long"),
        ("cafe\u0301", "caf\u00e9"),
        ("val\u200did\ufeff", "valid"),
        ("x\u200b y", "x y"),
        ("not\u200bvalid", "not valid"),
        ("TD-\u200b5208", "TD-5208"),
        ("Valid VALID", "Valid VALID"),
        ("\uff17 days", "\uff17 days"),
        ("", ""),
        (" \u200b\n", ""),
    ],
)
def test_folding_changes_marks_and_never_a_word(text: str, folded: str) -> None:
    """Quote marks, dashes, spaces, invisible characters and composition are made one; letters, case and digits stay."""
    assert fold(text).text == folded


@given(AWKWARD)
def test_folding_is_idempotent(text: str) -> None:
    """A folded text folds to itself, and is in NFC."""
    once = fold(text).text
    assert fold(once).text == once
    assert unicodedata.is_normalized("NFC", once)


@given(AWKWARD)
def test_every_folded_character_leads_back_to_where_it_came_from(text: str) -> None:
    """The pieces of the original behind the folded characters are in order, not empty, and fold to these characters."""
    folded = fold(text)
    assert len(folded.text) == len(folded.starts) == len(folded.ends)
    assert list(folded.starts) == sorted(folded.starts)
    assert all(start < end <= len(text) for start, end in zip(folded.starts, folded.ends, strict=True))
    if folded.text:
        start, end = folded.span(0, len(folded.text))
        assert fold(text[start:end]).text == folded.text


@pytest.mark.parametrize(
    ("text", "phrase"),
    [
        ("It is **TD-5208**.", "TD-5208"),
        ("td\u20115208", "TD-5208"),
        ("Children of 15 and under", "15"),
        ("It's \u201cfree\u201d", "FREE"),
        ("valid for 7\u00a0days", "for 7 days"),
        ("a 7-day pass", "7"),
        ("The pass is valid, 15.", "15"),
        ("we don't know", "don\u2019t"),
        ("Anna's pass", "Anna"),
        ("_Canyonlands_ too", "Canyonlands"),
        ("stra\u00dfe 5", "STRASSE"),
        ("7日間有効です", "7日間"),
        ("caf\u00e9", "cafe\u0301"),
    ],
)
def test_a_phrase_is_found_as_whole_words_after_folding(text: str, phrase: str) -> None:
    """Case, marks and spacing make no difference; a script without spaces has no word ends."""
    assert contains(text, phrase)


@pytest.mark.parametrize(
    ("text", "phrase"),
    [
        ("150 people", "15"),
        ("15.50", "15"),
        ("1,500", "500"),
        ("unable", "able"),
        ("we can't", "can"),
        ("7 day", "7 days"),
        ("anything", ""),
        ("anything", " \u200b"),
        ("", "a"),
        ("cafe\u0301", "cafe"),
    ],
)
def test_a_phrase_is_not_found_inside_a_word_or_a_number(text: str, phrase: str) -> None:
    """Part of a word, of a number or of a negation is not the phrase; an empty phrase is nowhere."""
    assert not contains(text, phrase)


def test_a_place_is_given_in_the_original_text() -> None:
    """Offsets count characters of the text as it was given, folding undone."""
    text = "\u201cIt\u2019s  va\u00adlid\u201d for 7\u00a0days"
    start, end = find(text, "it's valid") or (0, 0)
    assert text[start:end] == "It\u2019s  va\u00adlid"


def test_every_place_is_found_and_case_can_matter() -> None:
    """All places are given, in order, without overlap; with *cased* only those of the same case."""
    assert find_all("a pass, A PASS, a pass a pass", "a pass") == ((0, 6), (8, 14), (16, 22), (23, 29))
    assert find_all("A pass", "a pass", cased=True) == ()


def test_words_in_a_row_are_found_whatever_stands_between_them() -> None:
    """Bold marks, stops, bullets and line ends between words are overlooked, other words are not."""
    text = "It is **valid for one day**.\n- Next"
    assert [text[start:end] for start, end in find_words(text, "for one day, next!")] == ["for one day**.\n- Next"]
    assert find_words(text, "valid one day") == ()
    assert find_words(text, "...") == ()


@given(AWKWARD, AWKWARD)
def test_a_found_phrase_folds_to_the_phrase(text: str, phrase: str) -> None:
    """Where *find* points there is the phrase, up to folding and case."""
    place = find(text + " " + phrase, phrase)
    if place is not None:
        start, end = place
        assert fold((text + " " + phrase)[start:end]).text.casefold() == fold(phrase).text.casefold()


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("The pass is valid.", 4),
        ("- A pass\n* is needed", 4),
        ("1. A pass\n2) is needed", 4),
        ("## Passes \u2014 for **all**", 3),
        ("7\u00a0days", 2),
        ("not\u200bvalid", 2),
        ("7-day pass", 2),
        ("The limit is 1.", 4),
        (" \n", 0),
    ],
)
def test_words_are_what_space_separates_and_marks_are_none(text: str, count: int) -> None:
    """Bullets, list numbers, heading marks and bare dashes are not words; a number is one."""
    assert len(words(text)) == count


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("It is free. Mr. Smith said $35.00 is due. Ok?", ["It is free. ", "Mr. Smith said $35.00 is due. ", "Ok?"]),
        ("- One pass. No more.\n- Two\n\nEnd", ["- One pass. ", "No more.\n", "- Two\n\n", "End"]),
        ("**It is free.** It is not.", ["**It is free.** ", "It is not."]),
        ("1. One.\r\n2. Two.", ["1. One.\r\n", "2. Two."]),
        ("\u2022 one \u2022 two", ["\u2022 one ", "\u2022 two"]),
        ("a\u2028b", ["a\u2028", "b"]),
        ("\n\n--\nOne.", ["\n\n--\nOne."]),
        ("lone \ud800 surrogate. Two.", ["lone \ud800 surrogate. ", "Two."]),
        ("", []),
        (" \n", [" \n"]),
    ],
)
def test_lines_bullets_and_stops_end_a_sentence(text: str, pieces: list[str]) -> None:
    """Abbreviations and prices do not end one; bare marks belong to a sentence; white space to the one before it."""
    assert [span.text for span in sentences(text)] == pieces


def test_a_wrapped_paragraph_is_cut_at_its_stops_alone() -> None:
    """A line that breaks off in a sentence goes on; bullets, headings, blank lines and end marks still end one."""
    long = "A pass is asked for in every month of the year and in every part"
    text = f"Passes\n{long}\nof the park. It is for one vehicle with\nall in it.\n- Admits one\n  vehicle\n- Free\n\n"
    text += f"{long}\nArches too"
    pieces = [span.text for span in sentences(text, wrapped=True)]
    assert pieces == [
        "Passes\n",
        f"{long}\nof the park. ",
        "It is for one vehicle with\nall in it.\n",
        "- Admits one\n  vehicle\n",
        "- Free\n\n",
        f"{long}\nArches too",
    ]
    assert len(sentences(text)) == 10


@given(AWKWARD, st.sampled_from(["en", "de", "ja", "no such language"]), st.booleans())
def test_sentences_tile_the_text(text: str, language: str, wrapped: bool) -> None:  # noqa: FBT001
    """Put together, the sentences are the text, and each is where it says."""
    spans = sentences(text, language, wrapped=wrapped)
    assert "".join(span.text for span in spans) == text
    assert all(text[span.start : span.end] == span.text != "" for span in spans)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Hi. The page does not say. Bye.", "Hi.  Bye."),
        ("**the page does not say**\nBye", "\nBye"),
        ("\u201cThe page does not say!\u201d", ""),
        ("- The page does not say", "- "),
        ("The page does not say that, but it is 7 days.", "The page does not say that, but it is 7 days."),
        ("Sorry, the page does not say.", "Sorry, the page does not say."),
        ('"The page does not say" and more', '"The page does not say" and more'),
    ],
)
def test_a_fixed_sentence_is_cut_out_only_where_it_stands_alone(text: str, left: str) -> None:
    """Marks around it go with it; a sentence that goes on, or begins before it, stays."""
    assert cut(text, "The page does not say.") == left
    assert bool(occurrences(text, "The page does not say.")) == (left != text)


def test_lines_are_folded_without_their_list_marks() -> None:
    """Each line that is not blank comes with its place, and without the bullet or number in front of it."""
    found = [(offset, line.text) for offset, line in folded_lines("1. Pay  30\r\n\n- 7\u00a0days\n3.\n")]
    assert found == [(3, "Pay 30"), (15, "7 days"), (22, "3.")]
