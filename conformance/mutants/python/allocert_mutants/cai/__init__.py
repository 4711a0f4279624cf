"""A faithful producer and a faithful consumer of the CUDA Array Interface, by driver calls alone, and what comes of breaking them."""
