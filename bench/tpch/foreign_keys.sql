-- An index on each foreign key that keys.sql has left without.
CREATE INDEX ON nation (n_regionkey);
CREATE INDEX ON supplier (s_nationkey);
CREATE INDEX ON partsupp (ps_suppkey);
CREATE INDEX ON customer (c_nationkey);
CREATE INDEX ON orders (o_custkey);
CREATE INDEX ON lineitem (l_suppkey);
VACUUM ANALYZE nation, supplier, partsupp, customer, orders, lineitem;
