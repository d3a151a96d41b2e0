"""Oblivious HTTP: requests that a relay passes on and cannot read, to a gateway that does not see who asks."""
