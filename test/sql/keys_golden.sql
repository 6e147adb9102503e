-- Golden keys: families and hashes are stored, and may never change.  docs/format.md shows some of them.
-- Its texts are of many languages, which the database's encoding may not have; keys_encoding is about those.
\set original :DBNAME
\set database regression_bloomfam_utf8
\set encoding UTF8
\getenv folder PG_ABS_SRCDIR
\set file :folder '/sql/include/database.sql'
\i :file
RESET client_min_messages;
SET TimeZone = 'UTC';

CREATE SCHEMA keys_golden;
SET search_path = keys_golden, public;

CREATE TYPE mood AS ENUM ('sad', 'ok');
CREATE TYPE pair AS (a int, b text);
CREATE TABLE golden (id int GENERATED ALWAYS AS IDENTITY, value text);
INSERT INTO golden (value) VALUES
('0'), ('1'), ('-1'), ('42::int2'), ('9223372036854775807'),
('0::float8'), ('''-0''::float8'), ('1.5::float4'), ('0.1::float8'), ('''NaN''::float8'), ('''-Infinity''::float8'),
('''''::text'), ('''a''::text'), ('''a''::char(4)'), ('''a''::name'), ('U&''\00E9\65E5''::text'), ('repeat(''x'', 300)'),
('0.00'), ('1.0'), ('-1.5'), ('10000'), ('10000.0'), ('0.0001'), ('1234567890.0987654321'), ('1e400'), ('1e-400'), ('''NaN''::numeric'),
('''Infinity''::numeric'), ('''-Infinity''::numeric'),
('true'), ('false'), ('''\x0001ff''::bytea'), ('''a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11''::uuid'),
('''2000-01-02''::date'), ('''1999-12-31''::date'), ('''infinity''::date'), ('''12:34:56.789''::time'), ('''12:34:56.789+02''::timetz'),
('''2024-02-29 12:00''::timestamp'), ('''2024-02-29 12:00+00''::timestamptz'), ('''1 month''::interval'), ('''-00:00:01''::interval'),
('1::oid'), ('''10.1.2.3''::inet'), ('''10.0.0.0/8''::cidr'), ('''2001:db8::1/64''::inet'), ('''08:00:2b:01:02:03''::macaddr'),
('''08:00:2b:01:02:03:04:05''::macaddr8'), ('''a''::"char"'), ('''16/B374D848''::pg_lsn'), ('B''101'''), ('B''101''::varbit'),
('''ok''::mood'),
('''{}''::int[]'), ('ARRAY[1, NULL, 3]'), ('ARRAY[[1, 2], [3, 4]]::int8[]'), ('''[0:1]={a,b}''::text[]'), ('''1 2''::oidvector'),
('''empty''::int4range'), ('''[1,4]''::int4range'), ('''[1,5)''::int8range'), ('''(,1.5]''::numrange'), ('''{[1,2),[5,)}''::int4multirange'),
('ROW(1)'), ('(1, ''a''::text)'), ('(1, ''a'')::pair'), ('ROW(NULL::int, 2.50)'), ('((1, 2), 3)'), ('ARRAY[(1, ''a'')::pair]'),
('ARRAY[(1, 2)]'), ('ROW(bloom_key(1), 2)'), ('ARRAY[bloom_key(1)]');

CREATE FUNCTION golden(value text, OUT family text, OUT key text) LANGUAGE plpgsql AS
$$
BEGIN
	EXECUTE format('SELECT (bloom_info(bloom_agg(%1$s))).key_type, bloom_key(%1$s)', value) INTO family, key;
END
$$;
SELECT g.value, k.family, k.key FROM golden g, golden(g.value) k ORDER BY g.id;

\c :original
DROP DATABASE regression_bloomfam_utf8;
