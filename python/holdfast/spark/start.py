"""`holdfast.start`: a query resumes from a checkpoint only if it is still the same query.

What a query is: its plan without the ids that Spark makes up, the schema of its output, its sink
and output mode, its shuffle partitions, and what the user adds. The hash of this description is
in every manifest, and the description beside it.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from holdfast.errors import ConfigError, MisuseError
from holdfast.sessions import Policy, SourceState, config_difference, config_hash
from holdfast.sessions.confighash import canonical
from holdfast.sessions.startup import (
    changes_between,
    changes_text,
    decide_mismatch,
    parse_policy,
)
from holdfast.spark import bridge
from holdfast.spark.plan import plan_lines, schema_text
from holdfast.spark.run import Described
from holdfast.spark.session import current_host

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql.streaming.query import StreamingQuery
    from pyspark.sql.streaming.readwriter import DataStreamWriter

    from holdfast.chain import Head
    from holdfast.sessions import ConfigChange
    from holdfast.spark.host import Host

_LOG = logging.getLogger("holdfast")
_SCHEME = "holdfast://"
_CONFIG, _DESCRIPTION = "config", "description"  # the notes of a manifest
_FORMAT = 2  # raised whenever `describe` gives another description of the same query
_PARTITIONS = "spark.sql.shuffle.partitions"
_HINT = (
    'undo the change, or start with on_config_change="auto-reset" (begins anew and keeps the old '
    'state under a tag) or "warn" (resumes from the old state)'
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Description:
    """What a query is, the format of that description, and the Spark that it was made on."""

    hash: int
    content: Mapping[str, Any] | None
    format: int = _FORMAT
    spark: str = ""

    @property
    def notes(self) -> dict[str, Any]:
        """What a manifest has of it beside the hash."""
        return {
            _CONFIG: self.content,
            _DESCRIPTION: {"format": self.format, "spark": self.spark},
        }


def start(
    writer: DataStreamWriter,
    name: str,
    *,
    config: Mapping[str, Any] | None = None,
    on_config_change: Policy | str = Policy.STRICT,
) -> StreamingQuery:
    """Start a query on the checkpoint of this name, if it is the query that wrote it.

    `name` is that of `holdfast:///name`, or the whole location. `config` is what else must not
    change unnoticed: the version of a model or of a function's code, a table's name. On a change,
    `strict` refuses and says what changed, `auto-reset` begins anew and keeps the old state under
    a tag, `warn` resumes. The last two log a warning, which is also in `status().warnings`.

    Raises:
        ConfigMismatchError: something changed, and the policy is `strict`; or it is `auto-reset`,
            but an upgrade of Spark may be all that changed.
        MisuseError: `auto-reset`, and the query still runs in this driver.
        HoldfastError: as any start.
    """
    policy = parse_policy(on_config_change)
    store, query = _parsed(name)
    wanted = _description(writer, config or {})
    host = current_host()
    described = _decide(host, store, query, wanted, policy)
    host.expect(store, query, described)
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


def _description(writer: DataStreamWriter, config: Mapping[str, Any]) -> Description:
    content = describe(writer, config)
    spark = writer._df.sparkSession.version  # noqa: SLF001 - PySpark has no public way
    return Description(hash=config_hash(content), content=canonical(content), spark=spark)


def _stored(head: Head) -> Description | None:
    """The description at the newest checkpoint; nothing for one that never had any."""
    if head.facts.pipeline_hash is None:
        return None
    made = head.notes.get(_DESCRIPTION) or {}
    return Description(
        hash=head.facts.pipeline_hash,
        content=head.notes.get(_CONFIG),
        format=made.get("format", 1),
        spark=made.get("spark", ""),
    )


def _decide(host: Host, store: str, query: str, wanted: Description, policy: Policy) -> Described:
    """Compare with the newest checkpoint, and reset the chain if that is the policy."""
    described = Described(pipeline_hash=wanted.hash, notes=wanted.notes)
    chain = host.chain(store, query)
    if not chain.exists():
        return described
    head = chain.recover().head
    before = _stored(head)
    if before is None or before.hash == wanted.hash:
        return described
    changes = _changes(before, wanted)
    described = replace(described, compared=before.hash)
    if not changes:
        return _warned(query, described, _incomparable_text(before, wanted))
    upgrade = _upgrade_text(before, wanted, changes)
    if upgrade and policy is Policy.AUTO_RESET:
        policy = Policy.STRICT  # state is not thrown away on a guess
    if not decide_mismatch(changes, policy, hint=f"{upgrade}{_HINT}"):
        text = f"resumes from the state of another configuration: {changes_text(changes)}"
        return replace(described, warnings=(text,))
    if host.is_running(store, query):
        raise MisuseError("the query still runs in this driver", hint="stop it first", query=query)
    tag = f"before-reset-{head.number}"
    # Asked again after the claim: another driver of the new query may have reset it by then.
    done = chain.reset(tag, unless=lambda now: now.facts.pipeline_hash in (None, wanted.hash))
    return (
        described if done is None else _warned(query, described, _reset_text(query, tag, changes))
    )


def _changes(before: Description, wanted: Description) -> tuple[ConfigChange, ...]:
    """What differs; of descriptions in two formats only what the user gave is compared."""
    if before.format == wanted.format:
        return changes_between(
            SourceState(config_hash=before.hash, config=before.content),
            SourceState(config_hash=wanted.hash, config=wanted.content),
        )
    given = ({"config": (each.content or {}).get("config", {})} for each in (before, wanted))
    return config_difference(*given)


def _upgrade_text(
    before: Description, wanted: Description, changes: tuple[ConfigChange, ...]
) -> str:
    """That another Spark may be all that changed; empty if it is not."""
    if not before.spark or before.spark == wanted.spark:
        return ""
    if not all(each.path == "output" or each.path.startswith("plan[") for each in changes):
        return ""  # neither of these is Spark's own text
    return (
        f"Spark changed from {before.spark} to {wanted.spark}, which may explain this: if the "
        'query is the same, start it once with on_config_change="warn"; if not, '
    )


def _incomparable_text(before: Description, wanted: Description) -> str:
    return (
        f"its plan was not compared with the checkpoint's: that is described in format "
        f"{before.format}, and this version of Holdfast writes format {wanted.format}; from the "
        f"next batch on the new description is stored"
    )


def _reset_text(query: str, tag: str, changes: tuple[ConfigChange, ...]) -> str:
    return (
        f"the query has changed, and begins anew without its state: {changes_text(changes)}. "
        f"The old state is kept under the tag {tag}; to go back to it, stop the query and run "
        f"`holdfast rollback {query} --to {tag} --yes`"
    )


def _warned(query: str, described: Described, text: str) -> Described:
    _LOG.warning("%s: %s", query, text)
    return replace(described, warnings=(text,))


def _parsed(name: str) -> tuple[str, str]:
    """The store's name and the query's."""
    if not name.startswith("holdfast:"):
        return "", name.strip("/")
    store, slash, query = name.removeprefix(_SCHEME).partition("/")
    if not slash or not query.strip("/"):
        raise ConfigError("not a checkpoint's name", hint='write "holdfast:///orders"', name=name)
    return store, query.strip("/")
