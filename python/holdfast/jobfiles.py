"""What a Spark job takes along: the shim's jar, and this package as a zip for `--py-files`.

Needs no Spark: the flags of a job are printed where it is submitted, not where it runs.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import zipfile
from pathlib import Path

from holdfast.errors import BridgeError, ConfigError
from holdfast.version import VERSION

PLUGIN = "holdfast.HoldfastPlugin"
_PACKAGE = Path(__file__).parent
_EPOCH = (1980, 1, 1, 0, 0, 0)


def is_zipped() -> bool:
    """Whether this package was itself taken along: then there is no jar beside it to name."""
    return not _PACKAGE.is_dir()


def jar_path() -> Path:
    """The shim's jar inside this package.

    Raises:
        BridgeError: the package was built without one.
    """
    path = _PACKAGE / "spark" / "holdfast-shim.jar"
    if not path.is_file():
        raise BridgeError(
            "this package was built without the JVM shim",
            hint="install it again with a JDK (javac) and without HOLDFAST_WITHOUT_SHIM",
            path=path,
        )
    return path


def package_zip(directory: Path | None = None) -> Path:
    """This package as a zip in the user's cache; the same code is zipped once.

    Raises:
        ConfigError: the cache cannot be written.
    """
    folder = directory or cache_directory()
    files = {
        f"{_PACKAGE.name}/{path.relative_to(_PACKAGE).as_posix()}": path.read_bytes()
        for path in sorted(_PACKAGE.rglob("*.py"))
    }
    target = folder / f"holdfast-{VERSION}-{_digest(files)}.zip"
    try:
        if not target.is_file():
            folder.mkdir(parents=True, exist_ok=True)
            _write(target, files)
    except OSError as error:
        raise ConfigError(
            "the package cannot be zipped into the cache",
            hint="set XDG_CACHE_HOME to a directory that can be written",
            path=folder,
            reason=error.strerror,
        ) from error
    return target


def cache_directory() -> Path:
    """Where such things are kept for this user."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base).absolute() / "holdfast" / "jobs"


def _digest(files: dict[str, bytes]) -> str:
    hasher = hashlib.sha256()
    for name, body in files.items():
        hasher.update(f"{name}\0{len(body)}\0".encode() + body)
    return hasher.hexdigest()[:12]


def _write(target: Path, files: dict[str, bytes]) -> None:
    """Beside it and renamed, so that no job takes half a zip along."""
    partial = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    with zipfile.ZipFile(partial, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, body in files.items():
            entry = zipfile.ZipInfo(name, date_time=_EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, body)
    partial.replace(target)
