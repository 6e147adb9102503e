-- What all releases 1.x keep (docs/compatibility.md): a line that goes or changes here breaks it, and a new one is to be written down in docs/sql.md.
-- the library is loaded, and has its settings
SELECT bloom_key(1) IS NOT NULL AS loaded;
CREATE FUNCTION is_ours(class regclass, object oid) RETURNS boolean LANGUAGE sql AS $$
SELECT EXISTS (SELECT FROM pg_depend JOIN pg_extension e ON e.oid = refobjid WHERE classid = class AND objid = object AND deptype = 'e' AND extname = 'bloomfam') $$;
\pset format unaligned
-- but for what is not meant to be called
SELECT proname, pg_get_function_arguments(oid) AS arguments, pg_get_function_result(oid) AS result, provolatile, proisstrict AS strict
FROM pg_proc WHERE is_ours('pg_proc', oid)
	AND proname !~ '_(in|out|recv|send|eq|ne|lt|le|gt|ge|cmp|hash|hash_extended|trans|combine|serial|deserial|final|support|sel|joinsel|handler)$|may_be_in$' OR proname = 'bloom_hash'
ORDER BY proname COLLATE "C", pronargs, pg_get_function_arguments(oid) COLLATE "C";
SELECT oid::regoperator AS operator, oprresult::regtype AS result FROM pg_operator WHERE is_ours('pg_operator', oid) ORDER BY oprname COLLATE "C", oid::regoperator::text COLLATE "C";
SELECT castsource::regtype, casttarget::regtype, castcontext FROM pg_cast WHERE is_ours('pg_cast', oid) ORDER BY castcontext;
SELECT amname, opcname, opcintype::regtype, opcdefault FROM pg_opclass JOIN pg_am a ON a.oid = opcmethod WHERE is_ours('pg_opclass', pg_opclass.oid)
ORDER BY amname COLLATE "C", opcname COLLATE "C", opcintype::regtype::text COLLATE "C";
SELECT attnum, attname, atttypid::regtype FROM pg_attribute WHERE attrelid = 'bloomfam_stat_join_filters'::regclass AND attnum > 0 ORDER BY attnum;
SELECT name, vartype, unit, enumvals, min_val, max_val FROM pg_settings WHERE name LIKE 'bloomfam.%' ORDER BY name COLLATE "C";
-- options of an index
CREATE TABLE surface (n int);
CREATE INDEX surface_n ON surface USING maplet (n) WITH (rows = 1000, remainder_bits = 8);
CREATE INDEX ON surface USING maplet (n) WITH (fillfactor = 70);
DROP TABLE surface;
DROP FUNCTION is_ours;
-- what EXPLAIN's JSON has is in join_explain
