"""Credentials in a store's URL stay in this process: Spark's configuration goes to executors.

Spark sends every `spark.*` setting to each executor and shows them on its page, so a URL is put
there without its key and secret, and completed again where the driver reads it.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from holdfast.objectstore import without_credentials
from holdfast.spark.options import STORE

if TYPE_CHECKING:
    from collections.abc import Mapping

_LOG = logging.getLogger("holdfast")
_KEPT: dict[str, str] = {}


def with_secrets(settings: Mapping[str, str]) -> dict[str, str]:
    """The stores among these settings whose URLs have credentials in them."""
    stores = {key: str(value) for key, value in settings.items() if _is_store(key)}
    return {key: url for key, url in stores.items() if without_credentials(url) != url}


def hidden(url: str) -> str:
    """The URL as Spark may see it; the credentials are kept here."""
    shown = without_credentials(url)
    if shown != url:
        _KEPT[shown] = url
    return shown


def completed(settings: Mapping[str, str]) -> dict[str, str]:
    """The settings with the credentials that were kept."""
    return {
        key: _KEPT.get(value, value) if _is_store(key) else value for key, value in settings.items()
    }


def warn(conf: Mapping[str, str]) -> None:
    """What the context was started with cannot be taken back, so it is told."""
    for key in with_secrets(conf):
        _LOG.warning(
            "%s has credentials in it, and Spark has sent them to executors: give the URL to "
            "holdfast.session or holdfast.configure, or better use AWS's own ways",
            key,
        )


def _is_store(key: str) -> bool:
    return key == STORE or key.startswith(f"{STORE}.")
