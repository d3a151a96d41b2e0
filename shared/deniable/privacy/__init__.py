"""The privacy loss of a device: its ledger, its ceiling, and the noise in words."""
