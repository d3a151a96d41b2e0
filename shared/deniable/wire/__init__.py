"""What stands in reports, as both sides write and read it."""
