"""Subjects that use what the texts leave open. variants.yaml lists them."""
