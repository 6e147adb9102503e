-- SPDX-License-Identifier: PostgreSQL
-- How many rows and keys pass each filter.

DO $$
DECLARE
	j record;
	a bigint;
	p bigint;
	k bigint;
	kp bigint;
BEGIN
	FOR j IN SELECT * FROM join_queries ORDER BY id LOOP
		EXECUTE j.all_rows INTO a;
		EXECUTE j.passing_rows INTO p;
		EXECUTE j.absent_keys INTO k, kp;
		INSERT INTO counts VALUES (j.id, a, p, k, kp);
	END LOOP;
END
$$;

CREATE VIEW results AS
	SELECT j.id, j.name, j.question,
		   i.keys_estimated AS keys, i.bytes AS filter_bytes, f.build_ms,
		   c.all_rows, c.passing_rows, m.rows AS matching_rows,
		   m.rounds, m.without_ms, m.with_ms, m.automatic_ms, m.without_ms / m.with_ms AS speedup,
		   m.without_ms / m.automatic_ms AS speedup_automatic,
		   m.without_ms / (m.with_ms + f.build_ms) AS speedup_with_build,
		   bloom_fpr(f.f) AS predicted,
		   c.absent_keys, c.absent_passing,
		   c.absent_passing / nullif(c.absent_keys, 0)::float8 AS measured_keys,
		   (c.passing_rows - m.rows) / nullif(c.all_rows - m.rows, 0)::float8 AS measured_rows
	FROM joins j
	JOIN filters f USING (name)
	JOIN counts c USING (id)
	JOIN (SELECT id,
				 min(rows) AS rows,
				 max(round) AS rounds,
				 percentile_cont(0.5) WITHIN GROUP (ORDER BY ms) FILTER (WHERE way = 'without' AND round > 0) AS without_ms,
				 percentile_cont(0.5) WITHIN GROUP (ORDER BY ms) FILTER (WHERE way = 'with' AND round > 0) AS with_ms,
				 percentile_cont(0.5) WITHIN GROUP (ORDER BY ms) FILTER (WHERE way = 'automatic' AND round > 0) AS automatic_ms
		  FROM runs GROUP BY id) m USING (id),
		LATERAL bloom_info(f.f) AS i;

-- Figures as a person reads them: a whole number, milliseconds as seconds, a share as percent.
CREATE FUNCTION n(bigint) RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT trim(to_char($1, '999,999,999,999')) $$;
CREATE FUNCTION s(float8) RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT trim(to_char($1 / 1000, '9990.00')) $$;
CREATE FUNCTION p(float8) RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT trim(to_char($1 * 100, '990.000')) $$;
