"""Hadoop's contract as Spark relies on it, for whoever reaches the scheme `holdfast:`.

Every place that has a filesystem runs it: a test's class derives from `FilesystemContract`, beside
a fixture `files` of a query that runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors.exceptions.captured import UnsupportedOperationException

if TYPE_CHECKING:
    from pathlib import Path

ROOT = "holdfast://contract/query"


class Files:
    """Hadoop's FileSystem and FileContext in one JVM, on a query that runs.

    `below` is where the tests write: tasks may only write below `state`.
    """

    def __init__(self, gateway: Any, conf: Any, *, below: str = "") -> None:
        self._gateway = gateway
        self.root = f"{ROOT}/{below}" if below else ROOT
        self.jvm = gateway.jvm
        self.fs = self.path("").getFileSystem(conf)
        self.context = self.jvm.org.apache.hadoop.fs.FileContext.getFileContext(
            self.path("").toUri(), conf
        )
        self.rename_options = self.jvm.org.apache.hadoop.fs.Options.Rename

    def path(self, name: str) -> Any:
        return self.jvm.org.apache.hadoop.fs.Path(f"{self.root}/{name}" if name else self.root)

    def write(self, name: str, body: bytes, *, overwrite: bool = True) -> None:
        stream = self.fs.create(self.path(name), overwrite)
        stream.write(bytearray(body))
        stream.close()

    def read(self, name: str) -> bytes:
        stream = self.fs.open(self.path(name))
        try:
            return bytes(self.jvm.org.apache.commons.io.IOUtils.toByteArray(stream))
        finally:
            stream.close()

    def names(self, name: str) -> list[str]:
        return [status.getPath().getName() for status in self.fs.listStatus(self.path(name))]

    def rename(self, source: str, target: str, *, overwrite: bool) -> None:
        """FileContext's rename, which Spark uses."""
        option = self.rename_options.OVERWRITE if overwrite else self.rename_options.NONE
        options = self._gateway.new_array(self.rename_options, 1)
        options[0] = option
        self.context.rename(self.path(source), self.path(target), options)


def thrown(error: pytest.ExceptionInfo[Py4JJavaError]) -> str:
    return str(error.value.java_exception.getClass().getName())


class FilesystemContract:
    """What holds wherever the filesystem is used from."""

    def test_what_is_written_is_read_and_listed(self, files: Files) -> None:
        """Create, close, stat, list, open; parents are made."""
        files.write("a/b/file", b"0123456789")
        status = files.fs.getFileStatus(files.path("a/b/file"))
        assert (status.getLen(), status.isFile(), status.getPath().toString()) == (
            10,
            True,
            f"{files.root}/a/b/file",
        )
        assert files.names("a/b") == ["file"]
        assert files.fs.getFileStatus(files.path("a/b")).isDirectory()
        assert files.read("a/b/file") == b"0123456789"

    def test_a_file_appears_when_it_is_closed_and_not_before(self, files: Files) -> None:
        """Readers see all of it or nothing."""
        stream = files.fs.create(files.path("whole"), True)
        stream.write(bytearray(b"x" * 10))
        assert not files.fs.exists(files.path("whole"))
        stream.close()
        assert files.fs.exists(files.path("whole"))

    def test_create_without_overwrite_refuses_a_name_that_is_taken(self, files: Files) -> None:
        """At the create, and at the close where the race was lost in between."""
        files.write("taken", b"1")
        with pytest.raises(Py4JJavaError) as at_create:
            files.write("taken", b"2", overwrite=False)
        assert thrown(at_create) == "org.apache.hadoop.fs.FileAlreadyExistsException"
        late = files.fs.create(files.path("raced"), False)
        files.write("raced", b"1")
        with pytest.raises(Py4JJavaError) as at_close:
            late.close()
        assert thrown(at_close) == "org.apache.hadoop.fs.FileAlreadyExistsException"
        assert files.read("raced") == b"1"

    def test_a_rename_that_loses_its_race_throws(self, files: Files) -> None:
        """And with overwrite it replaces."""
        files.write("from", b"new")
        files.write("to", b"old")
        with pytest.raises(Py4JJavaError) as lost:
            files.rename("from", "to", overwrite=False)
        assert thrown(lost) == "org.apache.hadoop.fs.FileAlreadyExistsException"
        files.rename("from", "to", overwrite=True)
        assert files.read("to") == b"new"
        assert not files.fs.exists(files.path("from"))

    def test_the_older_rename_says_false(self, files: Files) -> None:
        """Where the source is absent or the target is there; into a directory it moves."""
        files.write("one", b"1")
        files.write("two", b"2")
        assert not files.fs.rename(files.path("absent"), files.path("x"))
        assert not files.fs.rename(files.path("one"), files.path("two"))
        files.fs.mkdirs(files.path("folder"))
        assert files.fs.rename(files.path("one"), files.path("folder"))
        assert files.names("folder") == ["one"]

    def test_a_temporary_file_is_published_by_its_rename(self, files: Files) -> None:
        """As Spark does it; what is cancelled leaves nothing."""
        files.fs.mkdirs(files.path("state/0/0"))
        stream = files.fs.create(files.path("state/0/0/.9.delta.x.tmp"), True)
        stream.write(bytearray(b"state"))
        stream.close()
        assert ".9.delta.x.tmp" not in files.names("state/0/0")
        files.rename("state/0/0/.9.delta.x.tmp", "state/0/0/9.delta", overwrite=True)
        assert files.read("state/0/0/9.delta") == b"state"
        cancelled = files.fs.create(files.path(".gone.x.tmp"), True)
        cancelled.close()
        assert files.fs.delete(files.path(".gone.x.tmp"), False)
        assert not files.fs.exists(files.path(".gone.x.tmp"))

    def test_absent_is_file_not_found(self, files: Files) -> None:
        """Stat, list, open; a delete of nothing is false."""
        for attempt in (
            lambda: files.fs.getFileStatus(files.path("absent")),
            lambda: files.fs.listStatus(files.path("absent")),
            lambda: files.fs.open(files.path("absent")),
            lambda: files.rename("absent", "x", overwrite=False),
        ):
            with pytest.raises(Py4JJavaError) as absent:
                attempt()
            assert thrown(absent) == "java.io.FileNotFoundException"
        assert files.fs.delete(files.path("absent"), True) is False

    def test_a_directory_with_something_in_it_needs_a_recursive_delete(self, files: Files) -> None:
        """And then all of it is gone."""
        files.write("deep/er/file", b"1")
        with pytest.raises(Py4JJavaError) as refused:
            files.fs.delete(files.path("deep"), False)
        assert thrown(refused) == "org.apache.hadoop.fs.PathIsNotEmptyDirectoryException"
        assert files.fs.delete(files.path("deep"), True)
        assert not files.fs.exists(files.path("deep/er/file"))

    def test_a_file_is_no_directory(self, files: Files) -> None:
        """Neither mkdirs nor create goes through a file, and a directory is not opened."""
        files.write("plain", b"1")
        with pytest.raises(Py4JJavaError) as made:
            files.fs.mkdirs(files.path("plain/below"))
        assert thrown(made) == "org.apache.hadoop.fs.ParentNotDirectoryException"
        with pytest.raises(Py4JJavaError) as created:
            files.write("plain/below", b"2")
        assert thrown(created) == "org.apache.hadoop.fs.ParentNotDirectoryException"
        files.fs.mkdirs(files.path("directory"))
        with pytest.raises(Py4JJavaError) as opened:
            files.fs.open(files.path("directory"))
        assert thrown(opened) == "java.io.FileNotFoundException"

    def test_append_is_refused(self, files: Files) -> None:
        """A file is written once."""
        files.write("once", b"1")
        with pytest.raises((UnsupportedOperationException, Py4JJavaError), match="written once"):
            files.fs.append(files.path("once"))

    @pytest.mark.parametrize("size", [10, 3_000_000], ids=["small", "large"])
    def test_any_part_of_a_file_can_be_read(self, files: Files, size: int) -> None:
        """Seek, positioned reads and the end, of small files and of those that go to the store."""
        body = bytes(number % 251 for number in range(size))
        files.write("parts", body)
        stream = files.fs.open(files.path("parts"))
        stream.seek(7)
        assert stream.read() == body[7]
        stream.seek(size)
        assert stream.read() == -1
        assert stream.getPos() == size
        with pytest.raises(Py4JJavaError):
            stream.seek(size + 1)
        stream.close()
        assert files.read("parts") == body

    def test_globs_find_names(self, files: Files) -> None:
        """As Hadoop's shell writes them."""
        for name in ("x1", "x2", "y1"):
            files.write(f"globs/{name}", b"")
        found = files.fs.globStatus(files.path("globs/x*"))
        assert [status.getPath().getName() for status in found] == ["x1", "x2"]

    def test_times_only_go_forward(self, files: Files) -> None:
        """Spark decides deletions by them."""
        times = []
        for number in range(50):
            files.write(f"times/{number}", b"")
            times.append(
                files.fs.getFileStatus(files.path(f"times/{number}")).getModificationTime()
            )
        assert times == sorted(set(times))

    def test_local_files_are_copied_both_ways(self, files: Files, tmp_path: Path) -> None:
        """RocksDB's way: small and large, whole or not at all."""
        for name, size in (("small", 100), ("large", 2_000_000)):
            (tmp_path / name).write_bytes(bytes(size))
            local = files.jvm.org.apache.hadoop.fs.Path((tmp_path / name).as_uri())
            files.fs.copyFromLocalFile(local, files.path(f"copied/{name}"))
            back = files.jvm.org.apache.hadoop.fs.Path((tmp_path / "back" / name).as_uri())
            files.fs.copyToLocalFile(files.path(f"copied/{name}"), back)
            assert (tmp_path / "back" / name).read_bytes() == bytes(size)
        missing = files.jvm.org.apache.hadoop.fs.Path((tmp_path / "missing").as_uri())
        with pytest.raises(Py4JJavaError):
            files.fs.copyFromLocalFile(missing, files.path("copied/missing"))
        assert files.names("copied") == ["large", "small"]

    def test_a_control_character_is_no_name(self, files: Files) -> None:
        """No manifest could hold it."""
        with pytest.raises(Py4JJavaError, match="control characters"):
            files.write("bad\tname", b"")
