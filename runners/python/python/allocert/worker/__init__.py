"""The worker for Python subjects: performs steps against an EMM plugin and reports what happened.

It compares nothing and knows no expectation. The protocol is runners/PROTOCOL.md, the operations fixtures/README.md.
Nothing here needs more than the standard library and the numba-cuda of the interpreter that runs it.
"""
