"""Queries that are read and not run here: what each reader was shown, for as long as it reads."""

from __future__ import annotations

import itertools
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.errors import MisuseError

if TYPE_CHECKING:
    from holdfast.chain import Chain
    from holdfast.spark.shown import Shown
    from holdfast.spark.spool import SpoolDirectory

_VIEWS_MAX = 32


@dataclass(frozen=True, slots=True)
class View:
    """A checkpoint that is shown, and where its bytes are brought to."""

    chain: Chain
    shown: Shown
    spool: SpoolDirectory


class Views:
    """The newest ones, by negative numbers; the oldest go with their part of the spool."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._numbers = itertools.count(-1, -1)
        self._views: dict[int, View] = {}

    def add(self, view: View) -> int:
        with self._lock:
            number = next(self._numbers)
            self._views[number] = view
            gone = [self._views.pop(each) for each in list(self._views)[:-_VIEWS_MAX]]
        for each in gone:
            each.spool.remove()
        return number

    def get(self, number: int) -> View:
        """The view with this number.

        Raises:
            MisuseError: many others were shown since.
        """
        with self._lock:
            found = self._views.get(number)
        if found is None:
            raise MisuseError("what is read was shown too long ago; read it again", view=number)
        return found
