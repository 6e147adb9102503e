# SPDX-License-Identifier: PostgreSQL
# Property: filters are replicated and survive a crash like any other value: equal bytes, every key found.

use strict;
use warnings;

use BloomfamTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

# fsync is off in these tests, but a crash of the server alone loses nothing
my $primary = start_node('primary', '', allows_streaming => 1);

$primary->safe_psql('postgres', q{
	CREATE TABLE filters (name text PRIMARY KEY, f bloomfilter);
	CREATE TABLE hashed (h bloomkey PRIMARY KEY, k int);
	INSERT INTO filters SELECT 'before backup', bloom_agg(k) FROM generate_series(1, 100000) k;
});

$primary->backup('backup');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'backup', has_streaming => 1);
$standby->start;

$primary->safe_psql('postgres', q{
	INSERT INTO filters SELECT 'small', bloom_agg(k, 0.01, 'standard') FROM generate_series(1, 100) k;
	INSERT INTO filters SELECT 'large', bloom_agg(k) FROM generate_series(1, 300000) k;
	INSERT INTO filters SELECT 'updated', bloom_create(50000, 0.001, 'standard');
	UPDATE filters SET f = bloom_add_all(f, ARRAY(SELECT generate_series(1, 10000))) WHERE name = 'updated';
	UPDATE filters SET f = bloom_add(f, 10001) WHERE name = 'updated';
	INSERT INTO hashed SELECT bloom_key(k), k FROM generate_series(1, 2000) k;
});

my $bytes = 'SELECT name, length(bytea(f)), sha256(bytea(f)) FROM filters ORDER BY name';
# the filter outside, the keys inside: each filter is opened once
my $rows = q{SELECT name, r.* FROM filters, LATERAL (SELECT count(*), sum(k) FROM generate_series(1, 400000, 7) k WHERE f @~ k) r ORDER BY name};
my %keys = ('before backup' => 100000, small => 100, large => 300000, updated => 10001);
my $found = q{SELECT name, (SELECT count(*) FROM generate_series(1, CASE name } . join(' ', map { "WHEN '$_' THEN $keys{$_}" } sort keys %keys)
  . q{ END) k WHERE f @~ k) FROM filters WHERE name <> 'last' ORDER BY name};
my $all_found = join("\n", map { "$_|$keys{$_}" } sort keys %keys);
my $hashed = 'SELECT count(*) FROM generate_series(1, 2000) g JOIN hashed ON h = bloom_key(g) AND k = g';

sub compare
{
	my ($node, $name) = @_;

	is($node->safe_psql('postgres', $bytes), $primary->safe_psql('postgres', $bytes), "$name: filters are equal to the byte");
	is($node->safe_psql('postgres', $rows), $primary->safe_psql('postgres', $rows), "$name: the same rows pass");
	is($node->safe_psql('postgres', $found), $all_found, "$name: every key is found");
	is($node->safe_psql('postgres', "SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off; $hashed"),
		'2000', "$name: hashed keys are found by their index");
	return;
}

$primary->wait_for_catchup($standby);
is($standby->safe_psql('postgres', 'SELECT pg_is_in_recovery()'), 't', 'the standby is one');
compare($standby, 'standby');
is( $standby->safe_psql('postgres', 'SELECT bloom_agg(k) = (SELECT f FROM filters WHERE name = \'large\') FROM generate_series(1, 300000) k'),
	't', 'standby: building there gives the same filter');
is( $standby->safe_psql('postgres', q{SELECT count(*) FROM generate_series(1, 300000) k
		WHERE bloom_may_contain((SELECT bloom_union_agg(f) FROM filters WHERE name <> 'updated' AND name <> 'small'), k)}),
	'300000', 'standby: filters are united there');

# A session on the standby that has a filter open while replay replaces it.
my $session = $standby->background_psql('postgres');
$session->query_safe(q{PREPARE probe(int) AS SELECT f @~ $1 FROM filters WHERE name = 'updated'});
is($session->query_safe('EXECUTE probe(777777)'), 'f', 'standby: a key that is not there');
$primary->safe_psql('postgres', q{UPDATE filters SET f = bloom_add(f, 777777) WHERE name = 'updated'; VACUUM filters});
$primary->wait_for_catchup($standby);
is($session->query_safe('EXECUTE probe(777777)'), 't', 'standby: ... is there once it was added');
$session->quit;

# ---- crash ----

my $before = $primary->safe_psql('postgres', $bytes);
my $pending = $primary->background_psql('postgres');
$pending->query_safe(q{BEGIN; INSERT INTO filters SELECT 'never committed', bloom_agg(k) FROM generate_series(1, 100000) k});
$primary->safe_psql('postgres', q{INSERT INTO filters SELECT 'last', bloom_agg(k, 0.001) FROM generate_series(1, 100000) k});
$primary->stop('immediate');
$pending->quit;
$primary->start;
is($primary->safe_psql('postgres', q{SELECT count(*) FROM filters WHERE name = 'never committed'}), '0', 'crash: what was not committed is gone');
is( $primary->safe_psql('postgres', "$bytes" =~ s/ORDER/WHERE name <> 'last' ORDER/r), $before, 'crash: filters are equal to the byte');
is($primary->safe_psql('postgres', $found), $all_found, 'crash: every key is found');
is($primary->safe_psql('postgres', q{SELECT count(*) FROM generate_series(1, 100000) k WHERE (SELECT f FROM filters WHERE name = 'last') @~ k}),
	'100000', 'crash: and every key of the filter that was inserted last');
is($primary->safe_psql('postgres', q{SELECT f = (SELECT bloom_agg(k, 0.001) FROM generate_series(1, 100000) k) FROM filters WHERE name = 'last'}),
	't', 'crash: ... which is what building it again gives');

$primary->wait_for_catchup($standby);
compare($standby, 'standby after the crash');
$standby->promote;
is( $standby->safe_psql('postgres', q{
		UPDATE filters SET f = bloom_add(f, 888888) WHERE name = 'updated';
		SELECT f @~ 888888 AND f @~ 777777 FROM filters WHERE name = 'updated'}),
	't', 'promoted: keys are added');

no_crash($primary, 'primary: no backend crashed');
no_crash($standby, 'standby: no backend crashed');
$standby->stop;
$primary->stop;
done_testing();
