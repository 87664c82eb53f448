"""What a server says of itself and of a model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..canonical import digest_text
from .shapes import count, is_success, items, json_object, label, mapping, string
from .values import Response

__all__ = ["facts_of_server", "models_of"]


def models_of(response: Response | None) -> list[Mapping[str, object]]:
    """Return the entries of a server's list of models; empty where it gave none."""
    if response is None or not is_success(response.status):
        return []
    return [mapping(each) for each in items(json_object(response.body).get("data"))]


def facts_of_server(model: str, listing: Response | None, props: Response | None) -> dict[str, Any]:
    """Return what two pages, ``/v1/models`` and ``/props``, tell of a server and of *model*, unknown facts left out.

    Nothing in it is a path of the server's machine.
    """
    models = models_of(listing)
    entry = next((each for each in models if each.get("id") == model), mapping(None))
    page = json_object(props.body) if props and is_success(props.status) else mapping(None)
    template = string(page.get("chat_template"))
    context = mapping(page.get("default_generation_settings")).get("n_ctx") or entry.get("max_model_len")
    found = {
        "listed": bool(entry) if models else None,
        "server": label(listing.headers.get("server")) if listing else None,
        "owned_by": label(entry.get("owned_by")),
        "context": count(context),
        "slots": count(page.get("total_slots")),
        "llama_cpp": label(page.get("build_info")),
        "chat_template_sha256": digest_text(template) if template else None,
    }
    return {name: value for name, value in found.items() if value is not None}
