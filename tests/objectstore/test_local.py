"""The local store against the real world: processes, kill -9, full disks, closed doors."""

from __future__ import annotations

import contextlib
import errno
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import pytest

from holdfast.chain import Chain
from holdfast.errors import (
    AlreadyExistsError,
    CommitUnknownError,
    ConfigError,
    DeleteError,
    NotFoundError,
    PermissionDeniedError,
    PreconditionError,
    StoreError,
)
from holdfast.objectstore import LocalStore, PutMode
from holdfast.objectstore import local as local_module
from holdfast.testing import ManualClock

if TYPE_CHECKING:
    from collections.abc import Iterator

NOBODY = 65534

RACER = """
import sys
from holdfast.errors import AlreadyExistsError, PreconditionError
from holdfast.objectstore import LocalStore, PutMode
root, me = sys.argv[1:]
store = LocalStore(root)
print("ready", flush=True)
sys.stdin.readline()
won = counted = 0
for number in range(40):
    try:
        store.put(f"race/{number}", me.encode(), mode=PutMode.CREATE)
        won += 1
    except AlreadyExistsError:
        pass
    now = store.get("counter")
    try:
        body = str(int(now.body) + 1).encode()
        store.put("counter", body, mode=PutMode.if_match(now.meta.etag))
        counted += 1
    except PreconditionError:
        pass
print(won, counted)
"""

KILLED = """
import os, pathlib, signal, sys
from holdfast.objectstore import LocalStore, PutMode
root, step, kind, etag = sys.argv[1:]
owner = pathlib.Path if step == "rename" else os
original = getattr(owner, step)
def die(*args, **kwargs):
    if kind == "after":
        original(*args, **kwargs)
    os.kill(os.getpid(), signal.SIGKILL)
setattr(owner, step, die)
mode = PutMode.if_match(etag) if etag else PutMode.CREATE
LocalStore(root).put("dir/key", b"new", mode=mode)
"""


def _run(code: str, *arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def _pipe(pipe: IO[str] | None) -> IO[str]:
    assert pipe is not None
    return pipe


def test_processes_race_and_nothing_is_lost_or_doubled(tmp_path: Path) -> None:
    """Each key is created by one process, and each count is one process's."""
    store = LocalStore(tmp_path)
    store.put("counter", b"0")
    racers = [_run(RACER, str(tmp_path), str(number)) for number in range(3)]
    with contextlib.ExitStack() as stack:
        for racer in racers:
            stack.enter_context(racer)
            assert _pipe(racer.stdout).readline() == "ready\n"
        for racer in racers:
            _pipe(racer.stdin).write("go\n")
            _pipe(racer.stdin).flush()
        results = [racer.communicate()[0].split() for racer in racers]
    assert sum(int(won) for won, _ in results) == 40
    assert sum(int(counted) for _, counted in results) == int(store.get("counter").body)


@pytest.mark.parametrize("step", ["link", "fsync"])
def test_a_process_killed_before_the_link_leaves_no_object(tmp_path: Path, step: str) -> None:
    """Half a put is no put, and the key can be taken by the next."""
    killed = _run(KILLED, str(tmp_path), step, "before", "")
    killed.communicate()
    assert killed.returncode == -signal.SIGKILL
    store = LocalStore(tmp_path)
    assert store.list().objects == ()
    assert store.put("dir/key", b"next", mode=PutMode.CREATE).size == 4


def test_a_process_killed_after_the_link_leaves_a_whole_object(tmp_path: Path) -> None:
    """The put has taken effect, though nobody was told."""
    _run(KILLED, str(tmp_path), "link", "after", "").communicate()
    store = LocalStore(tmp_path)
    assert store.get("dir/key").body == b"new"
    with pytest.raises(AlreadyExistsError):
        store.put("dir/key", b"next", mode=PutMode.CREATE)


@pytest.mark.parametrize(("kind", "left"), [("before", b"old"), ("after", b"new")])
def test_a_process_killed_at_a_replacement_leaves_one_version_and_no_lock(
    tmp_path: Path, kind: str, left: bytes
) -> None:
    """The kernel drops a dead process's lock, so the next writer goes on."""
    store = LocalStore(tmp_path)
    etag = store.put("dir/key", b"old").etag
    _run(KILLED, str(tmp_path), "rename", kind, etag).communicate()
    found = store.get("dir/key")
    assert found.body == left
    store.put("dir/key", b"next", mode=PutMode.if_match(found.meta.etag))


def test_what_killed_writers_left_is_swept_a_day_later(tmp_path: Path) -> None:
    """A temporary file of a running writer is younger, and stays."""
    clock = ManualClock()
    LocalStore(tmp_path, clock=clock).put("a", b"x")
    temporary = tmp_path / ".holdfast-local" / "tmp" / "1-dead"
    temporary.write_bytes(b"half")
    os.utime(temporary, (clock.now_ms() / 1000, clock.now_ms() / 1000))
    clock.sleep(23 * 3600)
    LocalStore(tmp_path, clock=clock)
    assert temporary.exists()
    clock.sleep(2 * 3600)
    LocalStore(tmp_path, clock=clock)
    assert not temporary.exists()


def test_two_versions_never_share_an_etag(tmp_path: Path) -> None:
    """Kernels reuse inodes and stamp by a coarse tick; the store's stamps differ all the same."""
    clock = ManualClock()
    store = LocalStore(tmp_path, clock=clock)
    etags = [store.put("a", b"%03d" % number).etag for number in range(100)]
    assert len(set(etags)) == 100
    assert store.head("a").modified_ms == clock.now_ms()


def test_no_one_writes_between_a_check_and_its_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two that match the same etag take turns, however long the first one takes."""
    store = LocalStore(tmp_path)
    etag = store.put("a", b"old").etag
    require = LocalStore._require

    def check_and_dawdle(*arguments: Any) -> None:
        require(*arguments)
        time.sleep(0.1)

    monkeypatch.setattr(LocalStore, "_require", staticmethod(check_and_dawdle))

    def replace(body: bytes) -> bool:
        try:
            store.put("a", body, mode=PutMode.if_match(etag))
        except PreconditionError:
            return False
        return True

    with ThreadPoolExecutor(2) as pool:
        assert sorted(pool.map(replace, [b"one", b"two"])) == [False, True]


@contextlib.contextmanager
def _files_of_at_most(count: int) -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (count, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_disk_that_takes_no_more_changes_nothing(tmp_path: Path) -> None:
    """The old version stays, no temporary file does, and the sentence says what to do."""
    store = LocalStore(tmp_path)
    store.put("a", b"old")
    with _files_of_at_most(4096), pytest.raises(StoreError, match="nothing was written"):
        store.put("a", b"x" * 100_000)
    assert store.get("a").body == b"old"
    assert list((tmp_path / ".holdfast-local" / "tmp").iterdir()) == []


@pytest.mark.parametrize(
    ("number", "words"), [(errno.ENOSPC, "free some space"), (errno.EROFS, "read-only")]
)
def test_what_the_system_refuses_is_said_with_a_hint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, words: str
) -> None:
    """A full disk and a read-only mount are told apart."""

    def refuse(_: int) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "fsync", refuse)
    with pytest.raises(StoreError, match=words):
        LocalStore(tmp_path).put("a", b"x")


@contextlib.contextmanager
def _without_privileges() -> Iterator[None]:
    """Root passes every permission bit, so a test run by root becomes nobody for a moment."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def closed_store() -> Iterator[LocalStore]:
    """A store that everybody may read and nobody may change."""
    with tempfile.TemporaryDirectory() as folder:
        store = LocalStore(folder)
        store.put("a", b"old")
        for path in [Path(folder), *Path(folder).rglob("*")]:
            path.chmod(0o555)
        yield store
        for path in [Path(folder), *Path(folder).rglob("*")]:
            path.chmod(0o755)


def test_a_directory_that_may_not_be_written_is_a_clear_error(closed_store: LocalStore) -> None:
    """Reading works, writing says whose permission is missing, nothing changes."""
    with _without_privileges():
        assert closed_store.get("a").body == b"old"
        with pytest.raises(PermissionDeniedError, match="permission"):
            closed_store.put("a", b"new")
        with pytest.raises(DeleteError):
            closed_store.delete(["a"])
        assert LocalStore(closed_store.root).get("a").body == b"old"


def test_an_unconfirmed_change_is_unknown_not_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once linked, an error of the disk must not say that nothing happened."""
    store = LocalStore(tmp_path)
    store.put("other", b"x")
    monkeypatch.setattr(local_module, "_sync_directory", _broken_disk)
    with pytest.raises(CommitUnknownError, match="does not confirm"):
        store.put("a", b"x", mode=PutMode.CREATE)
    assert store.get("a").body == b"x"


def _broken_disk(_: Path) -> None:
    raise OSError(errno.EIO, "input/output error")


def test_a_commit_that_the_disk_does_not_confirm_is_never_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its manifest can be read back, and is gone after the next power cut."""
    writer = Chain(LocalStore(tmp_path), "orders").claim()
    writer.intent(0, [])
    monkeypatch.setattr(local_module, "_sync_directory", _broken_disk)
    with pytest.raises(CommitUnknownError):
        writer.commit(0, [])


def test_a_directory_that_someone_else_made_is_made_durable_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who made it may have been killed before; once per process is enough."""
    synced: list[Path] = []
    LocalStore(tmp_path).put("a/b/1", b"x")
    monkeypatch.setattr(local_module, "_sync_directory", synced.append)
    store = LocalStore(tmp_path)
    store.put("a/b/2", b"x")
    assert {tmp_path, tmp_path / "a", tmp_path / "a" / "b"} <= set(synced)
    synced.clear()
    store.put("a/b/3", b"x")
    assert synced == [tmp_path / "a" / "b"]


@pytest.mark.parametrize("prefix", ["../", "/", "/etc/", "a/../../", "./", "a//", "a\0b/"])
def test_a_listing_never_leaves_the_store(tmp_path: Path, prefix: str) -> None:
    """A prefix that no key can have lists nothing, whatever lies beside the store."""
    (tmp_path / "outside").write_bytes(b"x")
    store = LocalStore(tmp_path / "store")
    store.put("a/b", b"x")
    assert store.list(prefix).objects == ()


def test_a_key_is_not_the_directory_of_another(tmp_path: Path) -> None:
    """The limit of local stores is an error that says so, not "exists"."""
    store = LocalStore(tmp_path)
    store.put("a/b", b"x")
    for mode in (PutMode.CREATE, PutMode.OVERWRITE):
        for key in ("a", "a/b/c"):
            with pytest.raises(StoreError, match="directory of another") as caught:
                store.put(key, b"y", mode=mode)
            assert type(caught.value) is StoreError
    with pytest.raises(NotFoundError):
        store.get("a")


def test_the_stores_own_files_are_nobodys_keys(tmp_path: Path) -> None:
    """They are not listed, read or written as objects."""
    store = LocalStore(tmp_path)
    store.put("a", b"x")
    with pytest.raises(ConfigError, match="reserved"):
        store.put(".holdfast-local/tmp/x", b"y")
    assert [meta.key for meta in store.list(".").objects] == []


def test_a_file_is_no_store(tmp_path: Path) -> None:
    """A path that names a file is refused when it is opened."""
    (tmp_path / "file").write_bytes(b"x")
    with pytest.raises(ConfigError, match="directory"):
        LocalStore(tmp_path / "file")


def test_emptied_directories_go_with_their_last_object(tmp_path: Path) -> None:
    """So that a pruned store does not fill up with them."""
    store = LocalStore(tmp_path)
    store.put("a/b/c", b"x")
    store.delete(["a/b/c"])
    assert not (tmp_path / "a").exists()
