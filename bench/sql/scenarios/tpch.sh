# 22 queries derived from TPC-H with automatic join filters, against the same without.  Data and queries: ../data, ../tpch.  These are not results
# of TPC-H: the text of comments is simpler, and only the queries are run, one at a time.
#
# SCALE (1), WORK_MEM (the server's), WORKERS (0) of a query, ROUNDS (3), ON (on); a C compiler.
. ./join_filter.sh

suite tpch "Derived from TPC-H" ">= 1.3 x" region nation supplier part partsupp customer orders lineitem
