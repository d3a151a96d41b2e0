"""Results: their queries, the processes that compute them, their cache, and their charts."""
