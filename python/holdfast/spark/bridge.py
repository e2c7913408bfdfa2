"""The border to the JVM: the only module that touches py4j.

Answers are text, one field per line; the first line is `ok`, `absent`, `same`, `ticket` or `error`.
No Python lock that an answer needs is held while the JVM is called, and no exception crosses: it
would arrive there without its type. Calls from the JVM carry a secret, because PySpark's callback
server accepts connections from every process on the host.
"""

from __future__ import annotations

import functools
import hmac
import logging
import secrets
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import orjson
from py4j.java_gateway import JavaClass
from py4j.protocol import Py4JJavaError
from pyspark import SparkContext
from pyspark.java_gateway import ensure_callback_server_started

from holdfast.errors import BridgeError, HoldfastError
from holdfast.spark.answers import lines, parse_object_ref, recovered_text, ticket_text
from holdfast.spark.host import Host, Recovered
from holdfast.spark.plan import PlanNode, StreamSource
from holdfast.spark.tickets import Ticket
from holdfast.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery
    from pyspark.sql.streaming.readwriter import DataStreamWriter

    from holdfast.spark.listener import StatusListener

JavaError = Py4JJavaError
_SINK_FIELDS = {"source": "sink", "outputMode": "output mode"}
_FIELDS, _FIELDS_MAX = "spark.sql.debug.maxToStringFields", 2**31 - 1
_TEXTS = threading.Lock()
_LISTENERS_MS = 1000
_SECRET_BYTES = 32
_PERMIT_SECONDS = 2 * 3600  # beyond its ticket: what an attempt began to send may take its time
_PLUGIN = "holdfast.HoldfastPlugin"
_LOG = logging.getLogger("holdfast")


class _Callbacks:
    """An object that the JVM calls by method name over PySpark's callback server.

    Any process on this host can connect to that server, guess an object's id and look up any
    attribute: `__init__`, `__setattr__` and `__getattribute__`, too. So private names do not
    exist from outside; `_private` is the way past that for this module.
    """

    def __getattribute__(self, name: str) -> Any:  # noqa: ANN401 - any attribute
        if name == "__class__":
            return object  # py4j's converters ask for it; ours could be called, to make another
        if name.startswith("_"):
            raise AttributeError(name)
        return super().__getattribute__(name)


def _private(callbacks: _Callbacks, name: str) -> Any:  # noqa: ANN401 - any attribute
    return object.__getattribute__(callbacks, name)


class PythonSide(_Callbacks):
    """`holdfast.PythonSide` in Python; py4j calls these methods by name.

    The first argument of each is the secret that `attach` passed to the JVM.
    """

    class Java:
        implements = ("holdfast.PythonSide",)

    def __init__(self, host: Host, secret: str) -> None:
        self._guard = _Guard(host, secret)

    def recover(self, secret: str, store: str, path: str, start: bool, known: int) -> str:  # noqa: FBT001 - Java's signature
        def answer(host: Host) -> str:
            if start:
                return recovered_text(host.start(store, path))
            found = host.recover(store, path, known=known)
            if isinstance(found, Recovered):
                return recovered_text(found)
            return "absent" if found is None else "same"

        return _answer(self, secret, answer)

    def begin(
        self, secret: str, query: str, claim: int, execution: str, trigger: str, thread: str
    ) -> str:
        def answer(host: Host) -> str:
            host.begin(query, claim, execution, trigger, thread)
            return "ok"

        return _answer(self, secret, answer)

    def intent(self, secret: str, query: str, claim: int, batch: int, journal: str) -> str:
        def answer(host: Host) -> str:
            host.intent(query, claim, batch, journal)
            return "ok"

        return _answer(self, secret, answer)

    def commit(self, secret: str, query: str, claim: int, batch: int, journal: str) -> str:
        def answer(host: Host) -> str:
            return lines("ok", *host.commit(query, claim, batch, journal))

        return _answer(self, secret, answer)

    def fetch(self, secret: str, query: str, claim: int, path: str, known: str) -> str:
        def answer(host: Host) -> str:
            found = host.fetch(query, claim, path, parse_object_ref(known))
            if isinstance(found, Ticket):
                return ticket_text(found)
            files = (f"{name}\t{modified}\t{offset}" for name, modified, offset in found.files)
            return lines("ok", found.segment, *files)

        return _answer(self, secret, answer)

    def sign(self, secret: str, query: str, claim: int, size: int, sha256s: str, begun: str) -> str:
        def answer(host: Host) -> str:
            return ticket_text(host.sign(query, claim, size, sha256s.split(" "), begun))

        return _answer(self, secret, answer)

    def finish(self, secret: str, query: str, claim: int, key: str, etags: str) -> str:
        def answer(host: Host) -> str:
            host.finish(query, claim, key, etags.split(" "))
            return "ok"

        return _answer(self, secret, answer)

    def end(self, secret: str, query: str, claim: int) -> str:
        return _answer(self, secret, lambda host: lines("ok", host.end(query, claim)))


class _Guard:
    """Lets a call reach the host only with the secret; a call without it touches nothing."""

    def __init__(self, host: Host, secret: str) -> None:
        self._host = host
        self._secret = secret.encode()
        self._warned = False

    def answer(self, secret: object, call: Callable[[Host], str]) -> str:
        """The call's answer; every error becomes one, and its text starts with the error's name."""
        if not self._is_right(secret):
            return self._refuse()
        try:
            return call(self._host)
        except HoldfastError as error:
            return lines("error", f"{type(error).__name__}: {error}")
        except Exception as error:  # noqa: BLE001 - the JVM has to know, whatever it is
            _LOG.exception("a defect in holdfast")
            return lines(
                "error", f"BridgeError: a defect in holdfast: {type(error).__name__}: {error}"
            )

    def _is_right(self, secret: object) -> bool:
        given = secret.encode("utf-8", "surrogatepass") if isinstance(secret, str) else b""
        return hmac.compare_digest(given, self._secret)

    def _refuse(self) -> str:
        if not self._warned:
            self._warned = True
            _LOG.warning(
                "refused a call without the driver's secret: another process on this host "
                "connects to PySpark's callback server; further ones are refused silently"
            )
        return lines("error", "BridgeError: the call does not carry the driver's secret")


def _answer(side: PythonSide, secret: object, call: Callable[[Host], str]) -> str:
    guard: _Guard = _private(side, "_guard")
    return guard.answer(secret, call)


class ListenerSide(_Callbacks):
    """Spark's query listener in Python, which fetches each event from the JVM as one JSON text.

    PySpark's own listener fetches every field by itself, some six hundred calls per batch, just
    when the next batch's intent needs this process.

    Spark defines the interface, so these calls carry no secret. Nothing is decided here: a forged
    event can at most replay an old event's figures into `holdfast.status`.
    """

    class Java:
        implements = ("org.apache.spark.sql.streaming.PythonStreamingQueryListener",)

    def __init__(self, listener: StatusListener) -> None:
        self._listener = listener

    def onQueryStarted(self, event: Any) -> None:  # noqa: ANN401, N802 - py4j's type, Spark's name
        """Spark waits for this while the query starts, so it does nothing."""

    def onQueryProgress(self, event: Any) -> None:  # noqa: ANN401, N802 - as above
        listener: StatusListener = _private(self, "_listener")
        listener.progressed(orjson.loads(event.progress().json()))

    def onQueryIdle(self, event: Any) -> None:  # noqa: ANN401, N802 - as above
        """No batch, no checkpoint."""

    def onQueryTerminated(self, event: Any) -> None:  # noqa: ANN401, N802 - as above
        listener: StatusListener = _private(self, "_listener")
        error = event.exception()
        listener.terminated(
            event.id().toString(),
            event.runId().toString(),
            error.get() if error.isDefined() else "",
        )


def attach(spark: SparkSession, host: Host) -> None:
    """Tell the JVM that Python is ready to decide, and the secret that its calls must carry.

    The gateway to the JVM is authenticated. py4j logs what passes there at level DEBUG.
    """
    context = spark.sparkContext
    ensure_callback_server_started(context._gateway)  # type: ignore[no-untyped-call]  # noqa: SLF001 - PySpark has no public way
    options = host.options
    secret = secrets.token_hex(_SECRET_BYTES)
    _shim(context._jvm).attach(  # noqa: SLF001 - as above
        PythonSide(host, secret),
        secret,
        options.spool_bytes_max,
        options.large_file_bytes,
        1000 * (options.ticket_seconds + _PERMIT_SECONDS),
        host.store_changes,
    )


def listen(spark: SparkSession, listener: StatusListener) -> Any:  # noqa: ANN401 - py4j's type
    """Tell a listener of all queries of this session; gives what `detach` takes away."""
    jvm: Any = spark.sparkContext._jvm  # noqa: SLF001 - PySpark has no public way
    wrapper = jvm.org.apache.spark.sql.streaming.PythonStreamingQueryListenerWrapper
    java = wrapper(ListenerSide(listener))
    spark.streams._jsqm.addListener(java)  # noqa: SLF001 - the public way takes PySpark's own
    return java


def detach(spark: SparkSession, listener: Any) -> None:  # noqa: ANN401 - py4j's type
    """Let the JVM call Python no more; one that is gone already does not."""
    context = spark.sparkContext
    try:
        context._jsc.sc().listenerBus().waitUntilEmpty(_LISTENERS_MS)  # noqa: SLF001 - PySpark has no public way
        spark.streams._jsqm.removeListener(listener)  # noqa: SLF001 - as above
        _shim(context._jvm).detach()  # noqa: SLF001 - as above
    except Exception as error:  # noqa: BLE001 - the process ends, and so does the JVM
        _LOG.debug("the JVM was gone first: %s", error)


def require_shim(spark: SparkSession) -> None:
    """Whether this session's JVM has the shim, of this version, and its plugin runs.

    Raises:
        BridgeError: if not, with what to do.
    """
    context = getattr(spark, "_sc", None)
    if context is None:
        raise BridgeError(
            "a Spark Connect session has no JVM of its own to put a checkpoint through",
            hint="run the query in a classic session on the driver (spark.api.mode=classic)",
        )
    shim = _shim(context._jvm)  # noqa: SLF001 - PySpark has no public way
    version = shim.version()
    if version != VERSION:
        raise BridgeError(
            "the jar and the Python package are of different versions",
            hint="take both from one build: `holdfast submit-args` names the right jar",
            jar=version,
            package=VERSION,
        )
    if not shim.isLoaded():
        raise BridgeError(
            "the jar is there, but its plugin was not loaded",
            hint=f"set spark.plugins={_PLUGIN} before the session starts",
        )


def require_shim_if_running() -> None:
    """A JVM that runs already cannot load a jar any more.

    Raises:
        BridgeError: one does, without the shim.
    """
    jvm = SparkContext._jvm  # noqa: SLF001 - PySpark has no public way
    if jvm is not None:
        _shim(jvm)


def plan_nodes(df: DataFrame) -> list[PlanNode]:
    """The operators of a query's analyzed plan, each before its subqueries and its inputs."""
    waiting = [df._jdf.queryExecution().analyzed()]  # noqa: SLF001 - PySpark has no public way
    nodes = []
    with _whole_texts(df.sparkSession):
        while waiting:
            java = waiting.pop()
            subqueries, inputs = _items(java.innerChildren()), _items(java.children())
            source = _stream_source(java)
            node = PlanNode(
                operator=java.nodeName(),
                text="" if source else java.simpleString(_FIELDS_MAX),
                subqueries=len(subqueries),
                inputs=len(inputs),
                source=source,
            )
            nodes.append(node)
            waiting += reversed([*subqueries, *inputs])
    return nodes


@contextmanager
def _whole_texts(spark: SparkSession) -> Iterator[None]:
    """Spark writes texts by the session's settings, in full, whichever thread asks.

    A thread without an active session writes times in another zone. What Spark cuts off after 25
    fields could change. The limit is a setting of the session: one query is described at a time.
    """
    session = spark._jsparkSession  # noqa: SLF001 - PySpark has no public way
    name = session.getClass().getName()  # which is not the same in Spark 3.5 and 4
    jvm: Any = spark.sparkContext._jvm  # noqa: SLF001 - as above
    sessions = functools.reduce(getattr, name.split("."), jvm)
    conf = session.sessionState().conf()
    with _TEXTS:
        active = sessions.getActiveSession()
        before = conf.getConfString(_FIELDS) if conf.contains(_FIELDS) else None
        sessions.setActiveSession(session)
        conf.setConfString(_FIELDS, str(_FIELDS_MAX))
        try:
            yield
        finally:
            if before is None:
                conf.unsetConf(_FIELDS)
            else:
                conf.setConfString(_FIELDS, before)
            if active.isDefined():
                sessions.setActiveSession(active.get())
            else:
                sessions.clearActiveSession()


def _stream_source(java: Any) -> StreamSource | None:  # noqa: ANN401 - py4j's type
    """What a leaf of the plan reads, if it is a stream, by either of Spark's interfaces."""
    if java.nodeName() == "StreamingRelation":
        kind = java.dataSource().className()
        options = {pair._1(): pair._2() for pair in _items(java.dataSource().options().toSeq())}  # noqa: SLF001 - a Scala pair
    elif java.nodeName() == "StreamingRelationV2":
        kind, options = java.sourceName(), dict(java.extraOptions())
    else:
        return None
    return StreamSource(
        format=kind,
        schema=java.schema().catalogString(),
        columns=java.output().mkString(", "),
        options=options,
    )


def _items(seq: Any) -> list[Any]:  # noqa: ANN401 - a Scala sequence
    return [seq.apply(place) for place in range(seq.size())]


def failure_trace(query: StreamingQuery) -> str:
    """The stack trace of the error that ended a query, empty if it was stopped or still runs."""
    found = query._jsq.exception()  # noqa: SLF001 - PySpark has no public way
    if not found.isDefined():
        return ""
    jvm: Any = SparkContext._jvm  # noqa: SLF001 - as above
    trace: str = jvm.org.apache.spark.util.Utils.exceptionString(found.get().cause())
    return trace


def sink_facts(writer: DataStreamWriter) -> dict[str, str]:
    """A query's sink and output mode, as far as this Spark tells."""
    java = writer._jwrite  # noqa: SLF001 - PySpark has no public way
    facts = {}
    for field in java.getClass().getDeclaredFields():
        if field.getName() in _SINK_FIELDS:
            field.setAccessible(True)
            facts[_SINK_FIELDS[field.getName()]] = str(field.get(java))
    return facts


def _shim(jvm: Any) -> Any:  # noqa: ANN401 - whatever py4j finds there
    found = jvm.holdfast.Bridge
    if not isinstance(found, JavaClass):
        raise BridgeError(
            "the JVM of this process does not have Holdfast's jar, and cannot load it any more",
            hint="start a new process, and call holdfast.configure(builder) before its first "
            "session, or use spark-submit $(holdfast submit-args --store URL)",
        )
    return found
