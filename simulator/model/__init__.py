"""Messages sent, one reply received: the only way to a model, an OpenAI-compatible chat endpoint.

shapes       what a server wrote, looked at without trusting its shape
values       what is asked, what came back, and how that reads
key          the API key, and how it is kept out of what is shown or recorded
endpoint     where a model is, and what its server puts up with
reading      a response, read into a reply
connection   the connection to a server: its deadline, its proxy
body         the body of an answer, decompressed within a limit
tries        one call: its tries, the waits between them, its deadline
advice       what went wrong, in words, and what may cure it
facts        what a server says of itself
client       the client

What a server does never raises: it is the ``outcome`` of a ``Reply``. Only where no connection is to be had before
anything was asked, ``facts`` and ``list_models`` raise ``EndpointError``. No other package names an exception of the
HTTP library.
"""

from __future__ import annotations

from .client import Model, list_models
from .endpoint import Endpoint, Limits
from .key import API_KEY_ENV, Secret, api_key_from_env
from .reading import read_response
from .values import Exchange, Message, Outcome, Reply, Request, Response, Role, Sampling, Try, Usage

__all__ = [
    "API_KEY_ENV",
    "Endpoint",
    "Exchange",
    "Limits",
    "Message",
    "Model",
    "Outcome",
    "Reply",
    "Request",
    "Response",
    "Role",
    "Sampling",
    "Secret",
    "Try",
    "Usage",
    "api_key_from_env",
    "list_models",
    "read_response",
]
