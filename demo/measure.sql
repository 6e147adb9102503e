-- SPDX-License-Identifier: PostgreSQL
-- Each join without and with its filter, and as it was with automatic join filters, in turns, so that a slow moment of the
-- machine meets all.  Round 0 warms up; on a slow machine three rounds must do.

DO $$
DECLARE
	start timestamptz := clock_timestamp();
	r int;
	j record;
	ways text[] := ARRAY['without', 'with', 'automatic'];
	w int;
	began timestamptz;
	ms float8[];
	n bigint;
	s numeric;
BEGIN
	FOR r IN 0 .. current_setting('demo.rounds')::int LOOP
		FOR j IN SELECT * FROM join_queries ORDER BY id LOOP
			ms := ARRAY[0, 0, 0];
			FOREACH w IN ARRAY ARRAY[r % 3 + 1, (r + 1) % 3 + 1, (r + 2) % 3 + 1] LOOP
				PERFORM set_config('bloomfam.join_filter', CASE ways[w] WHEN 'automatic' THEN 'on' ELSE 'off' END, true);
				began := clock_timestamp();
				EXECUTE CASE ways[w] WHEN 'with' THEN j.with_filter ELSE j.without_filter END INTO n, s;
				ms[w] := extract(epoch FROM clock_timestamp() - began) * 1000;
				INSERT INTO runs VALUES (j.id, ways[w], r, ms[w], n, s);
			END LOOP;
			RAISE INFO '%', format('       %s  join %s: without %s s, with %s s, automatic %s s',
				CASE WHEN r = 0 THEN 'warm-up' ELSE 'round ' || r END, j.id,
				to_char(ms[1] / 1000, '0.00'), to_char(ms[2] / 1000, '0.00'), to_char(ms[3] / 1000, '0.00'));
		END LOOP;
		EXIT WHEN r >= 3 AND clock_timestamp() - start > '25 s';
	END LOOP;
END
$$;
