# SPDX-License-Identifier: PostgreSQL
# The thirteen queries of the Star Schema Benchmark with automatic join filters, against the same without.  Data and queries: ../data, ../ssb.
#
# SCALE (1), WORK_MEM (the server's), WORKERS (0) of a query without --at, ROUNDS (3), ON (on); a C compiler.
. ./join_filter.sh

suite ssb "Star Schema Benchmark" ">= 3 x" date customer supplier part lineorder
