"""Known-bad Numba EMM plugins, each a small change of one honest plugin that breaks one requirement.

`conformance/mutants/mutants.yaml` says which. They import nothing of this project: the suite is judged with them.
"""
