"""The commands of the collector's side: parse, one call, print."""
