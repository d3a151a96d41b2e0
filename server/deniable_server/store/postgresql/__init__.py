"""A PostgreSQL database, which several collectors may use at once, through psycopg."""
