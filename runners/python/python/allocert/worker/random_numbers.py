"""Pseudo-random numbers for the long operations."""


class Random:
    """The same numbers in each run and in each worker."""

    def __init__(self) -> None:
        self._state = 0

    def below(self, bound: int) -> int:
        """A number from 0 on that is less than the bound."""
        self._state = (self._state * 6364136223846793005 + 1442695040888963407) % (1 << 64)
        return (self._state >> 33) % max(bound, 1)
