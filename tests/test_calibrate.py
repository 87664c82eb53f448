"""Checkers measured on labelled replies."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.calibrate import (
    Calibration,
    LabelledReply,
    auroc,
    best_threshold,
    evidence_check,
    fit,
    measure,
    read_labels,
)
from simulator.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

    from simulator.outcome import VerdictWord

ROW = {"document": "A day has 24 hours.", "context": "", "reply": "A day has 24 hours.", "supported": True}


def row(name: str, *, supported: bool, source: str = "a") -> LabelledReply:
    """Return a row whose id tells the checker below what to say."""
    return LabelledReply(document="d", reply=f"reply {name}", supported=supported, source=source, id=name)


def told(answers: dict[str, tuple[VerdictWord, float | None]], rows: list[LabelledReply]) -> Calibration:
    """Return the figures of a checker that says *answers* by id."""
    return measure(rows, lambda each: answers[each.id], resamples=50)


def test_labels_are_read_with_their_optional_fields(tmp_path: Path) -> None:
    """A byte-order mark, blank lines and unknown fields are no matter; source and id may be missing."""
    path = tmp_path / "labels.jsonl"
    lines = [json.dumps(ROW), "", json.dumps({**ROW, "id": "x", "source": "s", "licence": "CC0"})]
    path.write_text("\n".join(lines), encoding="utf-8-sig")
    first, second = read_labels(path)
    assert (first.id, first.source, first.supported) == ("", "", True)
    assert (second.id, second.source) == ("x", "s")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "labels.jsonl:1: not JSON at column 2"),
        (json.dumps(ROW) + "\n[]", "labels.jsonl:2: the row"),
        (json.dumps({**ROW, "supported": "yes"}), "labels.jsonl:1: supported"),
        (json.dumps({"reply": "r", "supported": True}), "labels.jsonl:1: document"),
        ("[" * 200_000, "labels.jsonl:1: nested too deeply"),
        ("\n", "labels.jsonl: no rows"),
    ],
)
def test_a_bad_label_file_is_named_with_its_line(tmp_path: Path, content: str, message: str) -> None:
    """What is wrong and where is one line for a person."""
    path = tmp_path / "labels.jsonl"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_labels(path)
    assert message in str(caught.value)
    assert "write " in str(caught.value)


def test_a_label_file_that_cannot_be_opened_or_decoded_is_named(tmp_path: Path) -> None:
    """A missing file and bytes that are not UTF-8 are input errors."""
    with pytest.raises(InputError, match="cannot be read"):
        read_labels(tmp_path / "none.jsonl")
    path = tmp_path / "latin.jsonl"
    path.write_bytes(b'{"document": "caf\xe9"}')
    with pytest.raises(InputError, match="not UTF-8 at byte 17"):
        read_labels(path)


def test_the_words_of_a_checker_give_a_confusion_and_ranges() -> None:
    """Unknowns make a range from all wrong to all right; none counts as supported."""
    rows = [row(name, supported=name in "abcd") for name in "abcdwxyz"]
    words: dict[str, tuple[VerdictWord, float | None]] = {
        "a": ("supported", None),
        "b": ("none", None),
        "c": ("unknown", None),
        "d": ("unsupported", None),
        "w": ("unsupported", None),
        "x": ("unsupported", None),
        "y": ("unknown", None),
        "z": ("supported", None),
    }
    figures = told(words, rows)
    assert figures.scores is None
    assert figures.words.confusion == {
        "supported": {"supported": 1, "unsupported": 1, "unknown": 1, "none": 1},
        "unsupported": {"supported": 1, "unsupported": 2, "unknown": 1, "none": 0},
    }
    assert (figures.words.precision.low, figures.words.precision.high) == (2 / 4, 3 / 4)
    assert (figures.words.recall.low, figures.words.recall.high) == (2 / 4, 3 / 4)
    balanced = figures.words.balanced_accuracy
    assert (balanced.low, balanced.high) == (2 / 4, 3 / 4)
    assert [error.id for error in figures.errors] == ["d", "z"]


def test_every_figure_has_an_interval() -> None:
    """By word it reaches from the low end's to the high end's; by score it holds the figure; none stays none."""
    rows = [row(str(at), supported=at % 2 > 0) for at in range(40)]
    words: list[VerdictWord] = ["unsupported", "supported", "unknown", "none", "unsupported"]
    figures = told({each.id: (words[at % 5], at % 7 / 7) for at, each in enumerate(rows)}, rows)
    for name in ("precision", "recall", "balanced_accuracy"):
        within, of_word = getattr(figures.words, f"{name}_95"), getattr(figures.words, name)
        assert 0 <= within.low <= of_word.low < of_word.high <= within.high <= 1
        assert getattr(figures.scores, f"{name}_95").low <= getattr(figures.scores, name)
        assert getattr(figures.scores, f"{name}_95").high >= getattr(figures.scores, name)
    nothing = told({"a": ("supported", 0.9)}, [row("a", supported=True)])
    assert (nothing.words.precision_95.low, nothing.words.recall_95.high) == (None, None)


def test_the_scores_of_a_checker_are_read_at_one_threshold() -> None:
    """From the threshold on a reply counts as supported; the worst errors come first."""
    rows = [row(name, supported=name in "ab") for name in "abxy"]
    scores: dict[str, tuple[VerdictWord, float | None]] = {
        "a": ("supported", 0.5),
        "b": ("unsupported", 0.4),
        "x": ("supported", 0.9),
        "y": ("unsupported", 0.1),
    }
    figures = told(scores, rows)
    assert figures.scores is not None
    assert figures.scores.confusion["supported"] == {"supported": 1, "unsupported": 1}
    assert (figures.scores.precision, figures.scores.recall, figures.scores.balanced_accuracy) == (0.5, 0.5, 0.5)
    assert figures.scores.auroc == 0.5
    assert [error.id for error in figures.errors] == ["x", "b"]


def test_a_figure_that_cannot_be_computed_is_unknown() -> None:
    """With one label only there is no balanced accuracy and no curve, and neither is 0."""
    figures = told({"a": ("supported", 0.9)}, [row("a", supported=True)])
    assert figures.scores is not None
    assert (figures.scores.auroc, figures.scores.balanced_accuracy, figures.scores.recall) == (None, None, None)
    assert figures.scores.auroc_95.low is None
    assert figures.words.balanced_accuracy.low is None
    assert figures.left_out == ()


def test_a_source_is_read_at_the_threshold_of_the_others() -> None:
    """The threshold of a source is fitted without it."""
    rows = [row(f"{source}{at}", supported=at > 1, source=source) for source in "ab" for at in range(4)]
    shift = {"a": 0.0, "b": 0.2}
    answers: dict[str, tuple[VerdictWord, float | None]] = {
        each.id: ("supported", 0.05 + shift[each.source] + 0.2 * int(each.id[1])) for each in rows
    }
    figures = told(answers, rows)
    assert [(each.source, round(each.threshold, 3)) for each in figures.left_out] == [("a", 0.5), ("b", 0.35)]
    assert [each.balanced_accuracy for each in figures.left_out] == [0.75, 0.75]
    assert figures.left_out_balanced_accuracy == 0.75
    assert set(figures.sources) == {"a", "b"}


def test_equal_arguments_give_equal_figures() -> None:
    """The bootstrap is seeded, and its interval holds the figure."""
    rows = [row(str(at), supported=at % 3 > 0) for at in range(30)]

    def check(each: LabelledReply) -> tuple[VerdictWord, float | None]:
        return "supported", int(each.id) * 7 % 11 / 11

    first, second = (measure(rows, check, resamples=40, seed=seed) for seed in (3, 3))
    assert first == second
    assert first.scores is not None
    assert first.scores.auroc is not None
    assert first.scores.auroc_95.low is not None
    assert first.scores.auroc_95.high is not None
    assert first.scores.auroc_95.low <= first.scores.auroc <= first.scores.auroc_95.high
    assert first != measure(rows, check, resamples=40, seed=4)


def test_the_figures_are_json() -> None:
    """All figures can be written as JSON, sources and errors included."""
    figures = told(
        {"a": ("supported", 0.9), "x": ("unknown", None)}, [row("a", supported=True), row("x", supported=False)]
    )
    plain = json.loads(json.dumps(figures.to_json(), allow_nan=False))
    assert plain["words"]["confusion"]["unsupported"]["unknown"] == 1
    assert plain["sources"]["a"]["scores"]["n"] == 1
    assert plain["n"] == 2


PAIRS = st.lists(st.tuples(st.booleans(), st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0])), min_size=1, max_size=20)


@given(PAIRS)
def test_the_area_is_the_share_of_pairs_in_order(pairs: list[tuple[bool, float]]) -> None:
    """The area under the curve is how often a supported row scores above an unsupported one, ties as half."""
    good = [score for label, score in pairs if label]
    bad = [score for label, score in pairs if not label]
    wins = [(a > b) + (a == b) / 2 for a in good for b in bad]
    area = auroc(pairs)
    assert area == pytest.approx(sum(wins) / len(wins)) if wins else area is None


@given(PAIRS)
def test_no_threshold_does_better_than_the_best(pairs: list[tuple[bool, float]]) -> None:
    """The best threshold is at least as good as any other between two scores."""
    good = [score for label, score in pairs if label]
    bad = [score for label, score in pairs if not label]

    def balanced(threshold: float) -> float:
        right = sum(score >= threshold for score in good) / len(good)
        return (right + sum(score < threshold for score in bad) / len(bad)) / 2

    found = best_threshold(pairs)
    if good and bad:
        assert all(balanced(found) >= balanced(other) - 1e-9 for other in (0.1, 0.3, 0.5, 0.6, 0.9))
    else:
        assert found == 0.5


@pytest.mark.parametrize(
    ("bad", "good", "threshold", "band"),
    [
        ([0.1, 0.2, 0.3], [0.7, 0.8, 0.9], 0.5, None),
        ([0.1, 0.2, 0.6], [0.55, 0.8, 0.9], 0.5, (0.5, 0.6)),
        ([0.1, 0.2, 0.4, 0.6, 0.9], [0.3, 0.5, 0.7, 0.8, 0.9], 0.5, (0.3, 0.6)),
        ([0.5, 0.5], [0.5, 0.5], 0.5, (0.5, 0.5)),
    ],
)
def test_the_band_reaches_as_far_as_a_third_is_wrong(
    bad: list[float], good: list[float], threshold: float, band: tuple[float, float] | None
) -> None:
    """It begins at the threshold, and each side has its own; without an error near the threshold there is none."""
    found = fit([*((False, score) for score in bad), *((True, score) for score in good)])
    assert found.threshold == pytest.approx(threshold)
    assert found.band == (band if band is None else pytest.approx(band))
    assert (found.n, found.supported) == (len(bad) + len(good), len(good))


def test_both_labels_weigh_the_same_in_the_band() -> None:
    """One unsupported row of two counts as much as five supported ones of ten."""
    good = [*((True, 0.7) for _ in range(5)), *((True, 0.9) for _ in range(5))]
    found = fit([(False, 0.1), (False, 0.7), *good])
    assert (found.threshold, found.band) == (0.5, (0.5, 0.7))
    assert (found.undecided, found.decided_balanced_accuracy) == (6, 1.0)


@pytest.mark.parametrize("pairs", [[], [(True, 0.5)], [(False, 0.5), (False, 0.6)]])
def test_one_label_alone_is_no_fit(pairs: list[tuple[bool, float]]) -> None:
    """It is said how many rows of either label have a grade."""
    with pytest.raises(InputError, match="nothing to fit"):
        fit(pairs)


@given(PAIRS)
def test_a_band_holds_the_threshold_and_its_ends_are_scores(pairs: list[tuple[bool, float]]) -> None:
    """The order of the rows is no matter, and what lies in the band is counted."""
    if len({label for label, _ in pairs}) < 2:
        return
    found = fit(pairs)
    assert found == fit(pairs[::-1])
    low, high = found.band or (2.0, -2.0)
    assert found.undecided == sum(low <= score <= high for _, score in pairs)
    if found.band is not None:
        assert low <= found.threshold <= high
        assert {low, high} <= {found.threshold, *(score for _, score in pairs)}


def test_the_evidence_checks_a_row() -> None:
    """The deterministic evidence is a checker: a word and a score, the context taken as what the customer said."""
    assert evidence_check(LabelledReply.model_validate(ROW)) == ("supported", 1.0)
    wrong = LabelledReply.model_validate({**ROW, "reply": "A day has 25 hours.", "supported": False})
    word, score = evidence_check(wrong)
    assert word == "unsupported"
    assert score is not None
    assert score < 0.5
    stated = LabelledReply.model_validate({**ROW, "context": "My name is Ann-7.", "reply": "Your name is Ann-7."})
    assert evidence_check(stated)[0] == "supported"
