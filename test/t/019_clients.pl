# SPDX-License-Identifier: PostgreSQL
# Property: through each language's driver, and with no cast, all keys of a filter are found, others are not, and a filter that is fetched and
# stored again is the same.

use strict;
use warnings;

use BloomfamTest;
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

not_everyday();

my $folder = "$ENV{PWD}/test/clients";
my $jdbc = '/usr/share/java/postgresql.jar';
my $node = start_node('main', "listen_addresses = '127.0.0.1'\n");

$node->safe_psql('postgres', slurp_file("$folder/setup.sql"));
$ENV{PGHOST} = '127.0.0.1';
$ENV{PGPORT} = $node->port;
$ENV{PGDATABASE} = 'postgres';
$ENV{PGUSER} = (getpwuid $<)[0];
$ENV{PYTHONDONTWRITEBYTECODE} = 1;

# Runs a program that prints TAP, if the first command says that its driver is there; its tests become ours.
sub client
{
	my ($driver, $there, @program) = @_;

	SKIP:
	{
		skip "no $driver", 1 unless system("$there >/dev/null 2>&1") == 0;
		$node->safe_psql('postgres', q{DELETE FROM filters WHERE name = 'copy'});

		my $out = '';
		my $error = '';
		my $ended = IPC::Run::run(\@program, '>', \$out, '2>', \$error);
		my $n = 0;

		ok($ended, "$driver: the program ends well") or diag($error, $out);
		while ($out =~ /^((?:not )?ok) \d+ - (.*)\n((?:# .*\n)*)/mg)
		{
			$n++;
			ok($1 eq 'ok', "$driver: $2") or diag($3);
		}
		cmp_ok($n, '>', 30, "$driver: it has checked something");
		like($out, qr/^1\.\.$n$/m, "$driver: and all");
	}
	return;
}

foreach my $driver ('psycopg2', 'psycopg', 'asyncpg')
{
	client($driver, "/usr/bin/python3 -c 'import $driver'", '/usr/bin/python3', "$folder/with_$driver.py");
}
client('SQLAlchemy', "/usr/bin/python3 -c 'import sqlalchemy, psycopg2'", '/usr/bin/python3', "$folder/with_sqlalchemy.py");
client('Django', "/usr/bin/python3 -c 'import django, psycopg2'", '/usr/bin/python3', "$folder/with_django.py");
client('node-postgres', q{node -e 'require("pg")'}, 'node', "$folder/with_node.js");
client('JDBC', "test -e $jdbc && java --source 11 -version", 'java', '-cp', $jdbc, "$folder/WithJdbc.java");

# a simple query would have the values in its text
foreach my $mode ('extended', 'prepared')
{
	$node->pgbench("--no-vacuum --client=2 --transactions=100 --protocol=$mode", 0, [qr{processed: 200/200}], [qr{^$}], "pgbench, $mode",
		{ "016_$mode" => slurp_file("$folder/with_pgbench.sql") });
}

no_crash($node);
$node->stop;
done_testing();
