"""The Python client: runs where answers exist. Importing it loads neither numpy, scipy nor flask."""

from deniable_client.client import Client, DeliveryStatus, Receipt, UndeliveredReport
from deniable_client.device import draw_questions, permanent, randomize
from deniable_client.link import Link, parse_link
from deniable_client.memory import Disclosure, KeptReport, Memory
from deniable_client.memory_file import UnusableMemory

__all__ = [
    "Client",
    "DeliveryStatus",
    "Disclosure",
    "KeptReport",
    "Link",
    "Memory",
    "Receipt",
    "UndeliveredReport",
    "UnusableMemory",
    "draw_questions",
    "parse_link",
    "permanent",
    "randomize",
]
