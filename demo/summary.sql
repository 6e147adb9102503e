-- SPDX-License-Identifier: PostgreSQL
-- The summary, as text.

SELECT format(E'\nJoin %s: %s\n', id, question)
	|| format(E'  rows of the fact / of them matching   %s / %s (%s %%)\n',
			  n(all_rows), n(matching_rows), round((100.0 * matching_rows / all_rows)::numeric, 2))
	|| format(E'  filter                                %s keys in %s, built in %s s\n',
			  n(keys), pg_size_pretty(filter_bytes), s(build_ms))
	|| format(E'  rows that reach the join              %s without, %s with: %s %% dropped before it\n',
			  n(all_rows), n(passing_rows), round(100 * (1 - passing_rows / all_rows::numeric), 1))
	|| format(E'  rows lost                             none: %s rows and the same checksum all ways\n', n(matching_rows))
	|| format(E'  false positives, predicted            %s %%\n', p(predicted))
	|| format(E'  false positives, measured             %s %% of %s absent keys (sampling error: +- %s %%), %s %% of the rows\n',
			  p(measured_keys), n(absent_keys), p(sqrt(predicted * (1 - predicted) / absent_keys)), p(measured_rows))
	|| format(E'  time, median of %s rounds              %s s without, %s s with: %s times as fast (%s with the build of the filter)\n',
			  rounds, s(without_ms), s(with_ms), round(speedup::numeric, 1), round(speedup_with_build::numeric, 1))
	|| format(E'  ... SQL unchanged, automatic filter   %s s, the build of the filter in it: %s times as fast',
			  s(automatic_ms), round(speedup_automatic::numeric, 1))
FROM results ORDER BY id;

SELECT E'\nBy row, a key counts as often as the fact holds it (a package with 10,000 files 10,000 times); the prediction is by key.';

SELECT E'\nFrom the answer to join 2: ' || string_agg(format('/%s (%s and %s)', path, i, a), ', ')
FROM (SELECT i.path, min(i.package) AS i, min(a.package) AS a
	  FROM files_indep AS i JOIN files_arch AS a USING (path)
	  WHERE bloom_may_contain((SELECT f FROM filters WHERE name = 'paths'), i.path) AND i.path LIKE 'usr/bin/%'
	  GROUP BY i.path ORDER BY length(i.path), i.path LIMIT 3) AS few;
