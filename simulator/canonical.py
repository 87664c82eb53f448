"""JSON in one spelling, and the SHA-256 of it.

One value has one spelling: no spaces, UTF-8, keys in the order in which they stand. Keys are not sorted, because a
server may generate the fields of a reply in the order of the schema that it was sent.
"""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any

__all__ = ["canonical_json", "digest_bytes", "digest_json", "digest_text"]

_SURROGATE = re.compile("[\ud800-\udfff]")


def canonical_json(value: Any) -> bytes:
    r"""Return *value* as JSON bytes: no spaces, UTF-8, keys in their order, a lone surrogate as ``\udXXX``.

    Raises ``ValueError`` for NaN and infinities, which JSON does not have.
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return _SURROGATE.sub(lambda match: f"\\u{ord(match[0]):04x}", text).encode()


def digest_bytes(data: bytes) -> str:
    """Return the SHA-256 of *data*, 64 lower-case hex digits."""
    return hashlib.sha256(data).hexdigest()


def digest_json(value: Any) -> str:
    """Return the SHA-256 of the canonical JSON of *value*."""
    return digest_bytes(canonical_json(value))


def digest_text(text: str) -> str:
    """Return the SHA-256 of *text*; a lone surrogate counts as its three WTF-8 bytes."""
    return digest_bytes(text.encode("utf-8", "surrogatepass"))
