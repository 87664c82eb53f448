"""How a response reads. Pure and total: whatever a server sends has a place in a ``Reply``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace

from ..visible import one_line
from .shapes import count, is_success, items, json_object, label, mapping, string
from .values import Reply, Response, Usage

__all__ = ["failed", "read_response"]

_RETRIED = frozenset({408, 409, 425, 429})
_CUT = frozenset({"length", "max_tokens", "model_length"})


def read_response(response: Response) -> Reply:
    """Return how *response* reads. Total: whatever the body holds, no exception escapes."""
    if not is_success(response.status):
        return _read_status(response)
    try:
        parsed: object = json.loads(response.body)
    except (ValueError, RecursionError) as error:
        return _read_damaged(response, error)
    if not isinstance(parsed, dict):
        return failed(f"{_opening(response)} is not a JSON object")
    data = mapping(parsed)  # pyright: ignore[reportUnknownArgumentType]
    model, facts = label(data.get("model")), _facts_of_reply(response, data)
    return replace(_read_completion(data), usage=_usage(data.get("usage")), model=model, facts=facts)


def _read_status(response: Response) -> Reply:
    data = json_object(response.body)
    message = _error_message(data)
    if 300 <= response.status < 400:  # noqa: PLR2004 - HTTP's classes
        target = one_line(response.headers.get("location", "a place that it does not name"), 200)
        return failed(f"HTTP {response.status}: a redirect to {target}, which is not followed; name the URL itself")
    if _is_filter_error(data):
        return Reply(outcome="refused", text=None, detail=f"HTTP {response.status}: {message}")
    detail = f"HTTP {response.status}: {message}" if message else _opening(response)
    return failed(detail, retry=response.status in _RETRIED or response.status >= 500)  # noqa: PLR2004


def _read_damaged(response: Response, error: Exception) -> Reply:
    """Read a success that is no JSON. A page or a sentence would come again; damaged JSON may come whole next time."""
    if not response.body.lstrip().startswith((b"{", b"[")):
        return failed(_opening(response))
    what = "nested too deeply" if isinstance(error, RecursionError) else one_line(str(error), 100)
    return failed(f"{_opening(response, 60)} is damaged JSON: {what}", retry=True)


def _read_completion(data: Mapping[str, object]) -> Reply:
    choices = data.get("choices")
    choice = mapping(next(iter(items(choices)), None))
    message = mapping(choice.get("message"))
    finish = label(choice.get("finish_reason"))
    word = (finish or "").lower()
    if word.startswith("content_filter") or _is_filter_error(data) or (not message and _is_withheld(data, choice)):
        names = one_line(", ".join(_filter_names(data, choice))) or "no category named"
        return Reply(outcome="refused", text=None, finish=finish, detail=f"the server's content filter: {names}")
    if not message or word == "error":
        return replace(_read_no_message(data, choice, choices), finish=finish)
    return replace(_read_message(message, cut=word in _CUT), finish=finish)


def _read_no_message(data: Mapping[str, object], choice: Mapping[str, object], choices: object) -> Reply:
    said = _error_message(data) or _error_message({"error": choice.get("error")})
    if said:
        code = mapping(data.get("error")).get("code")
        final = isinstance(code, int) and 400 <= code < 500 and code not in _RETRIED  # noqa: PLR2004
        return failed(f"the server answers with an error: {said}", retry=not final)
    if mapping(choice.get("message")):
        return failed("the server ended the reply with finish_reason 'error'", retry=True)
    missing = "has no choices" if not items(choices) else "has no message in its first choice"
    return failed(f"the answer {missing}", retry=True)


@dataclass(kw_only=True, slots=True)
class _Said:
    """What a message holds, by kind."""

    text: str = ""
    reasoning: str = ""
    refusal: str = ""


def _read_message(message: Mapping[str, object], *, cut: bool) -> Reply:
    said = _split_thinking(_said(message), cut=cut)
    reasoning, refusal = said.reasoning or None, said.refusal or None
    if refusal:
        detail = f"the model refuses: {one_line(refusal)}"
        return Reply(outcome="refused", text=None, detail=detail, reasoning=reasoning, refusal=refusal)
    if cut:
        return Reply(outcome="truncated", text=said.text, detail="cut by the token limit", reasoning=reasoning)
    if said.text.strip():
        return Reply(outcome="reply", text=said.text, reasoning=reasoning)
    content = message.get("content")
    if not isinstance(content, str | list | None):
        return failed(f"the content of the reply is not a text but {type(content).__name__}")
    called = message.get("tool_calls") or message.get("function_call")
    return replace(failed("a tool call instead of a text" if called else "empty reply"), reasoning=reasoning)


def _said(message: Mapping[str, object]) -> _Said:
    said = _Said(refusal=string(message.get("refusal")) or "")
    said.reasoning = string(message.get("reasoning_content")) or string(message.get("reasoning")) or ""
    content = message.get("content")
    for part in [content] if isinstance(content, str) else items(content):
        _add_part(said, part)
    return said


def _add_part(said: _Said, part: object) -> None:
    """Add one part of a content: a text, or an object whose ``type`` says what it holds."""
    if isinstance(part, str):
        said.text += part
        return
    fields = mapping(part)
    kind = fields.get("type")
    if kind in ("thinking", "reasoning"):
        said.reasoning += _joined(fields.get("thinking") or fields.get("text"))
    elif kind == "refusal":
        said.refusal += _joined(fields.get("refusal"))
    else:
        said.text += _joined(fields.get("text"))


def _joined(value: object) -> str:
    """Return the text of *value*: a text, an object with one, or a list of those."""
    if isinstance(value, str):
        return value
    return "".join(string(each) or string(mapping(each).get("text")) or "" for each in items(value))


def _split_thinking(said: _Said, *, cut: bool) -> _Said:
    """Move a leading ``<think>...</think>`` from the text to the reasoning; its opening tag may be the template's.

    Without a closing tag there is no telling where thinking ends: such a text stands as it is, unless it was cut
    before the tag that it opened.
    """
    start = said.text.lstrip()
    opened = start.startswith("<think>")
    thought, closing, rest = start.removeprefix("<think>").partition("</think>")
    closed = bool(closing) and (opened or ("<think>" not in start and "</think>" not in rest))
    if closed:
        return replace(said, text=rest.lstrip(), reasoning=said.reasoning or thought.strip())
    if opened and cut:
        return replace(said, text="", reasoning=said.reasoning or thought.strip())
    return said


def _is_filter_error(data: Mapping[str, object]) -> bool:
    return mapping(data.get("error")).get("code") == "content_filter"


def _is_withheld(data: Mapping[str, object], choice: Mapping[str, object]) -> bool:
    """Whether a missing message is a content filter's doing: the filter reports, and no error does."""
    return not data.get("error") and ("prompt_filter_results" in data or bool(_filter_names(data, choice)))


def _filter_names(data: Mapping[str, object], choice: Mapping[str, object]) -> list[str]:
    """Return the categories that the filter's findings mark as filtered."""
    prompts = [mapping(each).get("content_filter_results") for each in items(data.get("prompt_filter_results"))]
    found = [mapping(each) for each in (*prompts, choice.get("content_filter_results"))]
    return sorted({name for each in found for name, why in each.items() if mapping(why).get("filtered") is True})


def _error_message(data: Mapping[str, object]) -> str:
    """Return the server's own error message as one line of at most 300 characters; empty where it gives none."""
    error = data.get("error")
    fields = mapping(error)
    own = (
        error,
        fields.get("message"),
        fields.get("code"),
        fields.get("type"),
        data.get("message"),
        data.get("detail"),
    )
    said = next((text for text in map(string, own) if text), "") or _validation_message(data.get("detail"))
    if not said and error:
        said = "an error without a message"
    param = string(fields.get("param")) or ""
    return one_line(said if param in said else f"{said} ({param})")


def _validation_message(detail: object) -> str:
    """Return FastAPI's list of problems as text: ``body.max_tokens: Extra inputs are not permitted``."""
    problems = [mapping(each) for each in items(detail)]
    told = ((_place(each.get("loc")), string(each.get("msg")) or "") for each in problems)
    return "; ".join(": ".join(filter(None, parts)) for parts in told if any(parts))


def _place(location: object) -> str:
    return ".".join(str(each) for each in items(location) if type(each) in (str, int))


def _usage(value: object) -> Usage:
    usage = mapping(value)
    return Usage(
        prompt_tokens=count(usage.get("prompt_tokens")),
        completion_tokens=count(usage.get("completion_tokens")),
        cached_tokens=count(mapping(usage.get("prompt_tokens_details")).get("cached_tokens")),
        reasoning_tokens=count(mapping(usage.get("completion_tokens_details")).get("reasoning_tokens")),
    )


def _facts_of_reply(response: Response, data: Mapping[str, object]) -> dict[str, str]:
    told = {name: label(response.headers.get(name)) for name in ("openai-version", "server")}
    told["system_fingerprint"] = label(data.get("system_fingerprint")) or None
    return {name: value for name, value in told.items() if value is not None}


def _opening(response: Response, limit: int = 200) -> str:
    """Return status, content type and first characters of a response, as one line."""
    kind = response.headers.get("content-type", "no content type")
    start = one_line(response.body[: 4 * limit].decode("utf-8", "replace"), limit)
    return f"HTTP {response.status} with {one_line(kind, 80)}: {start or 'an empty body'}"


def failed(detail: str, *, retry: bool = False) -> Reply:
    """Return the reply of a call that failed, with why."""
    return Reply(outcome="failed", text=None, detail=detail, retry=retry)
