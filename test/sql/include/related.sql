-- As analyzed(), for plans in which the module chooses how many rows a filter looks at: by trials of their order, by samples, by pauses.  Instead of
-- these numbers it says what holds of them, and how many rows the filters of a node remove together, whatever their order.
CREATE FUNCTION related(query text, options text DEFAULT '') RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
	said text[];
	passed bigint;				-- rows of the probe node
	probed bigint;
	removed bigint;
	unchecked bigint;
	filters int := 0;
	together bigint;
BEGIN
	FOR line IN SELECT * FROM analyzed(query, options)
	LOOP
		said := regexp_match(line, '^( *)Rows Probed: (\d+) (\(.*?\))  Rows Removed: (\d+)  Rows Not Checked: (\d+)(.*)$');
		IF said IS NOT NULL THEN
			probed := said[2];
			removed := said[4];
			unchecked := said[5];
			IF removed > probed OR probed + unchecked < removed + passed THEN
				RAISE EXCEPTION 'of % rows probed and % not checked % were removed, and % passed', probed, unchecked, removed, passed;
			END IF;
			filters := filters + 1;
			together := together + removed;
			line := format('%sRows Probed: all or some %s  Rows Removed: some of those  Rows Not Checked: %s%s', said[1], said[3],
						   CASE unchecked WHEN 0 THEN '0' ELSE 'some' END, said[6]);
		ELSIF line ~ '->' THEN
			IF filters > 0 THEN
				RETURN NEXT format('%s  Rows Removed Together: %s', substring(line from '^ *'), together);
			END IF;
			IF filters = 1 THEN
				RETURN NEXT format('%s  Rows Probed or Not Checked: %s', substring(line from '^ *'), probed + unchecked);
			END IF;
			filters := 0;
			together := 0;
			passed := coalesce(substring(line from 'actual rows=(\d+) loops=1\)')::bigint, 0);
		END IF;
		RETURN NEXT line;
	END LOOP;
END $$;
