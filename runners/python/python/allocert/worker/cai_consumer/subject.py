"""A consumer as a subject: an adapter that gives arrays to a library."""

from ..cai_shared.subject import AdapterSubject


class ConsumerSubject(AdapterSubject):
    """A class with a method `accept` or `launch`."""

    default_attribute = "Consumer"
    needed = ("accept", "launch")
