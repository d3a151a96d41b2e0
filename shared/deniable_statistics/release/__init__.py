"""Releases of results: the record of each, the log of all of them, and the signatures of both."""
