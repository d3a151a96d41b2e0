"""The Python client: runs where answers exist. Importing it loads neither numpy, scipy nor flask."""

from deniable_client.client import Client, Receipt, UndeliveredReport
from deniable_client.device import randomize

__all__ = ["Client", "Receipt", "UndeliveredReport", "randomize"]
