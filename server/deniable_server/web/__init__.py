"""Pages and the API: every route that this collector serves."""
