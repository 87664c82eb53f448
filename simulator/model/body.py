"""The body of an answer, decompressed within a limit."""

from __future__ import annotations

import time
import zlib
from collections.abc import Iterable

import httpx

from ..visible import one_line
from .connection import Watch

__all__ = ["RefusedBodyError", "read_body"]

_COMPRESSED = frozenset({"gzip", "x-gzip", "deflate"})
_ZLIB_OR_GZIP = zlib.MAX_WBITS | 32


class RefusedBodyError(Exception):
    """A body that is not taken; the message says why."""


def read_body(answer: httpx.Response, watch: Watch, limit: int) -> bytes:
    """Return the body of *answer*, decompressed; hardly more than twice *limit* bytes are ever held.

    Raises ``RefusedBodyError`` for a longer one and for a content-encoding that nobody asked for,
    ``httpx.DecodingError`` for a body that its content-encoding does not fit, and ``httpx.ReadTimeout`` where the
    time of the try is up.
    """
    compressed = _is_compressed(answer)
    pieces = answer.iter_raw()
    return _joined(_decompressed(pieces, limit) if compressed else pieces, watch, limit)


def _joined(pieces: Iterable[bytes], watch: Watch, limit: int) -> bytes:
    body = bytearray()
    for piece in pieces:
        body += piece
        if len(body) > limit:
            raise RefusedBodyError(f"the answer is longer than {limit} bytes")
        if time.monotonic() >= watch.until:
            raise httpx.ReadTimeout("")
    return bytes(body)


def _is_compressed(answer: httpx.Response) -> bool:
    named = (each.strip().lower() for each in answer.headers.get("content-encoding", "").split(","))
    encodings = [each for each in named if each not in ("", "identity")]
    if len(encodings) > 1 or not _COMPRESSED.issuperset(encodings):
        shown = one_line(", ".join(encodings), 60)
        raise RefusedBodyError(f"the body has the content-encoding {shown!r}, which was not asked for")
    return bool(encodings)


def _decompressed(pieces: Iterable[bytes], limit: int) -> Iterable[bytes]:
    """Yield *pieces* decompressed, each at most one byte longer than *limit*; nothing at all is an empty body."""
    decoder = zlib.decompressobj(_ZLIB_OR_GZIP)
    begun = False
    for piece in pieces:
        begun = begun or bool(piece)
        try:
            yield decoder.decompress(piece, limit + 1)
        except zlib.error as error:
            raise httpx.DecodingError(str(error)) from None
        if decoder.unused_data:
            raise httpx.DecodingError("there is more after its end")
    if begun and not decoder.eof:
        raise httpx.DecodingError("it ends too early")
