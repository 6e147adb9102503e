-- SPDX-License-Identifier: PostgreSQL
\set i random(1, 1000)
\set other -:i
SELECT int AS present, text, numeric, uuid FROM keys WHERE i = :i \gset
SELECT array_agg(int)::text AS ints, array_agg(text)::text AS texts FROM keys WHERE i BETWEEN :i AND :i + 50 \gset
SELECT 1 / bloom_may_contain(filter, :present)::int AS found FROM filters WHERE name = 'int';
SELECT 1 / (:text ~@ filter)::int AS found FROM filters WHERE name = 'text';
SELECT 1 / (filter @~ :uuid)::int AS found FROM filters WHERE name = 'uuid';
SELECT 1 / (filter @~ :numeric)::int AS found FROM filters WHERE name = 'numeric';
SELECT 1 / bloom_may_contain_all(filter, :ints)::int AS found FROM filters WHERE name = 'int';
SELECT 1 / bloom_may_contain_all(filter, :texts)::int AS found FROM filters WHERE name = 'text';
SELECT 1 / (1 - bloom_may_contain(filter, :other)::int) AS absent FROM filters WHERE name = 'int';
\set rate 0.001
SELECT 1 / (target_fpr = 0.001)::int AS made FROM bloom_info((SELECT bloom_agg(int, :rate) FROM keys WHERE i < 10));
