"""Python subjects that are built to break requirements, a package for each side.

`conformance/mutants/mutants.yaml` lists them with the requirements that they break. Each is a small
change of a conforming subject in the same package. They import nothing else of this project, so
that the suite judges them as it judges the subjects of others.
"""
