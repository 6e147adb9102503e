-- From filters to filters: union and intersection, and their aggregates.
CREATE SCHEMA setops;
SET search_path = setops, public;

CREATE FUNCTION made(kind text, low int, high int, fpr float8 = 0.01) RETURNS bloomfilter IMMUTABLE LANGUAGE sql
AS $$ SELECT bloom_agg(x, fpr, kind) FROM generate_series(low, high) x $$;
-- the keys among some that a filter may contain
CREATE FUNCTION missing(f bloomfilter, low int, high int) RETURNS bigint LANGUAGE sql
AS $$ SELECT count(*) FROM generate_series(low, high) x WHERE NOT f @~ x $$;

-- Filters of many sizes, false positive rates, and both kinds: keys low .. high.
CREATE TABLE sample AS
SELECT row_number() OVER () AS id, kind, low, high, fpr, made(kind, low, high, fpr) AS f
FROM unnest('{standard,blocked}'::text[]) kind,
	(VALUES (1, 1, 0.01), (1, 10, 0.1), (1, 100, 0.01), (51, 150, 0.01), (51, 150, 0.001), (1, 777, 0.05), (500, 1499, 0.01), (1, 5000, 0.01), (4001, 9000, 0.0001)) v(low, high, fpr);

--
-- Laws
--
-- f | f = f & f = f
SELECT count(*), count(*) FILTER (WHERE f | f = f) AS union, count(*) FILTER (WHERE f & f = f) AS intersection,
	count(*) FILTER (WHERE bloom_union(f, f) = f) AS union_function, count(*) FILTER (WHERE bloom_intersect(f, f) = f) AS intersection_function
FROM sample;
-- both are commutative, to the byte
SELECT count(*), count(*) FILTER (WHERE a.f | b.f = b.f | a.f) AS union, count(*) FILTER (WHERE a.f & b.f = b.f & a.f) AS intersection
FROM sample a JOIN sample b USING (kind);
-- the union is associative, whatever the sizes; the intersection among filters of one size
SELECT count(*), count(*) FILTER (WHERE (a.f | b.f) | c.f = a.f | (b.f | c.f)) AS union
FROM sample a JOIN sample b USING (kind) JOIN sample c USING (kind);
SELECT count(*), count(*) FILTER (WHERE (a & b) & c = a & (b & c)) AS intersection
FROM (SELECT kind, (SELECT bloom_agg(x, 0.01, kind, 100) FROM generate_series(i, i + 99) x) FROM unnest('{standard,blocked}'::text[]) kind, generate_series(1, 90, 13) i) a(kind, a)
	JOIN (SELECT kind, (SELECT bloom_agg(x, 0.01, kind, 100) FROM generate_series(i, i + 50) x) FROM unnest('{standard,blocked}'::text[]) kind, generate_series(1, 90, 17) i) b(kind, b) USING (kind)
	JOIN (SELECT kind, (SELECT bloom_agg(x, 0.01, kind, 100) FROM generate_series(i, i + 70) x) FROM unnest('{standard,blocked}'::text[]) kind, generate_series(1, 90, 19) i) c(kind, c) USING (kind);
-- absorption needs one size: f | (f & g) = f
SELECT count(*), count(*) FILTER (WHERE f | (f & g) = f) AS union, count(*) FILTER (WHERE f & (f | g) = f) AS intersection
FROM unnest('{standard,blocked}'::text[]) kind, LATERAL (SELECT bloom_agg(x, 0.01, kind, 100), bloom_agg(x + 50, 0.01, kind, 100) FROM generate_series(1, 100) x) s(f, g);

-- no false negative comes of it, whatever the sizes
SELECT count(*), sum(missing(a.f | b.f, a.low, a.high) + missing(a.f | b.f, b.low, b.high)) AS lost_in_union,
	sum(missing(a.f & b.f, greatest(a.low, b.low), least(a.high, b.high))) AS lost_in_intersection,
	sum(missing((a.f | b.f) & a.f, a.low, a.high)) AS lost_in_both
FROM sample a JOIN sample b USING (kind);
-- of one size, the union has the bits of the filter of all keys, and the intersection contains no more than both
SELECT kind, fpr, substr((f | g)::bytea, 85) = substr(all_of::bytea, 85) AS union, (bloom_info(f | g)).keys_added,
	(SELECT count(*) FROM generate_series(1, 3000) x WHERE (f & g) @~ x <> (f @~ x AND g @~ x)) AS differ, (bloom_info(f & g)).keys_added AS keys_in_both
FROM unnest('{standard,blocked}'::text[]) kind, unnest('{0.1,0.01,0.001}'::float8[]) fpr,
	LATERAL (SELECT bloom_agg(x, fpr, kind, 1000) FILTER (WHERE x <= 600), bloom_agg(x, fpr, kind, 1000) FILTER (WHERE x > 500), bloom_agg(x, fpr, kind, 1000)
		FROM generate_series(1, 1000) x) a(f, g, all_of)
ORDER BY 1, 2;
-- what is predicted for a union of filters of different sizes is what is measured
SELECT kind, count(*), count(*) FILTER (WHERE abs(measured - bloom_fpr(f)) < 0.1 * bloom_fpr(f) + 5 * sqrt(bloom_fpr(f) / 10000)) AS predicted
FROM (SELECT kind, a.f | b.f AS f FROM sample a JOIN sample b USING (kind) WHERE a.id < b.id AND a.high > 100 AND b.high > 100 OFFSET 0) u,
	LATERAL (SELECT count(*) FILTER (WHERE f @~ x) / 10000.0 FROM generate_series(1000001, 1010000) x) m(measured)
GROUP BY 1 ORDER BY 1;
-- the probe agrees with bits: an OR of two contains what either does, at the least
SELECT count(*) FROM sample a JOIN sample b USING (kind), generate_series(1, 10000, 137) x WHERE (a.f @~ x OR b.f @~ x) AND NOT (a.f | b.f) @~ x;
SELECT count(*) FROM sample a JOIN sample b USING (kind), generate_series(1, 10000, 137) x WHERE a.f @~ x AND b.f @~ x AND NOT (a.f & b.f) @~ x;

--
-- The identity: the filter of no rows
--
CREATE TABLE identity AS SELECT bloom_agg(x) AS none, bloom_agg(bloom_key(x)) AS no_type FROM generate_series(1, 0) x;
SELECT count(*), count(*) FILTER (WHERE f | none = f AND none | f = f) AS typed, count(*) FILTER (WHERE f | no_type = f AND no_type | f = f) AS untyped,
	count(*) FILTER (WHERE f & none = none AND none & f = none) AS intersection, count(*) FILTER (WHERE f & no_type = none AND no_type & f = none) AS takes_family
FROM sample, identity;
SELECT none | none = none AS one, none | no_type = none AS two, no_type | no_type = no_type AS three, none & none = none AS four FROM identity;
-- a filter without keys takes the other's family, too
SELECT (bloom_info(bloom_create(10) | bloom_create(10, key_type => 'text'))).key_type, (bloom_info(bloom_create(10) & none)).key_type, (bloom_info(no_type | bloom_create(10))).key_type AS none
FROM identity;
SELECT missing(bloom_create(5000) | f, low, high) FROM sample WHERE kind = 'blocked' AND high = 777;

--
-- What does not go together
--
SELECT made('standard', 1, 10) | made('blocked', 1, 20, 0.001);
SELECT made('blocked', 1, 10) & made('standard', 1, 20, 0.001);
SELECT bloom_add(bloom_create(10), 1) | bloom_add(bloom_create(10), 'a'::text);
SELECT bloom_add(bloom_create(10), 'a'::text) & bloom_add(bloom_create(10), 1);
SELECT bloom_create(10, key_type => 'date') | bloom_create(10, key_type => 'timestamp');
SELECT none | bloom_create(10, key_type => 'text') FROM identity;
SELECT none & bloom_create(10, key_type => 'text') FROM identity;
SELECT bloom_create(10, 0.01, 'standard', 'text') | bloom_create(10, 0.01, 'blocked', 'int4');
SELECT bloom_union_agg(f) FROM (VALUES (bloom_create(10, key_type => 'text')), (bloom_create(10, key_type => 'int4'))) v(f);
SELECT bloom_intersect_agg(f) FROM (VALUES (bloom_create(10, key_type => 'text')), (bloom_create(10, key_type => 'int4'))) v(f);
SELECT bloom_union_agg(f) FROM (VALUES (bloom_create(10)), (bloom_create(10, 0.01, 'standard'))) v(f);
SELECT bloom_intersect_agg(f) FROM (VALUES (bloom_create(10)), (bloom_create(10, 0.01, 'standard'))) v(f);
-- a state that strayed out of an aggregate
CREATE AGGREGATE partial_state(bloomkey) (SFUNC = bloom_agg_key_trans, STYPE = bloomfilter);
SELECT partial_state(bloom_key(x)) | made('blocked', 1, 3) FROM generate_series(1, 3) x;
SELECT made('blocked', 1, 3) & partial_state(bloom_key(x)) FROM generate_series(1, 3) x;
SELECT f | f FROM (SELECT partial_state(bloom_key(x)) FROM generate_series(1, 3) x) s(f);
SELECT f & f FROM (SELECT partial_state(bloom_key(x)) FROM generate_series(1, 3) x) s(f);
SELECT bloom_add(f, 1) FROM (SELECT partial_state(bloom_key(x)) FROM generate_series(1, 3) x) s(f);
SELECT bloom_fold(f, 0.1) FROM (SELECT partial_state(bloom_key(x)) FROM generate_series(1, 3) x) s(f);
SELECT f @~ 2 FROM (SELECT partial_state(bloom_key(x)) FROM generate_series(1, 3) x) s(f);
SELECT bloom_cardinality(f) FROM (SELECT partial_state(bloom_key(x)) FROM generate_series(1, 3) x) s(f);
SELECT bloom_union_agg(f) FROM (SELECT partial_state(bloom_key(x)) FROM generate_series(1, 3) x) s(f);
SELECT bloom_intersect_agg(f) FROM (SELECT partial_state(bloom_key(x)) FROM generate_series(1, 3) x) s(f);
SELECT (bloom_info(f)).kind, (bloom_info(f)).keys_estimated FROM (SELECT partial_state(bloom_key(x)) FROM generate_series(1, 3) x) s(f);

--
-- NULLs: operators are strict, and NULL may contain every key
--
SELECT f | NULL IS NULL AS right, NULL | f IS NULL AS left, f & NULL IS NULL AS and_right, NULL & f IS NULL AS and_left FROM sample WHERE id = 1;

--
-- Aggregates
--
-- the OR of all, in whatever order
SELECT kind, union_agg = (SELECT bloom_union_agg(f ORDER BY id DESC) FROM sample s WHERE s.kind = u.kind) AS any_order,
	union_agg = f1 | f2 | f3 | f4 | f5 | f6 | f7 | f8 | f9 AS operators, missing(union_agg, 1, 9000) AS lost
FROM (SELECT kind, bloom_union_agg(f ORDER BY id), (array_agg(f ORDER BY id))[1] AS f1, (array_agg(f ORDER BY id))[2] AS f2, (array_agg(f ORDER BY id))[3] AS f3,
		(array_agg(f ORDER BY id))[4] AS f4, (array_agg(f ORDER BY id))[5] AS f5, (array_agg(f ORDER BY id))[6] AS f6, (array_agg(f ORDER BY id))[7] AS f7,
		(array_agg(f ORDER BY id))[8] AS f8, (array_agg(f ORDER BY id))[9] AS f9
	FROM sample GROUP BY kind) u(kind, union_agg) ORDER BY 1;
-- the AND of all: of one size in whatever order to the byte, otherwise without loss
SELECT kind, bloom_intersect_agg(f ORDER BY i) = bloom_intersect_agg(f ORDER BY i DESC) AS any_order, missing(bloom_intersect_agg(f), 51, 100) AS lost,
	missing(bloom_intersect_agg(f), 1, 20) > 0 AS less, missing(bloom_intersect_agg(f), 1000, 2000) > 950 AS much_less
FROM (SELECT kind, i, (SELECT bloom_agg(x, 0.01, kind, 100) FROM generate_series(i, i + 99) x) FROM unnest('{standard,blocked}'::text[]) kind, unnest('{1,21,51}'::int[]) i) s(kind, i, f)
GROUP BY 1 ORDER BY 1;
SELECT kind, missing(bloom_intersect_agg(f ORDER BY id), 51, 100) + missing(bloom_intersect_agg(f ORDER BY id DESC), 51, 100) AS lost
FROM sample WHERE low <= 51 AND high >= 100 GROUP BY 1 ORDER BY 1;
-- one filter is itself, twice too
SELECT count(*) FROM sample s WHERE (SELECT bloom_union_agg(f) FROM (SELECT s.f) x) = f AND (SELECT bloom_intersect_agg(f) FROM (SELECT s.f) x) = f
	AND (SELECT bloom_union_agg(f) FROM (SELECT s.f UNION ALL SELECT s.f) x) = f AND (SELECT bloom_intersect_agg(f) FROM (SELECT s.f UNION ALL SELECT s.f) x) = f;
-- no rows: the union is the empty filter of no family, the intersection is not known
SELECT bloom_union_agg(f) = (SELECT no_type FROM identity) AS union, bloom_union_agg(f) @~ 1 AS contains_nothing, (bloom_info(bloom_union_agg(f))).key_type IS NULL AS no_type, bloom_intersect_agg(f) IS NULL AS unknown, bloom_intersect_agg(f) @~ 1 AS may
FROM sample WHERE false;
-- NULL filters: a union that one takes part in may contain every key, an intersection is no smaller for one
SELECT bloom_union_agg(f) IS NULL AS union, bloom_intersect_agg(f) = made('blocked', 1, 10) AS intersection FROM (VALUES (made('blocked', 1, 10)), (NULL)) v(f);
SELECT bloom_union_agg(f) IS NULL AS union, bloom_intersect_agg(f) = made('blocked', 1, 10) AS intersection FROM (VALUES (NULL), (made('blocked', 1, 10)), (made('blocked', 1, 10))) v(f);
SELECT bloom_union_agg(f) IS NULL AS union, bloom_intersect_agg(f) IS NULL AS intersection FROM (VALUES (NULL::bloomfilter), (NULL)) v(f);
-- the filter of no rows among them
SELECT bloom_union_agg(none) = (SELECT none FROM identity) AS one, bloom_intersect_agg(none) = (SELECT none FROM identity) AS one_intersect FROM identity;
SELECT bloom_union_agg(f) = made('blocked', 1, 10) AS first, bloom_intersect_agg(f) = none AS first_intersect FROM identity, LATERAL (VALUES (none), (made('blocked', 1, 10))) v(f) GROUP BY none;
SELECT bloom_union_agg(f) = made('blocked', 1, 10) AS last, bloom_intersect_agg(f) = none AS last_intersect FROM identity, LATERAL (VALUES (made('blocked', 1, 10)), (none)) v(f) GROUP BY none;
SELECT bloom_union_agg(f) = none AS only, bloom_intersect_agg(f) = none AS only_intersect FROM identity, LATERAL (VALUES (none), (none), (no_type)) v(f) GROUP BY none;
-- groups, filters of the aggregate, windows
SELECT high, count(*), missing(bloom_union_agg(f), min(low), max(high)) AS lost, bloom_union_agg(f) FILTER (WHERE id < 0) @~ 1 AS none
FROM sample WHERE kind = 'blocked' GROUP BY ROLLUP (high) ORDER BY 1;
SELECT bool_and(missing(u, 1, reach) = 0 AND missing(i, 1, 1) = 0) AS windows, bool_and(u = (SELECT bloom_union_agg(f) FROM sample s WHERE s.kind = w.kind AND s.id <= w.id AND s.low = 1)) AS same
FROM (SELECT kind, id, bloom_union_agg(f) OVER w AS u, bloom_intersect_agg(f) OVER w AS i, max(high) OVER w AS reach FROM sample WHERE low = 1 WINDOW w AS (PARTITION BY kind ORDER BY id)) w;

--
-- Arguments are not changed: neither stored ones, nor in memory, nor those of an aggregate's state
--
CREATE TABLE before AS SELECT id, f::text AS was FROM sample;
SELECT count(a.f | b.f) + count(a.f & b.f) AS done FROM sample a JOIN sample b USING (kind);
SELECT count(*) FROM sample JOIN before USING (id) WHERE f::text <> was;
DO $$
DECLARE
	a bloomfilter := made('blocked', 1, 100);
	b bloomfilter := made('blocked', 101, 200);
	was_a text := a;
	was_b text := b;
	c bloomfilter;
BEGIN
	c := a | b;
	c := c & a;
	c := bloom_add(c, 5);
	c := (SELECT bloom_union_agg(x) FROM unnest(ARRAY[a, b, c]) x);
	c := (SELECT bloom_intersect_agg(x) FROM unnest(ARRAY[a, b, c]) x);
	RAISE NOTICE 'unchanged: %, %', a::text = was_a, b::text = was_b;
END $$;
SELECT bool_and(first = again) AS unchanged
FROM (SELECT f AS first, bloom_union_agg(f) OVER (ORDER BY id ROWS BETWEEN CURRENT ROW AND 1 FOLLOWING) AS u, (SELECT s.f FROM sample s WHERE s.id = sample.id) AS again FROM sample WHERE kind = 'blocked') x;
