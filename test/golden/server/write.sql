-- The values: each kind, each family, and what becomes of filters.
CREATE TABLE made (name text, source text, f bloomfilter);
DO $$
DECLARE
	s record;
	k text;
BEGIN
	FOR s IN SELECT * FROM golden.source LOOP
		EXECUTE format('INSERT INTO made SELECT ''built'', $1, bloom_agg(%s) FROM generate_series(1, 100) g', s.key) USING s.name;
		EXECUTE format('INSERT INTO made SELECT ''expected'', $1, bloom_agg(%s, 0.01, ''standard'', 100) FROM generate_series(1, 100) g', s.key) USING s.name;
		CONTINUE WHEN s.name NOT IN ('int', 'text', 'uuid');
		FOREACH k IN ARRAY ARRAY['standard', 'partitioned', 'parquet', 'counting', 'scalable', 'cuckoo', 'xor', 'xor_plus', 'binary_fuse', 'ribbon'] LOOP
			EXECUTE format('INSERT INTO made SELECT ''built'', $1, bloom_agg(%s, 0.01, $2) FROM generate_series(1, 100) g', s.key) USING s.name, k;
			EXECUTE format('INSERT INTO made SELECT ''low rate'', $1, bloom_agg(%s, 0.0001, $2) FROM generate_series(1, 100) g', s.key) USING s.name, k;
		END LOOP;
	END LOOP;
END $$;
INSERT INTO made SELECT 'united', 'int', bloom_agg(g, 0.01, k, 50) FILTER (WHERE g <= 50) | bloom_agg(g, 0.01, k, 50) FILTER (WHERE g > 50)
	FROM generate_series(1, 100) g, unnest('{standard,partitioned,blocked,parquet,counting,scalable}'::text[]) k GROUP BY k;
INSERT INTO made SELECT 'united, of two sizes', 'int', bloom_agg(g, 0.01, k, 70) FILTER (WHERE g <= 50) | bloom_agg(g, 0.01, k, 300) FILTER (WHERE g > 50)
	FROM generate_series(1, 100) g, unnest('{standard,partitioned,blocked,parquet,counting}'::text[]) k GROUP BY k;
INSERT INTO made SELECT 'intersected', 'int', bloom_agg(g, 0.01, k, 150) FILTER (WHERE g <= 150) & bloom_agg(g, 0.01, k, 150) FILTER (WHERE g <= 100 OR g > 1900)
	FROM generate_series(1, 2000) g, unnest('{standard,partitioned,blocked,parquet,counting}'::text[]) k GROUP BY k;
INSERT INTO made SELECT 'folded', 'int', bloom_fold(bloom_agg(g, 0.01, k, 3000), 0.02)
	FROM generate_series(1, 100) g, unnest('{standard,partitioned,blocked,parquet,counting,scalable}'::text[]) k GROUP BY k;
INSERT INTO made SELECT 'removed', 'int', bloom_remove_all(bloom_agg(g, 0.01, k, 150), (SELECT array_agg(r) FROM generate_series(101, 120) r))
	FROM generate_series(1, 120) g, unnest('{counting,cuckoo}'::text[]) k GROUP BY k;
INSERT INTO made SELECT 'repeated', 'int', bloom_agg(1 + g % 100, 0.01, 'counting') FROM generate_series(1, 1700) g;
INSERT INTO made SELECT 'grown', 'int', bloom_add_all(bloom_create(10, 0.01, 'scalable'), array_agg(g)) FROM generate_series(1, 100) g;
INSERT INTO made SELECT 'of Parquet', 'int', bloom_from_parquet(bloom_to_parquet(bloom_agg(g, 0.01, 'parquet')), 'int') FROM generate_series(1, 100) g;
INSERT INTO made SELECT 'of no rows', 'int', bloom_agg(g) FROM generate_series(1, 100) g WHERE g < 0;

\pset format unaligned
SELECT format('INSERT INTO golden.value VALUES (%L, %L, %L, %L, %L, %L, %L, %L, %L);', made.name, source, i.kind, i.keys_added, i.capacity, a.hits, a.false_positives, a.hashed, f::bytea)
FROM made JOIN golden.source s ON s.name = made.source, bloom_info(f) i, golden.answers(key, f) a ORDER BY made.name, source, i.kind, i.target_fpr;
