--
-- Unique maplet indexes, from PostgreSQL 18 on: which keys are refused, and what uses them.
--
\set VERBOSITY default
SELECT current_setting('server_version_num')::int < 180000 AS too_old \gset
\if :too_old
\quit
\endif
CREATE TABLE mu (id int, v text);
CREATE UNIQUE INDEX mu_id ON mu USING maplet (id);
SET max_parallel_workers_per_gather = 0;

-- docs/maplet.md has these lines
CREATE TABLE payment (id uuid, note text);
CREATE UNIQUE INDEX payment_id ON payment USING maplet (id);
INSERT INTO payment SELECT md5(g::text)::uuid, 'first' FROM generate_series(1, 1000) g;

INSERT INTO payment VALUES (md5('7')::uuid, 'again') ON CONFLICT (id) DO UPDATE SET note = excluded.note RETURNING note;
INSERT INTO payment VALUES (md5('7')::uuid, 'once more');
DROP TABLE payment;

--
-- Rows one by one
--
INSERT INTO mu SELECT g, 'a' FROM generate_series(1, 1000) g;
INSERT INTO mu VALUES (5, 'b');
INSERT INTO mu VALUES (1001, 'b'), (1002, 'b'), (1001, 'c');
INSERT INTO mu VALUES (NULL, 'b'), (NULL, 'c');
UPDATE mu SET id = 7 WHERE id = 6;
UPDATE mu SET v = 'c' WHERE id = 6;
UPDATE mu SET id = id WHERE id < 10;
DELETE FROM mu WHERE id = 7;
UPDATE mu SET id = 7 WHERE id = 6;
INSERT INTO mu VALUES (6, 'd');
UPDATE mu SET id = -id;
-- each row is checked as it comes, as by a B-tree
UPDATE mu SET id = id + 1;
COPY mu (id) FROM stdin;
2000
2001
2000
\.
SELECT count(*), count(DISTINCT id) FROM mu;
-- what was rolled back is in nobody's way, nor is what was deleted in the same transaction
BEGIN;
INSERT INTO mu VALUES (3000, 'a');
SAVEPOINT s;
INSERT INTO mu VALUES (3001, 'a');
ROLLBACK TO s;
INSERT INTO mu VALUES (3001, 'b');
DELETE FROM mu WHERE id = 3000;
INSERT INTO mu VALUES (3000, 'b');
INSERT INTO mu VALUES (3000, 'c');
ROLLBACK;
INSERT INTO mu VALUES (3000, 'd'), (3001, 'd');
BEGIN ISOLATION LEVEL SERIALIZABLE;
INSERT INTO mu VALUES (3000, 'd');
ROLLBACK;

--
-- ON CONFLICT and MERGE
--
INSERT INTO mu VALUES (3000, 'e'), (3002, 'e'), (3002, 'f') ON CONFLICT DO NOTHING RETURNING *;
INSERT INTO mu VALUES (3000, 'e'), (3003, 'e') ON CONFLICT (id) DO NOTHING RETURNING *;
INSERT INTO mu VALUES (3000, 'e'), (3004, 'e') ON CONFLICT (id) DO UPDATE SET v = mu.v || excluded.v RETURNING *;
INSERT INTO mu VALUES (3005, 'e'), (3005, 'f') ON CONFLICT (id) DO UPDATE SET v = mu.v || excluded.v RETURNING *;
INSERT INTO mu VALUES (3000, 'e') ON CONFLICT (v) DO NOTHING;
INSERT INTO mu VALUES (NULL, 'e') ON CONFLICT (id) DO UPDATE SET v = 'never' RETURNING *;
MERGE INTO mu USING (VALUES (3000, 'g'), (3006, 'g')) n (id, v) ON mu.id = n.id
	WHEN MATCHED THEN UPDATE SET v = n.v
	WHEN NOT MATCHED THEN INSERT VALUES (n.id, n.v);
SELECT * FROM mu WHERE id IN (3000, 3006) ORDER BY id;
EXPLAIN (COSTS OFF) INSERT INTO mu VALUES (1, 'e') ON CONFLICT (id) DO UPDATE SET v = 'x';
SELECT maplet_check('mu_id', true);

--
-- Building: duplicates that are there, and those that are gone
--
DROP INDEX mu_id;
INSERT INTO mu VALUES (3000, 'twice');
CREATE UNIQUE INDEX mu_id ON mu USING maplet (id);
CREATE UNIQUE INDEX CONCURRENTLY mu_id ON mu USING maplet (id);
SELECT indisunique, indisvalid FROM pg_index WHERE indexrelid = 'mu_id'::regclass;
REINDEX INDEX mu_id;
-- an index that is not valid refuses keys all the same, once it takes rows
DELETE FROM mu WHERE v = 'twice';
REINDEX INDEX CONCURRENTLY mu_id;
SELECT indisunique, indisvalid FROM pg_index WHERE indexrelid = 'mu_id'::regclass;
INSERT INTO mu VALUES (3000, 'twice');
BEGIN;
-- rows of this transaction count, and those that it deleted do not
DELETE FROM mu WHERE id = 3000;
INSERT INTO mu VALUES (3000, 'new');
DROP INDEX mu_id;
CREATE UNIQUE INDEX mu_id ON mu USING maplet (id);
INSERT INTO mu VALUES (3000, 'twice');
ROLLBACK;
VACUUM mu;
INSERT INTO mu VALUES (3000, 'twice');
INSERT INTO mu VALUES (4000, 'new');
-- of many versions of a row one counts
CREATE TABLE versions (id int, n int) WITH (fillfactor = 10, autovacuum_enabled = off);
INSERT INTO versions VALUES (1, 0), (2, 0);
CREATE INDEX ON versions (n);
DO $$ BEGIN FOR i IN 1..200 LOOP UPDATE versions SET n = n + 1; END LOOP; END $$;
CREATE UNIQUE INDEX versions_id ON versions USING maplet (id);
DO $$ BEGIN FOR i IN 1..200 LOOP INSERT INTO versions VALUES (1, 1), (2, 1) ON CONFLICT (id) DO UPDATE SET n = versions.n + 1; END LOOP; END $$;
SELECT * FROM versions ORDER BY id;
INSERT INTO versions VALUES (2, 0);
SELECT maplet_check('versions_id', true);

--
-- Many false places: few bits are kept of a hash
--
CREATE TABLE vague (id bigint, v int);
CREATE UNIQUE INDEX vague_id ON vague USING maplet (id) WITH (rows = 1, remainder_bits = 1);
INSERT INTO vague SELECT g, g FROM generate_series(1, 50000) g;
SELECT maplet_merge('vague_id');
INSERT INTO vague SELECT g, g FROM generate_series(50001, 60000) g;
INSERT INTO vague SELECT g, 0 FROM generate_series(59000, 61000) g ON CONFLICT (id) DO UPDATE SET v = 0;
SELECT count(*), count(DISTINCT id), count(*) FILTER (WHERE v = 0) FROM vague;
INSERT INTO vague VALUES (12345, 0);
SELECT maplet_check('vague_id', true);
REINDEX INDEX vague_id;
INSERT INTO vague VALUES (12345, 0);
-- foreign keys are looked up by it, and are exact
CREATE TABLE refers (id bigint REFERENCES vague (id) ON DELETE CASCADE);
INSERT INTO refers SELECT g FROM generate_series(1, 2000) g;
INSERT INTO refers SELECT g FROM generate_series(61001, 63000) g;
DO $$
DECLARE
	wrong int := 0;
BEGIN
	FOR i IN 61001..62000 LOOP
		BEGIN
			INSERT INTO refers VALUES (i);
			wrong := wrong + 1;
		EXCEPTION WHEN foreign_key_violation THEN
		END;
	END LOOP;
	RAISE NOTICE 'foreign keys of no row: %', wrong;
END $$;
DELETE FROM vague WHERE id = 17;
SELECT count(*) FROM refers WHERE id = 17;
DROP TABLE refers;

--
-- Types, collations, expressions, partial indexes
--
CREATE COLLATION mu_ci (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE DOMAIN mu_id AS uuid;
CREATE TYPE mu_mood AS ENUM ('sad', 'ok');
CREATE TABLE typed (t text, ci text COLLATE mu_ci, n numeric, u mu_id, f float8, a int[], e mu_mood, c char(5));
CREATE UNIQUE INDEX typed_t ON typed USING maplet (t);
CREATE UNIQUE INDEX typed_ci ON typed USING maplet (ci);
CREATE UNIQUE INDEX typed_n ON typed USING maplet (n);
CREATE UNIQUE INDEX typed_u ON typed USING maplet (u);
CREATE UNIQUE INDEX typed_f ON typed USING maplet (f);
CREATE UNIQUE INDEX typed_a ON typed USING maplet (a);
CREATE UNIQUE INDEX typed_e ON typed USING maplet (e);
CREATE UNIQUE INDEX typed_c ON typed USING maplet (c);
INSERT INTO typed VALUES ('a', 'Straße', 1.0, md5('a')::uuid, 0, '{1,2}', 'ok', 'ab');
INSERT INTO typed (t) VALUES ('a');
INSERT INTO typed (t) VALUES ('a ');
INSERT INTO typed (ci) VALUES ('STRASSE'), ('straße');
INSERT INTO typed (n) VALUES (1.00);
INSERT INTO typed (u) VALUES (md5('a')::uuid);
INSERT INTO typed (f) VALUES ('-0');
INSERT INTO typed (f) VALUES ('NaN'), ('-NaN');
INSERT INTO typed (a) VALUES ('{1,2}');
INSERT INTO typed (e) VALUES ('ok');
INSERT INTO typed (c) VALUES ('ab   ');
INSERT INTO typed (t) VALUES (repeat('x', 100000)), (repeat('x', 100000) || 'y');
\set VERBOSITY terse
INSERT INTO typed (t) SELECT repeat('x', 100000) || 'y';
\set VERBOSITY default
CREATE UNIQUE INDEX typed_lower ON typed USING maplet (lower(t));
INSERT INTO typed (t) VALUES ('A');
INSERT INTO typed (t) VALUES ('A') ON CONFLICT ((lower(t))) DO UPDATE SET n = 2 RETURNING n;
CREATE TABLE partial (id int, gone boolean);
CREATE UNIQUE INDEX partial_id ON partial USING maplet (id) WHERE NOT gone;
INSERT INTO partial VALUES (1, true), (1, true), (1, false);
INSERT INTO partial VALUES (1, false);
INSERT INTO partial VALUES (1, false) ON CONFLICT (id) WHERE NOT gone DO UPDATE SET gone = true RETURNING *;
INSERT INTO partial VALUES (1, false) ON CONFLICT (id) DO NOTHING;
INSERT INTO partial VALUES (1, false);
UPDATE partial SET gone = false;

--
-- Several columns
--
CREATE TABLE pairs (tenant int, id text COLLATE mu_ci, n int);
CREATE UNIQUE INDEX pairs_both ON pairs USING maplet (tenant, id);
INSERT INTO pairs SELECT g % 10, 'id ' || g / 10, g FROM generate_series(0, 999) g;
INSERT INTO pairs VALUES (3, 'ID 17', 0);
INSERT INTO pairs VALUES (3, NULL, 0), (3, NULL, 0), (NULL, 'id 17', 0), (NULL, 'id 17', 0), (NULL, NULL, 0);
INSERT INTO pairs VALUES (3, 'ID 17', -1), (11, 'id 17', -1) ON CONFLICT (id, tenant) DO UPDATE SET n = excluded.n RETURNING tenant, id, n;
INSERT INTO pairs VALUES (4, 'ID 17', -1), (12, 'id 17', -1) ON CONFLICT (tenant, id) DO NOTHING RETURNING tenant, id, n;
INSERT INTO pairs VALUES (4, 'ID 17', -1) ON CONFLICT (tenant) DO NOTHING;
UPDATE pairs SET tenant = 5 WHERE tenant = 4 AND id = 'id 17';
MERGE INTO pairs USING (VALUES (6, 'Id 1', -2), (13, 'id 1', -2)) v (tenant, id, n) ON (pairs.tenant, pairs.id) = (v.tenant, v.id)
	WHEN MATCHED THEN UPDATE SET n = v.n WHEN NOT MATCHED THEN INSERT VALUES (v.tenant, v.id, v.n);
SELECT * FROM pairs WHERE n = -2 ORDER BY tenant;
CREATE TABLE refer_pairs (a int, b text COLLATE mu_ci, FOREIGN KEY (a, b) REFERENCES pairs (tenant, id) ON UPDATE CASCADE ON DELETE CASCADE);
INSERT INTO refer_pairs VALUES (6, 'id 1'), (7, 'ID 1'), (7, NULL), (NULL, 'none');
INSERT INTO refer_pairs VALUES (6, 'none');
UPDATE pairs SET tenant = 14 WHERE tenant = 6 AND id = 'id 1';
DELETE FROM pairs WHERE tenant = 7 AND id = 'id 1';
SELECT * FROM refer_pairs ORDER BY a, b;
DROP TABLE refer_pairs;
SELECT maplet_check('pairs_both', true);
REINDEX INDEX CONCURRENTLY pairs_both;
DROP INDEX pairs_both;
INSERT INTO pairs VALUES (8, 'ID 44', 0);
CREATE UNIQUE INDEX pairs_both ON pairs USING maplet (tenant, id);
DELETE FROM pairs WHERE n = 0 AND tenant = 8;
CREATE UNIQUE INDEX pairs_both ON pairs USING maplet (tenant, id);
CREATE UNIQUE INDEX pairs_part ON pairs USING maplet (n, lower(id)) WHERE tenant < 5;
INSERT INTO pairs SELECT 10, 'x', n FROM pairs WHERE n = 1 ON CONFLICT DO NOTHING;
INSERT INTO pairs SELECT 9, 'new' || tenant, 1 FROM generate_series(1, 3) tenant;
INSERT INTO pairs VALUES (1, 'new', 1);
INSERT INTO pairs VALUES (2, 'NEW', 1) ON CONFLICT (n, lower(id)) WHERE tenant < 5 DO UPDATE SET n = 2 RETURNING tenant, id, n;
DELETE FROM pairs WHERE tenant IS NULL OR id IS NULL;
ALTER TABLE pairs ALTER tenant SET NOT NULL, ALTER id SET NOT NULL, REPLICA IDENTITY USING INDEX pairs_both;
SELECT indisreplident FROM pg_index WHERE indexrelid = 'pairs_both'::regclass;
DROP TABLE pairs;

-- a B-tree is replaced, with the foreign keys that refer to it
CREATE TABLE replaced (tenant int NOT NULL, id int NOT NULL, n int, CONSTRAINT replaced_key UNIQUE (tenant, id));
CREATE TABLE replaced_refers (tenant int, id int, CONSTRAINT refers_key FOREIGN KEY (tenant, id) REFERENCES replaced (tenant, id));
INSERT INTO replaced SELECT g % 10, g, g FROM generate_series(1, 1000) g;
INSERT INTO replaced_refers SELECT tenant, id FROM replaced;
CREATE UNIQUE INDEX CONCURRENTLY replaced_new ON replaced USING maplet (tenant, id);
INSERT INTO replaced VALUES (1, 1, 0), (1, 2, 0) ON CONFLICT (tenant, id) DO UPDATE SET n = 0 RETURNING *;
ALTER TABLE replaced REPLICA IDENTITY USING INDEX replaced_new;
ALTER TABLE replaced DROP CONSTRAINT replaced_key;
BEGIN;
ALTER TABLE replaced_refers DROP CONSTRAINT refers_key;
ALTER TABLE replaced DROP CONSTRAINT replaced_key;
ALTER TABLE replaced_refers ADD CONSTRAINT refers_key FOREIGN KEY (tenant, id) REFERENCES replaced (tenant, id) NOT VALID;
COMMIT;
ALTER TABLE replaced_refers VALIDATE CONSTRAINT refers_key;
ALTER INDEX replaced_new RENAME TO replaced_key;
SELECT conname, convalidated, conindid::regclass FROM pg_constraint WHERE conrelid = 'replaced_refers'::regclass;
INSERT INTO replaced VALUES (1, 1, 0);
INSERT INTO replaced_refers VALUES (1, 5);
DELETE FROM replaced WHERE id = 7;
ALTER TABLE replaced ADD CONSTRAINT replaced_again UNIQUE USING INDEX replaced_key;
-- and back
CREATE UNIQUE INDEX CONCURRENTLY replaced_old ON replaced (tenant, id);
SET client_min_messages = warning;
DROP TABLE replaced, replaced_refers;
RESET client_min_messages;

--
-- What cannot be
--
CREATE UNIQUE INDEX ON mu USING maplet (id) NULLS NOT DISTINCT;
-- a type with another equality than its operator class: rows that it takes for equal would not be refused
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS citext;
RESET client_min_messages;
CREATE TABLE mu_folded (c citext);
CREATE UNIQUE INDEX ON mu_folded USING maplet (c);
CREATE UNIQUE INDEX ON mu_folded USING maplet (lower(c));
INSERT INTO mu_folded VALUES ('A'), ('a');
DROP TABLE mu_folded;
ALTER TABLE mu ADD CONSTRAINT mu_unique UNIQUE USING INDEX mu_id;
ALTER TABLE mu ADD CONSTRAINT mu_primary PRIMARY KEY USING INDEX mu_id;
CLUSTER mu USING mu_id;

--
-- What the planner concludes: nothing, as it knows unique keys by B-tree operator families only
--
SET enable_seqscan = off;
CREATE TABLE few AS SELECT g AS id FROM generate_series(1, 10) g;
EXPLAIN (COSTS OFF) SELECT few.id FROM few LEFT JOIN mu USING (id);
RESET enable_seqscan;

--
-- Partitions
--
CREATE TABLE parts (id int, day int) PARTITION BY HASH (id);
CREATE TABLE parts_0 PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 1);
\set VERBOSITY sqlstate
CREATE UNIQUE INDEX parts_day ON parts USING maplet (day);
\set VERBOSITY default
CREATE UNIQUE INDEX parts_id ON ONLY parts USING maplet (id);
CREATE UNIQUE INDEX parts_0_id ON parts_0 USING maplet (id);
ALTER INDEX parts_id ATTACH PARTITION parts_0_id;
CREATE UNIQUE INDEX parts_1_id ON parts_1 USING maplet (id);
ALTER INDEX parts_id ATTACH PARTITION parts_1_id;
SELECT indisvalid FROM pg_index WHERE indexrelid = 'parts_id'::regclass;
INSERT INTO parts SELECT g, g FROM generate_series(1, 100) g;
INSERT INTO parts VALUES (50, 0);
INSERT INTO parts VALUES (50, 0), (101, 101) ON CONFLICT (id) DO UPDATE SET day = -1;
SELECT * FROM parts WHERE day < 0;
CREATE TABLE parts_2 (LIKE parts INCLUDING INDEXES);

--
-- Other uses: a replica identity, a materialized view, unlogged and temporary tables, TRUNCATE
--
DELETE FROM mu WHERE id IS NULL;
ALTER TABLE mu ALTER id SET NOT NULL;
ALTER TABLE mu REPLICA IDENTITY USING INDEX mu_id;
SELECT indisreplident FROM pg_index WHERE indexrelid = 'mu_id'::regclass;
CREATE MATERIALIZED VIEW seen AS SELECT id, v FROM mu;
CREATE UNIQUE INDEX seen_id ON seen USING maplet (id);
UPDATE mu SET v = 'seen' WHERE id = 3000;
REFRESH MATERIALIZED VIEW CONCURRENTLY seen;
SELECT v FROM seen WHERE id = 3000;
CREATE UNLOGGED TABLE unlogged (id int);
CREATE UNIQUE INDEX ON unlogged USING maplet (id);
CREATE TEMP TABLE temporary (id int);
CREATE UNIQUE INDEX ON temporary USING maplet (id);
INSERT INTO unlogged VALUES (1), (2);
INSERT INTO unlogged VALUES (1);
INSERT INTO temporary VALUES (1), (1) ON CONFLICT (id) DO NOTHING;
INSERT INTO temporary VALUES (1);
TRUNCATE unlogged;
INSERT INTO unlogged VALUES (1);
INSERT INTO unlogged VALUES (1);

--
-- Who may not read a row is not told its key
--
CREATE ROLE regress_bloomfam_unique;
GRANT INSERT ON mu TO regress_bloomfam_unique;
SET ROLE regress_bloomfam_unique;
INSERT INTO mu VALUES (3000, 'who');
RESET ROLE;
REVOKE ALL ON mu FROM regress_bloomfam_unique;
DROP ROLE regress_bloomfam_unique;

--
-- Duplicates that no index should have are found by the check
--
CREATE TABLE broken (id int);
CREATE UNIQUE INDEX broken_id ON broken USING maplet (id);
INSERT INTO broken SELECT g FROM generate_series(1, 100) g;
UPDATE pg_index SET indisunique = false WHERE indexrelid = 'broken_id'::regclass;
\c -
INSERT INTO broken VALUES (77);
UPDATE pg_index SET indisunique = true WHERE indexrelid = 'broken_id'::regclass;
\c -
SELECT maplet_check('broken_id', false);
SELECT maplet_check('broken_id', true);

SET client_min_messages = warning;
DROP TABLE mu, vague, versions, typed, partial, few, parts, parts_2, unlogged, broken CASCADE;
DROP TYPE mu_mood;
DROP DOMAIN mu_id;
DROP COLLATION mu_ci;
