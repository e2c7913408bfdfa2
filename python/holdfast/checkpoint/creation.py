"""Creating an object once, and knowing one's own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.errors import AlreadyExistsError, NotFoundError, UnavailableError
from holdfast.objectstore import Body, ObjectMeta, ObjectStore, PutMode

if TYPE_CHECKING:
    from collections.abc import Callable

ATTEMPTS_MAX = 4


@dataclass(frozen=True, slots=True)
class Created:
    """An object that is there now; `found` if it was there before, with the same bytes."""

    meta: ObjectMeta
    found: bool


def create_once(
    store: ObjectStore, key: str, body: Body, taken: Callable[[], AlreadyExistsError]
) -> Created:
    """Create the object, or find it there with the very same bytes, which is the same success.

    Raises:
        AlreadyExistsError: what `taken` gives, because there is another object under this key.
        UnavailableError: it was there and gone again, four times in a row.
    """
    for _ in range(ATTEMPTS_MAX):
        try:
            return Created(store.put(key, body, mode=PutMode.CREATE), found=False)
        except AlreadyExistsError as error:
            cause = error
        try:
            if store.head(key).size == len(body):
                stored = store.get(key, length=len(body))
                if stored.body == body:
                    return Created(stored.meta, found=True)
        except NotFoundError:
            continue
        raise taken() from cause
    raise UnavailableError("an object appears and vanishes", hint="try again", key=key)
