"""The side emm-host: the subject is the host, and the worker is its plugin."""
