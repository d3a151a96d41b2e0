-- Roles with least rights for Deniable on PostgreSQL, to be run once in its database by whoever administers it:
--
--     psql --set ON_ERROR_STOP=1 --file roles.sql 'postgresql://admin@db.example/deniable'
--     GRANT deniable_operate TO ...;  GRANT deniable_ingest TO ...;  GRANT deniable_read TO ...;
--
-- deniable_operate  owns the tables: publishes, closes, folds, checks, copies, makes tokens
-- deniable_ingest   takes reports, serves results; cannot change or remove what was stored, publish, close or fold
-- deniable_read     reads released reports and tallies with SQL; no tokens, no keys, no invitations, nothing pending
--
-- None of them can log in; give them to roles that can. Run it before the first collector starts, or after: tables that
-- are there become those of deniable_operate, and it can be run again. deniable_ingest and deniable_read get their rights
-- to tables when a collector or command of deniable_operate starts.

DO $$
DECLARE
    role text;
BEGIN
    FOREACH role IN ARRAY ARRAY['deniable_operate', 'deniable_ingest', 'deniable_read'] LOOP
        IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = role) THEN
            EXECUTE format('CREATE ROLE %I NOLOGIN', role);
        END IF;
    END LOOP;
END
$$;

CREATE SCHEMA IF NOT EXISTS deniable AUTHORIZATION deniable_operate;
ALTER SCHEMA deniable OWNER TO deniable_operate;

DO $$
DECLARE
    kept regclass;
BEGIN
    FOR kept IN SELECT oid FROM pg_class WHERE relnamespace = 'deniable'::regnamespace AND relkind IN ('r', 'v') LOOP
        EXECUTE format('ALTER TABLE %s OWNER TO deniable_operate', kept);
    END LOOP;
END
$$;

REVOKE ALL ON SCHEMA deniable FROM PUBLIC;
GRANT USAGE ON SCHEMA deniable TO deniable_ingest, deniable_read;

-- What PUBLIC may by default, and not in every database: folds and probes write to temporary tables.
DO $$
BEGIN
    EXECUTE format('GRANT CONNECT ON DATABASE %I TO deniable_operate, deniable_ingest, deniable_read', current_database());
    EXECUTE format('GRANT TEMPORARY ON DATABASE %I TO deniable_operate, deniable_ingest', current_database());
END
$$;
