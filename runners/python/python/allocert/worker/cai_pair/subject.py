"""Two adapters as a subject: `PRODUCER+CONSUMER`."""

from ..cai_consumer.subject import ConsumerSubject
from ..cai_producer.subject import ProducerSubject
from ..cai_shared.subject import AdapterSubject
from ..driver import Driver
from ..refused import Refused


class PairSubject:
    """A producer and a consumer. Steps name them `producer` and `consumer`."""

    def __init__(self, specification: str, driver: Driver) -> None:
        """Finds both adapters. Raises Refused."""
        producer, plus, consumer = specification.partition("+")
        if not plus:
            raise Refused(
                "class", f"`{specification}` is not a pair of adapters: give PRODUCER+CONSUMER"
            )
        self.adapters: dict[str, AdapterSubject] = {
            "producer": ProducerSubject(producer, driver),
            "consumer": ConsumerSubject(consumer, driver),
        }
        both = self.adapters.values()
        self.initialized_driver = any(one.initialized_driver for one in both)
        self.name = "+".join(one.name for one in both)
        self.version: str | None = " + ".join(str(one.version) for one in both)
        self.file: str | None = None
        self.capabilities = ["python"]
