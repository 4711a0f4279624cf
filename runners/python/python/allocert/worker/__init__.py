"""The worker for Python subjects: it performs steps against a subject and reports what happened.

It compares nothing and knows no expectation. runners/PROTOCOL.md describes the protocol. The
modules of this folder know no interface; each interface is a folder of its own, which registry.py
lists. The worker needs only the standard library; the folders of `emm` and `emm-host` need
numba-cuda in the interpreter that runs them.
"""
