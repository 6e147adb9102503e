# SPDX-License-Identifier: PostgreSQL
# Property: merges that fail again and again do not keep a maplet index from taking rows for ever: once they can succeed, they do.  And one of all
# rows, as an index has that outgrows its bits, delays neither small merges nor an insert.

use strict;
use warnings;

use BloomfamTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

not_everyday();

my $node = start_node('primary', "max_wal_size = 2GB\nautovacuum = off\nshared_buffers = 512MB\n");

# one key's rows fill few pages of a tail, so that there are many flushes; two pages of the first tail come before the run
$node->safe_psql('postgres', q{
	CREATE UNLOGGED TABLE hot (k int);
	INSERT INTO hot SELECT 7 FROM generate_series(1, 500);
	CREATE INDEX hot_k ON hot USING maplet (k);
});
my $path = $node->data_dir . '/' . $node->safe_psql('postgres', q{SELECT pg_relation_filepath('hot_k')});
my $at = 3 * 8192;

# Puts other bytes in the place of a page; returns those that were there.
sub exchange_page
{
	my ($bytes) = @_;
	my $old;

	$node->stop;
	open my $file, '+<:raw', $path or die "$path: $!";
	seek $file, $at, 0;
	read $file, $old, 8192;
	seek $file, $at, 0;
	print $file $bytes;
	close $file or die "$path: $!";
	$node->start;
	return $old;
}

sub runs
{
	return $node->safe_psql('postgres', q{SELECT runs FROM maplet_info('hot_k')});
}

my $page = exchange_page("\0" x 8192);
my $inserts = "INSERT INTO hot SELECT 7 FROM generate_series(1, 5000);\n" x 800;
my $errors;
$node->psql('postgres', $inserts, on_error_stop => 0, stderr => \$errors);
like($errors, qr/maplet index "hot_k" is damaged at block 3/, 'no merge succeeds');
cmp_ok(runs(), '>', 60, 'so that runs are many');

exchange_page($page);
$node->safe_psql('postgres', $inserts =~ s/\n.*//sr);
cmp_ok(runs(), '<=', 60, 'they are merged before a row has to wait for a flush');
$node->safe_psql('postgres', "VACUUM hot; INSERT INTO hot SELECT 7 FROM generate_series(1, 50000)");
cmp_ok(runs(), '<', 20, 'in the end they are few');
is($node->safe_psql('postgres', q{SELECT maplet_check('hot_k', true)}), '', 'and the index is whole');

# 2^22 rows are the most for the bits that the index begins with; the merge of those before and after takes some 20 flushes.  Its room is reserved before that
# of the next flush, but no insert fills it.
my ($most_runs, $most_written, $bits) = split /\|/, $node->safe_psql('postgres', q{
	CREATE TABLE grown (id int);
	INSERT INTO grown SELECT generate_series(1, 4050000);
	CREATE INDEX grown_id ON grown USING maplet (id);
	CHECKPOINT;
	CREATE FUNCTION grow() RETURNS TABLE (most_runs int, most_written int, bits text) LANGUAGE plpgsql AS $$
	DECLARE
		plan json;
		info record;
	BEGIN
		most_runs := 0;
		most_written := 0;
		FOR i IN 1 .. 40 LOOP
			EXECUTE format('EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) INSERT INTO grown SELECT %s + g FROM generate_series(1, 50000) g', 5000000 + i * 50000)
				INTO plan;
			SELECT * INTO info FROM maplet_info('grown_id');
			most_runs := greatest(most_runs, info.runs);
			most_written := greatest(most_written, (plan -> 0 -> 'Plan' ->> 'Shared Written Blocks')::int);
			bits := concat_ws(' ', bits, CASE WHEN bits IS NULL OR bits NOT LIKE '%' || info.bits THEN info.bits END);
		END LOOP;
		RETURN NEXT;
	END $$;
	SELECT * FROM grow();
});
is($bits, '30 33', 'an index outgrows its bits');
cmp_ok($most_runs, '<=', 16, "... and small runs are merged beside the large ones: at most $most_runs");
cmp_ok($most_written, '<', 1000, "... without filling the file for a run that is to come: 50,000 rows write at most $most_written pages");
is($node->safe_psql('postgres', q{SELECT maplet_check('grown_id', true)}), '', '... and is whole');

no_crash($node, 'no backend crashed');
$node->stop;
done_testing();
