# SPDX-License-Identifier: PostgreSQL
# Property: a filter that is kept by a recipe of docs/stored.md ("Keep a stored filter true") or of include/take_new.sql has every key that was
# committed, with writers at the same time, aborted transactions and readers in between; and what it leaves behind is bounded.

use strict;
use warnings;

use BloomfamTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = start_node('keep');
my $page = slurp_file("$ENV{TESTDIR}/docs/stored.md");

# The example that begins with these words, up to its first query.
sub recipe
{
	my ($begin) = @_;
	my ($sql) = $page =~ /```sql\n(\Q$begin\E.*?)(?=\nINSERT INTO \w+ SELECT|\n```)/s;

	ok($sql, "the recipe \"$begin\" is found");
	return $sql;
}

# Runs the scripts, each in a psql of its own, at the same time.
sub together
{
	my @handles = map {
		my ($out, $err) = ('', '');
		[ IPC::Run::start([ 'psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr('postgres'), '-c', $_ ],
			'<', \undef, '>', \$out, '2>', \$err), \$err ]
	} @_;
	my @failed = grep { !$_->[0]->finish } @handles;

	is(join('', map { ${ $_->[1] } } @failed), '', 'all come to their end');
	return;
}

# Statements of the session's own that commit and abort by turns: what is aborted leaves no key that must be there.
sub writer
{
	my ($insert, $rounds) = @_;

	return "DO \$\$ BEGIN FOR round IN 1 .. $rounds LOOP $insert; IF round % 5 = 0 THEN ROLLBACK; ELSE COMMIT; END IF; END LOOP; END \$\$";
}

#
# A statement trigger
#
$node->safe_psql('postgres', recipe('CREATE TABLE session (token uuid'));
together((writer('INSERT INTO session SELECT gen_random_uuid() FROM generate_series(1, 50)', 40)) x 4,
	writer('UPDATE session SET token = gen_random_uuid() WHERE ctid = (SELECT min(ctid) FROM session)', 40));
is($node->safe_psql('postgres', 'SELECT count(*) FROM session, session_filter WHERE NOT filter @~ token'), 0, 'statement trigger: no row is denied');
cmp_ok($node->safe_psql('postgres', 'SELECT count(*) FROM session'), '>=', 6400, 'statement trigger: there are rows');

#
# Pending keys, with folding and a reader that looks for what is committed
#
$node->safe_psql('postgres', recipe('CREATE TABLE payment (id bigint)'));
$node->safe_psql('postgres', 'CREATE SEQUENCE ids');
together(
	(writer("INSERT INTO payment SELECT nextval('ids') FROM generate_series(1, 20)", 100)) x 4,
	('DO $$ BEGIN FOR i IN 1 .. 60 LOOP PERFORM payment_fold(); COMMIT; END LOOP; END $$') x 2,
	"DO \$\$ DECLARE missed bigint; BEGIN FOR i IN 1 .. 30 LOOP
		SELECT count(*) INTO missed FROM (SELECT id FROM payment ORDER BY ctid DESC LIMIT 200) p WHERE NOT payment_may_have(id);
		ASSERT missed = 0, format('%s committed keys were denied', missed); COMMIT;
	END LOOP; END \$\$");
is($node->safe_psql('postgres', 'SELECT count(*) FROM payment WHERE NOT payment_may_have(id)'), 0, 'pending keys: no row is denied');
$node->safe_psql('postgres', 'SELECT payment_fold()');
is($node->safe_psql('postgres', 'SELECT count(*) FROM payment_pending'), 0, 'pending keys: all are folded');
is($node->safe_psql('postgres', 'SELECT count(*) FROM payment, payment_filter WHERE NOT filter @~ id'), 0, 'pending keys: no row is denied then');

#
# What is left behind: each change of a filter leaves the old one, until it is vacuumed
#
$node->safe_psql('postgres', slurp_file("$ENV{TESTDIR}/test/sql/include/take_new.sql"));

# Kilobytes of the table and its TOAST after so many batches, with a VACUUM after every $every of them.
sub bloat
{
	my ($batches, $every) = @_;

	$node->safe_psql('postgres', 'TRUNCATE seen_hour');
	for my $first (map { 1 + $_ * $every } 0 .. $batches / $every - 1)
	{
		$node->safe_psql('postgres', "DO \$\$ BEGIN FOR b IN $first .. $first + $every - 1 LOOP
			PERFORM take_new('2026-11-21 10:30', (SELECT array_agg(b * 1000 + x) FROM generate_series(1, 100) x)); COMMIT;
		END LOOP; END \$\$");
		$node->safe_psql('postgres', 'VACUUM seen_hour');
	}
	return $node->safe_psql('postgres', "SELECT pg_total_relation_size('seen_hour') / 1024");
}

my $live = 16 * 54;				# sixteen filters for 10,000 keys at 1e-9
my $rarely = bloat(200, 200);
my $often = bloat(200, 10);
cmp_ok($often, '<', 15 * $live, "vacuumed every ten batches: $often kB for $live kB live");
cmp_ok($rarely, '>', 5 * $often, "vacuumed after 200 batches: $rarely kB");

# ... and by the settings of the page autovacuum does it, whenever it looks.
$node->append_conf('postgresql.conf', "autovacuum = on\nautovacuum_naptime = 1s");
$node->restart;
my $done = "SELECT count(*) FROM pg_stat_all_tables WHERE autovacuum_count > 0 AND relid IN
	(SELECT reltoastrelid FROM pg_class WHERE oid = 'seen_hour'::regclass)";
my $before = $node->safe_psql('postgres', $done);
for my $b (1001 .. 1040)
{
	$node->safe_psql('postgres', "SELECT take_new('2026-11-21 10:30', (SELECT array_agg($b * 1000 + x) FROM generate_series(1, 100) x))");
}
is($before, 0, 'no autovacuum of the filters before');
ok($node->poll_query_until('postgres', $done, '1'), 'autovacuum of the filters by the settings of the page');

no_crash($node);
$node->stop;
done_testing();
