# SPDX-License-Identifier: PostgreSQL
# Property: whatever writers do (inserts, HOT and other updates, deletes, savepoints, aborts), a maplet index gives the rows that a sequential scan gives
# to the same snapshot, at any time while indexes are built and rebuilt concurrently, vacuumed and merged beside them.
#
# LONG in the environment: as many rounds as are worth trying after a change of the index.

use strict;
use warnings;

use BloomfamTest;
use PostgreSQL::Test::Utils;
use Test::More;

# the table grows, so each round takes longer than the one before
my $rounds = share(1, 2, 30);
my $node = start_node('primary', "shared_buffers = 16MB\nwal_consistency_checking = all\nmax_wal_size = 512MB\n");

# keys repeat: a key has some rows, dead ones among them
$node->safe_psql('postgres', q{
	CREATE TABLE log (n bigserial PRIMARY KEY, k int, t text, v int DEFAULT 0,
		small int2 GENERATED ALWAYS AS (nullif(k % 7, 3)) STORED, name text COLLATE "C" GENERATED ALWAYS AS ('name ' || k / 7) STORED) WITH (fillfactor = 80);
	INSERT INTO log (k, t) SELECT g % 6000, 'key ' || g % 6000 FROM generate_series(1, 20000) g;
	CREATE INDEX log_k ON log USING maplet (k);
	CREATE INDEX log_t ON log USING maplet (upper(t)) WHERE k % 2 = 0;
	CREATE INDEX log_two ON log USING maplet (small, name);
	CREATE INDEX log_three ON log USING maplet (name, (k % 10), small);

	-- in the snapshot of the statement that calls them
	CREATE FUNCTION by_index(key int) RETURNS text STABLE LANGUAGE plpgsql
		SET enable_seqscan = off SET enable_bitmapscan = off SET plan_cache_mode = force_custom_plan AS $$
		BEGIN RETURN (SELECT (count(*), sum(n), sum(v)) FROM log WHERE k = key); END $$;
	CREATE FUNCTION by_bitmap(key int) RETURNS text STABLE LANGUAGE plpgsql
		SET enable_seqscan = off SET enable_indexscan = off SET plan_cache_mode = force_custom_plan AS $$
		BEGIN RETURN (SELECT (count(*), sum(n), sum(v)) FROM log WHERE k = ANY (ARRAY[key, -1])); END $$;
	CREATE FUNCTION by_table(key int) RETURNS text STABLE LANGUAGE plpgsql
		SET enable_indexscan = off SET enable_bitmapscan = off SET plan_cache_mode = force_custom_plan AS $$
		BEGIN RETURN (SELECT (count(*), sum(n), sum(v)) FROM log WHERE k = key); END $$;
	CREATE FUNCTION even_by_index(key int) RETURNS text STABLE LANGUAGE plpgsql
		SET enable_seqscan = off SET enable_bitmapscan = off SET plan_cache_mode = force_custom_plan AS $$
		BEGIN RETURN (SELECT (count(*), sum(n), sum(v)) FROM log WHERE upper(t) = upper('key ' || key) AND k % 2 = 0); END $$;
	CREATE FUNCTION even_by_table(key int) RETURNS text STABLE LANGUAGE plpgsql
		SET enable_indexscan = off SET enable_bitmapscan = off SET plan_cache_mode = force_custom_plan AS $$
		BEGIN RETURN (SELECT (count(*), sum(n), sum(v)) FROM log WHERE upper(t) = upper('key ' || key) AND k % 2 = 0); END $$;
});

# By two and three columns, one of them NULL for every seventh key, and by arrays that are combined.
my %off = (two_by_index => [qw(seqscan bitmapscan)], two_by_bitmap => [qw(seqscan indexscan)], two_by_table => [qw(indexscan bitmapscan)]);
foreach my $function (sort keys %off)
{
	my $sets = join ' ', map { "SET enable_$_ = off" } @{ $off{$function} };

	$node->safe_psql('postgres', qq{
		CREATE FUNCTION $function(key int) RETURNS text STABLE LANGUAGE plpgsql $sets SET plan_cache_mode = force_generic_plan AS \$\$
		DECLARE
			small_wanted int := key % 7;
			names text[] := ARRAY['name ' || key / 7, 'name ' || key / 7 + 1, NULL];
		BEGIN
			RETURN (SELECT (count(*), sum(n), sum(v))::text FROM log WHERE small = small_wanted AND name = names[1])
				|| (SELECT (count(*), sum(n), sum(v))::text FROM log WHERE small = ANY (ARRAY[small_wanted, 1]) AND name = ANY (names))
				|| (SELECT (count(*), sum(n), sum(v))::text FROM log WHERE small = small_wanted AND name = ANY (names) AND k % 10 = key % 10);
		END \$\$});
}
like($node->safe_psql('postgres', q{SET enable_seqscan = off; EXPLAIN SELECT FROM log WHERE k = 1}), qr/using log_k|on log_k/, 'the index is used');
like($node->safe_psql('postgres', q{SET enable_seqscan = off; EXPLAIN SELECT FROM log WHERE small = 1 AND name = ''}), qr/using log_two|on log_two/, 'that of two columns');
like($node->safe_psql('postgres', q{SET enable_seqscan = off; EXPLAIN SELECT FROM log WHERE small = 1 AND name = '' AND k % 10 = 1}), qr/using log_t|on log_t/,
	'that of two or three');

my %script = (
	insert => [ 6, q{INSERT INTO log (k, t) SELECT x % 6000, 'key ' || x % 6000 FROM generate_series(:key, :key + 500) x;} ],
	hot => [ 4, q{UPDATE log SET v = v + 1 WHERE n BETWEEN :n AND :n + 5;} ],
	move => [ 3, q{UPDATE log SET k = :key, t = 'key ' || :key WHERE n BETWEEN :n AND :n + 3;} ],
	delete => [ 4, q{DELETE FROM log WHERE n BETWEEN :n AND :n + 700;} ],
	savepoint => [ 3, q{BEGIN;
		INSERT INTO log (k, t) VALUES (:key, 'key ' || :key);
		SAVEPOINT a;
		INSERT INTO log (k, t) VALUES (:key, 'key ' || :key);
		UPDATE log SET v = v + 1 WHERE n = :n;
		SELECT 1 / (by_index(:key) = by_table(:key))::int;
		ROLLBACK TO a;
		UPDATE log SET k = :key, t = 'key ' || :key WHERE n = :n;
		SELECT 1 / (by_index(:key) = by_table(:key))::int;
		SELECT 1 / (two_by_index(:key) = two_by_table(:key))::int;
		COMMIT;} ],
	abort => [ 2, q{BEGIN;
		INSERT INTO log (k, t) SELECT x % 6000, 'key ' || x % 6000 FROM generate_series(:key, :key + 20) x;
		DELETE FROM log WHERE n = :n;
		ROLLBACK;} ],
	snapshot => [ 1, q{BEGIN ISOLATION LEVEL REPEATABLE READ;
		SELECT hashtext(by_table(:key)) AS seen \gset
		SELECT pg_sleep(0.01);
		SELECT 1 / (hashtext(by_index(:key)) = :seen)::int;
		COMMIT;} ],
	read => [ 6, q{SELECT 1 / (by_index(:key) = by_table(:key))::int;
		SELECT 1 / (by_bitmap(:key) = by_table(:key))::int;
		SELECT 1 / (even_by_index(:key) = even_by_table(:key))::int;
		SELECT 1 / (two_by_index(:key) = two_by_table(:key))::int;
		SELECT 1 / (two_by_bitmap(:key) = two_by_table(:key))::int;} ]);

# each is checked beside the writers as soon as it is done
my @maintenance = (
	'REINDEX INDEX CONCURRENTLY log_k',
	'REINDEX INDEX CONCURRENTLY log_two',
	'DROP INDEX CONCURRENTLY log_t',
	'CREATE INDEX CONCURRENTLY log_t ON log USING maplet (upper(t)) WHERE k % 2 = 0',
	'VACUUM log',
	q{SELECT maplet_merge('log_k')},
	'REINDEX TABLE CONCURRENTLY log',
	'VACUUM (INDEX_CLEANUP on) log');
my ($run, $errors) = start_writers($node, 6000, %script);

foreach my $round (1 .. $rounds)
{
	foreach my $sql (@maintenance)
	{
		my ($status, $out, $err) = $node->psql('postgres', $sql);

		is($err, '', "$round: $sql");
		is($node->safe_psql('postgres', q{SELECT sum(length(maplet_check(indexrelid, true)::text)) FROM pg_stat_user_indexes WHERE indexrelname IN ('log_k', 'log_t', 'log_two', 'log_three')}), 0,
			"... the indexes are whole, and have every row");
	}
}
# it is to run for ever: its clients end when they have found a difference
ok($run->pumpable, 'the writers are at it');
$run->signal('TERM');
$run->finish;
unlike(slurp_file($errors), qr/ERROR|aborted/, 'writers and readers found every row') or diag(slurp_file($errors));
my $step = share(35, 7);
is($node->safe_psql('postgres', qq{
	SELECT count(*) FROM generate_series(0, 5999, $step) key
	WHERE by_index(key) <> by_table(key) OR by_bitmap(key) <> by_table(key) OR even_by_index(key) <> even_by_table(key)
		OR two_by_index(key) <> two_by_table(key) OR two_by_bitmap(key) <> two_by_table(key)}), 0, 'so it is at the end');
cmp_ok($node->safe_psql('postgres', q{SELECT max(n) FROM log}), '>', 21000, 'they have written');
my ($hot, $dead) = split /\|/, $node->safe_psql('postgres', q{SELECT n_tup_hot_upd, n_tup_del FROM pg_stat_user_tables WHERE relname = 'log'});
cmp_ok($hot, '>', 0, 'HOT updates among it');
cmp_ok($dead, '>', 0, 'and deletes');

no_crash($node, 'no backend crashed');
$node->stop;
done_testing();
