-- The extension: what it makes, and that it may live in any schema.

-- What a run that was broken off has left in the cluster: databases first, as roles may own something in them
\set ECHO none
SELECT format('DROP DATABASE %I WITH (FORCE)', datname) FROM pg_database WHERE starts_with(datname, 'regression_bloomfam_') \gexec
SELECT format('DROP ROLE %I', rolname) FROM pg_roles WHERE starts_with(rolname, 'regress_bloomfam_') \gexec
\set ECHO all

--
-- A plain user may install it, and wherever it is moved, it works
--
CREATE ROLE regress_bloomfam_user;
DO $$ BEGIN EXECUTE format('GRANT CREATE ON DATABASE %I TO regress_bloomfam_user', current_database()); END $$;
SET ROLE regress_bloomfam_user;
CREATE SCHEMA install_first;
CREATE SCHEMA "install Second";
SET search_path = pg_catalog;
CREATE EXTENSION bloomfam SCHEMA install_first;
-- trusted: the extension is the user's, its objects are a superuser's
SELECT extowner = 'regress_bloomfam_user'::regrole AS own, extrelocatable AS relocatable,
	(SELECT bool_and(rolsuper) FROM pg_proc JOIN pg_roles r ON r.oid = proowner WHERE pronamespace = 'install_first'::regnamespace) AS trusted,
	(SELECT count(*) FROM pg_depend WHERE classid = 'pg_extension'::regclass AND objid = e.oid AND refclassid = 'pg_extension'::regclass) AS requires
FROM pg_extension e WHERE extname = 'bloomfam';

CREATE TABLE install_first.segment (id int PRIMARY KEY, filter install_first.bloomfilter, key install_first.bloomkey);
INSERT INTO install_first.segment
SELECT s, install_first.bloom_agg(k), install_first.bloom_key(s)
FROM generate_series(1, 5) s, LATERAL generate_series(s * 1000, s * 1000 + 999) k GROUP BY s;
CREATE VIEW install_first.hit AS
SELECT id FROM install_first.segment
WHERE filter OPERATOR(install_first.@~) (id * 1000) AND install_first.bloom_may_contain(filter, install_first.bloom_key(id * 1000 + 999));
CREATE INDEX ON install_first.segment (filter);
CREATE INDEX ON install_first.segment USING hash (key);

SELECT count(*) FROM install_first.hit;
-- (the objects of a trusted extension belong to the superuser, so only one moves them)
RESET ROLE;
ALTER EXTENSION bloomfam SET SCHEMA "install Second";
SET ROLE regress_bloomfam_user;
SELECT n.nspname, count(*) > 50 AS functions
FROM pg_extension e JOIN pg_depend d ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid AND d.deptype = 'e'
	JOIN pg_proc p ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid JOIN pg_namespace n ON n.oid = p.pronamespace
WHERE e.extname = 'bloomfam' GROUP BY 1;
SELECT count(*) FROM install_first.hit;
-- keys of every form, filters of both aggregates, none of it by way of search_path
SELECT "install Second".bloom_may_contain(f, 7), 7 OPERATOR("install Second".~@) f AS operator,
	f OPERATOR("install Second".@~) "install Second".bloom_key(7) AS hashed,
	f OPERATOR("install Second".=) "install Second".bloom_union(f, f) AS united
FROM (SELECT "install Second".bloom_agg(x) FROM generate_series(1, 10) x) s(f);
SELECT f OPERATOR("install Second".@~) 'three' AS literal, f OPERATOR("install Second".@~) 'three'::name AS name
FROM (SELECT "install Second".bloom_agg("install Second".bloom_key(x)) FROM unnest('{one,two,three}'::text[]) x) s(f);
SELECT count(DISTINCT filter), count(DISTINCT key) FROM install_first.segment;
SET search_path = pg_catalog, "install Second";
SELECT count(*) FROM install_first.segment WHERE filter @~ id * 1000 AND key = bloom_key(id);

DROP TABLE install_first.segment CASCADE;
DROP EXTENSION bloomfam;
DROP SCHEMA install_first, "install Second";
RESET ROLE;
DROP OWNED BY regress_bloomfam_user;
DROP ROLE regress_bloomfam_user;
RESET search_path;

-- nothing is left behind
SELECT count(*) FROM pg_proc WHERE probin LIKE '%bloomfam%' OR proname LIKE 'bloom%';
SELECT count(*) FROM pg_type WHERE typname LIKE 'bloom%';

--
-- For the tests that follow
--
CREATE EXTENSION bloomfam;
CREATE EXTENSION bloomfam;

--
-- What it is made of
--
CREATE TEMP VIEW member AS
SELECT d.classid, d.objid
FROM pg_depend d JOIN pg_extension e ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid
WHERE e.extname = 'bloomfam' AND d.deptype = 'e';
CREATE TEMP VIEW func AS
SELECT p.*, p.oid::regprocedure AS signature FROM pg_proc p JOIN member m ON m.classid = 'pg_proc'::regclass AND m.objid = p.oid;
CREATE TEMP VIEW oper AS
SELECT o.*, o.oid::regoperator AS signature FROM pg_operator o JOIN member m ON m.classid = 'pg_operator'::regclass AND m.objid = o.oid;

SELECT typname, typlen, typbyval, typalign, typstorage, typcategory, typdelim,
	typreceive <> 0 AS receive, typsend <> 0 AS send, typcollation <> 0 AS collatable
FROM pg_type t JOIN member m ON m.classid = 'pg_type'::regclass AND m.objid = t.oid
WHERE typelem = 0 AND typrelid = 0 ORDER BY 1;

-- everything may run in parallel
SELECT signature FROM func WHERE proparallel <> 's' ORDER BY signature::text COLLATE "C";
-- everything is immutable, except:
SELECT signature, provolatile FROM func WHERE provolatile <> 'i' ORDER BY signature::text COLLATE "C";
-- everything is strict, except:
SELECT signature FROM func WHERE NOT proisstrict AND prokind <> 'a' ORDER BY signature::text COLLATE "C";
-- nothing is SECURITY DEFINER, LEAKPROOF, a set (but the two that are tables) or in another language
SELECT signature FROM func JOIN pg_language l ON l.oid = prolang
WHERE prosecdef OR proleakproof OR proretset <> (proname IN ('bloom_kinds', 'bloomfam_stat_join_filters')) OR (lanname <> 'c' AND prokind <> 'a' AND proname NOT LIKE 'bloomliteral%')
ORDER BY signature::text COLLATE "C";

-- user-facing, and not described
SELECT signature FROM func
WHERE proname ~ '^bloom_|^bloomfam_|^bloomfilter$|^bytea$' AND proname !~ '_(trans|combine|serial|deserial|final|support|sel|joinsel)$'
	AND obj_description(oid, 'pg_proc') IS NULL;
SELECT objid::regtype FROM member
WHERE classid = 'pg_type'::regclass AND obj_description(objid, 'pg_type') IS NULL AND objid IN (SELECT oid FROM pg_type WHERE typelem = 0 AND typrelid = 0);
SELECT signature FROM oper
WHERE obj_description(oid, 'pg_operator') IS NULL AND oid NOT IN (SELECT amopopr FROM pg_amop) AND oprname <> '<>';

--
-- Aggregates.  Those of concrete argument types have a state that is a type and a function that combines such states: an engine that
-- splits aggregates over nodes needs both.  Those of "any" cannot be split so, and have an internal state that a parallel plan can send.
--
SELECT signature, aggtranstype::regtype AS state, aggcombinefn <> 0 AS combine,
	aggserialfn <> 0 AND aggdeserialfn <> 0 AS serial, agginitval IS NOT NULL AS init, aggtransspace AS space
FROM pg_aggregate a JOIN func f ON f.oid = a.aggfnoid ORDER BY signature::text COLLATE "C";
\df bloom_agg
-- none that breaks the rule
SELECT signature FROM pg_aggregate a JOIN func f ON f.oid = a.aggfnoid
WHERE aggcombinefn = 0 OR aggtransspace = 0 OR aggfinalmodify <> 'r' OR aggmfinalmodify <> 'r'
	OR (aggtranstype = 'internal'::regtype) <> ('"any"'::regtype = ANY (proargtypes) OR 'bloomliteral'::regtype = ANY (proargtypes))
	OR (aggtranstype = 'internal'::regtype) <> (aggserialfn <> 0);

--
-- As opr_sanity does for the server's own
--
-- commutators go both ways, over swapped types
SELECT o.signature FROM oper o LEFT JOIN oper c ON c.oid = o.oprcom
WHERE c.oid IS NULL OR c.oprcom <> o.oid OR c.oprleft <> o.oprright OR c.oprright <> o.oprleft OR c.oprresult <> o.oprresult;
-- negators too, over the same types; comparisons have them
SELECT o.signature FROM oper o LEFT JOIN oper n ON n.oid = o.oprnegate
WHERE (o.oprnegate <> 0 OR o.oid IN (SELECT amopopr FROM pg_amop))
	AND (n.oid IS NULL OR n.oprnegate <> o.oid OR n.oprleft <> o.oprleft OR n.oprright <> o.oprright OR n.oid = o.oid);
-- what returns boolean has estimators
SELECT signature FROM oper WHERE (oprresult = 'boolean'::regtype) <> (oprrest <> 0 AND oprjoin <> 0);
-- an operator's function takes and returns what the operator does
SELECT o.signature FROM oper o JOIN pg_proc p ON p.oid = o.oprcode
WHERE p.proargtypes[0] <> o.oprleft OR p.proargtypes[1] <> o.oprright OR p.prorettype <> o.oprresult OR p.pronargs <> 2;
-- HASHES and MERGES where there is an operator family, and nowhere else
SELECT signature FROM oper o
WHERE oprcanhash <> EXISTS (SELECT FROM pg_amop WHERE amopopr = o.oid AND amopmethod = (SELECT oid FROM pg_am WHERE amname = 'hash'))
	OR oprcanmerge <> EXISTS (SELECT FROM pg_amop WHERE amopopr = o.oid AND amopstrategy = 3
		AND amopmethod = (SELECT oid FROM pg_am WHERE amname = 'btree'));
-- operator classes are whole
SELECT opcname, amname, opcintype::regtype, opcdefault, amvalidate(c.oid)
FROM pg_opclass c JOIN pg_am a ON a.oid = c.opcmethod JOIN member m ON m.classid = 'pg_opclass'::regclass AND m.objid = c.oid
ORDER BY 1, 2;
-- what converts to and from the types, and how readily
SELECT castsource::regtype, casttarget::regtype, castcontext, castmethod
FROM pg_cast c JOIN member m ON m.classid = 'pg_cast'::regclass AND m.objid = c.oid ORDER BY castsource::regtype::text, casttarget::regtype::text;

-- settings under its name are its own
SET bloomfam.no_such_setting = 1;
