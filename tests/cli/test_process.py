"""The command as its users run it: a process, pipes, signals, a terminal."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import orjson
import pytest

from tests.cli.support import holdfast, process

if TYPE_CHECKING:
    from pathlib import Path

COMMAND = [sys.executable, "-m", "holdfast.cli"]


def test_a_pipe_gets_plain_text_and_no_line_is_folded(url: str) -> None:
    """No colours, no control characters, one line per checkpoint."""
    ran = process("ls", f"{url}/orders")
    assert ran.code == 0
    assert "\x1b" not in ran.out + ran.err
    assert [line.split()[0] for line in ran.out.splitlines()[3:]] == list("7654321")


def test_exit_codes_reach_the_shell(url: str) -> None:
    """Invalid, wrong."""
    assert process("validate", f"{url}/eu/clicks", "--json").code == 1
    assert process("prune", f"{url}/orders").code == 2


@pytest.mark.parametrize("address", ["file:///etc/passwd", "s3://AKIA:topsecret@b/x?nope=1"])
def test_no_trace_and_no_secret_reaches_the_user(address: str) -> None:
    """A sentence and a hint, for whatever is wrong with an address."""
    ran = process("ls", address)
    assert (ran.code, ran.out) == (2, "")
    assert [line.split(":")[0] for line in ran.err.splitlines()] == ["error", "hint"]
    assert "topsecret" not in ran.err


@pytest.mark.parametrize("args", [("ls",), ("ls", "--json")])
def test_a_reader_that_goes_away_is_no_error(url: str, args: tuple[str, ...]) -> None:
    """`holdfast ls | head` is silent, also when what is left in a buffer is flushed at the end."""
    command = [*COMMAND, args[0], f"{url}/orders", *args[1:]]
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    running = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=buffered
    )
    assert running.stdout is not None
    running.stdout.close()
    assert running.stderr is not None
    with running, running.stderr:
        assert running.stderr.read() == b""
    assert running.returncode == 141


def test_ctrl_c_is_exit_code_130_and_a_word(tmp_path: Path) -> None:
    """In the middle of work."""
    running = subprocess.Popen(
        [*COMMAND, "certify", tmp_path.as_uri(), "--seconds", "30"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # Where the tests run in a shell's background, they and their children would ignore it.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509 - no threads
    )
    deadline = time.monotonic() + 30
    while not (tmp_path / ".holdfast" / "certify").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=30)
    assert (running.returncode, out) == (130, "")
    assert err.startswith("error: interrupted")
    assert "Traceback" not in err


def test_a_terminal_gets_progress_and_json_stays_clean(url: str) -> None:
    """The bar is on stderr."""
    terminal, stderr = pty.openpty()
    found = subprocess.run(
        [*COMMAND, "validate", f"{url}/orders", "--json"],
        stdout=subprocess.PIPE,
        stderr=stderr,
        check=False,
        env={**os.environ, "TERM": "xterm"},
        timeout=60,
    )
    os.close(stderr)
    shown = os.read(terminal, 65536)
    os.close(terminal)
    assert orjson.loads(found.stdout)["valid"]
    assert b"validating orders" in shown


def test_a_narrow_terminal_is_survived(url: str) -> None:
    """What has no room is named; the number and the state are always there."""
    ran = process("ls", url, COLUMNS="40")
    assert ran.code == 0
    assert "(no room for:" in ran.out
    assert all(len(line) <= 40 for line in ran.out.splitlines())


def test_a_terminal_without_unicode_is_survived(root: Path) -> None:
    """Names are shown as escapes."""
    url = root.as_uri()
    assert holdfast("clone", f"{url}/orders", "größer").code == 0
    ran = process("ls", url, PYTHONIOENCODING="ascii")
    assert (ran.code, r"gr\xf6\xdfer" in ran.out) == (0, True)


def test_a_local_store_needs_neither_boto3_nor_spark(url: str) -> None:
    """They take longer to import than the command takes to run."""
    found = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "holdfast.cli", "ls", url],
        capture_output=True,
        text=True,
        check=True,
    )
    imported = {line.rpartition("|")[2].strip() for line in found.stderr.splitlines()}
    assert "holdfast.cli.ls" in imported
    assert not {"boto3", "botocore", "pyspark", "py4j", "rich.progress"} & imported
