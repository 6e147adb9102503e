-- SPDX-License-Identifier: PostgreSQL
-- What the programs beside this file ask: a filter for each type of key, and the 1,000 keys that it has.
CREATE TABLE keys AS
SELECT i, i * 7 AS int, md5(i::text)::uuid AS uuid, 'key "' || i || '", \ {' AS text, i / 8.0 AS numeric, true AS bool FROM generate_series(1, 1000) i;
CREATE TABLE filters (name text PRIMARY KEY, filter bloomfilter);
INSERT INTO filters SELECT 'int', bloom_agg(int, 1e-6, 'standard') FROM keys;
INSERT INTO filters SELECT 'uuid', bloom_agg(uuid, 1e-6, 'standard') FROM keys;
INSERT INTO filters SELECT 'text', bloom_agg(text, 1e-6, 'standard') FROM keys;
INSERT INTO filters SELECT 'numeric', bloom_agg(numeric, 1e-6, 'standard') FROM keys;
INSERT INTO filters SELECT 'bool', bloom_agg(bool, 1e-6, 'standard') FROM keys;
