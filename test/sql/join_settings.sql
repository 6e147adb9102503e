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
		CROSS JOIN LATERAL (SELECT count(*), sum(length(pad) + v) FROM (SELECT g.i, s.k, s.pad, z.v FROM (%s) z JOIN (%s) s USING (k) OFFSET 0) y) y', z, s);
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
-- nor must a filter decide whether a hash table below is kept, as one of a single batch is
CREATE TABLE six AS SELECT unnest(ARRAY[4, 8, 12, 5, 9, 6]) AS k, 'x' AS pad;
ANALYZE six;
SET join_collapse_limit = 1;
SELECT (of_tenants('SELECT f.k, length(d.pad) AS v FROM f JOIN (SELECT * FROM doc WHERE tenant = tenant() AND k * 0 = 0) d ON d.k = f.k', 'SELECT * FROM six')).*;
RESET join_collapse_limit;
-- a cursor that is rewound sorts again if its limit is another one by then
SET enable_nestloop = off;
SET cursor_tuple_fraction = 1;
SET bloomfam.join_filter = force;
SET join_settings.tenant = 1;
SET join_settings.most = 3;
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT z.k, d.tenant, length(pad) FROM (WITH w AS MATERIALIZED (SELECT * FROM f) SELECT * FROM w) z
	JOIN (SELECT * FROM doc WHERE tenant = tenant()) d USING (k) ORDER BY z.v + 1 LIMIT current_setting('join_settings.most')::int;
FETCH ALL FROM c;
SET join_settings.tenant = 2;
SET join_settings.most = 4;
MOVE ABSOLUTE 0 FROM c;
FETCH ALL FROM c;
ROLLBACK;
-- from 17 on each worker executes an initPlan, and may get another result: no filter of one goes into what all of them share
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET min_parallel_table_scan_size = 0;
SET join_collapse_limit = 1;
SET work_mem = '4MB';
SET hash_mem_multiplier = 2;
SET from_collapse_limit = 1;
CREATE TABLE more AS SELECT g AS k, g AS v FROM generate_series(1, 200000) g;
CREATE TABLE few WITH (parallel_workers = 0) AS SELECT g AS k, g % 20 + 1 AS tenant, repeat('x', 300) AS pad FROM generate_series(1, 20000) g;
VACUUM ANALYZE more, few;
CREATE VIEW of_any WITH (security_barrier) AS SELECT k FROM few WHERE tenant = (SELECT tenant FROM few LIMIT 1);
CREATE FUNCTION goes_into_shared(query text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
	line text;
	shared boolean := false;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		shared := shared OR line ~ 'Parallel Hash Join';
		IF line ~ 'Filter \d: .* of the join with \(few.k\)' THEN
			RETURN shared;
		END IF;
	END LOOP;
END $$;
SELECT goes_into_shared('SELECT count(*) FROM (SELECT f.k FROM more g JOIN more f ON f.k = g.k) z JOIN of_any USING (k)');
SET max_parallel_workers_per_gather = 0;
SET work_mem = '1MB';
SET hash_mem_multiplier = 1;
SET ROLE regress_bloomfam_tenant;
SELECT i, (of_tenants(z, 'SELECT * FROM own')).* FROM keepers ORDER BY i;
RESET ROLE;
RESET work_mem;
RESET hash_mem_multiplier;
DROP OWNED BY regress_bloomfam_tenant;
DROP ROLE regress_bloomfam_tenant;

SET client_min_messages = warning;
DROP SCHEMA join_settings CASCADE;
