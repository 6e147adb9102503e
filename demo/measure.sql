-- Each join without and with its filter, in turns, so that a slow moment of the machine meets both.  Round 0 warms up; on a
-- slow machine three rounds must do.

DO $$
DECLARE
	start timestamptz := clock_timestamp();
	r int;
	j record;
	filtered boolean;
	began timestamptz;
	ms float8[];
	n bigint;
	s numeric;
BEGIN
	FOR r IN 0 .. current_setting('demo.rounds')::int LOOP
		FOR j IN SELECT * FROM join_queries ORDER BY id LOOP
			ms := ARRAY[0, 0];
			FOREACH filtered IN ARRAY ARRAY[r % 2 = 1, r % 2 = 0] LOOP
				began := clock_timestamp();
				EXECUTE CASE WHEN filtered THEN j.with_filter ELSE j.without_filter END INTO n, s;
				ms[filtered::int + 1] := extract(epoch FROM clock_timestamp() - began) * 1000;
				INSERT INTO runs VALUES (j.id, filtered, r, ms[filtered::int + 1], n, s);
			END LOOP;
			RAISE INFO '%', format('       %s  join %s: without %s s, with %s s',
				CASE WHEN r = 0 THEN 'warm-up' ELSE 'round ' || r END, j.id,
				to_char(ms[1] / 1000, '0.00'), to_char(ms[2] / 1000, '0.00'));
		END LOOP;
		EXIT WHEN r >= 3 AND clock_timestamp() - start > '25 s';
	END LOOP;
END
$$;
