"""What the subject printed: drained while it runs, of which the first and the last bytes are kept."""

import collections
import os

KEEP_BYTES = 8192
CHUNK_BYTES = 65536


class Capture:
    def __init__(self, descriptor):
        self.descriptor = descriptor
        os.set_blocking(descriptor, False)
        self._head = bytearray()
        self._tail = collections.deque()
        self._tail_bytes = self._bytes = 0

    def drain(self):
        """Takes what is there. False once the other side is closed."""
        while True:
            try:
                chunk = os.read(self.descriptor, CHUNK_BYTES)
            except BlockingIOError:
                return True
            if not chunk:
                return False
            self._keep(chunk)

    def _keep(self, chunk):
        self._bytes += len(chunk)
        room = KEEP_BYTES - len(self._head)
        self._head += chunk[:room]
        if chunk[room:]:
            self._tail.append(chunk[room:])
            self._tail_bytes += len(chunk) - room
        while self._tail and self._tail_bytes - len(self._tail[0]) >= KEEP_BYTES:
            self._tail_bytes -= len(self._tail.popleft())

    def close(self):
        """Ends it and gives the protocol's description."""
        os.close(self.descriptor)
        tail = b"".join(self._tail)[-KEEP_BYTES:]
        left_out = self._bytes - len(self._head) - len(tail)
        gap = f"\n... {left_out} bytes left out ...\n".encode() if left_out else b""
        text = (bytes(self._head) + gap + tail).decode("utf-8", "replace")
        return {"text": text, "bytes": self._bytes}
