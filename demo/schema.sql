-- SPDX-License-Identifier: PostgreSQL
-- The tables of the demo.

CREATE EXTENSION bloomfam;
CREATE EXTENSION pg_prewarm;

-- The fact: who ships what.  One row a file and package, in two parts: packages that are the same on every architecture, and
-- packages built for this one.
CREATE UNLOGGED TABLE files (
	path text NOT NULL,
	package text NOT NULL,
	arch text NOT NULL
) PARTITION BY LIST (arch);
CREATE UNLOGGED TABLE files_indep PARTITION OF files FOR VALUES IN ('all');
CREATE UNLOGGED TABLE files_arch PARTITION OF files FOR VALUES IN (:'arch');

-- The dimension: what a package is.
CREATE UNLOGGED TABLE packages (
	package text NOT NULL,
	section text,
	priority text,
	arch text,
	installed_kb bigint,
	maintainer text
);

-- The filters: ordinary values in an ordinary table.
CREATE TABLE filters (
	name text PRIMARY KEY,
	f bloomfilter NOT NULL,
	build_ms float8
);

-- The joins.  Everything that is run is made from these columns.
CREATE TABLE joins (
	id int PRIMARY KEY,
	name text NOT NULL REFERENCES filters,
	question text NOT NULL,
	fact text NOT NULL,
	key text NOT NULL,
	dim text NOT NULL,			-- the sub-select that gives the keys
	one_in int NOT NULL			-- how many of the fact's distinct keys are tested for the FPR by key: one in so many
);

-- count and sum over the rows of the result tell whether all ways give the same rows.
CREATE VIEW join_queries AS
	SELECT id, name, probe,
		   format('SELECT %s FROM %I WHERE %s', what, fact, plain) AS without_filter,
		   format('SELECT %s FROM %I WHERE %s AND %s', what, fact, probe, plain) AS with_filter,
		   format('SELECT count(*) FROM %I', fact) AS all_rows,
		   format('SELECT count(*) FROM %I WHERE %s', fact, probe) AS passing_rows,
		   format('SELECT count(*), count(*) FILTER (WHERE %1$s) FROM (SELECT DISTINCT %2$I FROM %3$I WHERE hashtext(%2$I) %% %4$s = 0) f'
				  ' WHERE NOT EXISTS (SELECT FROM (%5$s) AS d (key) WHERE d.key = f.%2$I)', probe, key, fact, one_in, dim) AS absent_keys
	FROM joins,
		LATERAL (SELECT format('bloom_may_contain((SELECT f FROM filters WHERE name = %L), %I)', name, key) AS probe,
						format('%I IN (%s)', key, dim) AS plain,
						'count(*), sum(hashtextextended(path, hashtext(package)))' AS what) AS parts;

-- What was measured.
CREATE TABLE runs (
	id int NOT NULL,
	way text NOT NULL,			-- 'without' a filter, 'with' it, 'automatic': without, but for bloomfam.join_filter
	round int NOT NULL,			-- 0: warming up, not counted
	ms float8 NOT NULL,
	rows bigint NOT NULL,
	checksum numeric
);

CREATE TABLE counts (
	id int NOT NULL,
	all_rows bigint NOT NULL,			-- rows of the fact
	passing_rows bigint NOT NULL,		-- rows that pass the filter
	absent_keys bigint NOT NULL,		-- distinct keys of the fact (of those tested) that are not in the dimension
	absent_passing bigint NOT NULL		-- of these, those that pass the filter
);
