-- What is made after loading: primary keys only, no index on the fact table's foreign keys.
ALTER TABLE date ADD PRIMARY KEY (d_datekey);
ALTER TABLE customer ADD PRIMARY KEY (c_custkey);
ALTER TABLE supplier ADD PRIMARY KEY (s_suppkey);
ALTER TABLE part ADD PRIMARY KEY (p_partkey);
ALTER TABLE lineorder ADD PRIMARY KEY (lo_orderkey, lo_linenumber);
VACUUM ANALYZE date, customer, supplier, part, lineorder;
