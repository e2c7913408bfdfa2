"""Source sessions inside `foreachBatch`: positions that become visible with the batch's checkpoint.

They ride in the batch's own manifest, so a position and the rows it stands for are committed by
one write, or not at all. A sink that was wrapped by `exactly_once` is not called for a batch that
it has already, so positions are staged around it and not in it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.errors import MisuseError
from holdfast.manifest.fields import Fields
from holdfast.sessions import SourceCheckpoints, SourceState
from holdfast.sessions.document import state_from_json, state_to_json
from holdfast.sessions.state import EMPTY
from holdfast.spark.sinks import current_run

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from holdfast.spark.run import Run

_NOTE = "sources"


def batch_sources(df: DataFrame) -> SourceCheckpoints:
    """Where the sources of the query stand whose batch this is, to be staged with it.

    Raises:
        MisuseError: the query is not on `holdfast:`, or this is inside a sink's function, which a
            replayed batch does not call.
    """
    run = current_run(df)
    if run.is_in_sink:
        raise MisuseError(
            "a position staged by a sink's function is lost when its batch is replayed",
            hint="stage it in a function of your own that calls the sink: "
            "foreachBatch(lambda df, batch: (stage(df), sink(df, batch)))",
            query=run.query,
        )
    if run.sources is None:
        run.sources = SourceCheckpoints(ledger=RunLedger(run))
    return run.sources


class RunLedger:
    """The committed state is in the last manifest; what is written waits for the next one."""

    is_persistent = True

    def __init__(self, run: Run) -> None:
        self._run = run

    def read(self) -> SourceState:
        return _decode(self._run.parts.writer.head.notes.get(_NOTE))

    def head(self) -> SourceState:
        return _decode(self._run.notes.get(_NOTE))

    def write(self, state: SourceState) -> None:
        self._run.notes[_NOTE] = state_to_json(state)

    def forget(self) -> None:
        """This run is the only writer; there is nothing newer to go on from."""


def _decode(note: object) -> SourceState:
    return EMPTY if note is None else state_from_json(Fields(note, "sources"))
