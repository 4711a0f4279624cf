"""The interface cai: the CUDA Array Interface, its producers and its consumers."""
