"""Every error that Holdfast raises, split by what the caller must do.

HoldfastError                     .hint is the next command or action, .details the variables
├─ ConfigError (ValueError)       fix the configuration
│  └─ ConfigMismatchError         the query is not the one that wrote this state
├─ MisuseError (RuntimeError)     fix the calling code: the call is not allowed now
├─ StoreError                     the object store said no
│  ├─ NotFoundError               (FileNotFoundError)
│  ├─ AlreadyExistsError          (FileExistsError)
│  ├─ PreconditionError           the object is not the one that was expected
│  ├─ PermissionDeniedError       (PermissionError)
│  ├─ UnsupportedError            this backend cannot do that
│  └─ DeleteError                 some keys are still there: .failed
├─ UnavailableError               retried until its deadline already; try later
├─ FencedError                    this writer was overtaken; stop
├─ CarriedPlanError               restart: an earlier run planned this batch otherwise
├─ CommitUnknownError             outcome unknown; read back before anything else
├─ CorruptionError                stored bytes are wrong; recover an older checkpoint
└─ BridgeError                    the JVM side is absent, of another version, or it threw
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


class HoldfastError(Exception):
    """Base of all; `str()` is the message, then the details, then the hint."""

    def __init__(self, message: str, *, hint: str = "", **details: object) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.details = details

    def __str__(self) -> str:
        """One line: what, with which values, and what to do next."""
        variables = "".join(f" {name}=`{value}`" for name, value in self.details.items())
        return f"{self.message}{variables}" + (f" ({self.hint})" if self.hint else "")


class ConfigError(HoldfastError, ValueError):
    """The configuration is wrong; nothing was written."""


class ConfigMismatchError(ConfigError):
    """What the query is now differs from what wrote the stored state."""


class MisuseError(HoldfastError, RuntimeError):
    """The call is not allowed in this state: a mistake in the calling code."""


class StoreError(HoldfastError):
    """The object store answered, and the answer was no."""


class NotFoundError(StoreError, FileNotFoundError):
    """No object has that key."""


class AlreadyExistsError(StoreError, FileExistsError):
    """A create-only put found the key taken.

    With `read_back`, the object was read after the refusal: `stored` has its bytes, which are not
    those that were put, or is `None` if the object is gone again.
    """

    def __init__(
        self,
        message: str,
        *,
        hint: str = "",
        read_back: bool = False,
        stored: bytes | None = None,
        **details: object,
    ) -> None:
        super().__init__(message, hint=hint, **details)
        self.read_back = read_back
        self.stored = stored


class PreconditionError(StoreError):
    """An if-match put found another version, or none."""


class PermissionDeniedError(StoreError, PermissionError):
    """The credentials are missing, expired or not allowed to do this."""


class UnsupportedError(StoreError):
    """This backend lacks the capability."""


class DeleteError(StoreError):
    """Some objects could not be deleted; all others are gone."""

    def __init__(self, failed: Mapping[str, str], *, hint: str = "") -> None:
        first_key, reason = next(iter(failed.items()))
        super().__init__(
            "objects could not be deleted",
            hint=hint,
            count=len(failed),
            first=first_key,
            reason=reason,
        )
        self.failed = dict(failed)


class UnavailableError(HoldfastError):
    """The store did not answer, or asked to slow down; the outcome of a write is unknown.

    `retry_after_s` is how long the store asks to wait, 0 if it does not say. Without `sent` the
    request was never sent, because no time was left: it had no effect.
    """

    def __init__(
        self,
        message: str,
        *,
        hint: str = "",
        retry_after_s: float = 0.0,
        sent: bool = True,
        **details: object,
    ) -> None:
        super().__init__(message, hint=hint, **details)
        self.retry_after_s = retry_after_s
        self.sent = sent


class FencedError(HoldfastError):
    """A later writer has claimed the chain; this one must stop."""


class CarriedPlanError(HoldfastError):
    """An earlier run made another plan of this batch durable; a restart runs that one."""


class CommitUnknownError(HoldfastError):
    """A write may or may not have taken effect; only reading back can tell."""


class CorruptionError(HoldfastError):
    """Stored bytes are not what was written."""


class BridgeError(HoldfastError):
    """The JVM side is absent, of another version, or it threw."""
