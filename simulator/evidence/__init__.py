"""What in a text carries a claim, read without a model.

The modules, in reading order; each imports only from those above it.

    folding      texts made comparable, with the way back to the original
    lexicon      lists of English words
    units        units of measure and of money, each with what it is in its base unit
    sentences    a text cut into its sentences, nothing lost
    stems        words as they are compared, small ones left out
    numerals     numbers in digits or words, with their value
    quantity     a quantity with its unit, and when two are the same
    marked       a text as one line to match patterns on
    dates        dates and clock times
    amounts      money, ages, durations, percentages, measures, ordinals, years, counts
    quantities   all quantities of a text
    held         quantities filed with the places that hold them
    references   names of a booking or a case
    refusals     what says that something is not said or not known
    claims       what a reply claims, and which sentences state anything
    stretches    passages cut into the pieces that may carry a claim
    coverage     how well one piece carries a claim
    denial       whether one piece denies a claim
    reading      a reply read against the passages, claim by claim
    quotes       whether a quote stands in a passage and carries its answer

``prepare`` the passages once, then ``read_evidence`` of any number of replies.
"""

from .claims import Claim, claims
from .quantities import Quantity, quantities
from .quotes import QuoteReading, find_quote, read_quoted
from .reading import ClaimReading, Evidence, read_evidence
from .stretches import Prepared, Stretch, prepare

__all__ = [
    "Claim",
    "ClaimReading",
    "Evidence",
    "Prepared",
    "Quantity",
    "QuoteReading",
    "Stretch",
    "claims",
    "find_quote",
    "prepare",
    "quantities",
    "read_evidence",
    "read_quoted",
]
