"""Setting a Spark session up: before it starts, and once it is there."""

from __future__ import annotations

import atexit
import contextlib
import threading
import time
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from holdfast.errors import MisuseError
from holdfast.jobfiles import PLUGIN, is_zipped, jar_path
from holdfast.spark import bridge, credentials
from holdfast.spark.host import Host
from holdfast.spark.listener import StatusListener
from holdfast.spark.options import KEYS, PREFIX, STORE, parse_options

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

    from holdfast.spark.options import Options
    from holdfast.spark.status import Record, Status

_PLUGINS = "spark.plugins"
_JARS = "spark.jars"
_BEGIN_SECONDS_MAX = 10.0
_END_SECONDS_MAX = 1.0  # whoever asks may be a listener, for which the bus waits
_POLL_SECONDS = 0.01


def configure(builder: SparkSession.Builder, store: str | None = None) -> SparkSession.Builder:
    """Add the shim to a session that is not started yet; `store` is the default store's URL.

    Jars and plugins that the builder has already are kept. Credentials in a store's URL are kept
    in this process and taken out of Spark's configuration, which goes to executors. In a job that
    was submitted with this package in `--py-files`, `--jars` brings the shim, and only the store is
    set here.

    Raises:
        BridgeError: a JVM runs in this process already, without the shim.
    """
    given = dict(getattr(builder, "_options", {}))
    for key, value in credentials.with_secrets(given).items():
        builder = builder.config(key, credentials.hidden(value))
    if not is_zipped():
        jar = jar_path()
        bridge.require_shim_if_running()
        builder = builder.config(_JARS, _added(given.get(_JARS, ""), str(jar)))
        builder = builder.config(_PLUGINS, _added(given.get(_PLUGINS, ""), PLUGIN))
    return builder if store is None else builder.config(STORE, credentials.hidden(store))


def session(builder: SparkSession.Builder, store: str | None = None) -> SparkSession:
    """`configure`, `getOrCreate` and `enable` in one.

    Raises:
        BridgeError, ConfigError: as those.
    """
    spark = configure(builder, store).getOrCreate()
    enable(spark)
    return spark


def enable(spark: SparkSession) -> None:
    """Let queries of this session keep their checkpoints on `holdfast:`.

    A second call reads the settings again; it works after `spark.stop()` and a new session, too.

    Raises:
        ConfigError: a setting is not known, or wrong.
        BridgeError: the shim is not there, of another version, or this is Spark Connect.
    """
    bridge.require_shim(spark)
    settings = _settings(spark)
    for key, value in credentials.with_secrets(settings).items():
        spark.conf.set(key, credentials.hidden(value))
    options = parse_options(credentials.completed(settings))
    credentials.warn(dict(spark.sparkContext.getConf().getAll()))
    _CURRENT.use(spark, options)


def status(query: StreamingQuery | str) -> Status:
    """What is known of a query's checkpoints: by its handle, its id, or its checkpoint's name.

    Raises:
        MisuseError: no such query has run in this session.
    """
    if isinstance(query, str):
        record = _found(query)
        # Spark says why a query has ended through its listener bus, a moment after the end.
        _wait(lambda: record.is_final, _END_SECONDS_MAX)
        return record.status
    # A query that was started a moment ago tells its id with its first look at the checkpoint.
    _wait(lambda: not query.isActive or _is_known(str(query.id)), _BEGIN_SECONDS_MAX)
    record = _found(str(query.id))
    if not query.isActive:
        record.terminated(str(query.runId), bridge.failure_trace(query))
    return record.status


def _wait(condition: Callable[[], bool], seconds_max: float) -> None:
    end = time.monotonic() + seconds_max
    while not condition() and time.monotonic() < end:
        time.sleep(_POLL_SECONDS)


def _is_known(name: str) -> bool:
    with contextlib.suppress(MisuseError):
        return bool(_found(name))
    return False


def _found(name: str) -> Record:
    for each in current_host().records():
        if name in (each.status.query, each.status.query_id, each.status.run_id):
            return each
    raise MisuseError(
        "no such query has run on holdfast: in this session",
        hint='name it as its checkpointLocation does: "orders" for "holdfast:///orders"',
        query=name,
    )


def current_host() -> Host:
    """The Python side of the session that was enabled last.

    Raises:
        MisuseError: none was.
    """
    host = _CURRENT.host
    if host is None:
        raise MisuseError("no session was enabled", hint="call holdfast.enable(spark) first")
    return host


class _Current:
    """The one host of this process: Spark has one context at a time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.application = ""
        self._listeners: WeakKeyDictionary[SparkSession, Any] = WeakKeyDictionary()
        self.host: Host | None = None

    def use(self, spark: SparkSession, options: Options) -> None:
        context = spark.sparkContext
        with self._lock:
            if self.host is None or self.application != context.applicationId:
                self.close()
                name = f"{context.appName} {context.applicationId}"
                self.host = Host(options, application=name)
                self.application = str(context.applicationId)
                self._listeners.clear()
            else:
                self.host.set_options(options)
            host = self.host
        bridge.attach(spark, host)
        if spark not in self._listeners:
            self._listeners[spark] = bridge.listen(spark, StatusListener(host))

    def leave(self) -> None:
        """The process ends: the JVM, which ends later, must not call it any more."""
        for spark, listener in self._listeners.items():
            bridge.detach(spark, listener)
        self.close()

    def close(self) -> None:
        if self.host is not None:
            self.host.close()
            self.host = None


_CURRENT = _Current()
atexit.register(_CURRENT.leave)


def _settings(spark: SparkSession) -> dict[str, str]:
    """`spark.holdfast.*` as given at the start, and as changed since with `spark.conf.set`."""
    given = dict(spark.sparkContext.getConf().getAll())
    # Spark 3.5 lists no settings of a session: there only those with a known name are found.
    known = (STORE, *(f"{PREFIX}{key.name}" for key in KEYS))
    listed = getattr(spark.conf, "getAll", None) or {key: spark.conf.get(key, "") for key in known}
    changed = {key: value for key, value in listed.items() if value}
    return {key: value for key, value in {**given, **changed}.items() if key.startswith(PREFIX)}


def _added(given: str, item: str) -> str:
    items = [part for part in given.split(",") if part]
    return ",".join(items if item in items else [*items, item])
