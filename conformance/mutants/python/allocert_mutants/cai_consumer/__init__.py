"""Consumers of the CUDA Array Interface, each a subclass of `conforming_consumer.Consumer`."""
