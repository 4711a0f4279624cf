"""A producer as a subject: an adapter that makes a library's arrays."""

from ..cai_shared.subject import AdapterSubject


class ProducerSubject(AdapterSubject):
    """A class with a method `array`."""

    default_attribute = "Producer"
    needed = ("array",)
