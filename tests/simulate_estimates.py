"""What ``simulator.estimates`` claims, measured where the truth is known.

``uv run python tests/simulate_estimates.py`` prints a Markdown table for each claim, all of them seeded, and exits
with 1 if one fails; ``--quick`` takes fewer repetitions. Where the chances of all outcomes can be summed up they are,
and no simulation is needed: those tables say "exact".
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import comb
from time import process_time
from typing import Final

import numpy as np
from numpy.typing import NDArray

from simulator.estimates import (
    Block,
    Component,
    Components,
    Interval,
    Nested,
    clean_attempts,
    clopper_pearson,
    components,
    confidence_sequence,
    mean_of_attempts,
    power,
    rate,
    settled_after,
    step_down,
)

FloatArray = NDArray[np.float64]

TURNS: Final = 10
ROUNDING: Final = 1e-9


@dataclass(frozen=True, kw_only=True, slots=True)
class Scale:
    """How much is simulated."""

    pairs: int = 1000
    """Of runs that are compared, for each setting."""
    permutations: int = 9999
    designs: int = 2000
    """Nested designs, for each setting."""
    means: int = 1000
    """Means over attempts, for each setting."""
    draws: int = 999
    """Of the bootstrap."""
    point: float = 0.975
    """Of the distribution of alarms at 5%: how many are too many."""


QUICK: Final = Scale(pairs=40, permutations=299, designs=60, means=40, draws=199, point=0.999)


@dataclass(frozen=True, kw_only=True, slots=True)
class Table:
    """What was measured, and which claims it bears on."""

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    claims: dict[str, bool] = field(default_factory=dict[str, bool])

    def markdown(self) -> str:
        """Return the table, followed by its claims."""
        lines = [f"### {self.title}", "", _row(self.head), _row(["---"] * len(self.head)), *map(_row, self.rows), ""]
        lines += [f"- {'holds' if holds else '**FAILS**'}: {claim}" for claim, holds in self.claims.items()]
        return "\n".join(lines) + "\n"


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _percent(value: float) -> str:
    return f"{100 * value:.1f}%"


def chances(n: int, p: float) -> FloatArray:
    """Return the probability of 0 to *n* passing attempts at rate *p*."""
    return np.array([comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1)])


# Rates.


def rates(_: Scale) -> Table:
    """Measure the coverage of the 95% interval of a rate."""
    sizes, shown = (5, 10, 20, 30, 50), (0.5, 0.8, 0.95, 0.99, 1.0)
    grid = np.round(np.arange(0.5, 1.0001, 0.005), 3)
    covered = {n: {float(p): coverage(n, float(p)) for p in (*grid, 0.99)} for n in sizes}
    worst = {n: min(by_rate.values()) for n, by_rate in covered.items()}
    return Table(
        title="Coverage of the interval of a rate (95%, exact)",
        head=["n", *(f"at {p:g}" for p in shown), "least, 0.5 to 1 in steps of 0.005"],
        rows=[[str(n), *(_percent(covered[n][p]) for p in shown), _percent(worst[n])] for n in sizes],
        claims={"every interval covers at 95% or more": min(worst.values()) >= 0.95 - ROUNDING},
    )


def coverage(n: int, p: float) -> float:
    """Return the probability that the interval from *n* attempts holds the rate *p*."""
    low, high = clopper_pearson(np.arange(n + 1), n)
    return float(chances(n, p)[(low <= p + ROUNDING) & (p - ROUNDING <= high)].sum())


def words(_: Scale) -> Table:
    """Measure how often a turn is called steady or flaky."""
    sizes, true = (10, 20, 36, 50, 100), (0.5, 0.7, 0.85, 0.899, 0.901, 0.95, 0.99, 1.0)
    found = {(n, p): said(n, p) for n in sizes for p in true}
    wrong = max(steady if p < 0.9 else flaky for (_, p), (steady, flaky) in found.items())
    return Table(
        title="How often a turn is called steady / flaky (exact)",
        head=["n", *(f"rate {p:g}" for p in true)],
        rows=[[str(n), *(" / ".join(map(_percent, found[n, p])) for p in true)] for n in sizes],
        claims={"the wrong word comes at most 2.5% of the time": wrong <= 0.025 + ROUNDING},
    )


def said(n: int, p: float) -> tuple[float, float]:
    """Return the probabilities of steady and of flaky after *n* attempts at rate *p*."""
    found = np.array([rate(k, n).steadiness for k in range(n + 1)])
    weights = chances(n, p)
    return float(weights[found == "steady"].sum()), float(weights[found == "flaky"].sum())


# Means over turns.


def means(scale: Scale) -> Table:
    """Measure the coverage of the bootstrap's interval of a mean over turns."""
    rng = np.random.default_rng(20)
    settings = [(groups, n, p, tie) for groups in (1, 6) for n in (20, 40) for p in (0.8, 0.95) for tie in (0.0, 0.5)]
    rows = [
        [str(groups), str(n), f"{p:g}", f"{tie:g}", *_mean_coverage(groups, n, p, tie, scale, rng)]
        for groups, n, p, tie in settings
    ]
    return Table(
        title=f"Coverage of the bootstrap's 95% interval of a mean over {TURNS} turns ({scale.means} sets each)",
        head=["groups", "attempts", "rate", "turns tied", "covered", "no interval"],
        rows=rows,
    )


def _mean_coverage(
    groups: int, n: int, p: float, tie: float, scale: Scale, rng: np.random.Generator
) -> tuple[str, str]:
    sets = [[attempts(n, p, tie, rng) for _ in range(groups)] for _ in range(scale.means)]
    found = [mean_of_attempts(each, rng=rng, draws=scale.draws).interval for each in sets]
    told = [interval for interval in found if interval is not None]
    covered = sum(interval.low <= p <= interval.high for interval in told)
    return _percent(covered / max(1, len(told))), str(len(found) - len(told))


def attempts(n: int, p: float, tie: float, rng: np.random.Generator, turns: int = TURNS) -> FloatArray:
    """Return n x turns outcomes of rate *p*; with the chance *tie* a turn takes the one that its attempt has in store.

    Two turns of an attempt then have the correlation tie squared.
    """
    common, own = rng.random((n, 1)) < p, rng.random((n, turns)) < p
    return np.where(rng.random((n, turns)) < tie, common, own).astype(np.float64)


# Components.


@dataclass(frozen=True, kw_only=True, slots=True)
class Pipeline:
    """Two kinds of answers, which are flagged and pass with known probabilities."""

    kinds: tuple[float, float]
    """How often each comes."""
    flagged: tuple[float, float]
    passes: tuple[float, float]
    """The outcome where it is not flagged: 0 or 1."""
    rewritten: tuple[float, float]
    """How often a rewrite passes."""

    def truth(self) -> FloatArray:
        """Return the components of answer, check and rewrite."""
        kinds, flagged, passes, rewritten = map(np.array, (self.kinds, self.flagged, self.passes, self.rewritten))
        mean = flagged * rewritten + (1 - flagged) * passes
        check = flagged * (1 - flagged) * (passes - rewritten) ** 2
        rewrite = flagged * rewritten * (1 - rewritten)
        return np.array([kinds @ mean**2 - (kinds @ mean) ** 2, kinds @ check, kinds @ rewrite])

    def play(self, answers: int, checks: int, rewrites: int, lost: float, rng: np.random.Generator) -> Nested:
        """Return one design; of the rewrites *lost* are missing, though never more than all but two of a cell."""
        kind = rng.choice(2, answers, p=self.kinds)
        flagged = rng.random((answers, checks)) < np.array(self.flagged)[kind][:, None]
        passed = rng.random((answers, checks, rewrites)) < np.array(self.rewritten)[kind][:, None, None]
        kept = np.array(self.passes)[kind][:, None, None]
        outcomes = np.where(flagged[:, :, None], passed, kept).astype(np.float64)
        missing = flagged[:, :, None] & (rng.random(outcomes.shape) < lost)
        missing[:, :, :2] = False
        return Nested(outcomes=np.where(missing, np.nan, outcomes), structural=~flagged)


PIPELINES: Final = {
    "rewrite": Pipeline(kinds=(0.7, 0.3), flagged=(0.3, 0.9), passes=(1, 1), rewritten=(0.5, 0.5)),
    "check": Pipeline(kinds=(0.5, 0.5), flagged=(0.5, 0.5), passes=(1, 0), rewritten=(0.05, 0.95)),
    "answer": Pipeline(kinds=(0.8, 0.2), flagged=(0.05, 0.05), passes=(1, 0), rewritten=(0.9, 0.9)),
    "all three": Pipeline(kinds=(0.6, 0.4), flagged=(0.2, 0.7), passes=(1, 0), rewritten=(0.6, 0.6)),
}


def parts(scale: Scale) -> Table:
    """Measure the bias of the components and the coverage of their intervals."""
    rng = np.random.default_rng(30)
    found = [
        (name, answers, rewrites, lost, *_component_errors(pipeline, answers, rewrites, lost, scale, rng))
        for name, pipeline in PIPELINES.items()
        for answers, rewrites, lost in ((8, 2, 0.0), (40, 2, 0.0), (40, 4, 0.5))
    ]
    return Table(
        title=f"Components of answer, check and rewrite (A x 3 x R, {scale.designs} designs each)",
        head=[
            "unstable",
            "A",
            "R",
            "lost",
            "true shares",
            "bias in standard errors",
            "variance covered",
            "share covered",
        ],
        rows=[
            [name, str(answers), str(rewrites), _percent(lost), shares, *map(_triple, told)]
            for name, answers, rewrites, lost, shares, *told in found
        ],
        claims={"no component is off by more than 4 standard errors": max(abs(each[5]).max() for each in found) <= 4},
    )


def _triple(values: FloatArray) -> str:
    return " / ".join("-" if np.isnan(value) else f"{value:.2f}" for value in values)


def _component_errors(
    pipeline: Pipeline, answers: int, rewrites: int, lost: float, scale: Scale, rng: np.random.Generator
) -> tuple[str, FloatArray, FloatArray, FloatArray]:
    truth = pipeline.truth()
    found = [
        components([pipeline.play(answers, 3, rewrites, lost, rng)], rng=rng, draws=scale.draws)
        for _ in range(scale.designs)
    ]
    variances = np.array([[part.variance for part in _parts(each)] for each in found], dtype=np.float64)
    error = (variances.mean(axis=0) - truth) / (variances.std(axis=0, ddof=1) / np.sqrt(len(found)))
    shares = truth / truth.sum()
    by_variance = [[part.variance_interval for part in _parts(each)] for each in found]
    by_share = [[part.share_interval for part in _parts(each)] for each in found]
    return _triple(shares), error, _covered(by_variance, truth), _covered(by_share, shares)


def _parts(found: Components) -> Iterator[Component]:
    yield from (found.answer, found.check, found.rewrite)


def _covered(intervals: Sequence[Sequence[Interval | None]], truth: FloatArray) -> FloatArray:
    """Return how often each stage's interval holds the truth, of those there are."""
    told = [[each for each in stage if each is not None] for stage in zip(*intervals, strict=True)]
    return np.array(
        [
            np.mean([each.low <= true <= each.high for each in stage]) if stage else np.nan
            for stage, true in zip(told, truth, strict=True)
        ]
    )


# Comparisons.


def alarms(scale: Scale) -> Table:
    """Count how often two runs that do not differ are said to."""
    rng = np.random.default_rng(40)
    limit = alarm_limit(scale.pairs, scale.point)
    settings = [(p, tie, paired) for p in (1.0, 0.95, 0.8) for tie in (0.0, 0.7) for paired in (False, True)]
    found = [(p, tie, paired, _alarms(p, tie, paired=paired, scale=scale, rng=rng)) for p, tie, paired in settings]
    return Table(
        title=f"Alarms in {scale.pairs} pairs of equal runs ({TURNS} turns, n = m = 20, B = {scale.permutations})",
        head=["rate", "turns tied", "permuted", "alarms"],
        rows=[[f"{p:g}", f"{tie:g}", "within pairs" if paired else "freely", str(a)] for p, tie, paired, a in found],
        claims={
            f"at most {limit} alarms, the {100 * scale.point:g}% point at 5%": max(each[3] for each in found) <= limit,
        },
    )


def alarm_limit(pairs: int, point: float) -> int:
    """Return the *point* of the distribution of alarms in *pairs* pairs, at 5% each."""
    return int(np.searchsorted(np.cumsum(np.exp(_log_chances(pairs, 0.05))), point))


def _log_chances(n: int, p: float) -> FloatArray:
    ways = np.concatenate([[0.0], np.cumsum(np.log(np.arange(n, 0, -1) / np.arange(1, n + 1)))])
    k = np.arange(n + 1)
    return ways + k * np.log(p) + (n - k) * np.log1p(-p)


def _alarms(p: float, tie: float, *, paired: bool, scale: Scale, rng: np.random.Generator) -> int:
    alarmed = 0
    for _ in range(scale.pairs):
        block = Block(base=attempts(20, p, tie, rng), candidate=attempts(20, p, tie, rng))
        found = step_down([block], rng=rng, permutations=scale.permutations, paired=paired)
        alarmed += bool(found.adjusted[0].min() <= 0.05)
    return alarmed


def finds(scale: Scale) -> Table:
    """Measure how often a drop in one turn of ten is found."""
    rng = np.random.default_rng(50)
    settings = [(0.95, 0.45, 20), (0.95, 0.3, 20), (0.95, 0.3, 40), (1.0, 0.3, 20), (0.8, 0.3, 40)]
    found = [(_found(p, drop, n, 0.0, scale, rng), _found(p, drop, n, 0.7, scale, rng)) for p, drop, n in settings]
    planned = [power(p, drop, n=n, m=n, turns=TURNS, rng=rng).power for p, drop, n in settings]
    least = dict(zip(settings, map(min, found), strict=True))
    return Table(
        title=f"How often a drop in one turn of {TURNS} is found ({scale.pairs} pairs, B = {scale.permutations})",
        head=["rate", "drop", "n = m", "turns independent", "turns tied 0.7", "as planned"],
        rows=[
            [f"{p:g}", f"{drop:g}", str(n), *map(_percent, both), _percent(plan)]
            for (p, drop, n), both, plan in zip(settings, found, planned, strict=True)
        ],
        claims={
            "45 points are found at n = m = 20 with power over 0.8": least[0.95, 0.45, 20] > 0.8,
            "30 points are found at n = m = 40 with power over 0.8": least[0.95, 0.3, 40] > 0.8,
            "the plan is within 4 standard errors of the simulation with independent turns": all(
                abs(one - plan) <= 4 * np.sqrt(0.25 / scale.pairs)
                for (one, _), plan in zip(found, planned, strict=True)
            ),
        },
    )


def _found(p: float, drop: float, n: int, tie: float, scale: Scale, rng: np.random.Generator) -> float:
    count = 0
    for _ in range(scale.pairs):
        candidate = attempts(n, p, tie, rng)
        candidate[:, 0] *= rng.random(n) < (p - drop) / p
        block = Block(base=attempts(n, p, tie, rng), candidate=candidate)
        adjusted = step_down([block], rng=rng, permutations=scale.permutations).adjusted[0]
        count += bool(adjusted[0] <= 0.05)
    return count / scale.pairs


# Sequences.

Ends = Sequence[tuple[FloatArray, FloatArray]]
"""The low and the high end of an interval for n = 1, 2, ..., each by how many of n passed."""


def peeking(_: Scale) -> Table:
    """Measure how often an interval that is looked at after every attempt up to 200 ever leaves out the rate."""
    true = (0.5, 0.7, 0.8, 0.9, 0.95, 0.99)
    kinds = {
        "confidence sequence, alpha 0.05": sequence_ends(0.05, 200),
        "confidence sequence, alpha 0.05 / 10": sequence_ends(0.005, 200),
        "ordinary 95% interval, for comparison": [clopper_pearson(np.arange(n + 1), n) for n in range(1, 201)],
    }
    found = {name: [missed(ends, p) for p in true] for name, ends in kinds.items()}
    first, second, _ordinary = (max(each) for each in found.values())
    return Table(
        title="How often an interval ever leaves out the rate, looked at after every attempt up to 200 (exact)",
        head=["interval", *(f"rate {p:g}" for p in true)],
        rows=[[name, *(f"{100 * value:.2f}%" for value in values)] for name, values in found.items()],
        claims={"the sequence leaves it out at most alpha of the time": first <= 0.05 and second <= 0.005},
    )


def sequence_ends(alpha: float, last: int) -> Ends:
    """Return the confidence sequence up to *last* attempts."""
    return [confidence_sequence(np.arange(n + 1), n, alpha=alpha) for n in range(1, last + 1)]


def missed(ends: Ends, p: float) -> float:
    """Return the probability that one of the intervals leaves out *p*."""
    still = np.array([1.0])
    for low, high in ends:
        still = np.where(_holds(low, high, p), _next(still, p), 0.0)
    return float(1 - still.sum())


def _next(still: FloatArray, p: float) -> FloatArray:
    """Return the probabilities by how many passed, one attempt later."""
    return np.append(still * (1 - p), 0.0) + np.append(0.0, still * p)


def _holds(low: FloatArray, high: FloatArray, p: float) -> NDArray[np.bool_]:
    return (low <= p + ROUNDING) & (p - ROUNDING <= high)


def stopping(_: Scale) -> Table:
    """Measure when a turn is settled, and how often its interval then holds the rate."""
    true = (0.5, 0.8, 0.9, 0.95, 0.99, 1.0)
    ends = {turns: sequence_ends(0.05 / turns, 400) for turns in (1, TURNS)}
    settings = [(width, turns) for width in (0.3, 0.2) for turns in ends]
    found = {(width, turns): [stopped(ends[turns], width, p) for p in true] for width, turns in settings}
    return Table(
        title="Attempts until a turn is settled, and how often its interval then holds the rate (at most 400, exact)",
        head=["width", "turns", "fewest", *(f"rate {p:g}" for p in true)],
        rows=[
            [
                f"{width:g}",
                str(turns),
                str(settled_after(width=width, turns=turns)),
                *(f"{n:.0f}, {100 * held:.2f}%" for n, held in found[width, turns]),
            ]
            for width, turns in settings
        ],
        claims={
            "it holds the rate at least 1 - alpha / turns of the time": all(
                held >= 1 - 0.05 / turns - ROUNDING for (_, turns), each in found.items() for _, held in each
            )
        },
    )


def stopped(ends: Ends, width: float, p: float) -> tuple[float, float]:
    """Return the mean attempts until the interval is at most *width* wide, and how often it then holds the rate."""
    still, mean, held = np.array([1.0]), 0.0, 0.0
    for n, (low, high) in enumerate(ends, 1):
        still = _next(still, p)
        done = (high - low <= width) | (n == len(ends))
        mean += n * float(still[done].sum())
        held += float(still[done & _holds(low, high, p)].sum())
        still = np.where(done, 0.0, still)
    return mean, held


# Plans.


def clean(_: Scale) -> Table:
    """Show the clean attempts that a claim needs, and the chance that they come clean although it is not true."""
    settings = [(r, c, turns) for r in (0.1, 0.05, 0.01) for c in (0.95, 0.99) for turns in (1, TURNS)]
    found = [(r, c, turns, clean_attempts(r, confidence=c, turns=turns)) for r, c, turns in settings]
    return Table(
        title="Clean attempts to claim a failure rate below r (exact)",
        head=["r", "confidence", "turns", "attempts", "chance at rate r, any turn"],
        rows=[
            [f"{r:g}", f"{c:g}", str(turns), str(n), f"at most {_percent(turns * (1 - r) ** n)}"]
            for r, c, turns, n in found
        ],
        claims={
            "59 for 5% at 95%": clean_attempts(0.05) == 59,
            "no attempt fewer would do": all(
                turns * (1 - r) ** n <= 1 - c + ROUNDING < turns * (1 - r) ** (n - 1) for r, c, turns, n in found
            ),
        },
    )


TABLES: Final = (rates, words, means, parts, alarms, finds, peeking, stopping, clean)


def main(arguments: Sequence[str]) -> int:
    """Print all tables; return 1 if a claim fails."""
    scale = QUICK if "--quick" in arguments else Scale()
    fails = False
    for simulate in TABLES:
        started = process_time()
        table = simulate(scale)
        fails |= not all(table.claims.values())
        sys.stdout.write(f"{table.markdown()}\n{process_time() - started:.1f} s of CPU time.\n\n")
        sys.stdout.flush()
    sys.stdout.write(f"{process_time():.0f} s of CPU time in all.\n")
    return int(fails)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
