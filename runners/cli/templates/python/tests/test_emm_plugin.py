"""Tests of your own. The cases of allocert run beside them (pyproject.toml, `addopts`)."""

import emm_plugin


def test_numba_finds_the_manager() -> None:
    assert emm_plugin._numba_memory_manager is emm_plugin.Manager
