-- Keys that a dump would bring into another database as other values: filters refuse them, joins and indexes do not.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS bloomfam;
RESET client_min_messages;
CREATE SCHEMA keys_lasting;
SET search_path = keys_lasting, public;

CREATE FUNCTION outcome(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
	detail text;
	hint text;
BEGIN
	EXECUTE statement INTO result;
	RETURN result;
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
	RETURN concat_ws(' | ', SQLSTATE, SQLERRM, nullif(detail, ''), nullif(hint, ''));
END $$;

-- Every type that is a name for an oid, and each way to hand over a key.
CREATE TABLE subject (r regclass, rs regclass[], f bloomfilter);
INSERT INTO subject SELECT 'pg_class', '{pg_class}', bloom_add(bloom_create(10), 1259::oid);
SELECT count(*) >= 11 AS all_of_them, string_agg(DISTINCT replace(outcome(format('SELECT bloom_key(0::%s)', t)), t::text, '...'), ' and ') AS outcome
FROM (SELECT oid::regtype AS t FROM pg_type WHERE typname LIKE 'reg%' AND typnamespace = 'pg_catalog'::regnamespace AND typtype = 'b') s;
SELECT s, split_part(outcome(format('SELECT %s FROM subject', s)), ' | ', 2) FROM unnest(ARRAY['bloom_key(r)', 'bloom_shard(r, 8)', 'bloom_agg(r)', 'bloom_agg(r, 0.01, ''parquet'')',
	'bloom_agg(r::int::regclass) FILTER (WHERE false)', 'bloom_create(10, key_type => ''regclass'')', 'bloom_from_parquet(bloom_to_parquet((SELECT bloom_agg(1, 0.01, ''parquet''))), ''regclass'')',
	'bloom_may_contain(f, r)', 'f @~ r', 'r ~@ f', 'bloom_add(f, r)', 'bloom_add(bloom_create(10), r)', 'bloom_add_all(f, rs)', 'bloom_add_new(f, rs)',
	'bloom_may_contain_any(f, rs)', 'bloom_may_contain_all(f, rs)', 'bloom_filter_keys(f, rs)', 'bloom_which(ARRAY[f], r)',
	'bloom_count(bloom_create(10, 0.01, ''counting''), r)', 'bloom_remove(bloom_create(10, 0.01, ''counting''), r)']) s;
-- as the hint says; a literal is read as a number, as ever
SELECT f @~ r::oid AS number, bloom_agg(r::text) @~ 'pg_class'::text AS name FROM subject GROUP BY f, r;
SELECT f @~ '1259' AS literal FROM subject;
SELECT f @~ 'pg_class' AS literal FROM subject;
-- A filter of such keys that was stored before is one of oids, and can be asked for them.
SELECT f = bloom_agg(o) AS same_bytes, bool_and(f @~ o) AS found, (bloom_info(f)).key_type
FROM (VALUES (1259::oid), (1247)) v(o),
	(SELECT bloomfilter '\x6266616d010301003c647c49030000000000000000000000d6ed0e72f5050686020000000000000002000000000000007b14ae47e17a843f4000000000000000060000000000000000000000000000006f69640000000000000002000000000400000000001200000100000000000000000002000000000020002000000002000000000000000000400001000000001000000000' AS f) g GROUP BY f;

-- What holds such.
CREATE TYPE holder AS (n int, r regclass);
CREATE DOMAIN reg_domain AS regclass;
CREATE TYPE reg_range AS RANGE (subtype = regclass);
SELECT s, split_part(outcome(format('SELECT bloom_key(%s) FROM subject', s)), ' | ', 2)
FROM unnest(ARRAY['rs', 'r::reg_domain', 'ARRAY[r::reg_domain]', 'ROW(1, r)', 'ROW(1, r)::holder', 'ARRAY[ROW(1, r)::holder]', 'ARRAY[ROW(1, r)]', 'ROW(ROW(1, r), 2)',
	'ROW(1, NULL::regclass)', 'reg_range(r, NULL)', '''empty''::reg_range', 'reg_multirange(reg_range(r, NULL))', 'subject']) s;
-- The server's that are hashed by functions, one of them by the numbers of roles.
SELECT t, regexp_replace(outcome(format('SELECT (bloom_info(bloom_create(10, key_type => %L))).key_type', t)), '@.*', '@...') AS family
FROM unnest('{xid,xid8,cid,tid,jsonb,oidvector,oid,"oid[]"}'::text[]) t;
SELECT outcome(format('SELECT bloom_key(%s)', s)) FROM unnest(ARRAY['makeaclitem(10, 10, ''SELECT'', false)', 'ARRAY[makeaclitem(10, 10, ''SELECT'', false)]']) s;

-- Somebody's own: a few bytes that are written as another name than the number that is hashed, and one that is written as that.
SET client_min_messages = warning;
CREATE TYPE named;
CREATE FUNCTION named_in(cstring) RETURNS named AS 'regtypein' LANGUAGE internal STABLE STRICT;
CREATE FUNCTION named_out(named) RETURNS cstring AS 'regtypeout' LANGUAGE internal STABLE STRICT;
CREATE TYPE named (INPUT = named_in, OUTPUT = named_out, LIKE = int4);
CREATE CAST (named AS int4) WITHOUT FUNCTION AS IMPLICIT;
CREATE TYPE numbered;
CREATE FUNCTION numbered_in(cstring) RETURNS numbered AS 'int4in' LANGUAGE internal IMMUTABLE STRICT;
CREATE FUNCTION numbered_out(numbered) RETURNS cstring AS 'int4out' LANGUAGE internal IMMUTABLE STRICT;
CREATE TYPE numbered (INPUT = numbered_in, OUTPUT = numbered_out, LIKE = int4);
CREATE CAST (numbered AS int4) WITHOUT FUNCTION AS IMPLICIT;
CREATE TYPE classed;
CREATE FUNCTION classed_in(cstring) RETURNS classed AS 'regtypein' LANGUAGE internal STABLE STRICT;
CREATE FUNCTION classed_out(classed) RETURNS cstring AS 'regtypeout' LANGUAGE internal STABLE STRICT;
CREATE TYPE classed (INPUT = classed_in, OUTPUT = classed_out, LIKE = oid);
CREATE CAST (classed AS oid) WITHOUT FUNCTION;
CREATE FUNCTION classed_eq(classed, classed) RETURNS bool AS 'oideq' LANGUAGE internal IMMUTABLE STRICT;
CREATE OPERATOR = (LEFTARG = classed, RIGHTARG = classed, FUNCTION = classed_eq);
CREATE OPERATOR CLASS classed_ops DEFAULT FOR TYPE classed USING hash AS OPERATOR 1 =, FUNCTION 1 (classed, classed) hashoid(oid), FUNCTION 2 (classed, classed) hashoidextended(oid, int8);
RESET client_min_messages;
SELECT s, outcome(format('SELECT bloom_key(%s)', s)) FROM unnest(ARRAY['''int4''::named', 'ARRAY[''int4''::named]', '''1''::numbered', '''int4''::classed']) s;
SELECT outcome('SELECT bloom_agg(''int4''::named, 0.01, ''parquet'')'), outcome('SELECT bloom_agg(''1''::numbered, 0.01, ''parquet'') @~ 1');

-- An index lives and dies in its database; so do the filters of joins.
CREATE TABLE objects (r regclass, rs regclass[], acl aclitem[]);
INSERT INTO objects SELECT oid, ARRAY[oid::regclass], relacl FROM pg_class WHERE relnamespace = 'pg_catalog'::regnamespace AND oid < 10000;
CREATE INDEX objects_r ON objects USING maplet (r);
CREATE INDEX objects_rs ON objects USING maplet (rs);
CREATE INDEX objects_acl ON objects USING maplet (acl);
SET enable_seqscan = off;
SELECT r FROM objects WHERE r = 'pg_class'::regclass;
SELECT r FROM objects WHERE rs = '{pg_class}'::regclass[];
SELECT maplet_may_contain('objects_r', 'pg_class'::regclass) AS class, maplet_may_contain('objects_r', 'subject'::regclass) AS subject,
	maplet_may_contain('objects_rs', '{pg_class}'::regclass[]) AS classes;
SELECT maplet_check(i, true) FROM unnest('{objects_r,objects_rs,objects_acl}'::regclass[]) i;
RESET enable_seqscan;
ALTER DATABASE :"DBNAME" SET session_preload_libraries = 'bloomfam';
\c -
SET search_path = keys_lasting, public;
\getenv folder PG_ABS_SRCDIR
\set file :folder '/sql/include/compare.sql'
\i :file
SET enable_nestloop = off;
SET enable_mergejoin = off;
SELECT r.* FROM join_compare($$SELECT o.r FROM objects o JOIN (VALUES ('pg_class'::regclass), ('pg_type')) v(r) ON o.r = v.r$$) r;
ALTER DATABASE :"DBNAME" RESET session_preload_libraries;

SET client_min_messages = warning;
DROP SCHEMA keys_lasting CASCADE;
