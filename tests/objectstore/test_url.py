"""Stores by URL: the right ones open, the wrong ones are one sentence with a hint."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest

from holdfast.errors import ConfigError, PermissionDeniedError
from holdfast.objectstore import (
    LocalStore,
    MemoryStore,
    Meter,
    MeteredStore,
    RetryingStore,
    S3Store,
    open_store,
    probe,
    redact,
    without_credentials,
)
from holdfast.objectstore.certify_race import reopen_url
from holdfast.settings import RetrySettings, S3Settings
from tests.objectstore.scripted import Reply, ScriptedServer, error

if TYPE_CHECKING:
    from pathlib import Path

SECRET = "hun/ter+2@?&"
ESCAPED = quote(SECRET, safe="")


def _s3(url: str) -> S3Store:
    retrying = open_store(url)
    assert isinstance(retrying, RetryingStore)
    assert isinstance(retrying.inner, MeteredStore)
    assert isinstance(retrying.inner.inner, S3Store)
    return retrying.inner.inner


def test_a_file_url_is_a_local_store(tmp_path: Path) -> None:
    """Escapes are decoded, and a directory is made by the first put."""
    folder = tmp_path / "a b#c"
    store = open_store(folder.as_uri())
    assert isinstance(store, LocalStore)
    store.put("k", b"x")
    assert (folder / "k").read_bytes() == b"x"
    assert store.url == folder.as_uri()


def test_memory_is_a_new_store_each_time() -> None:
    """Two of them share nothing."""
    one, other = open_store("memory:"), open_store(" memory:\n")
    one.put("a", b"x")
    assert isinstance(one, MemoryStore)
    assert other.list().objects == ()


def test_a_meter_counts_any_store(tmp_path: Path) -> None:
    """It is given by whoever wants to know; S3 has one anyway."""
    meter = Meter()
    for url in ("memory:", tmp_path.as_uri()):
        open_store(url, meter=meter).list()
    assert meter.usage().requests["list"] == 2


def test_s3_is_retried_and_metered(server: ScriptedServer) -> None:
    """Each try is a request that is counted."""
    meter = Meter()
    url = f"s3://AKIA:{ESCAPED}@bucket?endpoint_url={server.endpoint}"
    retry = RetrySettings(attempts_max=2, first_delay_s=0)
    server.then(Reply(status=503), Reply(headers={"ETag": '"e"'}))
    open_store(url, meter=meter, retry=retry).put("a", b"x")
    assert meter.usage().requests["put"] == 2


def test_every_setting_of_s3_can_be_an_option() -> None:
    """A store opened by the URL of another is the same, secrets included."""
    settings = S3Settings(
        endpoint_url="http://host:9000",
        region="eu-central-1",
        path_style=False,
        server_side_encryption="aws:kms",
        kms_key_id="k/1",
        put_headers={"x-amz-tagging": "a=b&c=d", "x-other": "y: z"},
        connect_timeout_s=1.5,
        read_timeout_s=2.5,
        connections_max=7,
        access_key="AKIA",
        secret_key=SECRET,
    )
    url = S3Store("bucket", "p q/é", settings=settings).reopen_url()
    assert _s3(url)._settings == settings
    assert _s3(url).url == "s3://bucket/p%20q/%C3%A9?endpoint_url=http%3A%2F%2Fhost%3A9000"


@pytest.mark.parametrize(
    "url",
    [
        f"s3://AKIA:{ESCAPED}@bucket/p",
        f"s3://bucket/p?access_key=AKIA&secret_key={ESCAPED}",
    ],
)
def test_credentials_in_a_url_work_and_are_not_shown(url: str) -> None:
    """They are used for signing, and are in nothing that people see."""
    store = open_store(url)
    assert _s3(url)._settings.secret_key == SECRET
    assert reopen_url(store) == f"s3://bucket/p?access_key=AKIA&secret_key={ESCAPED}"
    assert store.url == "s3://bucket/p"
    assert without_credentials(url) == "s3://bucket/p"


@pytest.mark.parametrize(
    "url",
    [
        "file:///path",
        "memory:",
        "s3://bucket/p?region=x&endpoint_url=http%3A%2F%2Fhost%3A9000",
        "s3://bucket/p?put_headers=a: b",
    ],
)
def test_a_url_without_credentials_stays_as_it_is(url: str) -> None:
    """Wherever it came from."""
    assert without_credentials(url) == url
    with_both = f"{url}{'&' if '?' in url else '?'}access_key=k&secret_key={ESCAPED}"
    assert without_credentials(with_both) == url


@pytest.mark.parametrize(
    ("url", "hint"),
    [
        ("", "file:///path"),
        ("  ", "file:///path"),
        ("C:\\data", "file:///C:/"),
        ("C:/data", "file:///C:/"),
        ("\\\\server\\share", "file:///C:/"),
        ("/var/data", "file:///var/data"),
        ("data/x", "file:///path"),
        ("bucket", "s3://bucket"),
        ("file:data", "three slashes"),
        ("file://data/x", "three slashes"),
        ("file:///", "file:///path"),
        ("file:///a?b=c", "%3F"),
        ("file:///a#b", "%23"),
        ("memory:x", "memory:"),
        ("memory://x", "memory:"),
        ("s3:/bucket", "s3://bucket"),
        ("s3:bucket", "s3://bucket"),
        ("s3:///prefix", "s3://bucket"),
        ("s3://host:9000/bucket", "endpoint_url="),
        ("s3a://bucket/p", "s3://bucket"),
        ("gs://bucket", "s3://bucket"),
        ("http://host/x", "s3://bucket"),
        ("s3://b", "s3://bucket"),
        ("s3://bu cket", "s3://bucket"),
        ("s3://bucket/a//b", ""),
        ("s3://[bad", "s3://bucket"),
        ("s3://bucket?regoin=x", '"region"'),
        ("s3://bucket?conections_max=3", '"connections_max"'),
        ("s3://bucket?zzz=3", "known are: endpoint_url"),
        ("s3://bucket?path_style=maybe", '"true"'),
        ("s3://bucket?connections_max=many", "number"),
        ("s3://bucket?connections_max=0", ""),
        ("s3://bucket?read_timeout_s=nan", ""),
        ("s3://bucket?region=a&region=b", ""),
        ("s3://bucket?put_headers=x", "Name: value"),
        ("s3://bucket?access_key=AKIA", "secret_key="),
        ("s3://AKIA@bucket", "secret_key="),
        (f"s3://AKIA:{SECRET}@bucket", "%2F"),
    ],
)
def test_a_wrong_url_is_one_clear_sentence(url: str, hint: str) -> None:
    """With what to write instead, and without its secrets."""
    with pytest.raises(ConfigError) as caught:
        open_store(url)
    assert hint in caught.value.hint
    assert "\n" not in str(caught.value)
    assert "hun" not in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "s3://AKIA:hunter2@bucket/p",
        "s3://AKIA:hun/ter2@bucket/p",
        "s3://AKIA:hun?ter2@bucket/p",
        "s3://hunter2@bucket",
        "s3:AKIA:hunter2@bucket",
        "s3://bucket?secret_key=hunter2",
        "s3://bucket?region=x&SECRET_KEY=hunter2",
        "s3://bucket?access_key=hunter2&region=x",
        "s3://bucket?se%63ret_key=hunter2",
        "s3://bucket?session_token=hunter2",
        "s3://bucket?endpoint_url=http%3A%2F%2Fu%3Ahunter2%40host",
        "s3://bucket?endpoint_url=http://u:hunter2@host",
        "https://bucket.host/key?X-Amz-Credential=hunter2&X-Amz-Signature=hunter2",
        "https://host/key?AWSAccessKeyId=a&Signature=hunter2&Expires=1",
        "could not open s3://a:hunter2@b/c and https://x/y?X-Amz-Security-Token=hunter2 at all",
    ],
)
def test_no_secret_survives_redaction(text: str) -> None:
    """Whatever form it takes, and wherever in a text it is."""
    assert "hunter2" not in redact(text)
    assert "ter2" not in redact(text)


@pytest.mark.parametrize(
    "text",
    [
        "s3://bucket/p?endpoint_url=http://host:9000&region=eu&path_style=true",
        "file:///a/b@c",
        "s3://bucket/user@host/x",
        "memory:",
        "nothing to hide: 3 = 3?",
    ],
)
def test_redaction_leaves_the_rest_alone(text: str) -> None:
    """What is harmless stays readable."""
    assert redact(text) == text


def test_a_probe_costs_one_request(server: ScriptedServer) -> None:
    """And turns what is wrong into a clear error at once."""
    server.then(error("AccessDenied", 403))
    store = open_store(f"s3://AKIA:x@bucket?endpoint_url={server.endpoint}")
    with pytest.raises(PermissionDeniedError, match="iam-policy"):
        probe(store)
    assert len(server.asked) == 1


def test_a_probe_of_a_directory_to_come_is_no_error(tmp_path: Path) -> None:
    """It is made by the first put."""
    probe(open_store((tmp_path / "later").as_uri()))
    assert not (tmp_path / "later").exists()


def test_boto3_is_imported_only_for_s3() -> None:
    """Opening a local store leaves it alone; asking for `S3Store` brings it in."""
    code = (
        "import sys, holdfast.objectstore as o, holdfast.testing;"
        "o.open_store('memory:'); before = 'boto3' in sys.modules;"
        "o.S3Store; print(before, 'boto3' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]
