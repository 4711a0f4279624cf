"""EMM plugins for numba-cuda, each a subclass of `conforming_plugin.Manager`."""
