"""The error that says that a subject cannot be run."""


class Refused(Exception):
    """The subject cannot be run.

    `stage` is where it failed (runners/PROTOCOL.md), `message` says whose fault it is and what to
    do, `detail` holds for example a traceback.
    """

    def __init__(self, stage: str, message: str, detail: str = "") -> None:
        super().__init__(message)
        self.body = {"stage": stage, "message": message, "detail": detail}
