"""The error for a subject that cannot be run."""


class Refused(Exception):
    """The subject cannot be run.

    `stage` is where it failed (runners/PROTOCOL.md), `message` explains the cause and what to do,
    and `detail` is for example a traceback.
    """

    def __init__(self, stage: str, message: str, detail: str = "") -> None:
        super().__init__(message)
        self.body = {"stage": stage, "message": message, "detail": detail}
