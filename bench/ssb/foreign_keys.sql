-- An index on each of the fact table's foreign keys.
CREATE INDEX ON lineorder (lo_orderdate);
CREATE INDEX ON lineorder (lo_custkey);
CREATE INDEX ON lineorder (lo_suppkey);
CREATE INDEX ON lineorder (lo_partkey);
VACUUM ANALYZE lineorder;
