-- Equality, order and hash of filters: by their bytes.
CREATE SCHEMA compare;
SET search_path = compare, public;

CREATE TABLE sample (id int, n int, f bloomfilter);
-- ids 1 to 60: each filter six times; some large enough to be stored out of line
INSERT INTO sample SELECT n * 6 + i, n, (SELECT bloom_agg(x, 0.01, 'standard', 1 + n * n * n * 10) FROM generate_series(1, n) x) FROM generate_series(0, 9) n, generate_series(1, 6) i;
INSERT INTO sample VALUES (100, 100, NULL), (101, 100, NULL);

SELECT count(DISTINCT f), count(f) FROM sample;
SELECT array_agg(DISTINCT n) AS n, count(*) FROM sample GROUP BY f HAVING count(DISTINCT n) <> 1 OR count(*) <> CASE WHEN f IS NULL THEN 2 ELSE 6 END;
SELECT count(*) FROM (SELECT f FROM sample UNION SELECT f FROM sample) u;
SELECT count(*) FROM (SELECT f FROM sample WHERE n < 6 INTERSECT SELECT f FROM sample WHERE n >= 4 AND n < 100) u;
SELECT count(*) FROM (SELECT f FROM sample EXCEPT SELECT f FROM sample WHERE n >= 4) u;

-- equality is that of bytes, and the order is one
SELECT count(*) FILTER (WHERE (a.f = b.f) <> (a.n = b.n)) AS equal, count(*) FILTER (WHERE (a.f = b.f) <> (a.f::bytea = b.f::bytea)) AS bytes,
	count(*) FILTER (WHERE (a.f <> b.f) <> (a.n <> b.n)) AS not_equal, count(*) FILTER (WHERE (a.f < b.f)::int + (a.f = b.f)::int + (a.f > b.f)::int <> 1) AS trichotomy,
	count(*) FILTER (WHERE (a.f <= b.f) <> (a.f < b.f OR a.f = b.f) OR (a.f >= b.f) <> (a.f > b.f OR a.f = b.f)) AS or_equal, count(*) FILTER (WHERE (a.f < b.f) <> (b.f > a.f)) AS commutator,
	count(*) FILTER (WHERE sign(bloomfilter_cmp(a.f, b.f)) <> (a.f > b.f)::int - (a.f < b.f)::int) AS cmp,
	count(*) FILTER (WHERE a.f = b.f AND (bloomfilter_hash(a.f) <> bloomfilter_hash(b.f) OR bloomfilter_hash_extended(a.f, 7) <> bloomfilter_hash_extended(b.f, 7))) AS hash
FROM sample a, sample b WHERE a.f IS NOT NULL AND b.f IS NOT NULL;
SELECT count(*) FROM (SELECT DISTINCT f FROM sample) a, (SELECT DISTINCT f FROM sample) b, (SELECT DISTINCT f FROM sample) c WHERE a.f < b.f AND b.f < c.f AND NOT a.f < c.f;
-- one bit makes a difference, in the header, the payload, and at the end
SELECT count(DISTINCT bloom_add(bloom_create(1000), x)) FROM generate_series(1, 1000) x;
-- the hash functions agree with each other, as the server demands: with the seed 0, the low half is the other
SELECT count(*) FROM sample WHERE bloomfilter_hash_extended(f, 0)::bit(64)::bit(64) << 32 <> bloomfilter_hash(f)::bit(32)::bit(64);
SELECT count(DISTINCT bloomfilter_hash(f)) AS hash, count(DISTINCT bloomfilter_hash_extended(f, 0)) AS extended, count(DISTINCT bloomfilter_hash_extended(f, 1)) AS seeded,
	bool_and(bloomfilter_hash_extended(f, 0) <> bloomfilter_hash_extended(f, 1)) AS seed_matters FROM sample;

-- joins of every sort
CREATE FUNCTION plan_has(query text, what text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		IF line LIKE '%' || what || '%' THEN RETURN true; END IF;
	END LOOP;
	RETURN false;
END $$;
SET enable_nestloop = off;
SET enable_mergejoin = off;
SELECT plan_has('SELECT count(*) FROM sample a JOIN sample b USING (f)', 'Hash Join');
SELECT count(*) FROM sample a JOIN sample b USING (f);
SET enable_mergejoin = on;
SET enable_hashjoin = off;
SELECT plan_has('SELECT count(*) FROM sample a JOIN sample b USING (f)', 'Merge Join');
SELECT count(*) FROM sample a JOIN sample b USING (f);
SELECT count(*) FROM sample a FULL JOIN (SELECT * FROM sample WHERE n < 100) b ON a.f = b.f AND a.id = b.id;
SET enable_nestloop = on;
SET enable_mergejoin = off;
SELECT count(*) FROM sample a JOIN sample b USING (f);
RESET enable_nestloop;
RESET enable_mergejoin;
RESET enable_hashjoin;
SET enable_hashagg = off;
SELECT count(*) FROM (SELECT f FROM sample GROUP BY f) x;
RESET enable_hashagg;

-- indexes: of small filters in a btree, of any size in a hash index
CREATE INDEX sample_btree ON sample (f) WHERE n < 4;
CREATE INDEX sample_hash ON sample USING hash (f);
SET enable_seqscan = off;
SELECT plan_has('SELECT id FROM sample s WHERE f = (SELECT f FROM sample WHERE id = 20) AND n < 4', 'sample_btree') OR plan_has('SELECT id FROM sample s WHERE f = (SELECT f FROM sample WHERE id = 20) AND n < 4', 'sample_hash') AS index;
SELECT array_agg(id ORDER BY id) FROM sample s WHERE f = (SELECT f FROM sample WHERE id = 20) AND n < 4;
SELECT array_agg(id ORDER BY id) FROM sample s WHERE f = (SELECT f FROM sample WHERE id = 57);
DROP INDEX sample_hash;
SELECT array_agg(id ORDER BY id) FROM sample s WHERE f = (SELECT f FROM sample WHERE id = 20) AND n < 4;
SELECT count(*) = 6 * 3 AS ordered FROM (SELECT f, lag(f) OVER (ORDER BY f) AS before FROM sample WHERE n BETWEEN 1 AND 3) x WHERE before IS NULL OR before <= f;
RESET enable_seqscan;
\set VERBOSITY terse
CREATE UNIQUE INDEX ON sample (f) WHERE n < 4;
\set VERBOSITY default
SELECT count(*) AS sorted FROM (SELECT f, lead(f) OVER () AS next FROM (SELECT f FROM sample WHERE f IS NOT NULL ORDER BY f OFFSET 0) o) x WHERE f > next;
SELECT array_agg(n ORDER BY f USING >) = array_agg(n ORDER BY f DESC) AS descending FROM (SELECT DISTINCT ON (f) n, f FROM sample ORDER BY f) x;
-- as parts of rows and arrays
SELECT count(DISTINCT (n, f)), count(DISTINCT ARRAY[f]) FROM sample;
SELECT f = ANY (ARRAY[bloom_create(10), bloom_create(11)]) AS yes, f IN (bloom_create(11), bloom_create(12)) AS no, f IS DISTINCT FROM NULL AS distinct_from FROM bloom_create(10) f;

-- bloomkeys: by family, then by hash
SELECT count(DISTINCT k), count(*) FROM (SELECT bloom_key(x % 10) AS k FROM generate_series(1, 100) x UNION ALL SELECT bloom_key((x % 10)::text) FROM generate_series(1, 100) x) s;
SELECT bool_and((a < b)::int + (a = b)::int + (a > b)::int = 1 AND (a <= b) = (NOT a > b) AND (a >= b) = (NOT a < b) AND (a <> b) = (NOT a = b)
	AND bloomkey_cmp(a, b) = (a > b)::int - (a < b)::int AND (a::text COLLATE "C" < b::text COLLATE "C") = (a < b)) AS ordered
FROM generate_series(1, 50) x, generate_series(1, 50) y, LATERAL (SELECT CASE WHEN x % 2 = 0 THEN bloom_key(x) ELSE bloom_key(x::text) END AS a, CASE WHEN y % 3 = 0 THEN bloom_key(y) ELSE bloom_key(y::text) END AS b) s;
SELECT count(*) FROM (SELECT bloom_key(x) AS k FROM generate_series(1, 1000) x) s
WHERE bloomkey_hash_extended(k, 0)::bit(64)::bit(64) << 32 <> bloomkey_hash(k)::bit(32)::bit(64) OR bloomkey_hash_extended(k, 1) = bloomkey_hash_extended(k, 0);
