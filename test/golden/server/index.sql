-- The tables whose maplet indexes are in this folder: rows in a run, in several, in the tail, and some that are gone; their places are the same everywhere.
CREATE TABLE g_id (n int, k uuid) WITH (autovacuum_enabled = off);
CREATE TABLE g_text (n int, k text) WITH (autovacuum_enabled = off);
CREATE TABLE g_numeric (n int, k numeric) WITH (autovacuum_enabled = off);
INSERT INTO g_id SELECT g, md5(g::text)::uuid FROM generate_series(1, 1000) g;
INSERT INTO g_text SELECT g, 'key ' || g FROM generate_series(1, 300) g;
INSERT INTO g_numeric SELECT g, g / 8.0 FROM generate_series(1, 300) g;
CREATE INDEX g_id_k ON g_id USING maplet (k);
CREATE INDEX g_text_k ON g_text USING maplet (k) WITH (rows = 1000);
CREATE INDEX g_numeric_k ON g_numeric USING maplet (k) WITH (rows = 1000, remainder_bits = 6);
-- until the tail has become runs
INSERT INTO g_id SELECT g, md5(g::text)::uuid FROM generate_series(1001, 6000) g;
INSERT INTO g_text SELECT g, 'key ' || g FROM generate_series(301, 400) g;
-- each key twice
INSERT INTO g_numeric SELECT g, (g - 300) / 8.0 FROM generate_series(301, 600) g;
DELETE FROM g_text WHERE n % 10 = 0;
VACUUM (INDEX_CLEANUP on, TRUNCATE off) g_text;
INSERT INTO g_text SELECT g, 'key ' || g FROM generate_series(401, 420) g;
CHECKPOINT;
