"""Two libraries in one process: the arrays of one are given to the other. The subject is `PRODUCER+CONSUMER`."""

from ..subject import Refused
from .stage import Stage
from .subject import Consumer, Producer


class Pair:
    """Both adapters. A case names them `producer` and `consumer`."""

    capabilities = ["python"]
    file = None

    def __init__(self, spec, driver):
        producer, plus, consumer = spec.partition("+")
        if not plus:
            raise Refused("class", f"`{spec}` is no pair: give PRODUCER+CONSUMER")
        self.parties = {
            "producer": Producer(producer, driver),
            "consumer": Consumer(consumer, driver),
        }
        self.initialized_driver = any(one.initialized_driver for one in self.parties.values())
        self.name = "+".join(one.name for one in self.parties.values())
        self.version = " + ".join(str(one.version) for one in self.parties.values())


class PairStage(Stage):
    """A step's `on` says whose adapter performs it."""

    def _perform(self, step):
        self._party = step.get("on")
        return super()._perform(step)

    def adapter_class(self):
        return self.subject.parties[self._party].cls

    def adapter(self):
        return self.names.get(self._party)
