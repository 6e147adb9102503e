-- What is left of the tables for each query, in a schema of its name, if filters drop each row to which the other tables have none, after their
-- conditions: no false positive, and from each table to each other at once, which no order of building them allows.  A table that is not made here is
-- needed whole.  (Where a table is scanned several times in a query, the rows are those that any of the scans needs.)
CREATE SCHEMA q02;
CREATE TABLE q02.partsupp AS SELECT * FROM partsupp
	WHERE ps_partkey IN (SELECT p_partkey FROM part WHERE p_size = 15 AND p_type LIKE '%BRASS')
		AND ps_suppkey IN (SELECT s_suppkey FROM supplier, nation, region
			WHERE s_nationkey = n_nationkey AND n_regionkey = r_regionkey AND r_name = 'EUROPE');
CREATE TABLE q02.supplier AS SELECT * FROM supplier WHERE s_suppkey IN (SELECT ps_suppkey FROM q02.partsupp);
CREATE TABLE q02.part AS SELECT * FROM part
	WHERE p_partkey IN (SELECT ps_partkey FROM partsupp, supplier, nation, region
		WHERE ps_suppkey = s_suppkey AND s_nationkey = n_nationkey AND n_regionkey = r_regionkey AND r_name = 'EUROPE');

CREATE SCHEMA q03;
CREATE TABLE q03.customer AS SELECT * FROM customer
	WHERE c_custkey IN (SELECT o_custkey FROM orders, lineitem
		WHERE o_orderkey = l_orderkey AND o_orderdate < '1995-03-15' AND l_shipdate > '1995-03-15');
CREATE TABLE q03.orders AS SELECT * FROM orders
	WHERE o_custkey IN (SELECT c_custkey FROM customer WHERE c_mktsegment = 'BUILDING')
		AND o_orderkey IN (SELECT l_orderkey FROM lineitem WHERE l_shipdate > '1995-03-15');
CREATE TABLE q03.lineitem AS SELECT * FROM lineitem
	WHERE l_orderkey IN (SELECT o_orderkey FROM orders, customer
		WHERE o_custkey = c_custkey AND c_mktsegment = 'BUILDING' AND o_orderdate < '1995-03-15');

CREATE SCHEMA q04;
CREATE TABLE q04.orders AS SELECT * FROM orders WHERE o_orderkey IN (SELECT l_orderkey FROM lineitem WHERE l_commitdate < l_receiptdate);
CREATE TABLE q04.lineitem AS SELECT * FROM lineitem
	WHERE l_orderkey IN (SELECT o_orderkey FROM orders WHERE o_orderdate >= '1993-07-01' AND o_orderdate < '1993-10-01');

CREATE SCHEMA q05;
CREATE TABLE q05.lineitem AS SELECT lineitem.* FROM lineitem, orders, customer, supplier, nation, region
	WHERE l_orderkey = o_orderkey AND o_custkey = c_custkey AND l_suppkey = s_suppkey AND c_nationkey = s_nationkey AND s_nationkey = n_nationkey
		AND n_regionkey = r_regionkey AND r_name = 'ASIA' AND o_orderdate >= '1994-01-01' AND o_orderdate < '1995-01-01';
CREATE TABLE q05.orders AS SELECT * FROM orders
	WHERE o_orderkey IN (SELECT o_orderkey FROM lineitem, orders, customer, supplier, nation, region
		WHERE l_orderkey = o_orderkey AND o_custkey = c_custkey AND l_suppkey = s_suppkey AND c_nationkey = s_nationkey AND s_nationkey = n_nationkey
			AND n_regionkey = r_regionkey AND r_name = 'ASIA');
CREATE TABLE q05.customer AS SELECT * FROM customer WHERE c_custkey IN (SELECT o_custkey FROM q05.lineitem JOIN orders ON l_orderkey = o_orderkey);
CREATE TABLE q05.supplier AS SELECT * FROM supplier WHERE s_suppkey IN (SELECT l_suppkey FROM q05.lineitem);

CREATE SCHEMA q07;
CREATE TABLE q07.lineitem AS SELECT lineitem.* FROM supplier, lineitem, orders, customer, nation n1, nation n2
	WHERE s_suppkey = l_suppkey AND o_orderkey = l_orderkey AND c_custkey = o_custkey AND s_nationkey = n1.n_nationkey AND c_nationkey = n2.n_nationkey
		AND ((n1.n_name = 'FRANCE' AND n2.n_name = 'GERMANY') OR (n1.n_name = 'GERMANY' AND n2.n_name = 'FRANCE'));
CREATE TABLE q07.orders AS SELECT * FROM orders
	WHERE o_orderkey IN (SELECT l_orderkey FROM q07.lineitem WHERE l_shipdate BETWEEN '1995-01-01' AND '1996-12-31');
CREATE TABLE q07.customer AS SELECT * FROM customer WHERE c_custkey IN (SELECT o_custkey FROM q07.orders);
CREATE TABLE q07.supplier AS SELECT * FROM supplier WHERE s_suppkey IN (SELECT l_suppkey FROM q07.lineitem);

CREATE SCHEMA q08;
CREATE TABLE q08.lineitem AS SELECT lineitem.* FROM part, lineitem, orders, customer, nation, region
	WHERE p_partkey = l_partkey AND l_orderkey = o_orderkey AND o_custkey = c_custkey AND c_nationkey = n_nationkey AND n_regionkey = r_regionkey
		AND r_name = 'AMERICA' AND o_orderdate BETWEEN '1995-01-01' AND '1996-12-31' AND p_type = 'ECONOMY ANODIZED STEEL';
CREATE TABLE q08.orders AS SELECT * FROM orders
	WHERE o_custkey IN (SELECT c_custkey FROM customer, nation, region
			WHERE c_nationkey = n_nationkey AND n_regionkey = r_regionkey AND r_name = 'AMERICA')
		AND o_orderkey IN (SELECT l_orderkey FROM lineitem, part WHERE l_partkey = p_partkey AND p_type = 'ECONOMY ANODIZED STEEL');
CREATE TABLE q08.customer AS SELECT * FROM customer WHERE c_custkey IN (SELECT o_custkey FROM q08.lineitem, orders WHERE l_orderkey = o_orderkey);

CREATE SCHEMA q09;
CREATE TABLE q09.partsupp AS SELECT * FROM partsupp WHERE ps_partkey IN (SELECT p_partkey FROM part WHERE p_name LIKE '%green%');
CREATE TABLE q09.lineitem AS SELECT * FROM lineitem WHERE l_partkey IN (SELECT p_partkey FROM part WHERE p_name LIKE '%green%');
CREATE TABLE q09.orders AS SELECT * FROM orders WHERE o_orderkey IN (SELECT l_orderkey FROM q09.lineitem);

CREATE SCHEMA q10;
CREATE TABLE q10.lineitem AS SELECT * FROM lineitem
	WHERE l_orderkey IN (SELECT o_orderkey FROM orders WHERE o_orderdate >= '1993-10-01' AND o_orderdate < '1994-01-01');
CREATE TABLE q10.orders AS SELECT * FROM orders WHERE o_orderkey IN (SELECT l_orderkey FROM lineitem WHERE l_returnflag = 'R');
CREATE TABLE q10.customer AS SELECT * FROM customer
	WHERE c_custkey IN (SELECT o_custkey FROM q10.orders WHERE o_orderdate >= '1993-10-01' AND o_orderdate < '1994-01-01');

CREATE SCHEMA q11;
CREATE TABLE q11.partsupp AS SELECT * FROM partsupp
	WHERE ps_suppkey IN (SELECT s_suppkey FROM supplier JOIN nation ON s_nationkey = n_nationkey WHERE n_name = 'GERMANY');

CREATE SCHEMA q12;
CREATE TABLE q12.orders AS SELECT * FROM orders
	WHERE o_orderkey IN (SELECT l_orderkey FROM lineitem WHERE l_shipmode IN ('MAIL', 'SHIP') AND l_commitdate < l_receiptdate
		AND l_shipdate < l_commitdate AND l_receiptdate >= '1994-01-01' AND l_receiptdate < '1995-01-01');

CREATE SCHEMA q14;
CREATE TABLE q14.part AS SELECT * FROM part
	WHERE p_partkey IN (SELECT l_partkey FROM lineitem WHERE l_shipdate >= '1995-09-01' AND l_shipdate < '1995-10-01');

CREATE SCHEMA q16;
CREATE TABLE q16.partsupp AS SELECT * FROM partsupp
	WHERE ps_partkey IN (SELECT p_partkey FROM part
		WHERE p_brand <> 'Brand#45' AND p_type NOT LIKE 'MEDIUM POLISHED%' AND p_size IN (49, 14, 23, 45, 19, 3, 36, 9));

CREATE SCHEMA q17;
CREATE TABLE q17.lineitem AS SELECT * FROM lineitem
	WHERE l_partkey IN (SELECT p_partkey FROM part WHERE p_brand = 'Brand#23' AND p_container = 'MED BOX');

CREATE SCHEMA q18;
CREATE TABLE q18.orders AS SELECT * FROM orders
	WHERE o_orderkey IN (SELECT l_orderkey FROM lineitem GROUP BY l_orderkey HAVING sum(l_quantity) > 300);
CREATE TABLE q18.customer AS SELECT * FROM customer WHERE c_custkey IN (SELECT o_custkey FROM q18.orders);

CREATE SCHEMA q19;
CREATE TABLE q19.lineitem AS SELECT * FROM lineitem
	WHERE l_partkey IN (SELECT p_partkey FROM part
		WHERE (p_brand = 'Brand#12' AND p_container IN ('SM CASE', 'SM BOX', 'SM PACK', 'SM PKG') AND p_size BETWEEN 1 AND 5)
			OR (p_brand = 'Brand#23' AND p_container IN ('MED BAG', 'MED BOX', 'MED PKG', 'MED PACK') AND p_size BETWEEN 1 AND 10)
			OR (p_brand = 'Brand#34' AND p_container IN ('LG CASE', 'LG BOX', 'LG PACK', 'LG PKG') AND p_size BETWEEN 1 AND 15));

CREATE SCHEMA q20;
CREATE TABLE q20.partsupp AS SELECT * FROM partsupp
	WHERE ps_partkey IN (SELECT p_partkey FROM part WHERE p_name LIKE 'forest%')
		AND ps_suppkey IN (SELECT s_suppkey FROM supplier JOIN nation ON s_nationkey = n_nationkey WHERE n_name = 'CANADA');
CREATE TABLE q20.lineitem AS SELECT * FROM lineitem WHERE (l_partkey, l_suppkey) IN (SELECT ps_partkey, ps_suppkey FROM q20.partsupp);

CREATE SCHEMA q21;
CREATE TABLE q21.lineitem AS SELECT * FROM lineitem
	WHERE l_orderkey IN (SELECT l_orderkey FROM lineitem JOIN supplier ON l_suppkey = s_suppkey JOIN nation ON s_nationkey = n_nationkey
		JOIN orders ON l_orderkey = o_orderkey WHERE n_name = 'SAUDI ARABIA' AND l_receiptdate > l_commitdate AND o_orderstatus = 'F');
CREATE TABLE q21.orders AS SELECT * FROM orders WHERE o_orderkey IN (SELECT l_orderkey FROM q21.lineitem);

CREATE SCHEMA q22;
CREATE TABLE q22.orders AS SELECT * FROM orders
	WHERE o_custkey IN (SELECT c_custkey FROM customer WHERE substring(c_phone FROM 1 FOR 2) IN ('13', '31', '23', '29', '30', '18', '17')
		AND c_acctbal > (SELECT avg(c_acctbal) FROM customer
			WHERE c_acctbal > 0.00 AND substring(c_phone FROM 1 FOR 2) IN ('13', '31', '23', '29', '30', '18', '17')));

-- the keys of the whole tables, and statistics
DO $$
DECLARE
	kept record;
BEGIN
	FOR kept IN
		SELECT c.oid::regclass AS name, relname FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace WHERE nspname ~ '^q\d\d$' AND relkind = 'r'
	LOOP
		EXECUTE format('ALTER TABLE %s ADD PRIMARY KEY (%s)', kept.name,
			CASE kept.relname
				WHEN 'customer' THEN 'c_custkey'
				WHEN 'lineitem' THEN 'l_orderkey, l_linenumber'
				WHEN 'orders' THEN 'o_orderkey'
				WHEN 'part' THEN 'p_partkey'
				WHEN 'partsupp' THEN 'ps_partkey, ps_suppkey'
				WHEN 'supplier' THEN 's_suppkey'
			END);
		IF kept.relname = 'lineitem' THEN
			EXECUTE format('CREATE INDEX ON %s (l_partkey, l_suppkey)', kept.name);
		END IF;
	END LOOP;
END
$$;
VACUUM ANALYZE;
