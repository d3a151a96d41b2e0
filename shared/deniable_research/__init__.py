"""Deniable for researchers: everything after collection, and everything before it.

`designs` are the classical designs of randomised response, `comparison` compares groups, `joint` looks at several
questions at once, `regression` models answers, `planning` says how many people a study takes, `simulation` draws whole
studies, `files` reads anybody's data. All of it builds on `deniable`, which knows nothing of it.
"""
