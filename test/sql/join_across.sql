--
-- Join filters go down all columns that joins below make equal to their key.
--
ALTER DATABASE :"DBNAME" SET session_preload_libraries = 'bloomfam';
\c -
CREATE SCHEMA join_across;
SET search_path = join_across, public;
SET bloomfam.join_filter = on;
SET max_parallel_workers_per_gather = 0;
SET enable_nestloop = off;
SET enable_mergejoin = off;
SET jit = off;
SET work_mem = '16MB';
SET compute_query_id = off;
SET join_collapse_limit = 1;

\getenv folder PG_ABS_SRCDIR
\set file :folder '/sql/include/compare.sql'
\i :file
\set file :folder '/sql/include/analyzed.sql'
\i :file

CREATE TABLE orders AS SELECT g % 5000 AS customer, g AS n, g % 11 AS kind FROM generate_series(1, 30000) g;
CREATE TABLE payments AS SELECT g * 7 % 5000 AS customer, g AS n, g % 11 AS kind FROM generate_series(1, 20000) g;
CREATE TABLE visits AS SELECT g * 11 % 5000 AS customer, (g * 11 % 5000)::bigint AS big, g AS n FROM generate_series(1, 20000) g;
CREATE TABLE customers AS SELECT g AS customer, g::bigint AS big, g % 100 AS class FROM generate_series(0, 4999) g;
INSERT INTO payments VALUES (NULL, 0, 0);
VACUUM ANALYZE orders, payments, visits, customers;

-- three tables, and the one that is asked for comes last
SELECT analyzed('SELECT count(*) FROM orders o JOIN payments p USING (customer) JOIN visits v USING (customer) JOIN customers c USING (customer) WHERE class = 42');

-- the key may be on either side of the join below; and there may be more columns to that
CREATE FUNCTION probes(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line text;
	keys text[];
BEGIN
	SET LOCAL bloomfam.join_filter = force;
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		keys := keys || substring(line FROM 'Bloom Filter \d+: (\(.*\) of the join with \((?:c|customers)\..*\))');
	END LOOP;
	RETURN array_to_string(keys, ', ');
END $$;
CREATE TABLE queries (n int, query text);
INSERT INTO queries VALUES
	(1, 'SELECT o.n, p.n AS m FROM orders o JOIN payments p ON o.customer = p.customer JOIN customers c ON c.customer = p.customer WHERE class = 42'),
	(2, 'SELECT o.n, p.n AS m FROM orders o JOIN payments p ON o.customer = p.customer AND o.kind = p.kind JOIN customers c ON c.customer = o.customer WHERE class = 42'),
	(3, 'SELECT o.n FROM (SELECT * FROM orders o WHERE EXISTS (SELECT FROM payments p WHERE o.customer = p.customer AND p.kind = 3)) o JOIN customers c ON c.customer = o.customer WHERE class = 42'),
	-- types that the same operator family compares
	(4, 'SELECT o.n, p.n AS m FROM orders o JOIN payments p ON o.customer = p.customer JOIN customers c ON c.big = o.customer WHERE class = 42'),
	(5, 'SELECT o.n, p.total FROM orders o JOIN (SELECT customer, sum(n) AS total FROM payments GROUP BY customer) p ON o.customer = p.customer JOIN customers c ON c.customer = o.customer WHERE class = 42'),
	(6, 'SELECT o.n, p.n AS m FROM orders o JOIN payments p ON o.customer = p.customer WHERE EXISTS (SELECT FROM customers c WHERE c.customer = o.customer AND class = 42)'),
	-- not down a column of another type, nor the side of which all rows count, nor a second column
	(10, 'SELECT o.n, v.n AS m FROM orders o JOIN visits v ON o.customer = v.big JOIN customers c ON c.customer = o.customer WHERE class = 42'),
	(11, 'SELECT o.n, p.n AS m FROM orders o LEFT JOIN payments p ON o.customer = p.customer JOIN customers c ON c.customer = o.customer WHERE class = 42'),
	(12, 'SELECT o.n, p.n AS m FROM orders o FULL JOIN payments p ON o.customer = p.customer JOIN customers c ON c.customer = o.customer WHERE class = 42'),
	(13, 'SELECT o.n, p.n AS m FROM orders o JOIN payments p ON o.customer = p.customer JOIN customers c ON c.customer = o.customer AND c.class = o.kind'),
	(14, 'SELECT o.n FROM (SELECT * FROM orders o WHERE NOT EXISTS (SELECT FROM payments p WHERE o.customer = p.customer AND p.kind = 3)) o JOIN customers c ON c.customer = o.customer WHERE class = 42'),
	-- also keys that an aggregate computes, which may come out otherwise the next time, unless the join is executed again
	(20, 'SELECT o.n, p.n AS m FROM orders o JOIN payments p ON o.customer = p.customer JOIN (SELECT class, max(customer) AS customer FROM customers GROUP BY class) c ON c.customer = o.customer'),
	(21, 'SELECT o.n, p.n AS m FROM orders o JOIN payments p ON o.customer = p.customer JOIN (SELECT DISTINCT ON (class) class, customer FROM customers ORDER BY class) c ON c.customer = o.customer'),
	(22, 'SELECT o.n, p.n AS m FROM orders o JOIN payments p ON o.customer = p.customer JOIN (SELECT DISTINCT customer FROM customers WHERE class = 42) c ON c.customer = o.customer'),
	(23, 'SELECT y.* FROM generate_series(1, 2) i CROSS JOIN LATERAL (SELECT i AS n, p.n AS m FROM orders o JOIN payments p ON o.customer = p.customer JOIN (SELECT class, max(customer) AS customer FROM customers GROUP BY class) c ON c.customer = o.customer OFFSET 0) y');
SELECT n, (join_compare(query)).*, probes(query) FROM queries ORDER BY n;

-- a subquery that is asked again, of which the hash table below is kept
SELECT (join_compare('SELECT class, (SELECT count(*) FROM orders o JOIN payments p ON o.customer = p.customer JOIN customers c ON c.customer = o.customer WHERE c.class = d.class)
	FROM generate_series(40, 45) AS d (class)')).*;

-- partitions of both
CREATE TABLE parts (customer int, n int) PARTITION BY RANGE (customer);
CREATE TABLE parts_0 PARTITION OF parts FOR VALUES FROM (0) TO (2500);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM (2500) TO (5000);
INSERT INTO parts SELECT customer, n FROM orders;
VACUUM ANALYZE parts;
SELECT analyzed('SELECT count(*) FROM orders o JOIN parts p USING (customer) JOIN customers c USING (customer) WHERE class = 42 AND c.customer < 1000');

SET client_min_messages = warning;
DROP SCHEMA join_across CASCADE;
ALTER DATABASE :"DBNAME" RESET session_preload_libraries;
