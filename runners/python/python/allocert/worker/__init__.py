"""The worker for Python subjects: performs steps against a subject and reports what happened.

It compares nothing and knows no expectation. The protocol is runners/PROTOCOL.md, the operations fixtures/README.md.
Each interface is a package of its own; outside of them nothing here needs more than the standard library, and the interface
emm alone needs a numba-cuda in the interpreter that runs it.
"""
