"""The API key: where it comes from, and how it is kept out of whatever is shown or recorded."""

from __future__ import annotations

import hmac
import json
import os
import re
import urllib.parse

from ..errors import InputError

__all__ = ["API_KEY_ENV", "KeyFilter", "Secret", "api_key_from_env"]

API_KEY_ENV = "SIMULATOR_API_KEY"
"""The environment variable that holds the key, unless another is named."""

_SHORTEST_KEY = 8
"""Characters. A shorter key is a placeholder ("none", "ollama"), and replacing it would damage what was said."""


class Secret:
    """An API key that shows itself only to ``reveal``."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """Return the key itself."""
        return self._value

    def __repr__(self) -> str:
        return "Secret('[key]')"

    def __str__(self) -> str:
        return "[key]"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and hmac.compare_digest(self._value.encode(), other._value.encode())

    def __hash__(self) -> int:
        return hash(self._value)


def api_key_from_env(name: str = API_KEY_ENV) -> Secret | None:
    """Return the key in the environment variable *name*, None where it is unset or empty.

    Raises ``InputError``, which never shows the value, for a key that cannot stand in an HTTP header. A *name* that
    is none is not shown either: it may be the key itself.
    """
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
        raise InputError("--api-key-env takes the name of an environment variable, not the key; write API_KEY, say")
    value = os.environ.get(name, "")
    if not value:
        return None
    if not re.fullmatch(r"[!-~\xa1-\xff]([ -~\xa1-\xff]*[!-~\xa1-\xff])?", value):
        raise InputError(f"the key in {name} holds a line end, an outer space or a character that no header can carry")
    return Secret(value)


class KeyFilter:
    """Takes a key out of what a server sent: in any case, and as JSON and URLs write it."""

    def __init__(self, key: Secret | None) -> None:
        value = key.reveal() if key else ""
        self._pattern = _pattern(value) if len(value) >= _SHORTEST_KEY else None

    def clean(self, data: bytes) -> bytes:
        """Return *data* with ``[key]`` in the place of the key."""
        return self._pattern.sub(b"[key]", data) if self._pattern else data

    def clean_text(self, text: str) -> str:
        """Return *text* with ``[key]`` in the place of the key."""
        return self.clean(text.encode("utf-8", "surrogatepass")).decode("utf-8", "surrogatepass")


def _pattern(key: str) -> re.Pattern[bytes]:
    written = {key, json.dumps(key)[1:-1], key.replace("/", "\\/"), urllib.parse.quote(key, safe="")}
    spellings = {each.encode() for each in written} | {key.encode("latin-1")}
    return re.compile(b"|".join(re.escape(each) for each in sorted(spellings, key=len, reverse=True)), re.IGNORECASE)
