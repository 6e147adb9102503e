-- SPDX-License-Identifier: PostgreSQL
-- A stream without repeats by filters, for streams that are too large to be stored: the ids that nobody has passed within a day
-- (docs/maplet.md, "A stream without repeats").  A filter for each hour is dropped when it is old; and one for each shard, so
-- that writers of different shards do not wait for each other.  Each id is new once, whatever runs at the same time: a writer
-- locks a shard until it commits, and locks are taken in the order of the shards, so there are no deadlocks.  This needs READ
-- COMMITTED, the default.  A client that does not know whether its batch was committed must store the batch's number in the same
-- transaction.
CREATE TABLE shard (shard int PRIMARY KEY);
INSERT INTO shard SELECT generate_series(0, 15);
CREATE TABLE seen_hour (shard int REFERENCES shard, hour timestamptz, ids bloomfilter NOT NULL, PRIMARY KEY (shard, hour));

CREATE FUNCTION take_new(at timestamptz, batch bigint[]) RETURNS bigint[] LANGUAGE plpgsql AS $$
DECLARE
    this_hour timestamptz := date_trunc('hour', at);
    part record;
    known bloomfilter;
    fresh bigint[];
    result bigint[] := '{}';
BEGIN
    FOR part IN SELECT bloom_shard(id, 16) AS shard, array_agg(id) AS ids FROM unnest(batch) id GROUP BY 1 ORDER BY 1 LOOP
        -- in the order of the shards: no two writers wait for each other
        PERFORM FROM shard s WHERE s.shard = part.shard FOR UPDATE;

        -- what the other hours of a day have seen: later ones too, as events may come late
        SELECT coalesce(array_agg(id), '{}') INTO part.ids FROM unnest(part.ids) id
        WHERE NOT EXISTS (SELECT FROM seen_hour h WHERE h.shard = part.shard AND h.hour <> this_hour
                          AND abs(extract(epoch FROM h.hour - this_hour)) < 86400 AND h.ids @~ id);

        SELECT ids INTO known FROM seen_hour h WHERE h.shard = part.shard AND h.hour = this_hour;
        SELECT filter, added INTO known, fresh
        FROM bloom_add_new(coalesce(known, bloom_create(10000, 1e-9, 'standard')), part.ids);
        INSERT INTO seen_hour VALUES (part.shard, this_hour, known)
        ON CONFLICT ON CONSTRAINT seen_hour_pkey DO UPDATE SET ids = EXCLUDED.ids;
        result := result || fresh;
    END LOOP;
    RETURN result;
END $$;

-- Each change leaves the old filter in the TOAST table until VACUUM.
ALTER TABLE seen_hour SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 50, autovacuum_vacuum_cost_delay = 0,
    toast.autovacuum_vacuum_scale_factor = 0, toast.autovacuum_vacuum_threshold = 1000, toast.autovacuum_vacuum_cost_delay = 0);
