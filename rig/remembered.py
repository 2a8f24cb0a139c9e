# SPDX-License-Identifier: GPL-3.0-or-later
"""Values that are remembered until what they were made from changes."""

from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

_Key = TypeVar("_Key", bound=Hashable)
_Value = TypeVar("_Value")


class Remembered(Generic[_Key, _Value]):
    """The values that were asked for last, each by a key that holds all it was made from. Threads may share it."""

    def __init__(self, most: int, size: Callable[[_Key, _Value], int] = lambda key, value: 1) -> None:
        """`most` : of the sizes of all values, by default their number. What was not asked for longest goes first."""
        self._most, self._size, self._taken, self._lock = most, size, 0, Lock()
        self._values: dict[_Key, _Value] = {}

    def __len__(self) -> int:
        return len(self._values)

    def get(self, key: _Key) -> _Value | None:
        """The value of a key; None if it is not remembered."""
        with self._lock:
            return self._again(key) if key in self._values else None

    def keep(self, key: _Key, value: _Value) -> _Value:
        """Remember a value, and return it."""
        with self._lock:
            if key in self._values:
                self._drop(key)
            self._values[key] = value
            self._taken += self._size(key, value)
            while self._taken > self._most:
                self._drop(next(iter(self._values)))
        return value

    def of(self, key: _Key, make: Callable[[], _Value]) -> _Value:
        """The value of a key, which is made if it is not remembered."""
        with self._lock:
            if key in self._values:
                return self._again(key)
        return self.keep(key, make())

    def values(self) -> list[_Value]:
        """All values, that which was asked for last at the end."""
        return list(self._values.values())

    def clear(self) -> None:
        """Remember nothing."""
        with self._lock:
            self._values.clear()
            self._taken = 0

    def _again(self, key: _Key) -> _Value:
        """A value that is remembered, as the one that was asked for last."""
        self._values[key] = value = self._values.pop(key)
        return value

    def _drop(self, key: _Key) -> None:
        self._taken -= self._size(key, self._values.pop(key))
