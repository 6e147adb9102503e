# SPDX-License-Identifier: PostgreSQL
# Property: a maplet index that parallel workers help to build has every row, each once, whatever its keys are and however much memory there is; a
# build that fails leaves no files.

use strict;
use warnings;

use BloomfamTest;
use PostgreSQL::Test::Utils;
use Test::More;

not_everyday();

my $node = start_node('primary', "max_parallel_maintenance_workers = 2\nmax_parallel_workers = 4\nmaintenance_work_mem = 96MB\n");

$node->safe_psql('postgres', q{
	CREATE TABLE log (id int8, n int, hot int, t text) WITH (parallel_workers = 2);
	INSERT INTO log SELECT g, g % 1000, 7, CASE WHEN g % 100 > 0 THEN 'key ' || g END FROM generate_series(1, 500000) g;
	DELETE FROM log WHERE id % 50 = 0;
	UPDATE log SET n = n + 1 WHERE id % 77 = 0;
	CREATE FUNCTION unsafe(n int) RETURNS int IMMUTABLE PARALLEL UNSAFE LANGUAGE plpgsql AS $$ BEGIN RETURN n + 1; END $$;
	CREATE FUNCTION failing(n int) RETURNS int IMMUTABLE PARALLEL SAFE LANGUAGE plpgsql AS $$ BEGIN RETURN 1 / (n - 999); END $$;
});

# workers NAME COMMAND: how many took part
sub workers
{
	my ($name, $command) = @_;
	my ($status, $out, $err) = $node->psql('postgres', "SET client_min_messages = debug1; $command");

	is($status, 0, $command);
	return $err =~ /rows of maplet index "$name(?:_ccnew)?" were gathered with (\d+) workers/ ? $1 : "none told: $err";
}

my @cases = (
	[ 'i_id', 'CREATE INDEX i_id ON log USING maplet (id)', 'true' ],
	[ 'i_n', 'CREATE INDEX i_n ON log USING maplet (n)', 'true' ],
	[ 'i_hot', 'CREATE INDEX i_hot ON log USING maplet (hot)', 'true' ],
	[ 'i_t', 'CREATE INDEX CONCURRENTLY i_t ON log USING maplet (upper(t))', 't IS NOT NULL' ],
	[ 'i_part', 'CREATE INDEX i_part ON log USING maplet (n) WHERE n < 500', 'n < 500' ],
	[ 'i_id', 'REINDEX INDEX CONCURRENTLY i_id', 'true' ]);
foreach my $case (@cases)
{
	my ($name, $command, $rows) = @$case;

	is(workers($name, $command), 2, '... with two workers');
	is($node->safe_psql('postgres', "SELECT maplet_check('$name', true)"), '', '... has every row');
	is($node->safe_psql('postgres', "SELECT entries = (SELECT count(*) FROM log WHERE $rows) FROM maplet_info('$name')"), 't', '... once');
}
is(workers('i_unsafe', 'CREATE INDEX i_unsafe ON log USING maplet (unsafe(n))'), 0, 'none for an expression that is not safe');
is(workers('i_alone', 'SET max_parallel_maintenance_workers = 0; CREATE INDEX i_alone ON log USING maplet (id)'), 0, 'none where none are allowed');
is($node->safe_psql('postgres', q{SELECT a.entries = b.entries AND abs(a.live_pages - b.live_pages) < 20 FROM maplet_info('i_id') a, maplet_info('i_alone') b}), 't',
	'alone: as many entries, and about as large');

# both processes have 4 MB, the least there is, for 12 MB of entries each: they write to their files more than once
$node->safe_psql('postgres', q{
	CREATE TABLE much AS SELECT g AS id FROM generate_series(1, 2000000) g;
	ALTER TABLE much SET (parallel_workers = 1);
	SET maintenance_work_mem = '1MB';
	CREATE INDEX much_id ON much USING maplet (id);
});
is($node->safe_psql('postgres', q{SELECT maplet_check('much_id', true), entries FROM maplet_info('much_id')}), '|2000000', 'in files: has every row, once');

# somebody fails
my ($status, $out, $err) = $node->psql('postgres', 'CREATE INDEX i_failing ON log USING maplet (failing(n))');
like($err, qr/division by zero/, 'an error of a worker, or of the process that builds');
is(join(' ', temp_files($node)), '', 'no temporary files are left');
is($node->safe_psql('postgres', q{SELECT count(*) FROM pg_class WHERE relname = 'i_failing'}), 0, 'nor an index');

# an empty table needs nobody
is(workers('i_id', 'TRUNCATE log'), 0, 'none for an empty table');
$node->safe_psql('postgres', q{INSERT INTO log SELECT g, g, g, g FROM generate_series(1, 1000) g});
is($node->safe_psql('postgres', q{SELECT maplet_check('i_id', true), maplet_check('i_t', true)}), '|', 'and it goes on');

no_crash($node, 'no backend crashed');
$node->stop;
done_testing();
