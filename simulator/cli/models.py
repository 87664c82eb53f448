"""The models that the options ask for: an endpoint's, or embedded ones that are started here."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any, Literal

from ..embedded import EmbeddedServer, find_model
from ..errors import InputError
from ..model import Endpoint, Limits, Model, Sampling, api_key_from_env, list_models
from ..visible import escaped, one_line

if sys.platform != "win32":  # where a process may open as many files as it likes
    import resource

__all__ = ["Behaviour", "Load", "Models", "Options", "open_models", "read_behaviour", "read_params"]

_EMBEDDED_CONVERSATIONS = 2
_REMOTE_CONVERSATIONS = 4

_FILES_OF_A_CONVERSATION = 4
"""Its recording, a connection for the answer and one for the check, and what looking up a name takes."""
_OTHER_FILES = 32

_MOST_LISTED = 20
_LONGEST_NAME = 100
"""Characters of a model's name that are shown."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Options:
    """What was asked for in one role, answer or checker."""

    prefix: str
    """Of the role's options: empty, or ``checker-``."""
    model: str | None
    endpoint: str | None
    api_key_env: str
    sampling: Sampling


@dataclass(frozen=True, kw_only=True, slots=True)
class Behaviour:
    """What the servers put up with."""

    max_tokens_field: Literal["max_tokens", "max_completion_tokens"]
    fold_system: bool
    send_seed: bool
    response_format: Literal["json_schema", "none"]
    limits: Limits


@dataclass(frozen=True, kw_only=True, slots=True)
class Load:
    """How much is done at once; None leaves it to the kind of server."""

    concurrency: int | None
    """Conversations side by side."""
    threads: int | None
    """That an embedded server computes with."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Models:
    """Two models, ready to be asked, and what is to be recorded of their servers."""

    answer: Model
    checker: Model
    facts: Mapping[str, Mapping[str, Any]]
    """By role, ``answer`` and ``checker``."""
    concurrency: int
    """Conversations side by side."""
    overlap: bool
    """Whether a check may run beside the next answer: not where both share an embedded server's few cores."""
    tiny: str
    """A sentence to print where the small default model plays; else empty."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Place:
    """A server in use."""

    base_url: str
    model: str
    facts: Mapping[str, Any]
    embedded: bool


def open_models(stack: ExitStack, answer: Options, checker: Options, behaviour: Behaviour, load: Load) -> Models:
    """Start what must be started, and return both models; *stack* closes them.

    Raises ``InputError`` for options that do not go together, or ask for more than this process may open, and
    ``EndpointError`` for a server that cannot be reached.
    """
    embeds = answer.endpoint is None
    conversations = load.concurrency or (_EMBEDDED_CONVERSATIONS if embeds else _REMOTE_CONVERSATIONS)
    _refuse_too_many(conversations)
    place = _place(stack, answer, conversations, load.threads)
    checker_place = place if _same(answer, checker) else _place(stack, checker, conversations, load.threads)
    tiny = embeds and answer.model is None
    model = _model(stack, place, _brief(answer) if tiny else answer, behaviour, conversations)
    checking = _model(stack, checker_place, checker, behaviour, conversations)
    return Models(
        answer=model,
        checker=checking,
        facts={"answer": _facts(place, model), "checker": _facts(checker_place, checking)},
        concurrency=conversations,
        overlap=not (place.embedded or checker_place.embedded),
        tiny=_TINY if tiny else "",
    )


def _refuse_too_many(conversations: int) -> None:
    """Raise ``InputError`` where so many conversations would run out of files, which would cost what was played."""
    needed = _FILES_OF_A_CONVERSATION * conversations + _OTHER_FILES
    allowed = _files_allowed(needed)
    if allowed >= needed:
        return
    fewer = (allowed - _OTHER_FILES) // _FILES_OF_A_CONVERSATION
    advice = f", or write --concurrency {fewer}" if fewer > 0 else ""
    raise InputError(
        f"{conversations} conversations side by side need {needed} open files, and this process may have {allowed}; "
        f"allow more with `ulimit -n {needed}`{advice}"
    )


def _files_allowed(needed: int) -> int:
    """Return how many files this process may have open, having asked for *needed*."""
    if sys.platform == "win32":
        return needed
    unlimited = resource.RLIM_INFINITY
    allowed, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if allowed != unlimited and allowed < needed:
        asked = needed if most == unlimited else min(needed, most)
        with contextlib.suppress(OSError, ValueError):  # a system may allow less than it says
            resource.setrlimit(resource.RLIMIT_NOFILE, (asked, most))
            allowed = asked
    return needed if allowed == unlimited else allowed


_CONTEXT = 8192
"""Tokens of a prompt and its reply on an embedded server."""
_LIMIT = 512
_TINY_LIMIT = 192
"""Tokens of a reply where the request sets no limit. The default model rambles on, and a run of it shall stay short."""
_TINY = (
    "The embedded default has 135 million parameters: it shows how everything works, and does not answer well. "
    "Its replies end at the first blank line."
)


def _brief(options: Options) -> Options:
    """Return *options* with replies ended at a blank line, unless they say where to stop.

    The default model does not come to an end by itself, and a reply that the token limit cuts off cannot be judged.
    """
    params = {"stop": ["\n\n"], **options.sampling.params}
    return replace(options, sampling=replace(options.sampling, params=params))


def _same(answer: Options, checker: Options) -> bool:
    return (answer.model, answer.endpoint) == (checker.model, checker.endpoint)


def _place(stack: ExitStack, options: Options, conversations: int, threads: int | None) -> _Place:
    if options.endpoint is None:
        return _embed(stack, options, conversations, threads)
    key = api_key_from_env(options.api_key_env)
    endpoint = Endpoint(base_url=options.endpoint, model="any", api_key=key, api_key_env=options.api_key_env)
    name = _only_model(endpoint, options.prefix) if options.model is None else _named(options)
    return _Place(
        base_url=options.endpoint, model=name, facts={"endpoint": endpoint.name_for_recording()}, embedded=False
    )


def _named(options: Options) -> str:
    """Return the name that was given to a server's model. Raises ``InputError`` for one that no server can have."""
    name = options.model or ""
    if not name.strip() or not name.isprintable():
        raise InputError(
            f"--{options.prefix}model {name[:_LONGEST_NAME]!r}: a name is neither empty nor unprintable; "
            "write it as the server lists it, or leave the option out where the server has one model"
        )
    return name


def _embed(stack: ExitStack, options: Options, conversations: int, threads: int | None) -> _Place:
    model = options.model
    # For a name that no file can have `Path.exists` raises.
    if model is not None and not (model.endswith(".gguf") or os.path.exists(model)):  # noqa: PTH110
        raise InputError(
            f"--{options.prefix}model {_shown(model)}: no such file; "
            f"name a GGUF file, or the server that has it with --{options.prefix}endpoint URL"
        )
    limit = _LIMIT if model else _TINY_LIMIT
    server = stack.enter_context(
        EmbeddedServer(
            find_model(model),
            conversations=conversations,
            context=_CONTEXT,
            threads=threads,
            max_reply_tokens=limit,
        )
    )
    facts = {"endpoint": "embedded", **server.facts}
    return _Place(base_url=server.base_url, model=server.model_name, facts=facts, embedded=True)


def _only_model(endpoint: Endpoint, prefix: str) -> str:
    """Return the name of the one model that a server offers. Raises ``InputError`` where it is not plain which."""
    names = list_models(endpoint)
    shown = [_shown(name) for name in names[:_MOST_LISTED]]
    if len(names) == 1 and names == tuple(shown):
        return names[0]
    more = [f"and {len(names) - _MOST_LISTED} more"] if len(names) > _MOST_LISTED else []
    count = "1 model" if len(names) == 1 else f"{len(names)} models"
    raise InputError(
        f"{endpoint.name_for_recording()} offers {count} ({', '.join(shown + more) or 'none'}); "
        f"choose one with --{prefix}model NAME"
    )


def _shown(name: str) -> str:
    return one_line(escaped(name[: _LONGEST_NAME + 1]), _LONGEST_NAME) or repr(name)


def _model(stack: ExitStack, place: _Place, options: Options, behaviour: Behaviour, conversations: int) -> Model:
    endpoint = Endpoint(
        base_url=place.base_url,
        model=place.model,
        # A key is for the server that was named, never for our own.
        api_key=None if place.embedded else api_key_from_env(options.api_key_env),
        api_key_env=options.api_key_env,
        max_tokens_field=behaviour.max_tokens_field,
        fold_system=behaviour.fold_system,
        send_seed=behaviour.send_seed,
        response_format=behaviour.response_format,
    )
    connections = 2 * conversations  # an answer and a check of each
    return stack.enter_context(Model(endpoint, options.sampling, limits=behaviour.limits, connections=connections))


def _facts(place: _Place, model: Model) -> Mapping[str, Any]:
    """Return what is recorded of a server: for one of our own what we know, for another what it says."""
    return place.facts if place.embedded else {**place.facts, **model.facts(), "model": place.model}


def read_behaviour(options: Mapping[str, Any]) -> Behaviour:
    """Return what the options of a command say of the servers it asks."""
    return Behaviour(
        max_tokens_field=options["max_tokens_field"],
        fold_system=options["fold_system"],
        send_seed=options["send_seed"],
        response_format=options["response_format"],
        limits=Limits(try_seconds=options["timeout"], deadline_seconds=options["deadline"], tries=options["tries"]),
    )


def read_params(pairs: Sequence[str] | None, option: str) -> dict[str, Any]:
    """Return ``K=V`` pairs as fields of a request body; V is read as JSON, and is a text where it is none."""
    params: dict[str, Any] = {}
    for pair in pairs or ():
        name, equals, value = pair.partition("=")
        if not equals or not name.isidentifier():
            raise InputError(f"{option} {pair!r}: write K=V, such as top_k=40")
        if not _is_unicode(value):
            raise InputError(f"{option} {pair!r}: the value is not UTF-8; write it in UTF-8")
        params[name] = _json_or_text(value)
    return params


def _is_unicode(text: str) -> bool:
    """Whether *text* holds no half of a character; that is how an argument in another encoding arrives."""
    return not any("\ud800" <= character <= "\udfff" for character in text)


def _json_or_text(value: str) -> Any:
    try:
        return json.loads(value, parse_constant=_not_json)
    except (ValueError, RecursionError):
        return value


def _not_json(constant: str) -> Any:
    raise ValueError(constant)
