"""Consumers of the CUDA Array Interface, each a subclass of `conforming_consumer.Consumer`.

`conformance/mutants/mutants.yaml` names them; nothing is registered here.
"""
