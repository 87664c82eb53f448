"""Lists of English words: those that claim nothing, those that say little, those with one meaning, those counted.

The lists are short on purpose and general. A thesaurus is not used: near-synonyms are what an invention is made of.
"""

from __future__ import annotations

from typing import Final

__all__ = ["EQUIVALENTS", "LABELS", "LIGHT", "NOTED", "OPPOSITES", "PERSONS", "SCOPE", "SMALL", "THINGS"]


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


SMALL: Final = _set(
    """
    a about across actually after again against ah all along also am among an and any are aren't around as at be
    because been before being beneath between beyond both but by can can't cannot could couldn't did didn't do does
    doesn't doing don't during each either else etc even ever every for from further had hadn't has hasn't have haven't
    having he he'll he's her here hers herself hey hi him himself his how however i i'd i'll i'm i've if in indeed
    into is isn't it it'll it's its itself just let lol may me might more moreover most must my myself neither no
    nor not now of off oh ok okay on once one only or our ours ourselves out over own per please quite rather
    really s same shall she she'll should shouldn't since so some still such sure t than that that'll that's the
    their theirs them themselves then there there's therefore these they they'd they'll they're they've this those
    though through throughout thus to too toward towards under until up upon us very was wasn't we we'll we're we've
    well were weren't what when where whether which while who whom whose why will with within without won't would
    wouldn't yea yeah yes yet you you'd you'll you're you've your yours yourself
    """
)
"""Words that claim nothing by themselves. Negation and bounds are read apart."""

LIGHT: Final = _set(
    """
    able allow allowed amazing anything apply around available awesome become believe best better bit bring call called
    certain commonly consider considered cool currently enjoy especially everyone everything famous favorite feel
    find found fun generally get give go good great guess happen hear heard help hope important include included
    interesting keep kind know known later like lot lots love main make many maybe mention much need new nice occur
    often one other particularly part perhaps place popular pretty probably provide put related run say seem sense
    set several someone something sometimes sort start stuff take thing think today try turn type typically use used
    usually various want way well wish work
    """
)
"""Words that say so little that a claim does not fail by them."""

SCOPE: Final = _set(
    "after all alone always before different every exclusively first guaranteed never none only same second"
)
"""Words that set the bounds of what is said."""

NOTED: Final = _set(
    """
    booking case chat code conversation earlier file given id mention mentioned message note noted number provided
    received record recorded ref reference reservation said see shared stated thank thanks told
    """
)
"""Words that say of a reference that there is one, and nothing else of it."""

EQUIVALENTS: Final = (
    "allow permit",
    "automobile auto car vehicle",
    "begin began begun start",
    "bicycle bike cyclist",
    "big huge large",
    "booking book reservation reserve",
    "buy bought purchase sell sale sold",
    "card cards",
    "child children kid youth",
    "cost charge fee paid pay price",
    "cover admit include",
    "day daily",
    "decrease lower reduce",
    "end expire finish",
    "enter entrance entry",
    "film movie",
    "get got obtain receive",
    "help assist",
    "increase enhance grew grow grown raise",
    "make made",
    "many numerous",
    "month monthly",
    "motorcycle motorbike",
    "need mandatory necessary obligatory require",
    "passenger occupant",
    "person guest individual people traveler traveller visitor",
    "photo picture",
    "say said state tell told",
    "show display",
    "uk britain",
    "us america usa",
    "usual general normal typical",
    "valid good last",
    "walk foot hike hiker walker",
    "week weekly",
    "year annual annually yearly",
)
"""Words that are taken for one another, one group a line."""

OPPOSITES: Final = (
    "accept reject",
    "accept refuse",
    "adult child",
    "allow ban",
    "allow forbid",
    "allow prohibit",
    "arrive depart",
    "arrive leave",
    "begin end",
    "best worst",
    "brother sister",
    "decrease increase",
    "early late",
    "east west",
    "eastern western",
    "father mother",
    "female male",
    "high low",
    "husband wife",
    "include exclude",
    "largest smallest",
    "legal illegal",
    "lose win",
    "lost won",
    "major minor",
    "man woman",
    "maximum minimum",
    "morning evening",
    "negative positive",
    "north south",
    "northern southern",
    "old young",
    "open close",
    "oppose support",
    "possible impossible",
    "private public",
    "safe dangerous",
    "son daughter",
    "success failure",
    "summer winter",
    "weekday weekend",
)
"""Words of which one denies the other where all else is the same, one pair a line."""

PERSONS: Final = _set(
    """
    adult adults guest guests individual individuals occupant occupants passenger passengers people person persons
    rider riders traveler travelers traveller travellers visitor visitors
    """
)
"""Nouns that count persons; a count of one of them is a count of any other."""

THINGS: Final = _set("car cars item items seat seats ticket tickets vehicle vehicles")
"""Nouns that are counted and that "under 16" before them is no age."""

LABELS: Final = _set(
    "chapter figure gate highway item line nr number page phase room route section step table ref reference"
)
"""Nouns behind which a number is a name: "room 12"."""
