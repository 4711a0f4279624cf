"""Producers of the CUDA Array Interface, each a change of `conforming_producer`."""
