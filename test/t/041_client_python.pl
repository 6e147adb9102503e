# SPDX-License-Identifier: PostgreSQL
# Property: the Python package builds the filters that the server builds, to the byte, and each finds all keys of the other's, of every family with
# canonical bytes; by psycopg filters come and go as they are.
#
# LONG=1: 100,000 random keys of each type in place of a thousand, in three kinds in place of all.

use strict;
use warnings;

use BloomfamTest;
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $python = $ENV{BLOOMFAM_PYTHON} // '/usr/bin/python3';
my $folder = "$ENV{PWD}/client/python";
my $built = PostgreSQL::Test::Utils::tempdir();

# Does this work in Python?
sub can
{
	my ($program) = @_;

	return system("$python -c '$program' >/dev/null 2>&1") == 0;
}

plan skip_all => 'no Python 3.11 or later' unless can('import sys; assert sys.version_info >= (3, 11)');
plan skip_all => 'no headers of Python'
  unless can('import os, sysconfig; assert os.path.exists(sysconfig.get_path("include") + "/Python.h")');
plan skip_all => 'no setuptools for Python' unless can('import setuptools');
plan skip_all => 'no psycopg 3 for Python' unless can('import psycopg');

# the package where test/run has built it already, else here
my $package = $ENV{BLOOMFAM_PYTHON_PACKAGE} // "$built/lib";

$ENV{PYTHONDONTWRITEBYTECODE} = 1;
if (!$ENV{BLOOMFAM_PYTHON_PACKAGE})
{
	my $out = '';

	ok( IPC::Run::run([ $python, 'setup.py', '-q', 'build', '--build-base', "$built/build", '--build-lib', $package ],
			'>&', \$out, init => sub { chdir $folder }),
		'the package builds') or diag($out);
}

my $node = start_node('main', "listen_addresses = '127.0.0.1'\n");

$ENV{PYTHONPATH} = $package;
$ENV{PGHOST} = '127.0.0.1';
$ENV{PGPORT} = $node->port;
$ENV{PGDATABASE} = 'postgres';
$ENV{PGUSER} = (getpwuid $<)[0];

$ENV{BLOOMFAM_KEYS} //= 100_000 if $ENV{LONG};
my $out = '';
my $error = '';
my $ended = IPC::Run::run([ $python, "$ENV{PWD}/test/clients/python_package.py" ], '>', \$out, '2>', \$error);
my $n = 0;

ok($ended, 'the program ends well') or diag($out =~ s/^ok.*\n//gmr, $error);
while ($out =~ /^((?:not )?ok) \d+ - (.*)\n((?:# .*\n)*)/mg)
{
	$n++;
	ok($1 eq 'ok', $2) or diag($3);
}
# so many keys are tried in three kinds, not in all
cmp_ok($n, '>', ($ENV{BLOOMFAM_KEYS} // 0) > 10_000 ? 350 : 500, 'it has checked something');
like($out, qr/^1\.\.$n$/m, 'and all');

# the program of docs/python.md that needs a server, and what it prints; -P, as the folder has a bloomfam.so
my ($program, $printed) = slurp_file("$ENV{PWD}/docs/python.md") =~ /^```python server\n(.*?)^```\n\n```\n(.*?)^```$/ms or die 'docs/python.md has no such program';
$ended = IPC::Run::run([ $python, '-P', '-c', $program ], '>', \$out, '2>', \$error);
ok($ended, 'the program of docs/python.md ends well') or diag($error);
is($out, $printed, 'it prints what the page shows');

no_crash($node);
$node->stop;
done_testing();
