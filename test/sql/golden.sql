-- Values that an earlier revision has written, test/golden/server, are read, give the same answers as then, and go on.
\getenv folder PG_ABS_SRCDIR
\set keys :folder '/golden/server/keys.sql'
\set values :folder '/golden/server/243bdb6.sql'
\set ECHO none
\i :keys
\i :values
\set ECHO all
CREATE SCHEMA golden_read;
SET search_path = golden_read, public;
SET TimeZone = 'UTC';
CREATE TABLE value AS SELECT v.*, key, v.f::bloomfilter AS now FROM golden.value v JOIN golden.source s ON s.name = v.source;
SELECT kind, count(*) AS "values" FROM value GROUP BY kind ORDER BY kind COLLATE "C";
SELECT count(DISTINCT source) AS sources, count(DISTINCT i.key_type) AS families FROM value, bloom_info(now) i;

-- the same bytes, in each form
SELECT count(*) FROM value WHERE now::bytea <> f OR now::text::bloomfilter <> now OR bloomfilter(bloomfilter_send(now)) <> now;
-- the same figures, and the same answers: every key that is there, and those of the others that passed
SELECT name, source, v.kind FROM value v, bloom_info(now) i WHERE (i.kind, i.keys_added) <> (v.kind, v.added) OR i.capacity IS DISTINCT FROM v.capacity;
SELECT name, source, kind FROM value v, golden.answers(key, now) a WHERE a.hits <> CASE name WHEN 'of no rows' THEN 0 ELSE 100 END OR a.hits <> v.hits;
SELECT name, source, kind FROM value v, golden.answers(key, now) a WHERE a.false_positives <> v.false_positives;
-- keys are hashed as then
SELECT name, source, kind FROM value v, golden.answers(key, now) a WHERE a.hashed <> v.hashed;

-- they go on: with a key more, united with what is built today, and without that key again
CREATE FUNCTION goes_on(kind text, key text, f bloomfilter) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	can record;
	keys int[] := array_agg(g) FROM generate_series(1, 100) g;
	lost int[];
BEGIN
	SELECT k.* INTO can FROM bloom_kinds(100) k WHERE k.kind = goes_on.kind;
	IF can.can_add THEN
		EXECUTE format('SELECT bloom_add($1, (%s)) FROM generate_series(500, 500) g', key) INTO f USING f;
		keys := keys || 500;
	END IF;
	-- a scalable filter that has grown unites with one that has grown the same way
	IF can.can_union AND kind <> 'scalable' THEN
		EXECUTE format('SELECT $1 | bloom_agg((%s), (bloom_info($1)).target_fpr, $2, (bloom_info($1)).capacity) FROM generate_series(600, 610) g', key) INTO f USING f, kind;
		keys := keys || ARRAY(SELECT generate_series(600, 610));
	END IF;
	EXECUTE format('SELECT array_agg(g) FROM unnest($1) g WHERE NOT $2 @~ (%s)', key) INTO lost USING keys, f;
	IF can.can_remove AND lost IS NULL THEN
		EXECUTE format('SELECT bloom_remove($1, (%s)) FROM generate_series(500, 500) g', key) INTO f USING f;
		EXECUTE format('SELECT array_agg(g) FROM unnest($1) g WHERE NOT $2 @~ (%s)', key) INTO lost USING array_remove(keys, 500), f;
	END IF;
	RETURN CASE WHEN lost IS NULL THEN 'with ' || cardinality(keys) || ' keys' ELSE 'without ' || lost::text END;
END $$;
SELECT kind, goes_on(kind, key, now), count(*) FROM value WHERE name <> 'of no rows' GROUP BY 1, 2 ORDER BY kind COLLATE "C", 2;

DROP SCHEMA golden_read, golden CASCADE;
