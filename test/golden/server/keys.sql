-- The keys of the values in this folder: of each family, by number.  The numbers 1 to 100 are in a filter, 1001 to 2000 are not.
CREATE SCHEMA golden;
CREATE TYPE golden.mood AS ENUM ('sad', 'ok', 'glad');
SET TimeZone = 'UTC';
CREATE TABLE golden.source (name text PRIMARY KEY, key text);
INSERT INTO golden.source VALUES
('smallint', 'g::smallint'), ('int', 'g'), ('bigint', 'g * 10000000019'), ('real', 'g / 8::real'), ('double precision', 'g / 7::float8'), ('numeric', 'g / 8.0'),
('numeric 2', '-g * 1e30'), ('boolean', 'g % 2 = 0'), ('text', '''key '' || g'), ('long text', 'repeat(''k'' || g, 100)'), ('varchar', '(''key '' || g)::varchar'), ('char', '(''k'' || g)::char(9)'),
('name', '(''key '' || g)::name'), ('"char"', 'chr(33 + g % 90)::"char"'), ('bytea', 'decode(md5(g::text), ''hex'')'), ('uuid', 'md5(g::text)::uuid'),
('date', 'date ''2024-01-01'' + g'), ('time', 'time ''00:00'' + g * interval ''1 second'''), ('timetz', '(time ''00:00'' + g * interval ''1 second'')::timetz'),
('timestamp', 'timestamp ''2024-01-01'' + g * interval ''1 minute'''), ('timestamptz', 'timestamptz ''2024-01-01'' + g * interval ''1 minute'''),
('interval', 'g * interval ''1 hour'''), ('oid', 'g::oid'), ('inet', 'inet ''10.0.0.0'' + g'), ('cidr', 'set_masklen((inet ''10.0.0.0'' + g * 256)::cidr, 24)'),
('macaddr', 'lpad(to_hex(g), 12, ''08'')::macaddr'), ('macaddr8', 'lpad(to_hex(g), 16, ''08'')::macaddr8'), ('pg_lsn', '(''1/'' || to_hex(g))::pg_lsn'),
('bit', 'g::bit(16)'), ('varbit', 'g::bit(16)::varbit'), ('enum', '(enum_range(NULL::golden.mood))[1 + g % 3]'),
('array', 'ARRAY[g, NULL, g + 1]'), ('array of text', 'ARRAY[''a'' || g, ''b'']'), ('range', 'int4range(g, g + 9)'), ('multirange', 'int4multirange(int4range(g, g + 9))'),
('row', '(g, ''a'' || g, NULL::text)'), ('bloomkey', 'bloom_key(g)');

-- how often a filter passes the keys that are in it, and others; and a digest of some hashed keys
CREATE FUNCTION golden.answers(key text, f bloomfilter, OUT hits bigint, OUT false_positives bigint, OUT hashed text) LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('SELECT count(*) FILTER (WHERE $1 @~ (%1$s) AND g <= 100), count(*) FILTER (WHERE $1 @~ (%1$s) AND g > 1000) FROM (SELECT generate_series(1, 100) UNION ALL SELECT generate_series(1001, 2000)) s(g)', key)
	INTO hits, false_positives USING f;
	EXECUTE format('SELECT md5(string_agg(bloom_key(%s)::text, '' '' ORDER BY g)) FROM generate_series(1, 100) g', key) INTO hashed;
END $$;
CREATE TABLE golden.value (name text, source text, kind text, added bigint, capacity bigint, hits bigint, false_positives bigint, hashed text, f bytea);
