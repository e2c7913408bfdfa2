"""From what was taken to figures, and from figures to what is required of them."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING, Any

from holdfast.objectstore import S3_STANDARD
from tests.bench.contenders import ABORTABLE, FLOOR, LOCAL, LOCAL_MASTER, S3, SPARK
from tests.bench.measure import Figure

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tests.bench.contenders import Setting
    from tests.bench.rounds import Taken
    from tests.bench.traffic import Traffic

REQUESTS = "requests"
PRICE = f"{S3_STANDARD.name}, {S3_STANDARD.as_of}"
_FAR_MS_MAX = 600
_MANY_PARTITIONS = 200  # what is required of a cluster is required where there are many


def summary(setting: Setting, taken: Mapping[str, Taken]) -> dict[str, Any]:
    """Everything that is known of one setting, as it is written down."""
    contenders = {name: _summary(each) for name, each in taken.items()}
    if FLOOR in contenders:
        floor = contenders[FLOOR]
        for each in contenders.values():
            each["p50_of_floor"] = _rounded(each["p50_ms"] / floor["p50_ms"])
            each["restart_of_floor"] = _rounded(each["restart_s"] / floor["restart_s"])
    return {
        "title": setting.title,
        "partitions": setting.partitions,
        "provider": setting.provider,
        "latency_ms": setting.latency_ms,
        "master": setting.master,
        "batches": setting.rounds * setting.batches,
        "contenders": contenders,
    }


def required(settings: Mapping[str, Any], round_trip_ms: float) -> Iterator[Figure]:
    """The lines of design section 8, with what was measured."""
    for name, setting in settings.items():
        if setting["latency_ms"]:
            yield from _far(setting, round_trip_ms)
        elif setting["master"] == LOCAL_MASTER:
            yield from _near(name, setting["contenders"])
        elif setting["partitions"] >= _MANY_PARTITIONS:
            yield from _cluster(name, setting["contenders"])


def required_restarts(settings: Mapping[str, Any]) -> Iterator[Figure]:
    """A restart asks the store no more often where there are more partitions."""
    if {"cluster-10", "cluster-200"} <= settings.keys():
        few, many = (
            settings[name]["contenders"][S3]["restart_requests"]
            for name in ("cluster-10", "cluster-200")
        )
        yield Figure(
            name="restart on a cluster: requests with 200 partitions, beyond those with 10",
            measured=many - few,
            required=5,
            relation="at most",
            unit=REQUESTS,
        )


def _cluster(name: str, contenders: Mapping[str, Any]) -> Iterator[Figure]:
    yield _of_floor(name, contenders, limit=1.2)
    ours, theirs = contenders[S3], contenders[ABORTABLE]
    for what, key, limit in (
        ("p50 batch", "p50_ms", 0.5),
        ("restart to the first finished batch", "restart_s", 0.25),
    ):
        yield Figure(
            name=f"{name}: {what}, Holdfast on MinIO against S3A's abortable manager",
            measured=ours[key] / theirs[key],
            required=limit,
            relation="at most",
            unit="x S3A",
        )


def _of_floor(name: str, contenders: Mapping[str, Any], *, limit: float) -> Figure:
    return Figure(
        name=f"{name}: p50 batch, Holdfast on MinIO",
        measured=contenders[S3]["p50_of_floor"],
        required=limit,
        relation="at most",
        unit="x floor",
    )


def _requests(name: str, ours: Mapping[str, Any]) -> Figure:
    return Figure(
        name=f"{name}: requests a batch, Holdfast on MinIO",
        measured=ours["requests"],
        required=2.2,
        relation="at most",
        unit=REQUESTS,
    )


def _near(name: str, contenders: Mapping[str, Any]) -> Iterator[Figure]:
    if "requests" in contenders[S3]:
        yield _requests(name, contenders[S3])
    yield _of_floor(name, contenders, limit=1.15)
    yield Figure(
        name=f"{name}: p50 batch, Holdfast's local store against Spark's local checkpoint",
        measured=contenders[LOCAL]["p50_ms"] / contenders[SPARK]["p50_ms"],
        required=1,
        relation="at most",
        unit="x Spark",
    )
    for store in (LOCAL, S3):
        yield Figure(
            name=f"{name}: restart to the first finished batch, {store}",
            measured=contenders[store]["restart_of_floor"],
            required=2,
            relation="at most",
            unit="x floor",
        )


def _far(setting: Mapping[str, Any], round_trip_ms: float) -> Iterator[Figure]:
    contenders = setting["contenders"]
    floor = contenders[FLOOR]["p50_ms"]
    for limit, how in (
        (floor + 2 * round_trip_ms, f"floor + 2 round trips of {round_trip_ms:.0f} ms"),
        (_FAR_MS_MAX, "at all"),
    ):
        yield Figure(
            name=f"{setting['title']}: p50 batch, Holdfast on MinIO, {how}",
            measured=contenders[S3]["p50_ms"],
            required=round(limit),
            relation="at most",
            unit="ms",
        )


def _summary(taken: Taken) -> dict[str, Any]:
    every = [each for batches in taken.batch_ms for each in batches]
    found: dict[str, Any] = {
        "p50_ms": statistics.median(every),
        "p95_ms": percentile(every, 95),
        "restart_s": _rounded(statistics.median(taken.restart_ms) / 1000),
        "cpu_ms": round(statistics.median(taken.cpu_ms)),
        "rounds_p50_ms": [statistics.median(batches) for batches in taken.batch_ms],
        "restarts_s": [_rounded(each / 1000) for each in taken.restart_ms],
        "parts_p50_ms": _parts(taken.parts),
    }
    if taken.per_batch is not None and taken.per_restart is not None:
        found |= _traffic(taken.per_batch)
        found["restart_requests"] = taken.per_restart.total
    return found


def _traffic(each: Traffic) -> dict[str, Any]:
    return {
        "requests": _rounded(each.total),
        "requests_by_verb": {verb: _rounded(count) for verb, count in each.requests.items()},
        "bytes_in": round(each.bytes_in),
        "bytes_out": round(each.bytes_out),
        "usd_per_month": _rounded(each.usd_per_month()),
    }


def _parts(parts: Sequence[Mapping[str, float]]) -> dict[str, float]:
    names = sorted({name for each in parts for name in each})
    return {name: statistics.median(each.get(name, 0) for each in parts) for name in names}


def percentile(values: Sequence[float], percent: int) -> float:
    """The value below which so many percent are; of few values, the highest."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, len(ordered) * percent // 100)]


def _rounded(value: float) -> float:
    return round(value, 3)
