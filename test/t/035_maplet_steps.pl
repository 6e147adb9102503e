# SPDX-License-Identifier: PostgreSQL
# Property: of flushing and merging, an insert does a small step, whether the keys of a maplet index are unique or few with many rows each; an index of
# few keys is no larger for it.
#
# What is written tells how large a step was: a page that is merged is logged whole.

use strict;
use warnings;

use BloomfamTest;
use PostgreSQL::Test::Utils;
use Test::More;

not_everyday();

my $node = start_node('primary', "fsync = off\nfull_page_writes = off\nmax_wal_size = 4GB\nshared_buffers = 128MB\n");

# kept bits are those of 2^18 rows: beyond, what was built and flushed before is merged, by inserts alone
$node->safe_psql('postgres', q{
	CREATE UNLOGGED TABLE made AS SELECT g AS n, hashint8(g) & 2147483647 AS h FROM generate_series(1, 470000) g;
	CREATE FUNCTION largest_step(tab text) RETURNS numeric LANGUAGE plpgsql AS $$
	DECLARE
		largest numeric := 0;
		key int;
		before pg_lsn;
	BEGIN
		FOR key IN EXECUTE format('SELECT CASE %L WHEN ''few'' THEN h %% 500 ELSE n END FROM made WHERE n > 170000', tab) LOOP
			before := pg_current_wal_insert_lsn();
			EXECUTE format('INSERT INTO %I VALUES ($1)', tab) USING key;
			largest := greatest(largest, pg_current_wal_insert_lsn() - before);
		END LOOP;
		RETURN largest;
	END $$;
	CREATE TABLE few AS SELECT (h % 500)::int AS k FROM made WHERE n <= 170000;
	CREATE TABLE uniques AS SELECT n::int AS k FROM made WHERE n <= 170000;
	CREATE INDEX few_k ON few USING maplet (k) WITH (rows = 1);
	CREATE INDEX uniques_k ON uniques USING maplet (k) WITH (rows = 1);
});

my %pages = map { $_ => $node->safe_psql('postgres', "SELECT pages + overflow_pages FROM maplet_runs('${_}_k')") } 'few', 'uniques';
cmp_ok($pages{few}, '<', 1.25 * $pages{uniques}, "as built: $pages{few} pages, and $pages{uniques} for as many unique keys");

foreach my $table ('uniques', 'few')
{
	# all that is merged is some 150 pages
	my $largest = $node->safe_psql('postgres', "SELECT largest_step('$table')");
	my $entries = $node->safe_psql('postgres', "SELECT max(entries) FROM maplet_runs('${table}_k')");

	cmp_ok($entries, '>', 170000, "$table: the run that was built has been merged with others");
	cmp_ok($largest / 8192, '<', 60, "... no insert wrote more than " . int($largest / 8192) . ' pages');
	is($node->safe_psql('postgres', "SELECT maplet_check('${table}_k', true)"), '', '... and the index is whole');
}

no_crash($node, 'no backend crashed');
$node->stop;
done_testing();
