"""Rates, components and tests, as pure functions of counts and arrays: no files, no clock, no scenario.

The modules, in reading order; each imports only from those above it.

    rate         how often of n, with its exact interval, and whether that is steady
    resample     attempts drawn anew, and an interval of a mean over them
    components   which stage the variance of a yes-or-no outcome comes from
    flips        how often two draws of one cell differ
    association  how much of an outcome's variance goes with something before it
    fisher       p-values of two counts, as tables
    stepdown     which of many cells differ between two runs, corrected together
    difference   how far two rates are apart, and the word for it
    sequence     intervals that may be looked at after every attempt
    plan         how many attempts a claim needs

Outcomes are 1, 0, and NaN for unknown. Whatever draws at random is given a seeded generator.
Importing this imports ``scipy.special``, which is not for a program's start.
"""

from .association import Association, associate
from .components import Component, Components, Nested, Stage, components
from .difference import Difference, More, Word, compare_rates, newcombe
from .fisher import fisher_table
from .flips import Flips, flips
from .plan import Power, clean_attempts, power
from .rate import Interval, Rate, Steadiness, clopper_pearson, mean_pass_hat, pass_hat, rate, steady_after
from .resample import Mean, mean_of_attempts
from .sequence import confidence_sequence, sequence_interval, settled, settled_after
from .stepdown import Block, StepDown, step_down

__all__ = [
    "Association",
    "Block",
    "Component",
    "Components",
    "Difference",
    "Flips",
    "Interval",
    "Mean",
    "More",
    "Nested",
    "Power",
    "Rate",
    "Stage",
    "Steadiness",
    "StepDown",
    "Word",
    "associate",
    "clean_attempts",
    "clopper_pearson",
    "compare_rates",
    "components",
    "confidence_sequence",
    "fisher_table",
    "flips",
    "mean_of_attempts",
    "mean_pass_hat",
    "newcombe",
    "pass_hat",
    "power",
    "rate",
    "sequence_interval",
    "settled",
    "settled_after",
    "steady_after",
    "step_down",
]
