"""What the process is started as: a server of batches, or the second process of an IPC case."""

import os


def main(arguments: list[str]) -> int:
    """Runs until the harness ends the service. Returns the exit code of a case that asked for one.

    `arguments` are `--peer`, or end with the path of the harness's socket.
    """
    if arguments and arguments[0] == "--peer":
        from .emm_shared import peer_process

        peer_process.serve()
    if not arguments:
        raise SystemExit("usage: allocert worker SOCKET (started by `allocert run`, not by hand)")
    from . import server

    # `serve` returns in the server and in each forked child. A batch whose last case asks to end
    # as a program ends leaves through the interpreter's shutdown, with no frame of the server in
    # between.
    batch = server.serve(arguments[-1])
    if batch is None:
        os._exit(0)
    return batch.perform()
