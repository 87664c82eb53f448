"""The API key: where it comes from, and how it is kept out of whatever is shown or recorded."""

from __future__ import annotations

import base64
import hmac
import os
import re
import urllib.parse
from collections.abc import Iterator

from ..errors import InputError

__all__ = ["API_KEY_ENV", "WITHHELD", "KeyFilter", "Secret", "api_key_from_env"]

API_KEY_ENV = "SIMULATOR_API_KEY"
"""The environment variable that holds the key, unless another is named."""

WITHHELD = b"withheld, because it spells out the [key]"
"""What stands in the place of a text that holds the key in a way that cannot be cut out. It is no JSON."""

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
    """Takes a key out of what a server sent, in any case.

    The key as JSON and URLs usually write it gives way to ``[key]``. What holds it in another spelling is withheld:
    escaped character by character, or several times, in HTML, UTF-16 or UTF-32, or in hex or base64, there also within
    ``Bearer ...`` or ``user:...``.
    """

    def __init__(self, key: Secret | None) -> None:
        value = key.reveal() if key else ""
        is_secret = len(value) >= _SHORTEST_KEY
        self._pattern = _pattern(value) if is_secret else None
        # A key may look as if something in it were escaped; what would leave next to nothing of it is none.
        readings = {text for code in _codes(value) for text in _readings(code)} if is_secret else set[str]()
        self._codes = frozenset(text for text in readings if 2 * len(text) >= len(value))

    def clean(self, data: bytes) -> bytes:
        """Return *data* with ``[key]`` in the place of the key, or ``WITHHELD`` in the place of it all."""
        if self._pattern is None:
            return data
        cleaned = self._pattern.sub(b"[key]", data)
        return WITHHELD if self.is_in(cleaned) else cleaned

    def clean_text(self, text: str) -> str:
        """Return *text* with ``[key]`` in the place of the key, or ``WITHHELD`` in the place of it all."""
        return self.clean(text.encode("utf-8", "surrogatepass")).decode("utf-8", "surrogatepass")

    def is_in(self, data: bytes) -> bool:
        """Whether *data* holds the key in any spelling."""
        return bool(self._codes) and any(code in text for text in _readings(data) for code in self._codes)


def _pattern(key: str) -> re.Pattern[bytes]:
    ways = (b"|".join(map(re.escape, _ways(each))) for each in key)
    return re.compile(b"".join(b"(?:" + each + b")" for each in ways), re.IGNORECASE)


def _ways(character: str) -> list[bytes]:
    """Return *character* as JSON, URLs and headers usually write it, the longest first."""
    if character.isascii() and character.isalnum():
        return [character.encode()]
    texts = (character, f"\\{character}", f"\\u{ord(character):04x}", urllib.parse.quote(character, safe=""))
    return sorted({*(each.encode() for each in texts), character.encode("latin-1")}, key=len, reverse=True)


def _codes(key: str) -> Iterator[bytes]:
    """Yield *key* itself, and as hex and base64 write it, whatever stands before and after it."""
    for data in {key.encode(), key.encode("latin-1")}:
        yield data
        yield data.hex().encode()
        for before in range(3):  # bytes; base64 writes three at a time
            coded = base64.b64encode(bytes(before) + data)
            own = coded[-(-8 * before // 6) : 8 * (before + len(data)) // 6]
            yield own
            yield own.replace(b"+", b"-").replace(b"/", b"_")


_ROUNDS = 5
"""How often escapes are undone: what was escaped may be escaped again."""

_ESCAPE = re.compile(
    rb"""
      (?: \\ (?:u00|U000000|x) | % ) (?P<hex>[0-9a-f]{2})
    | &\#x0* (?P<entity>[0-9a-f]{2}) ;?
    | &\#0* (?P<decimal>[0-9]{1,3}) ;?
    | & (?P<name>amp|lt|gt|quot|apos) ;
    | \\ (?P<plain>[^\w])
    | (?P<utf8>[\xc2\xc3][\x80-\xbf])
    """,
    re.VERBOSE | re.IGNORECASE,
)
_NAMED = {b"amp": b"&", b"lt": b"<", b"gt": b">", b"quot": b'"', b"apos": b"'"}


def _readings(data: bytes) -> Iterator[str]:
    """Yield *data* in lower case as Latin-1, and again with its escapes undone, as long as there are any.

    NULs are left out: UTF-16 and UTF-32 are Latin-1 with NULs between.
    """
    data = data.replace(b"\0", b"")
    for _ in range(_ROUNDS + 1):
        yield data.decode("latin-1").lower()
        undone = _ESCAPE.sub(_undone, data)
        if undone == data:
            return
        data = undone


def _undone(escape: re.Match[bytes]) -> bytes:
    """Return the character that an escape stands for, in Latin-1."""
    kind = str(escape.lastgroup)
    value = escape[kind]
    match kind:
        case "hex" | "entity":
            return bytes([int(value, 16)])
        case "decimal":
            return bytes([int(value) % 256])
        case "name":
            return _NAMED[value.lower()]
        case "utf8":
            return value.decode().encode("latin-1")
        case _:
            return value
