"""A scripted conversation, read from one YAML file: passages, rules, the customer's facts and the turns.

The modules, in reading order; each imports only from those above it.

    wording     what to write instead of a word that is not known
    schema      the part of JSON Schema that is taken for replies, and how a value stands to it
    declining   a reply that declines, where replies are JSON
    fields      what a field may hold
    parts       a scenario, its passages, rules and turns, as values
    loading     a file read, with every problem at its line
    files       which scenario files there are, and which are meant

A file is strict: no unknown field, no value of another kind than is meant, and all its problems are reported at once,
each as ``file:line: what is wrong; what to write``. What has been read is valid and is not checked again.
"""

from .files import Suite, find_scenarios, load_suites, select
from .loading import json_schema, load_scenario, read_scenario, scenario_of, yaml_bytes
from .parts import Admit, AnswerFrom, Effective, Expect, Passage, Probe, ReplyFormat, Rules, Scenario, Turn
from .schema import TooLargeError, mismatch

__all__ = [
    "Admit",
    "AnswerFrom",
    "Effective",
    "Expect",
    "Passage",
    "Probe",
    "ReplyFormat",
    "Rules",
    "Scenario",
    "Suite",
    "TooLargeError",
    "Turn",
    "find_scenarios",
    "json_schema",
    "load_scenario",
    "load_suites",
    "mismatch",
    "read_scenario",
    "scenario_of",
    "select",
    "yaml_bytes",
]
