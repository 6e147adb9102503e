-- SPDX-License-Identifier: PostgreSQL
-- The bars of the picture: panel, place on the x axis, series, height, label.

COPY (
SELECT b.*
FROM results,
	LATERAL (VALUES
		('rows', 3 * id - 2, 'without', all_rows / 1e6, to_char(all_rows / 1e6, 'FM990.00')),
		('rows', 3 * id - 1, 'with', passing_rows / 1e6, to_char(passing_rows / 1e6, 'FM990.00')),
		('time', 4 * id - 3, 'without', without_ms / 1000, s(without_ms)),
		('time', 4 * id - 2, 'with', with_ms / 1000, s(with_ms) || '\n(' || to_char(speedup, 'FM990.0') || ' x)'),
		('time', 4 * id - 1, 'automatic', automatic_ms / 1000, s(automatic_ms) || '\n(' || to_char(speedup_automatic, 'FM990.0') || ' x)'),
		('fpr', 4 * id - 3, 'predicted', predicted * 100, to_char(predicted * 100, 'FM990.00')),
		('fpr', 4 * id - 2, 'keys', measured_keys * 100, to_char(measured_keys * 100, 'FM990.00')),
		('fpr', 4 * id - 1, 'rows', measured_rows * 100, to_char(measured_rows * 100, 'FM990.00'))
	) AS b (panel, x, series, height, label)
ORDER BY panel, x
) TO STDOUT (FORMAT csv);
