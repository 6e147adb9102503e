-- The top node of a query's plan, as EXPLAIN with these options tells it.
CREATE FUNCTION plan_of(query text, options text = 'COSTS') RETURNS json
LANGUAGE plpgsql AS $$
DECLARE
	plans json;
BEGIN
	EXECUTE format('EXPLAIN (%s, FORMAT JSON) %s', options, query) INTO plans;
	RETURN plans -> 0 -> 'Plan';
END
$$;
