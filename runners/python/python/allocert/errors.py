"""The exception of this package."""


class AllocertError(Exception):
    """The program did not do what it was asked. The message is the program's own.

    `exit_code` is 2 if something that the caller gave is wrong, 3 if allocert could not do its
    work, and 4 if no case was selected.
    """

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message)
        self.exit_code = exit_code
