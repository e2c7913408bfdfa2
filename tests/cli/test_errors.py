"""Errors: a sentence, a hint and an exit code; never a trace, never a secret."""

from __future__ import annotations

import pytest

from holdfast import errors
from holdfast.cli import exits, ls, target
from holdfast.cli.app import main
from holdfast.errors import CorruptionError, HoldfastError, UnavailableError
from holdfast.objectstore import MemoryStore, ObjectStore
from holdfast.testing import Fault, FaultyStore
from tests.cli.support import holdfast

SECRET = "s3://AKIAKEY:topsecret@bucket/orders?nope=1"

CODES = {
    "ConfigError": 2,
    "ConfigMismatchError": 2,
    "MisuseError": 2,
    "StoreError": 3,
    "NotFoundError": 3,
    "AlreadyExistsError": 3,
    "PreconditionError": 3,
    "PermissionDeniedError": 3,
    "UnsupportedError": 3,
    "DeleteError": 3,
    "UnavailableError": 4,
    "FencedError": 5,
    "CarriedPlanError": 5,
    "CommitUnknownError": 5,
    "CorruptionError": 1,
    "BridgeError": 6,
}


def kinds(kind: type[HoldfastError] = HoldfastError) -> list[type[HoldfastError]]:
    below = [found for found in kind.__subclasses__() if found.__module__ == errors.__name__]
    return [*below, *(deeper for found in below for deeper in kinds(found))]


@pytest.mark.parametrize("kind", kinds(), ids=lambda kind: kind.__name__)
def test_every_error_has_its_exit_code(kind: type[HoldfastError]) -> None:
    """By the tree; a new error needs a decision here."""
    error = kind({"key": "why"} if kind is errors.DeleteError else "told")  # type: ignore[arg-type]
    assert exits.code_of(error) == CODES[kind.__name__]


def test_every_exit_code_is_in_the_help() -> None:
    """With its meaning."""
    text = holdfast("--help").out
    for code, meaning in exits.EXIT_CODES.items():
        assert f"{code:>3}  {meaning}" in text


def broken(error: BaseException) -> ObjectStore:
    return FaultyStore(MemoryStore(), [Fault(error=error, nth=0)])


def test_a_store_that_does_not_answer_is_exit_code_4(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sentence, its variables, and the hint, on stderr."""
    error = UnavailableError("no whole answer came", hint="try later", endpoint="http://x")
    monkeypatch.setattr(target, "open_store", lambda _: broken(error))
    ran = holdfast("ls", "memory:")
    assert (ran.code, ran.out) == (4, "")
    assert ran.err == "error: no whole answer came (endpoint http://x)\nhint: try later\n"


def test_with_json_the_error_is_the_document(monkeypatch: pytest.MonkeyPatch) -> None:
    """On stdout, and nothing is on stderr."""
    error = CorruptionError("bytes are wrong", hint="go back", key="a", number=7)
    monkeypatch.setattr(target, "open_store", lambda _: broken(error))
    ran = holdfast("ls", "memory:", "--json")
    assert (ran.code, ran.err) == (1, "")
    assert ran.json() == {
        "error": "CorruptionError",
        "message": "bytes are wrong",
        "hint": "go back",
        "details": {"key": "a", "number": "7"},
    }


def bug(_: str) -> None:
    raise ZeroDivisionError("in s3://AKIAKEY:topsecret@bucket")


def test_a_mistake_of_ours_is_told_without_a_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    """And says how to see one."""
    monkeypatch.setattr(ls, "resolve", bug)
    ran = holdfast("ls", "memory:")
    assert (ran.code, ran.out) == (70, "")
    assert "ZeroDivisionError" in ran.err
    assert "--debug" in ran.err
    assert "Traceback" not in ran.err


@pytest.mark.parametrize(
    ("args", "environment"), [(("--debug",), {}), ((), {"HOLDFAST_DEBUG": "1"})]
)
def test_debug_shows_the_trace(
    monkeypatch: pytest.MonkeyPatch, args: tuple[str, ...], environment: dict[str, str]
) -> None:
    """By the option or the variable; still without the secret."""
    monkeypatch.setattr(ls, "resolve", bug)
    ran = holdfast("ls", "memory:", *args, **environment)
    assert "Traceback" in ran.err
    assert "topsecret" not in ran.err


def test_the_trace_is_on_stderr_with_json_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stdout has one document whatever happens."""
    monkeypatch.setattr(ls, "resolve", bug)
    ran = holdfast("ls", "memory:", "--json", "--debug")
    assert ran.json()["error"] == "InternalError"
    assert "Traceback" in ran.err


def test_debug_0_is_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """As people write it."""
    monkeypatch.setattr(ls, "resolve", bug)
    assert "Traceback" not in holdfast("ls", "memory:", HOLDFAST_DEBUG="0").err


@pytest.mark.parametrize("args", [(), ("--json",), ("--debug",)])
def test_no_secret_of_a_url_is_ever_shown(args: tuple[str, ...]) -> None:
    """Not in the sentence, the document or the trace."""
    ran = holdfast("ls", SECRET, *args)
    assert ran.code == 2
    assert "topsecret" not in ran.out + ran.err


def test_a_secret_in_the_default_store_is_not_shown_either() -> None:
    """Where secrets live longest."""
    ran = holdfast("ls", "orders", "--debug", HOLDFAST_STORE=SECRET)
    assert "topsecret" not in ran.out + ran.err


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        (["nope"], "No such command 'nope'."),
        (["ls", "--nope"], "No such option: --nope"),
        (["rollback", "x"], "Missing option '--to'."),
        (["tag", "memory:"], "Missing argument 'NAME'."),
    ],
)
def test_a_wrong_command_line_is_one_sentence(
    args: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the help to look at."""
    assert main(args) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith(f"error: {sentence}")
    assert "hint: see holdfast" in told.err


def test_a_wrong_command_line_with_json_is_a_document(capsys: pytest.CaptureFixture[str]) -> None:
    """Scripts make mistakes too."""
    assert main(["rollback", "x", "--json"]) == 2
    told = capsys.readouterr()
    assert '"error": "UsageError"' in told.out
    assert told.err == ""


def test_a_secret_among_wrong_arguments_is_not_shown(capsys: pytest.CaptureFixture[str]) -> None:
    """The parser repeats what it does not understand."""
    assert main(["ls", "memory:", SECRET]) == 2
    assert "topsecret" not in capsys.readouterr().err


def test_no_command_at_all_shows_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    """On stderr, because nothing was done."""
    assert main([]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert "Usage: holdfast" in told.err


def test_the_version_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    """And nothing else."""
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == "holdfast 0.1.0\n"


@pytest.mark.parametrize("words", ["HOLDFAST_STORE", "certificate.json", "endpoint_url"])
def test_the_help_explains_addresses(words: str) -> None:
    """The rule by which a path is split into store and query."""
    assert words in holdfast("--help").out
