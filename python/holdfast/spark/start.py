"""`holdfast.start`: a query that goes on from a checkpoint only if it is still the same query.

What a query is: its plan without the names that Spark makes up, its sink and output mode, its
shuffle partitions, and what the user adds. The hash of it stands in every manifest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast.errors import ConfigError, MisuseError
from holdfast.sessions import Policy, SourceState, config_hash
from holdfast.sessions.confighash import canonical
from holdfast.sessions.startup import changes_between, decide_mismatch, parse_policy
from holdfast.spark import bridge
from holdfast.spark.plan import plan_lines, schema_text
from holdfast.spark.session import current_host

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql.streaming.query import StreamingQuery
    from pyspark.sql.streaming.readwriter import DataStreamWriter

    from holdfast.spark.host import Host

_SCHEME = "holdfast://"
_CONFIG = "config"
_PARTITIONS = "spark.sql.shuffle.partitions"


def start(
    writer: DataStreamWriter,
    name: str,
    *,
    config: Mapping[str, Any] | None = None,
    on_config_change: Policy | str = Policy.STRICT,
) -> StreamingQuery:
    """Start a query on the checkpoint of this name, if it is the query that wrote it.

    `name` is that of `holdfast:///name`, or the whole location. `config` is what else must not
    change unnoticed: a model's version, a table's name. On a change, `strict` refuses and says
    what changed, `auto-reset` starts anew and keeps the old state under a tag, `warn` goes on.

    Raises:
        ConfigMismatchError: `strict`, and something changed.
        MisuseError: `auto-reset`, and the query still runs in this driver.
        HoldfastError: as any start.
    """
    policy = parse_policy(on_config_change)
    store, query = _parsed(name)
    wanted = describe(writer, config or {})
    host = current_host()
    _decide(host, store, query, wanted, policy)
    host.expect(store, query, config_hash(wanted), canonical(wanted))
    location = f"{_SCHEME}{store}/{query}"
    try:
        return writer.option("checkpointLocation", location).start()
    except bridge.JavaError as error:
        refusal = host.take_refusal(store, query)
        raise (error if refusal is None else refusal) from None


def describe(writer: DataStreamWriter, config: Mapping[str, Any]) -> dict[str, Any]:
    """What a query is, as it is hashed; the same in every process on the same Spark."""
    df = writer._df  # noqa: SLF001 - PySpark has no public way
    return {
        "plan": plan_lines(bridge.plan_nodes(df)),
        "output": schema_text(df.schema.simpleString()),
        "shuffle partitions": df.sparkSession.conf.get(_PARTITIONS),
        **bridge.sink_facts(writer),
        "config": dict(config),
    }


def _decide(host: Host, store: str, query: str, wanted: dict[str, Any], policy: Policy) -> None:
    """Compare with what the newest checkpoint says, and reset the chain if that is the policy."""
    chain = host.chain(store, query)
    if not chain.exists():
        return
    head = chain.recover().head
    before = SourceState(config_hash=head.facts.pipeline_hash, config=head.notes.get(_CONFIG))
    now = SourceState(config_hash=config_hash(wanted), config=canonical(wanted))
    if before.config_hash in (None, now.config_hash):
        return  # the same query, or one that was never started through here
    if not decide_mismatch(changes_between(before, now), policy):
        return
    if host.is_running(store, query):
        raise MisuseError("the query still runs in this driver", hint="stop it first", query=query)
    chain.reset(f"before-reset-{head.number}")


def _parsed(name: str) -> tuple[str, str]:
    """The store's name and the query's."""
    if not name.startswith("holdfast:"):
        return "", name.strip("/")
    store, slash, query = name.removeprefix(_SCHEME).partition("/")
    if not slash or not query.strip("/"):
        raise ConfigError("not a checkpoint's name", hint='write "holdfast:///orders"', name=name)
    return store, query.strip("/")
