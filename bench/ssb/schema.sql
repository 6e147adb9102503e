-- The tables of the Star Schema Benchmark; see ../data/ssb.c.  Money is in cents.
CREATE UNLOGGED TABLE date (
	d_datekey int, d_date text, d_dayofweek text, d_month text, d_year int, d_yearmonthnum int, d_yearmonth text,
	d_daynuminweek int, d_daynuminmonth int, d_daynuminyear int, d_monthnuminyear int, d_weeknuminyear int,
	d_sellingseason text, d_lastdayinweekfl boolean, d_lastdayinmonthfl boolean, d_holidayfl boolean, d_weekdayfl boolean
);
CREATE UNLOGGED TABLE customer (
	c_custkey int, c_name text, c_address text, c_city text, c_nation text, c_region text, c_phone text, c_mktsegment text
);
CREATE UNLOGGED TABLE supplier (
	s_suppkey int, s_name text, s_address text, s_city text, s_nation text, s_region text, s_phone text
);
CREATE UNLOGGED TABLE part (
	p_partkey int, p_name text, p_mfgr text, p_category text, p_brand1 text, p_color text, p_type text, p_size int, p_container text
);
CREATE UNLOGGED TABLE lineorder (
	lo_orderkey bigint, lo_linenumber int, lo_custkey int, lo_partkey int, lo_suppkey int, lo_orderdate int, lo_orderpriority text,
	lo_shippriority text, lo_quantity int, lo_extendedprice bigint, lo_ordtotalprice bigint, lo_discount int, lo_revenue bigint,
	lo_supplycost bigint, lo_tax int, lo_commitdate int, lo_shipmode text
);
