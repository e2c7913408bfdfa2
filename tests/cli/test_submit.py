"""`submit-args`: one line of flags that survives a shell."""

from __future__ import annotations

import shlex
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from holdfast import jobfiles
from holdfast.cli import submit
from holdfast.errors import BridgeError
from holdfast.jobfiles import PLUGIN, package_zip
from tests.cli.support import holdfast, process

JAR = "/opt/holdfast/holdfast-shim.jar"
STORE = "s3://bucket/my prefix?endpoint_url=http://127.0.0.1:9000&region=us-east-1"
ESCAPED = STORE.replace(" ", "%20")


@pytest.fixture(autouse=True)
def _jar(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A jar at a known place, and a cache of the test's own."""
    monkeypatch.setattr(submit, "jar_path", lambda: Path(JAR))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


def args(*words: str) -> Any:
    return holdfast("submit-args", *words, "--json").json()


def test_the_line_has_the_jar_the_zip_the_plugin_and_the_store(tmp_path: Path) -> None:
    """In the order of spark-submit's own help."""
    ran = holdfast("submit-args", "--store", "file:///data/hf")
    zipped = next((tmp_path / "holdfast/jobs").glob("*.zip"))
    expected = ["--jars", JAR, "--py-files", str(zipped), "--conf", f"spark.plugins={PLUGIN}"]
    assert ran.out == " ".join([*expected, "--conf", "spark.holdfast.store=file:///data/hf"]) + "\n"
    assert (ran.code, ran.err) == (0, "")


def test_a_shell_hands_the_words_on_as_they_are() -> None:
    """Unquoted, as the README has it; `&`, `?` and an escaped space go through."""
    ran = holdfast("submit-args", "--store", STORE, "--conf", "spark.x=a&b;c'd\"e$f")
    command = ["bash", "-c", 'words() { printf "%s\\n" "$@"; }; words $(cat)']
    seen = subprocess.run(command, input=ran.out, capture_output=True, text=True, check=True)
    assert (
        seen.stdout.splitlines() == args("--store", STORE, "--conf", "spark.x=a&b;c'd\"e$f")["args"]
    )
    assert f"spark.holdfast.store={ESCAPED}" in seen.stdout.splitlines()


def test_on_a_terminal_the_line_is_quoted() -> None:
    """There people copy it, and `&` would end the command."""
    words = args("--store", STORE)["args"]
    line = submit.line_of(words, pasted=True)
    assert f"'spark.holdfast.store={ESCAPED}'" in line
    assert shlex.split(line) == words


def test_what_the_job_has_already_is_kept() -> None:
    """Other jars, files and plugins, which a second flag would replace."""
    found = args(
        *("--store", "file:///x"),
        *("--jars", "/mine.jar", "--py-files", "lib.py,more.zip"),
        *("--conf", "spark.plugins=a.B"),
        *("--conf", "spark.jars=/a.jar,/b.jar"),
        *("--conf", "spark.submit.pyFiles=/c.zip"),
        *("--conf", "spark.holdfast.retain=5"),
    )
    assert found["jars"] == ["/mine.jar", "/a.jar", "/b.jar", JAR]
    assert found["py_files"][:3] == ["lib.py", "more.zip", "/c.zip"]
    assert found["conf"] == {
        "spark.plugins": f"a.B,{PLUGIN}",
        "spark.holdfast.store": "file:///x",
        "spark.holdfast.retain": "5",
    }


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--store", "memory:"), "ends with its process"),
        (("--store", "/data"), "a path is not a URL"),
        (("--store", "s3://k:s@bucket/p"), "no place for credentials"),
        (("--store", "s3://bucket/p?access_key=k&secret_key=s"), "no place for credentials"),
        (("--store", "file:///x", "--conf", "spark.x=-Da -Db"), "give it to spark-submit itself"),
        (("--store", "file:///x", "--conf", "spark.x=/jars/*"), "give it to spark-submit itself"),
        (("--store", "file:///x", "--conf", "retain=5"), "a setting is spark.key=value"),
        (("--store", "file:///x", "--conf", "spark.holdfast.store=s3://b/p"), "named once"),
    ],
)
def test_what_cannot_be_passed_on_is_refused(words: tuple[str, ...], sentence: str) -> None:
    """Nothing is printed on stdout, which spark-submit would read."""
    ran = holdfast("submit-args", *words)
    assert (ran.code, ran.out) == (2, "")
    assert sentence in ran.err


def test_a_store_must_be_named() -> None:
    """By the option, or by the variable that all commands know."""
    ran = process("submit-args")
    assert (ran.code, ran.out) == (2, "")
    assert "HOLDFAST_STORE" in ran.err
    assert holdfast("submit-args", HOLDFAST_STORE="file:///x").code == 0


def test_a_path_with_a_space_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The jar's or the cache's; each with its way out."""
    monkeypatch.setattr(submit, "jar_path", lambda: Path("/my jars/x.jar"))
    assert "install holdfast into a path" in holdfast("submit-args", "--store", "file:///x").err
    monkeypatch.setattr(submit, "jar_path", lambda: Path(JAR))
    cache = str(tmp_path / "my cache")
    ran = holdfast("submit-args", "--store", "file:///x", XDG_CACHE_HOME=cache)
    assert (ran.code, "set XDG_CACHE_HOME" in ran.err) == (2, True)


def test_a_package_without_the_shim_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """It was built without a JDK."""
    monkeypatch.setattr(submit, "jar_path", jobfiles.jar_path)
    monkeypatch.setattr(jobfiles, "_PACKAGE", tmp_path)
    ran = holdfast("submit-args", "--store", "file:///x")
    assert (ran.code, "again with a JDK" in ran.err) == (6, True)
    with pytest.raises(BridgeError):
        jobfiles.jar_path()


def test_the_zip_holds_the_code_and_nothing_else(tmp_path: Path) -> None:
    """The jar goes by --jars; the same code is the same file."""
    path = package_zip(tmp_path)
    names = zipfile.ZipFile(path).namelist()
    assert {"holdfast/__init__.py", "holdfast/spark/session.py"} <= set(names)
    assert all(name.endswith(".py") for name in names)
    before = path.stat().st_mtime_ns
    assert package_zip(tmp_path) == path
    assert path.stat().st_mtime_ns == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_cache_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    """With the variable that moves it."""
    (tmp_path / "file").write_text("")
    ran = holdfast("submit-args", "--store", "file:///x", XDG_CACHE_HOME=str(tmp_path / "file"))
    assert (ran.code, "set XDG_CACHE_HOME" in ran.err) == (2, True)


def test_it_works_where_spark_is_not_installed() -> None:
    """On the machine that submits."""
    code = (
        "import sys; sys.modules['pyspark'] = sys.modules['py4j'] = None\n"
        "from pathlib import Path; from holdfast.cli import submit, main\n"
        f"submit.jar_path = lambda: Path({JAR!r})\n"
        "sys.exit(main(['submit-args', '--store', 'file:///x']))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.startswith(f"--jars {JAR} --py-files ")


def test_the_zip_can_be_imported_from(tmp_path: Path) -> None:
    """And knows that it has no jar beside it."""
    code = "import holdfast.jobfiles as j; print(j.__file__, j.is_zipped())"
    path = package_zip(tmp_path)
    ran = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(path)!r}); {code}"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout == f"{path}/holdfast/jobfiles.py True\n"


def test_a_python_without_what_the_zip_cannot_carry_is_told_what_to_install(tmp_path: Path) -> None:
    """All of it at once, with the command."""
    path = package_zip(tmp_path)
    code = f"import sys; sys.path.insert(0, {str(path)!r}); import holdfast"
    ran = subprocess.run(
        [sys.executable, "-S", "-c", code], capture_output=True, text=True, check=False
    )
    last = ran.stderr.splitlines()[-1]
    assert "holdfast needs google-crc32c, lz4, orjson in the driver's Python" in last
    assert "-m pip install google-crc32c lz4 orjson boto3" in last
