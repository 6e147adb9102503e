# SPDX-License-Identifier: PostgreSQL
# What the TAP tests share: a server with the extension, and proof that it did not crash.
package BloomfamTest;

use strict;
use warnings;

use Exporter 'import';
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

our @EXPORT = qw(share not_everyday in_modes start_node start_standby session ask start_writers overwrite no_crash backend_memory temp_files);

# How much of something to try: everyday, in .ci/run (CLANG_TESTS=1), before a release (LONG=1).
sub share
{
	my ($everyday, $usual, $long) = @_;

	return $ENV{LONG} ? $long // $usual : $ENV{CLANG_TESTS} ? $usual : $everyday;
}

# Skips a test file everyday, unless test/first asks for it: other parts try the same, in less time.
sub not_everyday
{
	plan skip_all => 'with CLANG_TESTS=1 or LONG=1' unless share($ENV{TEST_FIRST}, 1);
	return;
}

# A running server, with the extension in its database postgres.  conf is appended to postgresql.conf; other arguments go to init().
#
# Nothing holds a page that VACUUM would clean, which passes over it then: neither autovacuum nor the writer of dirty pages.
# SERVER_PRELOAD in the environment: libraries that the server shall load, but none of the clients.
sub start_node
{
	my ($name, $conf, %init) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name);

	$node->init(%init);
	$node->append_conf('postgresql.conf', "autovacuum = off\nbgwriter_lru_maxpages = 0\njit = off\n" . ($conf // ''));
	{
		local $ENV{LD_PRELOAD} = $ENV{SERVER_PRELOAD} // '';

		$node->start;
	}
	$node->safe_psql('postgres', 'CREATE EXTENSION bloomfam');
	return $node;
}

# A standby of a running primary.  Neither waits for the other's snapshots: replay waits for the standby's queries.
sub start_standby
{
	my ($primary) = @_;
	my $standby = PostgreSQL::Test::Cluster->new('standby');

	$primary->backup('backup');
	$standby->init_from_backup($primary, 'backup', has_streaming => 1);
	$standby->append_conf('postgresql.conf', "max_standby_streaming_delay = -1\nhot_standby_feedback = off\n");
	$standby->start;
	return $standby;
}

# What a query gives with each of these values of bloomfam.join_filter, after settings: by one session, as a process for each would cost more than most queries.
sub in_modes
{
	my ($node, $db, $settings, $sql, @modes) = @_;
	my $out = $node->safe_psql($db, join('', map { "SET bloomfam.join_filter = $_;\n$settings;\n$sql;\n\\echo end of $_\n" } @modes)) . "\n";

	return map { $out =~ s/\A(.*?)^end of $_\n//ms or die "no end of $_: $out"; $1 =~ s/\n\z//r } @modes;
}

# A session on a server that stays; ask() sends it statements, and returns what they give, errors too.
sub session
{
	my ($node) = @_;
	my %session = (in => '', out => '', err => '', timer => IPC::Run::timeout(180));

	$session{run} = IPC::Run::start([ 'psql', '-XAtq', '-h', $node->host, '-p', $node->port, 'postgres' ], '<', \$session{in}, '>', \$session{out},
		'2>', \$session{err}, $session{timer});
	return \%session;
}

sub ask
{
	my ($session, $sql) = @_;

	$session->{out} = $session->{err} = '';
	$session->{in} .= "$sql;\n\\echo done\n\\warn done\n";
	$session->{timer}->start(180);
	IPC::Run::pump($session->{run}) until $session->{out} =~ /^done\n/m && $session->{err} =~ /^done\n/m;
	return ($session->{out} . $session->{err}) =~ s/^done\n//gmr =~ s/\n+$//r;
}

# Four clients that run these scripts at random until they are stopped, or have found a division by zero, which the scripts make of a difference: each
# name => [ weight, SQL ].  Before each, the variables are a :key below $keys, and :n of a row of the table log.  Returns the run, and the file of errors.
sub start_writers
{
	my ($node, $keys, %script) = @_;
	my $log = $node->basedir . '/pgbench';
	my @files;

	foreach my $name (sort keys %script)
	{
		my ($weight, $sql) = @{ $script{$name} };
		my $file = $node->basedir . "/$name.sql";

		unlink $file;
		append_to_file($file, "\\set key random(0, @{[ $keys - 1 ]})\n\\set part random(0, 1000)\nSELECT :part * max(n) / 1000 AS n FROM log \\gset\n" . $sql =~ s/^\s+//mgr . "\n");
		push @files, '-f', "$file\@$weight";
	}
	return (IPC::Run::start(
			[ 'pgbench', '-n', '-M', 'simple', '-c', 4, '-T', 3600, '--max-tries=1000', '-h', $node->host, '-p', $node->port, @files, 'postgres' ],
			'>', $log, '2>', "$log.err"), "$log.err");
}

# Puts bytes at a place of a relation's file, of a server that is stopped.  Returns what was done, to be printed.
sub overwrite
{
	my ($path, $page, $at, $bytes) = @_;

	open my $file, '+<', $path or die;
	binmode $file;
	seek $file, $page * 8192 + $at, 0;
	print $file $bytes;
	close $file;
	return "page $page, byte $at: " . unpack('H*', $bytes);
}

# The postmaster outlives the crash of a backend: only the log tells, of sanitizers' reports as well.
sub no_crash
{
	my ($node, $name) = @_;
	my $log = slurp_file($node->logfile);
	my @crashes = grep { /was terminated by signal|PANIC:|TRAP:|server process .* exited with exit code [^01]|ERROR: \w+Sanitizer|: runtime error: / }
	  split /\n/, $log;

	diag($1) if $log =~ /^(.*(?:ERROR: \w+Sanitizer|: runtime error: ).*\n(?:.*\n){0,30})/m;
	is(join("\n", @crashes), '', $name // 'no backend crashed');
	is($node->safe_psql('postgres', 'SELECT 1'), 1, 'the server answers');
	return;
}

# A function for the session that asks: kilobytes of its private memory now, and at most so far.
#
# The peak is that of all memory less the shared part as it is at the end, where it is largest.
sub backend_memory
{
	my ($node, $db) = @_;

	$node->safe_psql($db, q{
		CREATE FUNCTION proc_status(field text) RETURNS bigint LANGUAGE sql VOLATILE AS
			$$ SELECT substring(pg_read_file('/proc/self/status') FROM field || ':\s+(\d+) kB')::bigint $$;
		CREATE FUNCTION private_now() RETURNS bigint LANGUAGE sql VOLATILE AS
			$$ SELECT proc_status('RssAnon') $$;
		CREATE FUNCTION private_peak() RETURNS bigint LANGUAGE sql VOLATILE AS
			$$ SELECT proc_status('VmHWM') - proc_status('RssFile') - proc_status('RssShmem') $$;
	});
	return;
}

# The names of all temporary files of the server.
sub temp_files
{
	my ($node) = @_;
	my $dir = $node->data_dir . '/base/pgsql_tmp';

	my @files = -d $dir ? grep { !/^\.\.?$/ } slurp_dir($dir) : ();

	return @files;
}

1;
