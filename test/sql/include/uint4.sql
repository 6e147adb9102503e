-- A 4-byte unsigned integer of SQL alone, whose operators with the server's integers are in the server's own family.  In plpgsql, which the planner does not look into.
CREATE TYPE uint4;
SET client_min_messages = error;
CREATE FUNCTION uint4in(cstring) RETURNS uint4 LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE AS 'oidin';
CREATE FUNCTION uint4out(uint4) RETURNS cstring LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE AS 'oidout';
CREATE TYPE uint4 (INPUT = uint4in, OUTPUT = uint4out, LIKE = int4);
RESET client_min_messages;
CREATE CAST (uint4 AS oid) WITHOUT FUNCTION;
CREATE CAST (uint4 AS int4) WITHOUT FUNCTION;
CREATE CAST (int4 AS uint4) WITHOUT FUNCTION;
CREATE CAST (text AS uint4) WITH INOUT;
CREATE FUNCTION uint4_eq(uint4, uint4) RETURNS boolean LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE AS 'oideq';
CREATE FUNCTION uint4_lt(uint4, uint4) RETURNS boolean LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE AS 'oidlt';
CREATE FUNCTION uint4_le(uint4, uint4) RETURNS boolean LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE AS 'oidle';
CREATE FUNCTION uint4_ge(uint4, uint4) RETURNS boolean LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE AS 'oidge';
CREATE FUNCTION uint4_gt(uint4, uint4) RETURNS boolean LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE AS 'oidgt';
CREATE FUNCTION uint4_cmp(uint4, uint4) RETURNS integer LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE AS 'btoidcmp';
CREATE FUNCTION uint4_hash(uint4) RETURNS integer LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE AS 'hashoid';
CREATE FUNCTION uint4_hash_extended(uint4, bigint) RETURNS bigint LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE AS 'hashoidextended';
CREATE OPERATOR = (LEFTARG = uint4, RIGHTARG = uint4, FUNCTION = uint4_eq, COMMUTATOR = =, RESTRICT = eqsel, JOIN = eqjoinsel, HASHES, MERGES);
CREATE OPERATOR < (LEFTARG = uint4, RIGHTARG = uint4, FUNCTION = uint4_lt);
CREATE OPERATOR <= (LEFTARG = uint4, RIGHTARG = uint4, FUNCTION = uint4_le);
CREATE OPERATOR >= (LEFTARG = uint4, RIGHTARG = uint4, FUNCTION = uint4_ge);
CREATE OPERATOR > (LEFTARG = uint4, RIGHTARG = uint4, FUNCTION = uint4_gt);
CREATE OPERATOR CLASS uint4_ops DEFAULT FOR TYPE uint4 USING btree AS
	OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >, FUNCTION 1 uint4_cmp(uint4, uint4), FUNCTION 4 btequalimage(oid);
CREATE OPERATOR CLASS uint4_ops DEFAULT FOR TYPE uint4 USING hash FAMILY integer_ops AS
	OPERATOR 1 =, FUNCTION 1 uint4_hash(uint4), FUNCTION 2 uint4_hash_extended(uint4, bigint);
DO $do$
DECLARE
	other text;
BEGIN
	FOREACH other IN ARRAY ARRAY['int2', 'int4', 'int8'] LOOP
		EXECUTE format('CREATE FUNCTION uint4_eq(uint4, %1$s) RETURNS boolean LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
			AS ''BEGIN RETURN $1::oid::int8 = $2::int8; END''', other);
		EXECUTE format('CREATE FUNCTION uint4_eq(%1$s, uint4) RETURNS boolean LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
			AS ''BEGIN RETURN $1::int8 = $2::oid::int8; END''', other);
		EXECUTE format('CREATE OPERATOR = (LEFTARG = uint4, RIGHTARG = %1$s, FUNCTION = uint4_eq, COMMUTATOR = =, RESTRICT = eqsel, JOIN = eqjoinsel, HASHES)', other);
		EXECUTE format('CREATE OPERATOR = (LEFTARG = %1$s, RIGHTARG = uint4, FUNCTION = uint4_eq, COMMUTATOR = =, RESTRICT = eqsel, JOIN = eqjoinsel, HASHES)', other);
		EXECUTE format('ALTER OPERATOR FAMILY integer_ops USING hash ADD OPERATOR 1 = (uint4, %1$s), OPERATOR 1 = (%1$s, uint4)', other);
	END LOOP;
END $do$;
