-- The access method maplet: types of keys, and equality across types and under collations.
SET enable_seqscan = off;
SET enable_bitmapscan = off;

-- operator classes are whole
SELECT opcname, opcintype::regtype, amvalidate(c.oid)
FROM pg_opclass c JOIN pg_am a ON a.oid = opcmethod WHERE amname = 'maplet' ORDER BY opcname COLLATE "C";

CREATE TYPE maplet_mood AS ENUM ('sad', 'ok', 'happy');
CREATE DOMAIN maplet_domain AS int4 CHECK (VALUE < 100);

-- For each type: its values, and equal ones that are written otherwise.
CREATE TABLE maplet_value (type text, value text, equal text);
INSERT INTO maplet_value VALUES
	('"char"', 'x', 'x'), ('bytea', '\x0102', '\x0102'), ('uuid', md5('1'), upper(md5('1'))),
	('numeric', '1.0', '1.000'), ('numeric', '0', '-0.00'), ('numeric', 'NaN', 'nan'), ('numeric', '1e40', '1e40'),
	('int2', '7', '07'), ('int4', '-7', '-7'), ('int8', '7000000000', '7000000000'),
	('float4', '0', '-0'), ('float4', '1.5', '1.50'), ('float8', '0', '-0'), ('float8', 'NaN', 'nan'), ('float8', '-Infinity', '-inf'),
	('text', 'naïve', 'naïve'), ('varchar', 'a ', 'a '), ('name', 'a name', 'a name'), ('bpchar', 'blank', 'blank   '), ('char(8)', 'blank', 'blank  '),
	('date', '2026-01-02', 'January 2, 2026'), ('time', '12:00', '12:00:00.0'), ('timetz', '12:00+01', '12:00:00+01'),
	('timestamp', '2026-01-02', '2026-01-02 00:00'), ('timestamptz', '2026-01-02 00:00+00', '2026-01-02 01:00+01'),
	('interval', '1 month', '30 days'), ('interval', '1 day', '24:00'), ('oid', '17', '17'),
	('inet', '10.0.0.1', '10.0.0.1/32'), ('cidr', '10.0.0.0/8', '10/8'), ('macaddr', '08:00:2b:01:02:03', '08002b010203'),
	('macaddr8', '08:00:2b:01:02:03:04:05', '08002b0102030405'), ('pg_lsn', '0/10', '0/00000010'), ('bit(4)', '1010', '1010'), ('varbit', '101', '101'),
	('maplet_mood', 'ok', 'ok'), ('maplet_domain', '7', '07'), ('int4[]', '{1,NULL,3}', '[1:3]={1,NULL,3}'), ('text[]', '{a,"b c"}', '{"a",b c}'),
	('numeric[]', '{1.0}', '{1.00}'), ('int4range', '[1,3)', '[1,2]'), ('numrange', '[1.0,3)', '[1.00,3.0)'), ('int8multirange', '{[1,2],[3,4]}', '{[1,5)}');
DO $$
DECLARE
	v record;
	plan text;
	n int;
BEGIN
	FOR v IN SELECT type, array_agg(value) AS values, array_agg(equal) AS equals FROM maplet_value GROUP BY type ORDER BY type COLLATE "C" LOOP
		EXECUTE format('CREATE TEMP TABLE maplet_of_type (k %s)', v.type);
		EXECUTE format('INSERT INTO maplet_of_type SELECT x::%s FROM unnest($1) x', v.type) USING v.values;
		EXECUTE 'CREATE INDEX ON maplet_of_type USING maplet (k)';
		EXECUTE format('INSERT INTO maplet_of_type SELECT x::%s FROM unnest($1) x', v.type) USING v.equals;
		PERFORM maplet_check('maplet_of_type_k_idx', true);
		FOR i IN 1 .. cardinality(v.equals) LOOP
			EXECUTE format('EXPLAIN (FORMAT JSON) SELECT FROM maplet_of_type WHERE k = %L::%s', v.equals[i], v.type) INTO plan;
			IF plan NOT LIKE '%maplet_of_type_k_idx%' THEN
				RAISE WARNING '%: the index is not used', v.type;
			END IF;
			EXECUTE format('SELECT count(*) FROM maplet_of_type WHERE k = %L::%s', v.equals[i], v.type) INTO n;
			IF n <> 2 THEN
				RAISE WARNING '%: % rows are equal to %', v.type, n, v.equals[i];
			END IF;
		END LOOP;
		DROP TABLE maplet_of_type;
	END LOOP;
END $$;

-- across types
DO $$
DECLARE
	types text[];
	a text;
	b text;
	plan text;
	n int;
BEGIN
	FOR types IN VALUES ('{int2,int4,int8}'::text[]), ('{float4,float8}'), ('{text,name,varchar}') LOOP
		FOREACH a IN ARRAY types LOOP
			EXECUTE format('CREATE TEMP TABLE maplet_of_type (k %s %s)', a, CASE WHEN a IN ('text', 'varchar') THEN 'COLLATE "C"' END);
			EXECUTE format('INSERT INTO maplet_of_type SELECT x::text::%s FROM generate_series(-50, 50) x', a);
			EXECUTE 'CREATE INDEX ON maplet_of_type USING maplet (k)';
			FOREACH b IN ARRAY types LOOP
				EXECUTE format('EXPLAIN (FORMAT JSON) SELECT FROM maplet_of_type WHERE k = ''-7''::%s', b) INTO plan;
				EXECUTE format('SELECT count(*) FROM maplet_of_type WHERE k = ''-7''::%s', b) INTO n;
				IF n <> 1 OR plan NOT LIKE '%maplet_of_type_k_idx%' THEN
					RAISE WARNING '% = %: % rows, %', a, b, n, plan;
				END IF;
				EXECUTE format('SELECT count(*) FROM maplet_of_type WHERE k = ANY (''{-7,8}''::%s[])', b) INTO n;
				IF n <> 2 THEN
					RAISE WARNING '% = ANY (%[]): % rows', a, b, n;
				END IF;
			END LOOP;
			DROP TABLE maplet_of_type;
		END LOOP;
	END LOOP;
END $$;

-- a label may be renamed
CREATE TABLE maplet_enum (mood maplet_mood);
CREATE INDEX ON maplet_enum USING maplet (mood);
INSERT INTO maplet_enum VALUES ('sad'), ('ok');
ALTER TYPE maplet_mood RENAME VALUE 'sad' TO 'blue';
SELECT mood FROM maplet_enum WHERE mood = 'blue';
CREATE TABLE maplet_enums (moods maplet_mood[]);
-- (17 makes indexes with a search_path of its own)
SET search_path = pg_catalog;
CREATE INDEX ON public.maplet_enums USING maplet (moods);
RESET search_path;

-- types without an operator class
CREATE TABLE maplet_none (j json, k bloomkey);
CREATE INDEX ON maplet_none USING maplet (j);
CREATE INDEX ON maplet_none USING maplet (k);
CREATE TYPE maplet_pair AS (a int, b maplet_mood);
ALTER TABLE maplet_none ADD p maplet_pair[];
SET search_path = pg_catalog;
CREATE INDEX ON public.maplet_none USING maplet (p);
RESET search_path;

-- a deterministic collation does not matter
CREATE TABLE maplet_text (t text COLLATE "C");
INSERT INTO maplet_text VALUES ('a'), ('A'), ('b ');
CREATE INDEX ON maplet_text USING maplet (t);
EXPLAIN (COSTS OFF) SELECT t FROM maplet_text WHERE t = 'a';
SELECT t FROM maplet_text WHERE t = 'a';
SELECT t FROM maplet_text WHERE t = 'a' COLLATE "POSIX";

-- a condition of another collation is not the index's
EXPLAIN (COSTS OFF) SELECT t FROM maplet_text WHERE t = 'a' COLLATE "POSIX"
\g (footer=off) | grep -v Disabled:

-- an operator class of another equality than the keys' type: "no" would not be what = says
CREATE TABLE maplet_other (v varchar, c char(5));
INSERT INTO maplet_other VALUES ('a ', 'a');
CREATE INDEX maplet_other_v ON maplet_other USING maplet (v bpchar_ops);
CREATE INDEX maplet_other_c ON maplet_other USING maplet (c);
SELECT maplet_may_contain('maplet_other_v', 'a'::varchar);
SELECT maplet_may_contain('maplet_other_c', 'a  '::bpchar), maplet_may_contain('maplet_other_c', 'a ');
SELECT maplet_may_contain('maplet_other_c', 'a'::text);
DROP TABLE maplet_other;

-- operator classes of what is no equality, or not that of the keys' hashes: amvalidate() says so, and no index is built by one, or answers by it
CREATE TABLE maplet_odd (n int);
INSERT INTO maplet_odd VALUES (1), (2);
CREATE FUNCTION maplet_same_parity(int, int) RETURNS boolean LANGUAGE sql IMMUTABLE RETURN $1 % 2 = $2 % 2;
CREATE OPERATOR === (FUNCTION = maplet_same_parity, LEFTARG = int, RIGHTARG = int, COMMUTATOR = ===);
CREATE OPERATOR CLASS maplet_less FOR TYPE int USING maplet AS OPERATOR 1 <;
CREATE OPERATOR CLASS maplet_parity FOR TYPE int USING maplet AS OPERATOR 1 ===;
CREATE OPERATOR CLASS maplet_unlike FOR TYPE int USING maplet AS OPERATOR 1 <>;
CREATE OPERATOR CLASS maplet_no_operator FOR TYPE int USING maplet AS STORAGE int;
CREATE OPERATOR CLASS maplet_crossed FOR TYPE int USING maplet AS OPERATOR 1 =, OPERATOR 1 >= (int, int8);
CREATE OPERATOR CLASS maplet_hashes_differ FOR TYPE date USING maplet AS OPERATOR 1 =, OPERATOR 1 = (date, timestamp);
CREATE OPERATOR CLASS maplet_no_family FOR TYPE name USING maplet AS OPERATOR 1 =, OPERATOR 1 ~ (name, text);
SELECT opcname, amvalidate(c.oid) FROM pg_opclass c JOIN pg_am a ON a.oid = opcmethod
WHERE amname = 'maplet' AND opcname LIKE 'maplet%' ORDER BY opcname COLLATE "C";
CREATE INDEX maplet_odd_less ON maplet_odd USING maplet (n maplet_less);
CREATE INDEX maplet_odd_parity ON maplet_odd USING maplet (n maplet_parity);
CREATE INDEX maplet_odd_unlike ON maplet_odd USING maplet (n maplet_unlike);
CREATE INDEX maplet_odd_crossed ON maplet_odd USING maplet (n maplet_crossed);
SET enable_seqscan = off;
SELECT n FROM maplet_odd WHERE n = 2;
SELECT n FROM maplet_odd WHERE n >= 2::int8;
RESET enable_seqscan;
DROP TABLE maplet_odd;
DROP OPERATOR FAMILY maplet_less USING maplet;
DROP OPERATOR FAMILY maplet_parity USING maplet;
DROP OPERATOR FAMILY maplet_unlike USING maplet;
DROP OPERATOR FAMILY maplet_no_operator USING maplet;
DROP OPERATOR FAMILY maplet_crossed USING maplet;
DROP OPERATOR FAMILY maplet_hashes_differ USING maplet;
DROP OPERATOR FAMILY maplet_no_family USING maplet;
DROP OPERATOR === (int, int);
DROP FUNCTION maplet_same_parity;

DROP TABLE maplet_value, maplet_enum, maplet_enums, maplet_none, maplet_text;
DROP TYPE maplet_pair;
DROP DOMAIN maplet_domain;
DROP TYPE maplet_mood;

-- under a collation by which different texts are equal: found, and excluded, as that has it
CREATE COLLATION maplet_ci (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TABLE maplet_folded (t text COLLATE maplet_ci, EXCLUDE USING maplet (t WITH =));
INSERT INTO maplet_folded SELECT 'key' || g FROM generate_series(1, 5000) g;
INSERT INTO maplet_folded VALUES ('KEY17'), ('KEY0') ON CONFLICT DO NOTHING;
INSERT INTO maplet_folded VALUES ('Key5000');
SET enable_seqscan = off;
EXPLAIN (COSTS OFF) SELECT t FROM maplet_folded WHERE t = 'kEY17';
SELECT t FROM maplet_folded WHERE t = 'kEY17';
SELECT t FROM maplet_folded WHERE t = ANY ('{kEY1,kEY0,none}') ORDER BY t;
SELECT count(*) FROM generate_series(1, 5000) g, LATERAL (SELECT FROM maplet_folded WHERE t = 'KEY' || g OFFSET 0) f;
SELECT maplet_may_contain('maplet_folded_t_excl', 'KEY1'::text), maplet_may_contain('maplet_folded_t_excl', 'nokey'::text);
SELECT maplet_check('maplet_folded_t_excl', true);
-- another collation's equality is another one
EXPLAIN (COSTS OFF) SELECT t FROM maplet_folded WHERE t = 'key17' COLLATE "C"
\g (footer=off) | grep -v Disabled:
RESET enable_seqscan;
DROP TABLE maplet_folded;
DROP COLLATION maplet_ci;
