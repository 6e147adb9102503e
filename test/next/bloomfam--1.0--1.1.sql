-- SPDX-License-Identifier: PostgreSQL
/* bloomfam--1.0--1.1.sql: what the script of a next version could do, for test/t/044_extension_update.pl */

\echo Use "ALTER EXTENSION bloomfam UPDATE TO '1.1'" to load this file. \quit

-- Nothing is dropped that a user's view, index or column may depend on: it is replaced, with the same arguments and columns.

-- a function more
CREATE FUNCTION bloom_next() RETURNS text
AS 'MODULE_PATHNAME', 'bloomfam_next' LANGUAGE C IMMUTABLE PARALLEL SAFE;

-- one that is served by another C function, at another price
CREATE OR REPLACE FUNCTION bloom_shard(key "any", shards integer) RETURNS integer
AS 'MODULE_PATHNAME', 'bloomfam_next_shard' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 5;

ALTER FUNCTION bloom_may_contain(bloomfilter, anyelement) COST 3;

-- how many rows an operator is taken to pass
ALTER OPERATOR @~ (bloomfilter, anyelement) SET (RESTRICT = contsel, JOIN = contjoinsel);

-- operator classes: one more, and another operator within a family
CREATE OPERATOR CLASS xid8_ops DEFAULT FOR TYPE xid8 USING maplet AS OPERATOR 1 =;

ALTER OPERATOR FAMILY integer_ops USING maplet DROP OPERATOR 1 (int4, int8);
ALTER OPERATOR FAMILY integer_ops USING maplet ADD OPERATOR 1 = (int4, int8);

-- a column more, at the end
CREATE OR REPLACE VIEW bloomfam_stat_join_filters AS SELECT *, 11::bigint AS filters_next FROM bloomfam_stat_join_filters();
