-- SPDX-License-Identifier: PostgreSQL
-- The promise: no row is lost.  An error here fails the demo.

DO $$
DECLARE
	j record;
	d record;
	missing bigint;
BEGIN
	FOR j IN SELECT * FROM joins ORDER BY id LOOP
		SELECT count(DISTINCT (rows, checksum)) AS results, min(rows) AS low, max(rows) AS high, count(*) AS runs
			INTO d FROM runs WHERE id = j.id;
		IF d.results <> 1 THEN
			RAISE EXCEPTION 'join % gave % different results over its runs (% to % rows)', j.id, d.results, d.low, d.high;
		END IF;
		IF d.high = 0 THEN
			RAISE EXCEPTION 'join % has no result: nothing was tested', j.id;
		END IF;

		EXECUTE format('SELECT count(*) FROM (%s) AS d (key) WHERE bloom_may_contain($1, key) IS NOT TRUE', j.dim)
			INTO missing USING (SELECT f FROM filters WHERE name = j.name);
		IF missing > 0 THEN
			RAISE EXCEPTION 'the filter "%" denies % keys that were added to it', j.name, missing;
		END IF;

		RAISE INFO '%', format('       join %s: %s rows and the same checksum in all %s runs; every key of the dimension passes its filter',
			j.id, trim(to_char(d.high, '999,999,999')), d.runs);
	END LOOP;
END
$$;
