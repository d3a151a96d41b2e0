"""A second implementation of the device, for the auditor alone: what must be sent, bit by bit, from given chance.

It is written from the published formats (``docs/reports.md``, ``docs/device.md``) and from the vectors, and imports
nothing of what it judges: the standard library alone. A fault in a client, or in the mechanisms that clients share with
collectors, is no fault here.
"""
