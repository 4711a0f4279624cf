"""Known-bad subjects, each a small change of an honest one that breaks one requirement: Numba EMM plugins here, producers and
consumers of the CUDA Array Interface in `cai`.

`conformance/mutants/mutants.yaml` says which. They import nothing of this project: the suite is judged with them.
"""
