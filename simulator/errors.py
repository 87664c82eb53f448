"""What can go wrong, as one tree.

    SimulatorError                 one clear line for a person; carries the exit status
    ├── InputError           (2)   what the user gave is wrong: a file, a name, an option
    │   ├── ScenarioError          a scenario file; names file and line
    │   ├── TemplateError          a template that does not render
    │   └── RecordingError         a recording that is missing, damaged or too new
    ├── EndpointError        (3)   the model's server cannot be used at all
    │   └── EmbeddedError          the embedded server does not start
    └── IncompleteError      (3)   the run ended, and not every attempt did

Exceptions of other libraries are translated where they enter. Anything else that escapes is a bug and keeps its
traceback.
"""

from __future__ import annotations

from typing import ClassVar

__all__ = [
    "EmbeddedError",
    "EndpointError",
    "IncompleteError",
    "InputError",
    "RecordingError",
    "ScenarioError",
    "SimulatorError",
    "TemplateError",
]


class SimulatorError(Exception):
    """An expected failure. ``str(error)`` is the one line that a person reads."""

    exit_status: ClassVar[int] = 2


class InputError(SimulatorError):
    """What the user gave is wrong."""


class ScenarioError(InputError):
    """A scenario file is wrong.

    ``str(error)`` has one ``file:line: what is wrong; what to write`` per line, all problems of the file together.
    """


class TemplateError(InputError):
    """A prompt template does not parse or does not render."""


class RecordingError(InputError):
    """A recording is missing, damaged, or of a newer format."""


class EndpointError(SimulatorError):
    """The model's server cannot be used at all."""

    exit_status: ClassVar[int] = 3


class EmbeddedError(EndpointError):
    """The embedded server does not start."""


class IncompleteError(SimulatorError):
    """The run ended, and not every attempt did."""

    exit_status: ClassVar[int] = 3
