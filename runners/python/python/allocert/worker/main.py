"""What the process is started as: a server of batches, the child that performs one, or the reader of an IPC handle."""

import os


def main(arguments):
    if arguments and arguments[0] == "--peer":
        from .emm import peer

        return peer.main()
    if not arguments:
        raise SystemExit("usage: allocert worker SOCKET (started by `allocert run`, not by hand)")
    from . import server

    # Both a served batch and the end of the service return here: a batch that asks to end as a
    # program ends must leave through the interpreter's own shutdown, with no frame of the server
    # left in between.
    batch = server.serve(arguments[-1])
    if batch is None:
        os._exit(0)
    return batch.perform()
