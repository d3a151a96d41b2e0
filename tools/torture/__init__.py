"""Ways to break the collector on purpose."""
