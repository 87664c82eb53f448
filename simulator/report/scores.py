"""The score of a run: rates by kind of question, what failed listed one by one, and all answers side by side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Group as Parts
from rich.console import RenderableType
from rich.table import Column, Table
from rich.text import Text

from ..diff import plural
from ..outcome import DecisionWord
from ..score import Group, Kind, Measure, Rate, Score, ScoredTurn
from .layout import Field, field_list, heading, line, styled, whole

__all__ = ["render_score"]

_MEASURES: Mapping[Measure, str] = {
    "in_format": "replies in their format",
    "refused_exactly": "exact refusals",
    "refused_otherwise": "refusals in own words",
    "quoted": "answers with a quote",
    "verbatim": "quotes verbatim",
    "carried": "verbatim quotes that\ncarry the answer",
    "reference_exact": "reference answer, exact",
    "reference_held": "reference answer, held",
    "met": "expectation met by the\nmodel reply",
    "delivered_met": "expectation met by what\nwas delivered",
}
_KINDS: Mapping[Kind, str] = {
    "answerable": "answerable",
    "unanswerable": "not answerable",
    "unlabelled": "not said which",
}
_NOTE = (
    "In brackets the exact 95% interval, which takes replies as independent: "
    "those to one question, or within one conversation, are less than that."
)
_NOT_JUDGED = "none yet"
_TEXTS: Mapping[str, int] = {"scenario": 3, "expected": 3, "model reply": 5}
"""Columns by their share of what the others leave, so that those of all questions stand below each other."""
_WORDS: Mapping[str, int] = {"application\ndecision": 11, "human\njudgement": 9}
"""Columns by their width."""


def render_score(score: Score, *, most: int | None = None) -> RenderableType:
    """Return *score* as a page: counts, then what failed of each kind and the answers, *most* at most; None: all."""
    return Parts(
        _rates([group for group in score.groups if group.turns or group.kind != "unlabelled"]),
        line(_NOTE),
        *_list("verbatim quotes that do not carry the answer", score.not_carried, most),
        *_list("quotes that stand in no admitted passage", score.not_verbatim, most),
        *_list("replies out of format", score.out_of_format, most),
        *_answers(score.questions, most),
    )


def _rates(groups: Sequence[Group]) -> Table:
    heads = [Column("", overflow="fold"), *(Column(_KINDS[group.kind], overflow="fold") for group in groups)]
    table = Table(*heads, box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_row(line("document turns"), *(line(str(group.turns)) for group in groups))
    table.add_row(line("model replies"), *(line(str(group.replies)) for group in groups))
    table.add_row(line("abstained without a call"), *(line(str(group.abstained)) for group in groups))
    table.add_row(line("application decisions"), *(line(_counted(group.decisions, "none")) for group in groups))
    table.add_row(line("human judgements"), *(line(_counted(group.judgements, _NOT_JUDGED)) for group in groups))
    table.add_section()
    for measure, name in _MEASURES.items():
        table.add_row(line(name), *(line(_rate(group.rates[measure])) for group in groups))
    return table


def _counted(words: Mapping[DecisionWord, int] | Mapping[str, int], otherwise: str) -> str:
    return "\n".join(f"{number} {word}" for word, number in words.items() if number) or otherwise


def _rate(rate: Rate) -> str:
    """Return "3 of 8, 38% (9 to 76%)", "3 to 5 of 8 (9 to 91%)" where two are unknown, and "none" for none of none."""
    if rate.low is None or rate.high is None:
        return "none"
    within = f"({_percent(rate.low)} to {_percent(rate.high)}%)"
    if rate.unknown:
        return f"{rate.yes} to {rate.yes + rate.unknown} of {rate.n} {within}"
    return f"{rate.yes} of {rate.n}, {_percent(rate.yes / rate.n)}% {within}"


def _percent(share: float) -> str:
    return f"{100 * share:.0f}"


def _list(title: str, turns: Sequence[ScoredTurn], most: int | None) -> Iterator[RenderableType]:
    yield Text()
    yield heading(f"{title}: {len(turns) or 'none'}{_bounded(len(turns), most, 'the worst')}")
    for turn in turns[:most]:
        yield Text()
        yield whole(f"{turn.scenario}#{turn.attempt}, turn {turn.turn}")
        yield field_list(_fields(turn))


def _bounded(number: int, most: int | None, which: str) -> str:
    """Return what a heading adds where not all are listed."""
    if most is None or number <= most:
        return ""
    return "; not listed, --all lists them" if most == 0 else f"; {which} {most} of them, --all lists the others too"


def _fields(turn: ScoredTurn) -> Iterator[Field]:
    yield "customer", line(turn.question)
    yield "model reply", line(turn.reply or "none")
    if turn.quote is not None:
        yield "quote", line(turn.quote or "empty")
    if turn.not_in_quote:
        read = "unknown" if turn.readings.get("carried") == "unknown" else "unsupported"
        yield "not in the quote", styled(f"{', '.join(turn.not_in_quote)} ({read})", read)
    if turn.format_problem:
        yield "out of format", styled(turn.format_problem, "broken")
    yield "application decision", _decision(turn)
    yield "human judgement", line(turn.judgement or _NOT_JUDGED)


def _decision(turn: ScoredTurn) -> Text:
    return line("none") if turn.decision is None else styled(turn.decision.word, turn.decision.word)


def _answers(questions: Sequence[Sequence[ScoredTurn]], most: int | None) -> Iterator[RenderableType]:
    yield Text()
    bounded = _bounded(len(questions), most, "where the most replies miss the expectation,")
    number = plural(len(questions), "question") if questions else "none"
    yield heading(f"answers side by side: {number}{bounded}")
    for asked in questions[:most]:
        yield Text()
        yield line(asked[0].question)
        yield _side_by_side(asked)


def _side_by_side(turns: Sequence[ScoredTurn]) -> Table:
    texts = (Column(head, overflow="fold", ratio=ratio) for head, ratio in _TEXTS.items())
    words = (Column(head, overflow="fold", width=width) for head, width in _WORDS.items())
    table = Table(*texts, *words, box=SIMPLE_HEAD, pad_edge=False, show_edge=False, expand=True)
    for row, count in Counter(map(_row, turns)).items():
        scenario, expected, reply, decision, judgement = row
        times = f"\n{count} times" if count > 1 else ""
        table.add_row(line(scenario + times), line(expected), line(reply), styled(decision, decision), line(judgement))
    return table


def _row(turn: ScoredTurn) -> tuple[str, str, str, str, str]:
    """Return what is shown of a turn; attempts that come to the same are one row."""
    reply = turn.reply if turn.reply is not None else "not asked" if turn.decision else turn.state.replace("_", " ")
    decision = turn.decision.word if turn.decision else "none"
    return turn.scenario, turn.expected or "none", reply, decision, turn.judgement or _NOT_JUDGED
