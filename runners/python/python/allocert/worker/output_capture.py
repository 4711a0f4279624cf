"""Reads what the subject prints while it runs, and keeps the first and the last bytes."""

import collections
import os

#: Bytes that are kept of the beginning, and as many of the end.
_KEPT_BYTES = 8192
_CHUNK_BYTES = 65536


class OutputCapture:
    """The reading end of a pipe that stands for the subject's standard output or error."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        os.set_blocking(descriptor, False)
        self._head = bytearray()
        self._tail: collections.deque[bytes] = collections.deque()
        self._tail_bytes = self._bytes = 0

    def drain(self) -> bool:
        """Reads what is there. Returns False once every writer has closed the pipe."""
        while True:
            try:
                chunk = os.read(self.descriptor, _CHUNK_BYTES)
            except BlockingIOError:
                return True
            if not chunk:
                return False
            self._keep(chunk)

    def _keep(self, chunk: bytes) -> None:
        self._bytes += len(chunk)
        missing = _KEPT_BYTES - len(self._head)
        self._head += chunk[:missing]
        if chunk[missing:]:
            self._tail.append(chunk[missing:])
            self._tail_bytes += len(chunk) - missing
        while self._tail and self._tail_bytes - len(self._tail[0]) >= _KEPT_BYTES:
            self._tail_bytes -= len(self._tail.popleft())

    def close(self) -> dict[str, str | int]:
        """Closes the pipe. Returns the text and the count of all bytes, as `ended` carries them."""
        os.close(self.descriptor)
        tail = b"".join(self._tail)[-_KEPT_BYTES:]
        left_out = self._bytes - len(self._head) - len(tail)
        gap = f"\n... {left_out} bytes left out ...\n".encode() if left_out else b""
        text = (bytes(self._head) + gap + tail).decode("utf-8", "replace")
        return {"text": text, "bytes": self._bytes}
