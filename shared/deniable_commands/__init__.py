"""The command `deniable`, and what its commands share."""
