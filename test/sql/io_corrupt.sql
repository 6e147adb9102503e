-- Hostile values: whatever is not a filter is refused, by every way in, and what passes does no harm.
CREATE SCHEMA io_corrupt;
SET search_path = io_corrupt, public;

-- A state as engines that split aggregates over nodes send it.
CREATE AGGREGATE partial_state(bloomkey) (SFUNC = bloom_agg_key_trans, STYPE = bloomfilter);
CREATE AGGREGATE unknown_state(bloomfilter) (SFUNC = bloom_union_trans, STYPE = bloomfilter);

CREATE TABLE sample (what text COLLATE "C" PRIMARY KEY, f bloomfilter NOT NULL, b bytea);
INSERT INTO sample VALUES
('blocked', bloom_add_all(bloom_create(2, 0.1, 'blocked'), '{1,2}'::int[])),
('standard', bloom_add_all(bloom_create(2, 0.1, 'standard'), '{1,2}'::int[])),
('blocked, empty', bloom_create(2, 0.1, 'blocked', 'int4')),
('standard, empty', bloom_create(2, 0.1, 'standard', 'int4')),
('standard, no type', bloom_create(2, 0.1, 'standard')),
('identity', (SELECT bloom_agg(x) FROM generate_series(1, 0) x)),
('identity, no type', (SELECT bloom_agg(bloom_key(x)) FROM generate_series(1, 0) x)),
('partial', (SELECT partial_state(bloom_key(x)) FROM generate_series(1, 2) x)),
('partial, unknown', (SELECT unknown_state(NULL) FROM generate_series(1, 2) x));
UPDATE sample SET b = f::bytea;

-- The SQLSTATE of reading a value through text or bytea; 00000 if it is one.
CREATE FUNCTION state_of_text(b bytea) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM ('\x' || encode(b, 'hex'))::bloomfilter;
	RETURN '00000';
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE;
END $$;
CREATE FUNCTION state_of_bytea(b bytea) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM b::bloomfilter;
	RETURN '00000';
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE;
END $$;
-- The same for receive functions, as COPY calls them.
CREATE TABLE received (f bloomfilter);
CREATE FUNCTION state_of_binary(b bytea) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	stream bytea := '\x5047434f50590aff0d0a00' || decode(repeat('00', 8), 'hex') || '\x0001' || int4send(length(b)) || b || '\xffff';
	octal text;
BEGIN
	SELECT string_agg('\' || (get_byte(stream, i) / 64)::text || (get_byte(stream, i) / 8 % 8)::text || (get_byte(stream, i) % 8)::text, '' ORDER BY i)
	INTO octal FROM generate_series(0, length(stream) - 1) i;
	EXECUTE format('COPY received FROM PROGRAM %L (FORMAT binary)', 'printf ''' || octal || '''');
	RETURN '00000';
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE;
END $$;

SELECT what, state_of_text(b), state_of_bytea(b), state_of_binary(b) FROM sample ORDER BY what;
SELECT count(*) FROM received r JOIN sample s ON r.f = s.f;

--
-- Every truncation
--
SELECT state_of_text(substr(b, 1, n)), state_of_bytea(substr(b, 1, n)), count(*) = sum(length(b)) / max(length(b)) AS x, count(DISTINCT what)
FROM sample, generate_series(0, length(b) - 1) n GROUP BY 1, 2;
SELECT state_of_binary(substr(b, 1, n)), count(DISTINCT what)
FROM sample, generate_series(0, length(b) - 1) n WHERE what NOT LIKE '%,%' GROUP BY 1;
-- and more than there should be
SELECT state_of_text(b || more), state_of_bytea(b || more), state_of_binary(b || more), count(*)
FROM sample, (VALUES ('\x00'::bytea), ('\x0000000000000000'), (decode(repeat('00', 64), 'hex')), (decode(repeat('ff', 512), 'hex'))) v(more)
GROUP BY 1, 2, 3;

--
-- Every change of a single byte
--
SELECT state_of_bytea(set_byte(b, at, (get_byte(b, at) + by) % 256)), count(DISTINCT (what, at)) = (SELECT sum(length(b)) FROM sample) AS all_bytes,
	count(*) = (SELECT sum(length(b)) * 255 FROM sample) AS all_changes
FROM sample, generate_series(0, length(b) - 1) at, generate_series(1, 255) by GROUP BY 1;
SELECT state_of_text(set_byte(b, at, get_byte(b, at) # by)), count(*) = (SELECT sum(length(b)) * 8 FROM sample) AS all_bits
FROM sample, generate_series(0, length(b) - 1) at, unnest('{1,2,4,8,16,32,64,128}'::int[]) by GROUP BY 1;
SELECT state_of_binary(set_byte(b, at, get_byte(b, at) # 128)), count(DISTINCT what)
FROM sample, generate_series(0, length(b) - 1) at WHERE what NOT LIKE '%,%' GROUP BY 1;
-- two bytes exchanged
SELECT state_of_bytea(set_byte(set_byte(b, at, get_byte(b, at + 1)), at + 1, get_byte(b, at))), count(*) > 100 AS many
FROM sample, generate_series(0, length(b) - 2) at WHERE get_byte(b, at) <> get_byte(b, at + 1) GROUP BY 1;
-- a value's bytes in another value's header
SELECT state_of_bytea(substr(a.b, 1, 80) || substr(b.b, 81)), count(*)
FROM sample a, sample b WHERE a.what <> b.what AND substr(a.b, 81) <> substr(b.b, 81) GROUP BY 1;

--
-- The same changes by someone who knows how the checksum is made: the low half of the hash of the value with zeros in its place, and
-- that is the hash of a key of type bytea.  What passes is a filter; everything that can be done with one ends with an answer or
-- with an error that is meant.
--
CREATE FUNCTION sealed(b bytea) RETURNS bytea LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
	hash bytea;
BEGIN
	b := overlay(b PLACING '\x00000000'::bytea FROM 9 FOR 4);
	hash := int8send(bloom_hash(bloom_key(b)));
	RETURN overlay(b PLACING substr(hash, 8, 1) || substr(hash, 7, 1) || substr(hash, 6, 1) || substr(hash, 5, 1) FROM 9 FOR 4);
END $$;
SELECT count(*) AS samples, count(*) FILTER (WHERE sealed(b) = b) AS sealed FROM sample;

-- What comes of every operation: SQLSTATEs, most of them 00000.
CREATE FUNCTION use(f bloomfilter, other bloomfilter) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
	states text[] := '{}';
	statement text;
BEGIN
	FOREACH statement IN ARRAY '{$1 @~ 1, bloom_may_contain_any($1\, ARRAY[1\, 2]), bloom_add($1\, 3), bloom_add_all($1\, ARRAY[3\, 4]),
		$1 | $2, $2 | $1, $1 | $1, $1 & $2, $1 & $1, bloom_fold($1\, 0.5), bloom_info($1), bloom_cardinality($1), bloom_fpr($1),
		$1::bytea::bloomfilter = $1, $1::text::bloomfilter = $1, bloomfilter_hash($1),
		(SELECT bloom_union_agg(x) FROM unnest(ARRAY[$1\, $2\, $1]) x), (SELECT bloom_intersect_agg(x) FROM unnest(ARRAY[$2\, $1]) x)}'::text[]
	LOOP
		BEGIN
			EXECUTE 'SELECT ' || statement USING f, other;
		EXCEPTION WHEN OTHERS THEN
			states := states || SQLSTATE::text;
		END;
	END LOOP;
	RETURN states;
END $$;
CREATE TABLE forged AS
SELECT what, f AS original, at, by, sealed(set_byte(b, at, (get_byte(b, at) + by) % 256)) AS b, state_of_bytea(sealed(set_byte(b, at, (get_byte(b, at) + by) % 256))) AS state
FROM sample, generate_series(0, length(b) - 1) at, unnest('{1,2,4,16,64,127,128,192,254,255}'::int[]) by
WHERE at NOT BETWEEN 8 AND 11;
SELECT state, count(*) > 1000 AS many FROM forged GROUP BY 1 ORDER BY 1;
-- in the fixed header nothing passes but what a user may choose
SELECT CASE WHEN at >= 80 THEN 'payload or name' WHEN at >= 64 THEN 'parameters' WHEN at >= 56 THEN 'payload length' WHEN at >= 48 THEN 'target FPR'
	WHEN at >= 40 THEN 'keys added' WHEN at >= 32 THEN 'capacity' WHEN at >= 24 THEN 'family id' ELSE 'the rest' END AS field,
	string_agg(DISTINCT what, '; ' ORDER BY what) AS "of"
FROM forged WHERE state = '00000' GROUP BY 1 ORDER BY min(at);
SELECT s AS state, count(*) > 0 AS some
FROM forged, unnest(use(b::bloomfilter, original)) s WHERE state = '00000' GROUP BY 1 ORDER BY 1;
-- two that meet
SELECT s AS state, count(*) > 0 AS some
FROM forged a JOIN forged b USING (what, by), unnest(use(a.b::bloomfilter, b.b::bloomfilter)) s
WHERE a.state = '00000' AND b.state = '00000' AND a.by IN (1, 128) AND a.at < 80 AND b.at < 80 GROUP BY 1 ORDER BY 1;

--
-- Two that are accepted, and do not say the same of a part: what is made of both is accepted, too, or nothing is made
--
CREATE TABLE grown AS SELECT f, f::bytea AS b FROM bloom_add_all(bloom_create(5, 0.01, 'scalable'), ARRAY(SELECT generate_series(1, 200))) f;
SELECT (bloom_info(f)).stages, (bloom_info(f | f)).stages AS united FROM grown;
-- the second stage's number of probes, at 36 of an entry of 64 bytes that begins 84 bytes from the beginning
CREATE TABLE at_odds AS SELECT f, sealed(set_byte(b, 84 + 64 + 36, get_byte(b, 84 + 64 + 36) - 1))::bloomfilter AS lie FROM grown;
SELECT f | lie FROM at_odds;
SELECT lie | f FROM at_odds;
SELECT bloom_union_agg(x) FROM at_odds, unnest(ARRAY[f, lie]) x;
SELECT (lie | lie)::text::bloomfilter = lie AS itself FROM at_odds;
