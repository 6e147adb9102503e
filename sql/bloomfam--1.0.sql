-- SPDX-License-Identifier: PostgreSQL
/* bloomfam--1.0.sql */

-- complain if script is sourced in psql, rather than via CREATE EXTENSION
\echo Use "CREATE EXTENSION bloomfam" to load this file. \quit

--
-- Types: io.c, bloomkey.c
--

CREATE TYPE bloomfilter;

CREATE FUNCTION bloomfilter_in(cstring) RETURNS bloomfilter
AS 'MODULE_PATHNAME', 'bloomfam_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION bloomfilter_out(bloomfilter) RETURNS cstring
AS 'MODULE_PATHNAME', 'bloomfam_out' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION bloomfilter_recv(internal) RETURNS bloomfilter
AS 'MODULE_PATHNAME', 'bloomfam_recv' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION bloomfilter_send(bloomfilter) RETURNS bytea
AS 'MODULE_PATHNAME', 'bloomfam_send' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

-- The bits of a filter do not compress, and a part of a value can be fetched only if it is not compressed.
CREATE TYPE bloomfilter (
	INPUT = bloomfilter_in,
	OUTPUT = bloomfilter_out,
	RECEIVE = bloomfilter_recv,
	SEND = bloomfilter_send,
	INTERNALLENGTH = VARIABLE,
	ALIGNMENT = double,
	STORAGE = external
);

COMMENT ON TYPE bloomfilter IS 'set of keys that answers "certainly not" or "maybe"';

CREATE FUNCTION bloomfilter(bytea) RETURNS bloomfilter
AS 'MODULE_PATHNAME', 'bloomfam_from_bytea' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION bloomfilter(bytea) IS 'convert bytes to a bloom filter, checking all of them';

CREATE FUNCTION bytea(bloomfilter) RETURNS bytea
AS 'MODULE_PATHNAME', 'bloomfam_to_bytea' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION bytea(bloomfilter) IS 'the bytes of a bloom filter';

CREATE CAST (bytea AS bloomfilter) WITH FUNCTION bloomfilter(bytea) AS ASSIGNMENT;
CREATE CAST (bloomfilter AS bytea) WITH FUNCTION bytea(bloomfilter);

CREATE TYPE bloomkey;

CREATE FUNCTION bloomkey_in(cstring) RETURNS bloomkey
AS 'MODULE_PATHNAME', 'bloomfam_key_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION bloomkey_out(bloomkey) RETURNS cstring
AS 'MODULE_PATHNAME', 'bloomfam_key_out' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION bloomkey_recv(internal) RETURNS bloomkey
AS 'MODULE_PATHNAME', 'bloomfam_key_recv' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION bloomkey_send(bloomkey) RETURNS bytea
AS 'MODULE_PATHNAME', 'bloomfam_key_send' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE TYPE bloomkey (
	INPUT = bloomkey_in,
	OUTPUT = bloomkey_out,
	RECEIVE = bloomkey_recv,
	SEND = bloomkey_send,
	INTERNALLENGTH = 16,
	ALIGNMENT = double
);

COMMENT ON TYPE bloomkey IS 'hashed key: the hash, and the type that it is of';

--
-- Keys without a type: literal.c
--

-- Functions of a key take "any", which would leave an untyped literal or parameter without a type.  The overloads that catch it have a type
-- of their own, because nothing else is converted to that: citext would be to text, and constants of it would lose their type, and with it their
-- equality, before a function could see them.  For the same reason nothing is cast from it.  Being of category S it is preferred for literals.
CREATE TYPE bloomliteral;

CREATE FUNCTION bloomliteral_in(cstring) RETURNS bloomliteral
AS 'MODULE_PATHNAME', 'bloomfam_literal_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION bloomliteral_out(bloomliteral) RETURNS cstring
AS 'textout' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION bloomliteral_recv(internal) RETURNS bloomliteral
AS 'MODULE_PATHNAME', 'bloomfam_literal_recv' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION bloomliteral_send(bloomliteral) RETURNS bytea
AS 'textsend' LANGUAGE internal STABLE STRICT PARALLEL SAFE;

CREATE TYPE bloomliteral (
	INPUT = bloomliteral_in,
	OUTPUT = bloomliteral_out,
	RECEIVE = bloomliteral_recv,
	SEND = bloomliteral_send,
	LIKE = text,
	CATEGORY = 'S',
	COLLATABLE = true
);

COMMENT ON TYPE bloomliteral IS 'key that was written as an untyped literal or parameter';

--
-- Hashed keys: bloomkey.c
--

CREATE FUNCTION bloom_key(key "any") RETURNS bloomkey
AS 'MODULE_PATHNAME', 'bloomfam_key' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION bloom_key(key bloomliteral) RETURNS bloomkey
AS 'MODULE_PATHNAME', 'bloomfam_key_literal' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION bloom_key("any") IS 'hash a key once, to ask many filters';
COMMENT ON FUNCTION bloom_key(bloomliteral) IS 'hash a key once, to ask many filters';

CREATE FUNCTION bloom_hash(key bloomkey) RETURNS bigint
AS 'MODULE_PATHNAME', 'bloomfam_key_hash64' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

-- of a key that is not hashed: an error that says so
CREATE FUNCTION bloom_hash(key "any") RETURNS bigint
AS 'MODULE_PATHNAME', 'bloomfam_key_hash64_any' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION bloom_hash(key bloomliteral) RETURNS bigint
AS 'MODULE_PATHNAME', 'bloomfam_key_hash64_literal' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION bloom_hash(bloomkey) IS 'the 64 bits of a hashed key';
COMMENT ON FUNCTION bloom_hash("any") IS 'an error: hash the key first, by bloom_key';
COMMENT ON FUNCTION bloom_hash(bloomliteral) IS 'the 64 bits of a hashed key';

CREATE FUNCTION bloomkey_eq(bloomkey, bloomkey) RETURNS boolean
AS 'MODULE_PATHNAME', 'bloomfam_key_eq' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION bloomkey_ne(bloomkey, bloomkey) RETURNS boolean
AS 'MODULE_PATHNAME', 'bloomfam_key_ne' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION bloomkey_lt(bloomkey, bloomkey) RETURNS boolean
AS 'MODULE_PATHNAME', 'bloomfam_key_lt' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION bloomkey_le(bloomkey, bloomkey) RETURNS boolean
AS 'MODULE_PATHNAME', 'bloomfam_key_le' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION bloomkey_gt(bloomkey, bloomkey) RETURNS boolean
AS 'MODULE_PATHNAME', 'bloomfam_key_gt' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION bloomkey_ge(bloomkey, bloomkey) RETURNS boolean
AS 'MODULE_PATHNAME', 'bloomfam_key_ge' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION bloomkey_cmp(bloomkey, bloomkey) RETURNS integer
AS 'MODULE_PATHNAME', 'bloomfam_key_cmp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION bloomkey_hash(bloomkey) RETURNS integer
AS 'MODULE_PATHNAME', 'bloomfam_key_hash' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION bloomkey_hash_extended(bloomkey, bigint) RETURNS bigint
AS 'MODULE_PATHNAME', 'bloomfam_key_hash_extended' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE OPERATOR = (
	LEFTARG = bloomkey, RIGHTARG = bloomkey, FUNCTION = bloomkey_eq,
	COMMUTATOR = =, NEGATOR = <>, RESTRICT = eqsel, JOIN = eqjoinsel, HASHES, MERGES
);

CREATE OPERATOR <> (
	LEFTARG = bloomkey, RIGHTARG = bloomkey, FUNCTION = bloomkey_ne,
	COMMUTATOR = <>, NEGATOR = =, RESTRICT = neqsel, JOIN = neqjoinsel
);

CREATE OPERATOR < (
	LEFTARG = bloomkey, RIGHTARG = bloomkey, FUNCTION = bloomkey_lt,
	COMMUTATOR = >, NEGATOR = >=, RESTRICT = scalarltsel, JOIN = scalarltjoinsel
);

CREATE OPERATOR <= (
	LEFTARG = bloomkey, RIGHTARG = bloomkey, FUNCTION = bloomkey_le,
	COMMUTATOR = >=, NEGATOR = >, RESTRICT = scalarlesel, JOIN = scalarlejoinsel
);

CREATE OPERATOR > (
	LEFTARG = bloomkey, RIGHTARG = bloomkey, FUNCTION = bloomkey_gt,
	COMMUTATOR = <, NEGATOR = <=, RESTRICT = scalargtsel, JOIN = scalargtjoinsel
);

CREATE OPERATOR >= (
	LEFTARG = bloomkey, RIGHTARG = bloomkey, FUNCTION = bloomkey_ge,
	COMMUTATOR = <=, NEGATOR = <, RESTRICT = scalargesel, JOIN = scalargejoinsel
);

CREATE OPERATOR CLASS bloomkey_ops DEFAULT FOR TYPE bloomkey USING btree AS
	OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,
	FUNCTION 1 bloomkey_cmp(bloomkey, bloomkey);

CREATE OPERATOR CLASS bloomkey_ops DEFAULT FOR TYPE bloomkey USING hash AS
	OPERATOR 1 =,
	FUNCTION 1 bloomkey_hash(bloomkey),
	FUNCTION 2 bloomkey_hash_extended(bloomkey, bigint);

--
-- Building: build.c
--

CREATE FUNCTION bloom_create(expected bigint, fpr double precision DEFAULT 0.01, kind text DEFAULT 'blocked',
	key_type regtype DEFAULT NULL) RETURNS bloomfilter
AS 'MODULE_PATHNAME', 'bloomfam_create' LANGUAGE C IMMUTABLE PARALLEL SAFE;

-- the kind or, if the text is a number, the rate; it has no name, as a call by names means the function above
CREATE FUNCTION bloom_create(expected bigint, text) RETURNS bloomfilter
AS 'MODULE_PATHNAME', 'bloomfam_create_text' LANGUAGE C IMMUTABLE PARALLEL SAFE;

COMMENT ON FUNCTION bloom_create(bigint, double precision, text, regtype) IS 'an empty bloom filter';
COMMENT ON FUNCTION bloom_create(bigint, text) IS 'an empty bloom filter, of this kind or, if the text is a number, of this rate';

CREATE FUNCTION bloom_add_support(internal) RETURNS internal
AS 'MODULE_PATHNAME', 'bloomfam_add_support' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION bloom_add(filter bloomfilter, key "any") RETURNS bloomfilter
AS 'MODULE_PATHNAME', 'bloomfam_add' LANGUAGE C IMMUTABLE PARALLEL SAFE SUPPORT bloom_add_support;

CREATE FUNCTION bloom_add(filter bloomfilter, key bloomliteral) RETURNS bloomfilter
AS 'MODULE_PATHNAME', 'bloomfam_add_literal' LANGUAGE C IMMUTABLE PARALLEL SAFE;

COMMENT ON FUNCTION bloom_add(bloomfilter, "any") IS 'the filter with one more key';
COMMENT ON FUNCTION bloom_add(bloomfilter, bloomliteral) IS 'the filter with one more key';

CREATE FUNCTION bloom_add_all(filter bloomfilter, keys anyarray) RETURNS bloomfilter
AS 'MODULE_PATHNAME', 'bloomfam_add_all' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION bloom_add_all(filter bloomfilter, keys bloomliteral) RETURNS bloomfilter
AS 'MODULE_PATHNAME', 'bloomfam_add_all_literal' LANGUAGE C IMMUTABLE PARALLEL SAFE;

COMMENT ON FUNCTION bloom_add_all(bloomfilter, anyarray) IS 'the filter with the keys of an array';
COMMENT ON FUNCTION bloom_add_all(bloomfilter, bloomliteral) IS 'the filter with the keys of an array';

CREATE FUNCTION bloom_add_new(bloomfilter, keys anyarray, OUT filter bloomfilter, OUT added anyarray) RETURNS record
AS 'MODULE_PATHNAME', 'bloomfam_add_new' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION bloom_add_new(bloomfilter, keys bloomliteral, OUT filter bloomfilter, OUT added text[]) RETURNS record
AS 'MODULE_PATHNAME', 'bloomfam_add_new_literal' LANGUAGE C IMMUTABLE PARALLEL SAFE;

COMMENT ON FUNCTION bloom_add_new(bloomfilter, anyarray) IS 'the filter with the keys of an array, and those that were new to it';
COMMENT ON FUNCTION bloom_add_new(bloomfilter, bloomliteral) IS 'the filter with the keys of an array, and those that were new to it';

CREATE FUNCTION bloom_remove(filter bloomfilter, key "any") RETURNS bloomfilter
AS 'MODULE_PATHNAME', 'bloomfam_remove' LANGUAGE C IMMUTABLE PARALLEL SAFE SUPPORT bloom_add_support;

CREATE FUNCTION bloom_remove(filter bloomfilter, key bloomliteral) RETURNS bloomfilter
AS 'MODULE_PATHNAME', 'bloomfam_remove_literal' LANGUAGE C IMMUTABLE PARALLEL SAFE SUPPORT bloom_add_support;

COMMENT ON FUNCTION bloom_remove(bloomfilter, "any") IS 'the filter without a key that was added to it';
COMMENT ON FUNCTION bloom_remove(bloomfilter, bloomliteral) IS 'the filter without a key that was added to it';

CREATE FUNCTION bloom_remove_all(filter bloomfilter, keys anyarray) RETURNS bloomfilter
AS 'MODULE_PATHNAME', 'bloomfam_remove_all' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION bloom_remove_all(filter bloomfilter, keys bloomliteral) RETURNS bloomfilter
AS 'MODULE_PATHNAME', 'bloomfam_remove_all_literal' LANGUAGE C IMMUTABLE PARALLEL SAFE;

COMMENT ON FUNCTION bloom_remove_all(bloomfilter, anyarray) IS 'the filter without the keys of an array, which were added to it';
COMMENT ON FUNCTION bloom_remove_all(bloomfilter, bloomliteral) IS 'the filter without the keys of an array, which were added to it';

--
-- Probing: probe.c
--

CREATE FUNCTION bloom_may_contain_support(internal) RETURNS internal
AS 'MODULE_PATHNAME', 'bloomfam_may_contain_support' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION bloom_may_be_in_support(internal) RETURNS internal
AS 'MODULE_PATHNAME', 'bloomfam_may_be_in_support' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION bloom_may_contain_sel(internal, oid, internal, integer) RETURNS double precision
AS 'MODULE_PATHNAME', 'bloomfam_may_contain_sel' LANGUAGE C STABLE STRICT PARALLEL SAFE;

CREATE FUNCTION bloom_may_be_in_sel(internal, oid, internal, integer) RETURNS double precision
AS 'MODULE_PATHNAME', 'bloomfam_may_be_in_sel' LANGUAGE C STABLE STRICT PARALLEL SAFE;

CREATE FUNCTION bloom_joinsel(internal, oid, internal, smallint, internal) RETURNS double precision
AS 'MODULE_PATHNAME', 'bloomfam_joinsel' LANGUAGE C STABLE STRICT PARALLEL SAFE;

-- anyelement, and not "any", lets an array stand behind @~ ANY and @~ ALL
CREATE FUNCTION bloom_may_contain(filter bloomfilter, key anyelement) RETURNS boolean
AS 'MODULE_PATHNAME', 'bloomfam_may_contain' LANGUAGE C IMMUTABLE PARALLEL SAFE SUPPORT bloom_may_contain_support;

CREATE FUNCTION bloom_may_contain(filter bloomfilter, key bloomliteral) RETURNS boolean
AS 'MODULE_PATHNAME', 'bloomfam_may_contain_literal' LANGUAGE C IMMUTABLE PARALLEL SAFE SUPPORT bloom_may_contain_support;

COMMENT ON FUNCTION bloom_may_contain(bloomfilter, anyelement) IS 'may the filter contain the key? false is certain';
COMMENT ON FUNCTION bloom_may_contain(bloomfilter, bloomliteral) IS 'may the filter contain the key? false is certain';

CREATE FUNCTION bloom_may_be_in(key anyelement, filter bloomfilter) RETURNS boolean
AS 'MODULE_PATHNAME', 'bloomfam_may_be_in' LANGUAGE C IMMUTABLE PARALLEL SAFE SUPPORT bloom_may_be_in_support;

CREATE FUNCTION bloom_may_be_in(key bloomliteral, filter bloomfilter) RETURNS boolean
AS 'MODULE_PATHNAME', 'bloomfam_may_be_in_literal' LANGUAGE C IMMUTABLE PARALLEL SAFE SUPPORT bloom_may_be_in_support;

COMMENT ON FUNCTION bloom_may_be_in(anyelement, bloomfilter) IS 'implementation of ~@ operator';
COMMENT ON FUNCTION bloom_may_be_in(bloomliteral, bloomfilter) IS 'implementation of ~@ operator';

CREATE OPERATOR @~ (
	LEFTARG = bloomfilter, RIGHTARG = anyelement, FUNCTION = bloom_may_contain, COMMUTATOR = ~@,
	RESTRICT = bloom_may_contain_sel, JOIN = bloom_joinsel
);

CREATE OPERATOR @~ (
	LEFTARG = bloomfilter, RIGHTARG = bloomliteral, FUNCTION = bloom_may_contain, COMMUTATOR = ~@,
	RESTRICT = bloom_may_contain_sel, JOIN = bloom_joinsel
);

CREATE OPERATOR ~@ (
	LEFTARG = anyelement, RIGHTARG = bloomfilter, FUNCTION = bloom_may_be_in, COMMUTATOR = @~,
	RESTRICT = bloom_may_be_in_sel, JOIN = bloom_joinsel
);

CREATE OPERATOR ~@ (
	LEFTARG = bloomliteral, RIGHTARG = bloomfilter, FUNCTION = bloom_may_be_in, COMMUTATOR = @~,
	RESTRICT = bloom_may_be_in_sel, JOIN = bloom_joinsel
);

COMMENT ON OPERATOR @~ (bloomfilter, anyelement) IS 'may the filter contain the key? false is certain';
COMMENT ON OPERATOR @~ (bloomfilter, bloomliteral) IS 'may the filter contain the key? false is certain';
COMMENT ON OPERATOR ~@ (anyelement, bloomfilter) IS 'may the key be in the filter? false is certain';
COMMENT ON OPERATOR ~@ (bloomliteral, bloomfilter) IS 'may the key be in the filter? false is certain';

CREATE FUNCTION bloom_may_contain_any(filter bloomfilter, keys anyarray) RETURNS boolean
AS 'MODULE_PATHNAME', 'bloomfam_may_contain_any' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION bloom_may_contain_any(filter bloomfilter, keys bloomliteral) RETURNS boolean
AS 'MODULE_PATHNAME', 'bloomfam_may_contain_any_literal' LANGUAGE C IMMUTABLE PARALLEL SAFE;

COMMENT ON FUNCTION bloom_may_contain_any(bloomfilter, anyarray) IS 'may the filter contain any of the keys? false is certain';
COMMENT ON FUNCTION bloom_may_contain_any(bloomfilter, bloomliteral) IS 'may the filter contain any of the keys? false is certain';

CREATE FUNCTION bloom_may_contain_all(filter bloomfilter, keys anyarray) RETURNS boolean
AS 'MODULE_PATHNAME', 'bloomfam_may_contain_all' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION bloom_may_contain_all(filter bloomfilter, keys bloomliteral) RETURNS boolean
AS 'MODULE_PATHNAME', 'bloomfam_may_contain_all_literal' LANGUAGE C IMMUTABLE PARALLEL SAFE;

COMMENT ON FUNCTION bloom_may_contain_all(bloomfilter, anyarray) IS 'may the filter contain all of the keys? false is certain';
COMMENT ON FUNCTION bloom_may_contain_all(bloomfilter, bloomliteral) IS 'may the filter contain all of the keys? false is certain';

CREATE FUNCTION bloom_filter_keys(filter bloomfilter, keys anyarray) RETURNS anyarray
AS 'MODULE_PATHNAME', 'bloomfam_filter_keys' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION bloom_filter_keys(filter bloomfilter, keys bloomliteral) RETURNS text[]
AS 'MODULE_PATHNAME', 'bloomfam_filter_keys_literal' LANGUAGE C IMMUTABLE PARALLEL SAFE;

COMMENT ON FUNCTION bloom_filter_keys(bloomfilter, anyarray) IS 'those of the keys that the filter may contain';
COMMENT ON FUNCTION bloom_filter_keys(bloomfilter, bloomliteral) IS 'those of the keys that the filter may contain';

CREATE FUNCTION bloom_count(filter bloomfilter, key "any") RETURNS bigint
AS 'MODULE_PATHNAME', 'bloomfam_count' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION bloom_count(filter bloomfilter, key bloomliteral) RETURNS bigint
AS 'MODULE_PATHNAME', 'bloomfam_count_literal' LANGUAGE C IMMUTABLE PARALLEL SAFE;

COMMENT ON FUNCTION bloom_count(bloomfilter, "any") IS 'how often the key was added, at most';
COMMENT ON FUNCTION bloom_count(bloomfilter, bloomliteral) IS 'how often the key was added, at most';

CREATE FUNCTION bloom_which(filters bloomfilter[], key "any") RETURNS integer[]
AS 'MODULE_PATHNAME', 'bloomfam_which' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION bloom_which(filters bloomfilter[], key bloomliteral) RETURNS integer[]
AS 'MODULE_PATHNAME', 'bloomfam_which_literal' LANGUAGE C IMMUTABLE PARALLEL SAFE;

COMMENT ON FUNCTION bloom_which(bloomfilter[], "any") IS 'positions of the filters that may contain the key';
COMMENT ON FUNCTION bloom_which(bloomfilter[], bloomliteral) IS 'positions of the filters that may contain the key';

--
-- Dividing keys: shard.c
--

CREATE FUNCTION bloom_shard(key "any", shards integer) RETURNS integer
AS 'MODULE_PATHNAME', 'bloomfam_shard' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION bloom_shard(key bloomliteral, shards integer) RETURNS integer
AS 'MODULE_PATHNAME', 'bloomfam_shard_literal' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION bloom_shard("any", integer) IS 'the shard that a key belongs to, counted from 0';
COMMENT ON FUNCTION bloom_shard(bloomliteral, integer) IS 'the shard that a key belongs to, counted from 0';

--
-- Filters from filters: setops.c
--

CREATE FUNCTION bloom_union(bloomfilter, bloomfilter) RETURNS bloomfilter
AS 'MODULE_PATHNAME', 'bloomfam_union' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION bloom_union(bloomfilter, bloomfilter) IS 'may contain what either filter may contain';

CREATE FUNCTION bloom_intersect(bloomfilter, bloomfilter) RETURNS bloomfilter
AS 'MODULE_PATHNAME', 'bloomfam_intersect' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION bloom_intersect(bloomfilter, bloomfilter) IS 'may contain what both filters may contain';

CREATE OPERATOR | (
	LEFTARG = bloomfilter, RIGHTARG = bloomfilter, FUNCTION = bloom_union, COMMUTATOR = |
);

CREATE OPERATOR & (
	LEFTARG = bloomfilter, RIGHTARG = bloomfilter, FUNCTION = bloom_intersect, COMMUTATOR = &
);

COMMENT ON OPERATOR | (bloomfilter, bloomfilter) IS 'may contain what either filter may contain';
COMMENT ON OPERATOR & (bloomfilter, bloomfilter) IS 'may contain what both filters may contain';

CREATE FUNCTION bloom_fold(filter bloomfilter, fpr double precision) RETURNS bloomfilter
AS 'MODULE_PATHNAME', 'bloomfam_fold' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION bloom_fold(bloomfilter, double precision) IS 'the smallest fold of the filter that meets a false positive rate';

--
-- Filters of Parquet files: parquet.c
--

CREATE FUNCTION bloom_from_parquet(data bytea, key_type regtype) RETURNS bloomfilter
AS 'MODULE_PATHNAME', 'bloomfam_from_parquet' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION bloom_from_parquet(data bytea, key_type regtype, column_type text) RETURNS bloomfilter
AS 'MODULE_PATHNAME', 'bloomfam_from_parquet' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION bloom_from_parquet(bytea, regtype) IS 'the bloom filter that a Parquet file has of a column';
COMMENT ON FUNCTION bloom_from_parquet(bytea, regtype, text) IS 'the bloom filter that a Parquet file has of a column';

CREATE FUNCTION bloom_to_parquet(filter bloomfilter) RETURNS bytea
AS 'MODULE_PATHNAME', 'bloomfam_to_parquet' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION bloom_to_parquet(bloomfilter) IS 'the bloom filter, of kind parquet, as a Parquet file has it';

--
-- Inspection: inspect.c
--

CREATE FUNCTION bloom_info(filter bloomfilter,
	OUT kind text, OUT key_type text, OUT keys_added bigint, OUT keys_estimated bigint, OUT capacity bigint,
	OUT target_fpr double precision, OUT estimated_fpr double precision, OUT fill_ratio double precision,
	OUT bytes bigint, OUT bits bigint, OUT bits_per_key double precision, OUT hashes integer, OUT stages integer,
	OUT saturated bigint, OUT format_version integer) RETURNS record
AS 'MODULE_PATHNAME', 'bloomfam_info' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION bloom_info(bloomfilter) IS 'what can be known of a bloom filter';

CREATE FUNCTION bloom_cardinality(filter bloomfilter) RETURNS double precision
AS 'MODULE_PATHNAME', 'bloomfam_cardinality' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION bloom_cardinality(bloomfilter) IS 'estimated number of distinct keys';

CREATE FUNCTION bloom_fpr(filter bloomfilter) RETURNS double precision
AS 'MODULE_PATHNAME', 'bloomfam_fpr' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION bloom_fpr(bloomfilter) IS 'estimated false positive rate now';

CREATE FUNCTION bloom_kinds(expected bigint, fpr double precision DEFAULT 0.01, max_bits_per_key double precision DEFAULT NULL,
	OUT kind text, OUT bytes bigint, OUT bits_per_key double precision, OUT overhead double precision,
	OUT expected_fpr double precision, OUT can_add boolean, OUT can_remove boolean, OUT can_count boolean, OUT can_union boolean,
	OUT can_intersect boolean, OUT can_fold boolean, OUT choose_when text) RETURNS SETOF record
AS 'MODULE_PATHNAME', 'bloomfam_kinds' LANGUAGE C IMMUTABLE PARALLEL SAFE ROWS 11;

COMMENT ON FUNCTION bloom_kinds(bigint, double precision, double precision) IS 'what a filter of each kind takes, and what it can do';

--
-- Equality and order: compare.c
--

CREATE FUNCTION bloomfilter_eq(bloomfilter, bloomfilter) RETURNS boolean
AS 'MODULE_PATHNAME', 'bloomfam_eq' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION bloomfilter_ne(bloomfilter, bloomfilter) RETURNS boolean
AS 'MODULE_PATHNAME', 'bloomfam_ne' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION bloomfilter_lt(bloomfilter, bloomfilter) RETURNS boolean
AS 'MODULE_PATHNAME', 'bloomfam_lt' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION bloomfilter_le(bloomfilter, bloomfilter) RETURNS boolean
AS 'MODULE_PATHNAME', 'bloomfam_le' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION bloomfilter_gt(bloomfilter, bloomfilter) RETURNS boolean
AS 'MODULE_PATHNAME', 'bloomfam_gt' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION bloomfilter_ge(bloomfilter, bloomfilter) RETURNS boolean
AS 'MODULE_PATHNAME', 'bloomfam_ge' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION bloomfilter_cmp(bloomfilter, bloomfilter) RETURNS integer
AS 'MODULE_PATHNAME', 'bloomfam_cmp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION bloomfilter_hash(bloomfilter) RETURNS integer
AS 'MODULE_PATHNAME', 'bloomfam_hash' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION bloomfilter_hash_extended(bloomfilter, bigint) RETURNS bigint
AS 'MODULE_PATHNAME', 'bloomfam_hash_extended' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE OPERATOR = (
	LEFTARG = bloomfilter, RIGHTARG = bloomfilter, FUNCTION = bloomfilter_eq,
	COMMUTATOR = =, NEGATOR = <>, RESTRICT = eqsel, JOIN = eqjoinsel, HASHES, MERGES
);

CREATE OPERATOR <> (
	LEFTARG = bloomfilter, RIGHTARG = bloomfilter, FUNCTION = bloomfilter_ne,
	COMMUTATOR = <>, NEGATOR = =, RESTRICT = neqsel, JOIN = neqjoinsel
);

CREATE OPERATOR < (
	LEFTARG = bloomfilter, RIGHTARG = bloomfilter, FUNCTION = bloomfilter_lt,
	COMMUTATOR = >, NEGATOR = >=, RESTRICT = scalarltsel, JOIN = scalarltjoinsel
);

CREATE OPERATOR <= (
	LEFTARG = bloomfilter, RIGHTARG = bloomfilter, FUNCTION = bloomfilter_le,
	COMMUTATOR = >=, NEGATOR = >, RESTRICT = scalarlesel, JOIN = scalarlejoinsel
);

CREATE OPERATOR > (
	LEFTARG = bloomfilter, RIGHTARG = bloomfilter, FUNCTION = bloomfilter_gt,
	COMMUTATOR = <, NEGATOR = <=, RESTRICT = scalargtsel, JOIN = scalargtjoinsel
);

CREATE OPERATOR >= (
	LEFTARG = bloomfilter, RIGHTARG = bloomfilter, FUNCTION = bloomfilter_ge,
	COMMUTATOR = <=, NEGATOR = <, RESTRICT = scalargesel, JOIN = scalargejoinsel
);

CREATE OPERATOR CLASS bloomfilter_ops DEFAULT FOR TYPE bloomfilter USING btree AS
	OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,
	FUNCTION 1 bloomfilter_cmp(bloomfilter, bloomfilter);

CREATE OPERATOR CLASS bloomfilter_ops DEFAULT FOR TYPE bloomfilter USING hash AS
	OPERATOR 1 =,
	FUNCTION 1 bloomfilter_hash(bloomfilter),
	FUNCTION 2 bloomfilter_hash_extended(bloomfilter, bigint);

--
-- Aggregates: aggregate.c
--

CREATE FUNCTION bloom_agg_trans(internal, "any") RETURNS internal
AS 'MODULE_PATHNAME', 'bloomfam_agg_trans' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION bloom_agg_trans(internal, "any", double precision) RETURNS internal
AS 'MODULE_PATHNAME', 'bloomfam_agg_trans' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION bloom_agg_trans(internal, "any", double precision, text) RETURNS internal
AS 'MODULE_PATHNAME', 'bloomfam_agg_trans' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION bloom_agg_trans(internal, "any", double precision, text, bigint) RETURNS internal
AS 'MODULE_PATHNAME', 'bloomfam_agg_trans' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION bloom_agg_trans(internal, "any", text) RETURNS internal
AS 'MODULE_PATHNAME', 'bloomfam_agg_text_trans' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION bloom_agg_combine(internal, internal) RETURNS internal
AS 'MODULE_PATHNAME', 'bloomfam_agg_combine' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION bloom_agg_serial(internal) RETURNS bytea
AS 'MODULE_PATHNAME', 'bloomfam_agg_serial' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION bloom_agg_deserial(bytea, internal) RETURNS internal
AS 'MODULE_PATHNAME', 'bloomfam_agg_deserial' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION bloom_agg_final(internal, "any") RETURNS bloomfilter
AS 'MODULE_PATHNAME', 'bloomfam_agg_final' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION bloom_agg_final(internal, "any", double precision) RETURNS bloomfilter
AS 'MODULE_PATHNAME', 'bloomfam_agg_final' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION bloom_agg_final(internal, "any", double precision, text) RETURNS bloomfilter
AS 'MODULE_PATHNAME', 'bloomfam_agg_final' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION bloom_agg_final(internal, "any", double precision, text, bigint) RETURNS bloomfilter
AS 'MODULE_PATHNAME', 'bloomfam_agg_final' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION bloom_agg_final(internal, "any", text) RETURNS bloomfilter
AS 'MODULE_PATHNAME', 'bloomfam_agg_final' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE AGGREGATE bloom_agg(key "any") (
	SFUNC = bloom_agg_trans, STYPE = internal, SSPACE = 4096,
	FINALFUNC = bloom_agg_final, FINALFUNC_EXTRA, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = bloom_agg_combine, SERIALFUNC = bloom_agg_serial, DESERIALFUNC = bloom_agg_deserial, PARALLEL = SAFE
);

CREATE AGGREGATE bloom_agg(key "any", fpr double precision) (
	SFUNC = bloom_agg_trans, STYPE = internal, SSPACE = 4096,
	FINALFUNC = bloom_agg_final, FINALFUNC_EXTRA, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = bloom_agg_combine, SERIALFUNC = bloom_agg_serial, DESERIALFUNC = bloom_agg_deserial, PARALLEL = SAFE
);

CREATE AGGREGATE bloom_agg(key "any", fpr double precision, kind text) (
	SFUNC = bloom_agg_trans, STYPE = internal, SSPACE = 4096,
	FINALFUNC = bloom_agg_final, FINALFUNC_EXTRA, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = bloom_agg_combine, SERIALFUNC = bloom_agg_serial, DESERIALFUNC = bloom_agg_deserial, PARALLEL = SAFE
);

CREATE AGGREGATE bloom_agg(key "any", fpr double precision, kind text, expected bigint) (
	SFUNC = bloom_agg_trans, STYPE = internal, SSPACE = 4096,
	FINALFUNC = bloom_agg_final, FINALFUNC_EXTRA, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = bloom_agg_combine, SERIALFUNC = bloom_agg_serial, DESERIALFUNC = bloom_agg_deserial, PARALLEL = SAFE
);

-- the kind or, if the text is a number, the rate: an untyped literal or parameter is read as text
CREATE AGGREGATE bloom_agg(key "any", kind text) (
	SFUNC = bloom_agg_trans, STYPE = internal, SSPACE = 4096,
	FINALFUNC = bloom_agg_final, FINALFUNC_EXTRA, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = bloom_agg_combine, SERIALFUNC = bloom_agg_serial, DESERIALFUNC = bloom_agg_deserial, PARALLEL = SAFE
);

-- untyped literals and parameters: an error that asks for the type
CREATE AGGREGATE bloom_agg(key bloomliteral) (
	SFUNC = bloom_agg_trans, STYPE = internal, SSPACE = 4096,
	FINALFUNC = bloom_agg_final, FINALFUNC_EXTRA, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = bloom_agg_combine, SERIALFUNC = bloom_agg_serial, DESERIALFUNC = bloom_agg_deserial, PARALLEL = SAFE
);

CREATE AGGREGATE bloom_agg(key bloomliteral, fpr double precision) (
	SFUNC = bloom_agg_trans, STYPE = internal, SSPACE = 4096,
	FINALFUNC = bloom_agg_final, FINALFUNC_EXTRA, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = bloom_agg_combine, SERIALFUNC = bloom_agg_serial, DESERIALFUNC = bloom_agg_deserial, PARALLEL = SAFE
);

CREATE AGGREGATE bloom_agg(key bloomliteral, fpr double precision, kind text) (
	SFUNC = bloom_agg_trans, STYPE = internal, SSPACE = 4096,
	FINALFUNC = bloom_agg_final, FINALFUNC_EXTRA, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = bloom_agg_combine, SERIALFUNC = bloom_agg_serial, DESERIALFUNC = bloom_agg_deserial, PARALLEL = SAFE
);

CREATE AGGREGATE bloom_agg(key bloomliteral, fpr double precision, kind text, expected bigint) (
	SFUNC = bloom_agg_trans, STYPE = internal, SSPACE = 4096,
	FINALFUNC = bloom_agg_final, FINALFUNC_EXTRA, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = bloom_agg_combine, SERIALFUNC = bloom_agg_serial, DESERIALFUNC = bloom_agg_deserial, PARALLEL = SAFE
);

CREATE AGGREGATE bloom_agg(key bloomliteral, kind text) (
	SFUNC = bloom_agg_trans, STYPE = internal, SSPACE = 4096,
	FINALFUNC = bloom_agg_final, FINALFUNC_EXTRA, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = bloom_agg_combine, SERIALFUNC = bloom_agg_serial, DESERIALFUNC = bloom_agg_deserial, PARALLEL = SAFE
);

COMMENT ON AGGREGATE bloom_agg("any") IS 'bloom filter of the keys';
COMMENT ON AGGREGATE bloom_agg("any", double precision) IS 'bloom filter of the keys';
COMMENT ON AGGREGATE bloom_agg("any", double precision, text) IS 'bloom filter of the keys';
COMMENT ON AGGREGATE bloom_agg("any", double precision, text, bigint) IS 'bloom filter of the keys';
COMMENT ON AGGREGATE bloom_agg("any", text) IS 'bloom filter of the keys, of this kind or, if the text is a number, of this rate';
COMMENT ON AGGREGATE bloom_agg(bloomliteral) IS 'an error: the key needs a type';
COMMENT ON AGGREGATE bloom_agg(bloomliteral, double precision) IS 'an error: the key needs a type';
COMMENT ON AGGREGATE bloom_agg(bloomliteral, double precision, text) IS 'an error: the key needs a type';
COMMENT ON AGGREGATE bloom_agg(bloomliteral, double precision, text, bigint) IS 'an error: the key needs a type';
COMMENT ON AGGREGATE bloom_agg(bloomliteral, text) IS 'an error: the key needs a type';

CREATE FUNCTION bloom_agg_key_trans(bloomfilter, bloomkey) RETURNS bloomfilter
AS 'MODULE_PATHNAME', 'bloomfam_agg_key_trans' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION bloom_agg_key_trans(bloomfilter, bloomkey, double precision) RETURNS bloomfilter
AS 'MODULE_PATHNAME', 'bloomfam_agg_key_trans' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION bloom_agg_key_trans(bloomfilter, bloomkey, double precision, text) RETURNS bloomfilter
AS 'MODULE_PATHNAME', 'bloomfam_agg_key_trans' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION bloom_agg_key_trans(bloomfilter, bloomkey, double precision, text, bigint) RETURNS bloomfilter
AS 'MODULE_PATHNAME', 'bloomfam_agg_key_trans' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION bloom_agg_key_trans(bloomfilter, bloomkey, text) RETURNS bloomfilter
AS 'MODULE_PATHNAME', 'bloomfam_agg_key_text_trans' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION bloom_agg_key_combine(bloomfilter, bloomfilter) RETURNS bloomfilter
AS 'MODULE_PATHNAME', 'bloomfam_agg_key_combine' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION bloom_agg_key_final(bloomfilter) RETURNS bloomfilter
AS 'MODULE_PATHNAME', 'bloomfam_agg_key_final' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE AGGREGATE bloom_agg(key bloomkey) (
	SFUNC = bloom_agg_key_trans, STYPE = bloomfilter, SSPACE = 4096,
	FINALFUNC = bloom_agg_key_final, FINALFUNC_MODIFY = READ_ONLY, COMBINEFUNC = bloom_agg_key_combine, PARALLEL = SAFE
);

CREATE AGGREGATE bloom_agg(key bloomkey, fpr double precision) (
	SFUNC = bloom_agg_key_trans, STYPE = bloomfilter, SSPACE = 4096,
	FINALFUNC = bloom_agg_key_final, FINALFUNC_MODIFY = READ_ONLY, COMBINEFUNC = bloom_agg_key_combine, PARALLEL = SAFE
);

CREATE AGGREGATE bloom_agg(key bloomkey, fpr double precision, kind text) (
	SFUNC = bloom_agg_key_trans, STYPE = bloomfilter, SSPACE = 4096,
	FINALFUNC = bloom_agg_key_final, FINALFUNC_MODIFY = READ_ONLY, COMBINEFUNC = bloom_agg_key_combine, PARALLEL = SAFE
);

CREATE AGGREGATE bloom_agg(key bloomkey, fpr double precision, kind text, expected bigint) (
	SFUNC = bloom_agg_key_trans, STYPE = bloomfilter, SSPACE = 4096,
	FINALFUNC = bloom_agg_key_final, FINALFUNC_MODIFY = READ_ONLY, COMBINEFUNC = bloom_agg_key_combine, PARALLEL = SAFE
);

CREATE AGGREGATE bloom_agg(key bloomkey, kind text) (
	SFUNC = bloom_agg_key_trans, STYPE = bloomfilter, SSPACE = 4096,
	FINALFUNC = bloom_agg_key_final, FINALFUNC_MODIFY = READ_ONLY, COMBINEFUNC = bloom_agg_key_combine, PARALLEL = SAFE
);

COMMENT ON AGGREGATE bloom_agg(bloomkey) IS 'bloom filter of hashed keys';
COMMENT ON AGGREGATE bloom_agg(bloomkey, double precision) IS 'bloom filter of hashed keys';
COMMENT ON AGGREGATE bloom_agg(bloomkey, double precision, text) IS 'bloom filter of hashed keys';
COMMENT ON AGGREGATE bloom_agg(bloomkey, double precision, text, bigint) IS 'bloom filter of hashed keys';
COMMENT ON AGGREGATE bloom_agg(bloomkey, text) IS 'bloom filter of hashed keys, of this kind or, if the text is a number, of this rate';

CREATE FUNCTION bloom_union_trans(bloomfilter, bloomfilter) RETURNS bloomfilter
AS 'MODULE_PATHNAME', 'bloomfam_union_trans' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION bloom_union_combine(bloomfilter, bloomfilter) RETURNS bloomfilter
AS 'MODULE_PATHNAME', 'bloomfam_union_combine' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION bloom_union_final(bloomfilter) RETURNS bloomfilter
AS 'MODULE_PATHNAME', 'bloomfam_union_final' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE AGGREGATE bloom_union_agg(bloomfilter) (
	SFUNC = bloom_union_trans, STYPE = bloomfilter, SSPACE = 65536,
	FINALFUNC = bloom_union_final, FINALFUNC_MODIFY = READ_ONLY, COMBINEFUNC = bloom_union_combine, PARALLEL = SAFE
);

COMMENT ON AGGREGATE bloom_union_agg(bloomfilter) IS 'may contain what any of the filters may contain';

CREATE FUNCTION bloom_intersect_trans(bloomfilter, bloomfilter) RETURNS bloomfilter
AS 'MODULE_PATHNAME', 'bloomfam_intersect_trans' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION bloom_intersect_final(bloomfilter) RETURNS bloomfilter
AS 'MODULE_PATHNAME', 'bloomfam_intersect_final' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE AGGREGATE bloom_intersect_agg(bloomfilter) (
	SFUNC = bloom_intersect_trans, STYPE = bloomfilter, SSPACE = 65536,
	FINALFUNC = bloom_intersect_final, FINALFUNC_MODIFY = READ_ONLY, COMBINEFUNC = bloom_intersect_trans, PARALLEL = SAFE
);

COMMENT ON AGGREGATE bloom_intersect_agg(bloomfilter) IS 'may contain what all of the filters may contain';

--
-- Counters of join filters: join/stat.c
--

CREATE FUNCTION bloomfam_stat_join_filters(
	OUT userid oid, OUT dbid oid, OUT queryid bigint, OUT executions bigint, OUT filters_built bigint, OUT filters_discarded bigint,
	OUT filters_disabled bigint, OUT filters_pushed bigint, OUT rows_probed bigint, OUT rows_removed bigint,
	OUT rows_not_checked bigint, OUT filter_bytes bigint, OUT stats_since timestamptz
) RETURNS SETOF record
AS 'MODULE_PATHNAME', 'bloomfam_stat_join_filters' LANGUAGE C STRICT VOLATILE PARALLEL SAFE;

CREATE FUNCTION bloomfam_stat_join_filters_reset() RETURNS void
AS 'MODULE_PATHNAME', 'bloomfam_stat_join_filters_reset' LANGUAGE C STRICT VOLATILE PARALLEL SAFE;

REVOKE ALL ON FUNCTION bloomfam_stat_join_filters_reset() FROM PUBLIC;

CREATE VIEW bloomfam_stat_join_filters AS SELECT * FROM bloomfam_stat_join_filters();

GRANT SELECT ON bloomfam_stat_join_filters TO PUBLIC;

COMMENT ON FUNCTION bloomfam_stat_join_filters() IS 'what the filters of hash joins did, by role, database and query';
COMMENT ON FUNCTION bloomfam_stat_join_filters_reset() IS 'begins all counters of join filters anew';
COMMENT ON VIEW bloomfam_stat_join_filters IS 'what the filters of hash joins did, by role, database and query';

--
-- The index: maplet/
--

CREATE FUNCTION maplet_handler(internal) RETURNS index_am_handler
AS 'MODULE_PATHNAME', 'bloomfam_maplet_handler' LANGUAGE C STRICT PARALLEL SAFE;

CREATE ACCESS METHOD maplet TYPE INDEX HANDLER maplet_handler;

COMMENT ON ACCESS METHOD maplet IS 'index of hashes, for equality';

-- Types within a family are found by each other's keys.
CREATE OPERATOR FAMILY integer_ops USING maplet;
CREATE OPERATOR FAMILY float_ops USING maplet;
CREATE OPERATOR FAMILY text_ops USING maplet;
CREATE OPERATOR CLASS int2_ops DEFAULT FOR TYPE int2 USING maplet FAMILY integer_ops AS OPERATOR 1 = (int2, int2);
CREATE OPERATOR CLASS int4_ops DEFAULT FOR TYPE int4 USING maplet FAMILY integer_ops AS OPERATOR 1 = (int4, int4);
CREATE OPERATOR CLASS int8_ops DEFAULT FOR TYPE int8 USING maplet FAMILY integer_ops AS OPERATOR 1 = (int8, int8);
ALTER OPERATOR FAMILY integer_ops USING maplet ADD
	OPERATOR 1 = (int2, int4), OPERATOR 1 = (int2, int8),
	OPERATOR 1 = (int4, int2), OPERATOR 1 = (int4, int8),
	OPERATOR 1 = (int8, int2), OPERATOR 1 = (int8, int4);

CREATE OPERATOR CLASS float4_ops DEFAULT FOR TYPE float4 USING maplet FAMILY float_ops AS OPERATOR 1 = (float4, float4);
CREATE OPERATOR CLASS float8_ops DEFAULT FOR TYPE float8 USING maplet FAMILY float_ops AS OPERATOR 1 = (float8, float8);
ALTER OPERATOR FAMILY float_ops USING maplet ADD
	OPERATOR 1 = (float4, float8), OPERATOR 1 = (float8, float4);

CREATE OPERATOR CLASS text_ops DEFAULT FOR TYPE text USING maplet FAMILY text_ops AS OPERATOR 1 = (text, text);
CREATE OPERATOR CLASS name_ops DEFAULT FOR TYPE name USING maplet FAMILY text_ops AS OPERATOR 1 = (name, name);
ALTER OPERATOR FAMILY text_ops USING maplet ADD
	OPERATOR 1 = (text, name), OPERATOR 1 = (name, text);

CREATE OPERATOR CLASS char_ops DEFAULT FOR TYPE "char" USING maplet AS OPERATOR 1 =;
CREATE OPERATOR CLASS bytea_ops DEFAULT FOR TYPE bytea USING maplet AS OPERATOR 1 =;
CREATE OPERATOR CLASS uuid_ops DEFAULT FOR TYPE uuid USING maplet AS OPERATOR 1 =;
CREATE OPERATOR CLASS numeric_ops DEFAULT FOR TYPE numeric USING maplet AS OPERATOR 1 =;
CREATE OPERATOR CLASS bpchar_ops DEFAULT FOR TYPE bpchar USING maplet AS OPERATOR 1 =;
CREATE OPERATOR CLASS date_ops DEFAULT FOR TYPE date USING maplet AS OPERATOR 1 =;
CREATE OPERATOR CLASS time_ops DEFAULT FOR TYPE time USING maplet AS OPERATOR 1 =;
CREATE OPERATOR CLASS timetz_ops DEFAULT FOR TYPE timetz USING maplet AS OPERATOR 1 =;
CREATE OPERATOR CLASS timestamp_ops DEFAULT FOR TYPE timestamp USING maplet AS OPERATOR 1 =;
CREATE OPERATOR CLASS timestamptz_ops DEFAULT FOR TYPE timestamptz USING maplet AS OPERATOR 1 =;
CREATE OPERATOR CLASS interval_ops DEFAULT FOR TYPE interval USING maplet AS OPERATOR 1 =;
CREATE OPERATOR CLASS oid_ops DEFAULT FOR TYPE oid USING maplet AS OPERATOR 1 =;
CREATE OPERATOR CLASS inet_ops DEFAULT FOR TYPE inet USING maplet AS OPERATOR 1 =;
CREATE OPERATOR CLASS macaddr_ops DEFAULT FOR TYPE macaddr USING maplet AS OPERATOR 1 =;
CREATE OPERATOR CLASS macaddr8_ops DEFAULT FOR TYPE macaddr8 USING maplet AS OPERATOR 1 =;
CREATE OPERATOR CLASS pg_lsn_ops DEFAULT FOR TYPE pg_lsn USING maplet AS OPERATOR 1 =;
CREATE OPERATOR CLASS bit_ops DEFAULT FOR TYPE bit USING maplet AS OPERATOR 1 =;
CREATE OPERATOR CLASS varbit_ops DEFAULT FOR TYPE varbit USING maplet AS OPERATOR 1 =;
CREATE OPERATOR CLASS enum_ops DEFAULT FOR TYPE anyenum USING maplet AS OPERATOR 1 =;
CREATE OPERATOR CLASS array_ops DEFAULT FOR TYPE anyarray USING maplet AS OPERATOR 1 =;
CREATE OPERATOR CLASS range_ops DEFAULT FOR TYPE anyrange USING maplet AS OPERATOR 1 =;
CREATE OPERATOR CLASS multirange_ops DEFAULT FOR TYPE anymultirange USING maplet AS OPERATOR 1 =;

CREATE FUNCTION maplet_may_contain(index regclass, VARIADIC key "any") RETURNS boolean
AS 'MODULE_PATHNAME', 'bloomfam_maplet_may_contain' LANGUAGE C VOLATILE PARALLEL RESTRICTED;

COMMENT ON FUNCTION maplet_may_contain(regclass, "any") IS 'may the table of a maplet index have rows with this key?';

CREATE FUNCTION maplet_info(
	index regclass, OUT entries bigint, OUT tail_entries bigint, OUT runs integer, OUT merges integer, OUT pages bigint, OUT live_pages bigint,
	OUT bytes_per_entry double precision, OUT false_places double precision, OUT bits integer, OUT outgrown boolean,
	OUT key_type text)
AS 'MODULE_PATHNAME', 'bloomfam_maplet_info' LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;

COMMENT ON FUNCTION maplet_info(regclass) IS 'figures of a maplet index';

CREATE FUNCTION maplet_runs(
	index regclass, OUT id bigint, OUT entries bigint, OUT fingerprints bigint, OUT bits integer, OUT pages bigint, OUT overflow_pages bigint,
	OUT merging boolean) RETURNS SETOF record
AS 'MODULE_PATHNAME', 'bloomfam_maplet_runs' LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;

COMMENT ON FUNCTION maplet_runs(regclass) IS 'the runs of a maplet index, the oldest first';

CREATE FUNCTION maplet_merge(index regclass) RETURNS void
AS 'MODULE_PATHNAME', 'bloomfam_maplet_merge' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;

COMMENT ON FUNCTION maplet_merge(regclass) IS 'merge all runs of a maplet index';

CREATE FUNCTION maplet_check(index regclass, heapallindexed boolean DEFAULT false) RETURNS void
AS 'MODULE_PATHNAME', 'bloomfam_maplet_check' LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;

COMMENT ON FUNCTION maplet_check(regclass, boolean) IS 'raise an error unless a maplet index is whole, and has all rows of its table';

--
-- The index of what rows contain: signature/
--

CREATE FUNCTION signature_handler(internal) RETURNS index_am_handler
AS 'MODULE_PATHNAME', 'bloomfam_signature_handler' LANGUAGE C STRICT PARALLEL SAFE;

CREATE ACCESS METHOD signature TYPE INDEX HANDLER signature_handler;

COMMENT ON ACCESS METHOD signature IS 'index of what ranges of pages contain, for tables that grow';

-- texts, by their n-grams
CREATE FUNCTION signature_ngrams(internal) RETURNS internal
AS 'MODULE_PATHNAME', 'bloomfam_signature_ngrams' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION signature_ngrams(internal) IS 'marks an operator class whose keys are the n-grams of texts';

CREATE OPERATOR CLASS text_ops DEFAULT FOR TYPE text USING signature AS
	OPERATOR 1 = (text, text),
	OPERATOR 2 ~~ (text, text),
	OPERATOR 3 ~~* (text, text),
	OPERATOR 4 ^@ (text, text),
	FUNCTION 7 signature_ngrams(internal);

-- what contains keys, by GIN's functions
CREATE OPERATOR CLASS tsvector_ops DEFAULT FOR TYPE tsvector USING signature AS
	OPERATOR 1 @@ (tsvector, tsquery),
	OPERATOR 2 @@@ (tsvector, tsquery),
	FUNCTION 1 gin_cmp_tslexeme(text, text),
	FUNCTION 2 gin_extract_tsvector(tsvector, internal, internal),
	FUNCTION 3 gin_extract_tsquery(tsvector, internal, smallint, internal, internal, internal, internal),
	FUNCTION 4 gin_tsquery_consistent(internal, smallint, tsvector, integer, internal, internal, internal, internal),
	FUNCTION 6 gin_tsquery_triconsistent(internal, smallint, tsvector, integer, internal, internal, internal),
	STORAGE text;

CREATE OPERATOR CLASS array_ops DEFAULT FOR TYPE anyarray USING signature AS
	OPERATOR 1 && (anyarray, anyarray),
	OPERATOR 2 @> (anyarray, anyarray),
	OPERATOR 4 = (anyarray, anyarray),
	FUNCTION 2 ginarrayextract(anyarray, internal, internal),
	FUNCTION 3 ginqueryarrayextract(anyarray, internal, smallint, internal, internal, internal, internal),
	FUNCTION 4 ginarrayconsistent(internal, smallint, anyarray, integer, internal, internal, internal, internal),
	FUNCTION 6 ginarraytriconsistent(internal, smallint, anyarray, integer, internal, internal, internal),
	STORAGE anyelement;

CREATE OPERATOR CLASS jsonb_ops DEFAULT FOR TYPE jsonb USING signature AS
	OPERATOR 7 @> (jsonb, jsonb),
	OPERATOR 9 ? (jsonb, text),
	OPERATOR 10 ?| (jsonb, text[]),
	OPERATOR 11 ?& (jsonb, text[]),
	OPERATOR 15 @? (jsonb, jsonpath),
	OPERATOR 16 @@ (jsonb, jsonpath),
	FUNCTION 1 gin_compare_jsonb(text, text),
	FUNCTION 2 gin_extract_jsonb(jsonb, internal, internal),
	FUNCTION 3 gin_extract_jsonb_query(jsonb, internal, smallint, internal, internal, internal, internal),
	FUNCTION 4 gin_consistent_jsonb(internal, smallint, jsonb, integer, internal, internal, internal, internal),
	FUNCTION 6 gin_triconsistent_jsonb(internal, smallint, jsonb, integer, internal, internal, internal),
	STORAGE text;

CREATE OPERATOR CLASS jsonb_path_ops FOR TYPE jsonb USING signature AS
	OPERATOR 7 @> (jsonb, jsonb),
	OPERATOR 15 @? (jsonb, jsonpath),
	OPERATOR 16 @@ (jsonb, jsonpath),
	FUNCTION 1 btint4cmp(integer, integer),
	FUNCTION 2 gin_extract_jsonb_path(jsonb, internal, internal),
	FUNCTION 3 gin_extract_jsonb_query_path(jsonb, internal, smallint, internal, internal, internal, internal),
	FUNCTION 4 gin_consistent_jsonb_path(internal, smallint, jsonb, integer, internal, internal, internal, internal),
	FUNCTION 6 gin_triconsistent_jsonb_path(internal, smallint, jsonb, integer, internal, internal, internal),
	STORAGE integer;

-- scalars
CREATE OPERATOR FAMILY integer_ops USING signature;
CREATE OPERATOR FAMILY float_ops USING signature;
CREATE OPERATOR CLASS int2_ops DEFAULT FOR TYPE int2 USING signature FAMILY integer_ops AS OPERATOR 1 = (int2, int2);
CREATE OPERATOR CLASS int4_ops DEFAULT FOR TYPE int4 USING signature FAMILY integer_ops AS OPERATOR 1 = (int4, int4);
CREATE OPERATOR CLASS int8_ops DEFAULT FOR TYPE int8 USING signature FAMILY integer_ops AS OPERATOR 1 = (int8, int8);
CREATE OPERATOR CLASS float4_ops DEFAULT FOR TYPE float4 USING signature FAMILY float_ops AS OPERATOR 1 = (float4, float4);
CREATE OPERATOR CLASS float8_ops DEFAULT FOR TYPE float8 USING signature FAMILY float_ops AS OPERATOR 1 = (float8, float8);
CREATE OPERATOR CLASS char_ops DEFAULT FOR TYPE "char" USING signature AS OPERATOR 1 =;
CREATE OPERATOR CLASS bytea_ops DEFAULT FOR TYPE bytea USING signature AS OPERATOR 1 =;
CREATE OPERATOR CLASS uuid_ops DEFAULT FOR TYPE uuid USING signature AS OPERATOR 1 =;
CREATE OPERATOR CLASS numeric_ops DEFAULT FOR TYPE numeric USING signature AS OPERATOR 1 =;
CREATE OPERATOR CLASS bpchar_ops DEFAULT FOR TYPE bpchar USING signature AS OPERATOR 1 =;
CREATE OPERATOR CLASS date_ops DEFAULT FOR TYPE date USING signature AS OPERATOR 1 =;
CREATE OPERATOR CLASS time_ops DEFAULT FOR TYPE time USING signature AS OPERATOR 1 =;
CREATE OPERATOR CLASS timetz_ops DEFAULT FOR TYPE timetz USING signature AS OPERATOR 1 =;
CREATE OPERATOR CLASS timestamp_ops DEFAULT FOR TYPE timestamp USING signature AS OPERATOR 1 =;
CREATE OPERATOR CLASS timestamptz_ops DEFAULT FOR TYPE timestamptz USING signature AS OPERATOR 1 =;
CREATE OPERATOR CLASS interval_ops DEFAULT FOR TYPE interval USING signature AS OPERATOR 1 =;
CREATE OPERATOR CLASS oid_ops DEFAULT FOR TYPE oid USING signature AS OPERATOR 1 =;
CREATE OPERATOR CLASS inet_ops DEFAULT FOR TYPE inet USING signature AS OPERATOR 1 =;
CREATE OPERATOR CLASS macaddr_ops DEFAULT FOR TYPE macaddr USING signature AS OPERATOR 1 =;
CREATE OPERATOR CLASS macaddr8_ops DEFAULT FOR TYPE macaddr8 USING signature AS OPERATOR 1 =;
CREATE OPERATOR CLASS pg_lsn_ops DEFAULT FOR TYPE pg_lsn USING signature AS OPERATOR 1 =;
CREATE OPERATOR CLASS bit_ops DEFAULT FOR TYPE bit USING signature AS OPERATOR 1 =;
CREATE OPERATOR CLASS varbit_ops DEFAULT FOR TYPE varbit USING signature AS OPERATOR 1 =;
CREATE OPERATOR CLASS enum_ops DEFAULT FOR TYPE anyenum USING signature AS OPERATOR 1 =;
CREATE OPERATOR CLASS range_ops DEFAULT FOR TYPE anyrange USING signature AS OPERATOR 1 =;
CREATE OPERATOR CLASS multirange_ops DEFAULT FOR TYPE anymultirange USING signature AS OPERATOR 1 =;
ALTER OPERATOR FAMILY integer_ops USING signature ADD
	OPERATOR 1 = (int2, int4), OPERATOR 1 = (int2, int8),
	OPERATOR 1 = (int4, int2), OPERATOR 1 = (int4, int8),
	OPERATOR 1 = (int8, int2), OPERATOR 1 = (int8, int4);
ALTER OPERATOR FAMILY float_ops USING signature ADD
	OPERATOR 1 = (float4, float8), OPERATOR 1 = (float8, float4);
CREATE OPERATOR CLASS name_ops DEFAULT FOR TYPE name USING signature AS OPERATOR 1 =;

CREATE FUNCTION signature_info(
	index regclass, OUT pages_per_range int, OUT ranges bigint, OUT summarized bigint, OUT dirty bigint, OUT open bigint,
	OUT bits_per_key float8, OUT signature_bytes bigint, OUT fill_ratio float8, OUT false_key_rate float8)
AS 'MODULE_PATHNAME', 'bloomfam_signature_info' LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;

COMMENT ON FUNCTION signature_info(regclass) IS 'figures of a signature index';

CREATE FUNCTION signature_check(index regclass) RETURNS void
AS 'MODULE_PATHNAME', 'bloomfam_signature_check' LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;

COMMENT ON FUNCTION signature_check(regclass) IS 'raise an error unless a signature index is whole, and has the keys of all rows of its table';
