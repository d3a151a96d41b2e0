"""Plans of `deniable_statistics.planning` for people to read: tables, sentences and charts."""
