--
-- Join filters where a join is executed again with other settings, on which what a stable function returns depends: what is kept
-- below the join must not be what a filter of the time before has left.
--
ALTER DATABASE :"DBNAME" SET session_preload_libraries = 'bloomfam';
\c -
CREATE SCHEMA join_settings;
SET search_path = join_settings, public;
SET max_parallel_workers_per_gather = 0;
SET enable_mergejoin = off;
SET enable_memoize = off;
SET bloomfam.join_filter_plans = off;
SET jit = off;

CREATE FUNCTION enter(i int) RETURNS int LANGUAGE plpgsql AS $$BEGIN PERFORM set_config('join_settings.tenant', i::text, true); RETURN i; END$$;
CREATE FUNCTION tenant() RETURNS int LANGUAGE sql STABLE AS $$SELECT current_setting('join_settings.tenant')::int$$;
CREATE TABLE doc AS SELECT g % 4 + 1 AS tenant, g AS k, repeat('x', 900) AS pad FROM generate_series(1, 10000) g;
CREATE TABLE own AS SELECT * FROM doc;
ALTER TABLE own ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON own USING (tenant = current_setting('join_settings.tenant')::int);
CREATE TABLE f AS SELECT g AS k, g AS v FROM generate_series(1, 10000) g;
VACUUM ANALYZE doc, own, f;
CREATE ROLE regress_bloomfam_tenant;
GRANT USAGE ON SCHEMA join_settings TO regress_bloomfam_tenant;

-- Returns, for each tenant, how many rows a join of z, which keeps rows, with s, which has those of the tenant, returns.
CREATE FUNCTION of_tenants(z text, s text, OUT rows text, OUT same boolean, OUT filtered boolean) LANGUAGE plpgsql AS $$
DECLARE
	q CONSTANT text := format('SELECT string_agg(count || '' of '' || sum, '', '' ORDER BY i) FROM (SELECT enter(i) AS i FROM generate_series(1, 3) i OFFSET 0) g
		CROSS JOIN LATERAL (SELECT count(*), sum(length(pad)) FROM (SELECT g.i, s.k, s.pad, z.v FROM (%s) z JOIN (%s) s USING (k) OFFSET 0) y) y', z, s);
	mode text;
	found text;
	line text;
BEGIN
	same := true;
	filtered := false;
	FOREACH mode IN ARRAY ARRAY['off', 'force'] LOOP
		PERFORM set_config('bloomfam.join_filter', mode, true), set_config('join_settings.tenant', '1', true);
		EXECUTE q INTO found;
		rows := coalesce(rows, found);
		same := same AND found = rows;
	END LOOP;
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || q LOOP
		filtered := filtered OR line ~ 'Bloom Filter Probe';
	END LOOP;
END $$;
CREATE TABLE keepers (i int GENERATED ALWAYS AS IDENTITY, z text);
INSERT INTO keepers (z) VALUES
	('SELECT DISTINCT k, v FROM f'),
	('WITH w AS MATERIALIZED (SELECT * FROM f) SELECT * FROM w'),
	('SELECT f.k, f.v FROM f JOIN f g ON f.k = g.k'),
	('SELECT k, v FROM f INTERSECT SELECT v, k FROM f');
SET work_mem = '1MB';
SET hash_mem_multiplier = 1;
SELECT i, (of_tenants(z, 'SELECT * FROM doc WHERE tenant = current_setting(''join_settings.tenant'')::int')).* FROM keepers ORDER BY i;
SELECT i, (of_tenants(z, 'SELECT * FROM doc WHERE tenant = tenant()')).* FROM keepers ORDER BY i;
SELECT i, (of_tenants(z, 'SELECT k, max(pad) AS pad FROM doc GROUP BY k HAVING max(tenant) = tenant()')).* FROM keepers ORDER BY i;
GRANT SELECT ON ALL TABLES IN SCHEMA join_settings TO regress_bloomfam_tenant;
SET ROLE regress_bloomfam_tenant;
SELECT i, (of_tenants(z, 'SELECT * FROM own')).* FROM keepers ORDER BY i;
RESET ROLE;
RESET work_mem;
RESET hash_mem_multiplier;
DROP OWNED BY regress_bloomfam_tenant;
DROP ROLE regress_bloomfam_tenant;

SET client_min_messages = warning;
DROP SCHEMA join_settings CASCADE;
