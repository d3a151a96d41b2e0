"""How messages travel between device and collector: rights in heads, Oblivious HTTP, and answers that are none.

It knows what a survey publishes and a report carries, and stands on `deniable` alone. Importing it loads the standard
library; what seals asks for ``cryptography``.
"""
