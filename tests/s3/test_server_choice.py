"""Which S3 server a test run uses, and that MinIO is built once however many ask for it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.s3 import minio, server

GO = """#!/bin/sh
echo "$@" >> "$BUILDS"
sleep 0.3
printf 'binary' > "$GOBIN/minio"
"""


@pytest.fixture
def fake_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A Go that writes down what it was asked for; an empty cache; no other server."""
    (tmp_path / "bin").mkdir()
    go = tmp_path / "bin" / "go"
    go.write_text(GO)
    go.chmod(0o755)
    builds = tmp_path / "builds"
    monkeypatch.setenv("BUILDS", str(builds))
    monkeypatch.setenv("PATH", f"{go.parent}{os.pathsep}/usr/bin{os.pathsep}/bin")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/no-engine")
    monkeypatch.delenv("HOLDFAST_S3_ENDPOINT", raising=False)
    monkeypatch.delenv("HOLDFAST_REQUIRE_MINIO", raising=False)
    return builds


def test_an_endpoint_that_is_given_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """And the run says so."""
    monkeypatch.setenv("HOLDFAST_S3_ENDPOINT", "http://host:9000")
    choice = server.choose(print)
    assert (choice.kind, "http://host:9000" in choice.name) == ("endpoint", True)


def test_minio_is_built_where_go_is(fake_go: Path) -> None:
    """With one sentence that says how long it takes, and only once."""
    said: list[str] = []
    assert server.choose(said.append).kind == "binary"
    assert server.choose(said.append).kind == "binary"
    assert fake_go.read_text() == f"install {minio.MODULE}\n"
    assert "three minutes" in said[0]


def test_two_builders_build_once(fake_go: Path) -> None:
    """The second waits for the first and takes what it made."""
    code = "from tests.s3 import minio; print(minio.binary(print))"
    command, root = [sys.executable, "-c", code], Path(__file__).parents[2]
    builders = [subprocess.Popen(command, cwd=root, stdout=subprocess.DEVNULL) for _ in range(2)]
    assert [builder.wait() for builder in builders] == [0, 0]
    assert fake_go.read_text().count("install") == 1
    left = {path.name for path in minio.cache_directory().iterdir()}
    assert left == {"lock", "minio"}


def test_moto_is_the_last_resort(fake_go: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Unless MinIO is required, as CI does."""
    (fake_go.parent / "bin" / "go").write_text("#!/bin/sh\necho broken >&2\nexit 1\n")
    assert server.choose(print).kind == "moto"
    monkeypatch.setenv("HOLDFAST_REQUIRE_MINIO", "1")
    with pytest.raises(server.NoServerError, match="HOLDFAST_REQUIRE_MINIO"):
        server.choose(print)
