# SPDX-License-Identifier: PostgreSQL
# Property: where the library's file is replaced while sessions have it loaded under its other name, that of make install-plugin, it is not set up
# twice: a session that would use both gets an error that says what to do, and none fails as it begins.

use strict;
use warnings;

use BloomfamTest;
use File::Copy qw(copy);
use Installation;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $folder = PostgreSQL::Test::Utils::tempdir();
my ($bin, $lib) = make_installation($folder);
unlink "$lib/plugins" or die "$lib/plugins: $!" if -l "$lib/plugins";
mkdir "$lib/plugins" or die "$lib/plugins: $!";
symlink '../bloomfam.so', "$lib/plugins/bloomfam.so" or die "$lib/plugins/bloomfam.so: $!";
copy("$lib/bloomfam.so", "$folder/new.so") or die;
# what make install does, as psql's command
my $replace = "\\! cp $folder/new.so $lib/bloomfam.so.new && chmod 755 $lib/bloomfam.so.new && mv $lib/bloomfam.so.new $lib/bloomfam.so";

my $node = PostgreSQL::Test::Cluster->new('main', install_path => $bin =~ s,/bin$,,r);
$node->init;
$node->append_conf('postgresql.conf', "autovacuum = off\njit = off\nmin_parallel_table_scan_size = 0\nparallel_setup_cost = 0\nparallel_tuple_cost = 0\n");
$node->start;
$node->safe_psql('postgres', q{
	CREATE EXTENSION bloomfam;
	CREATE ROLE plain LOGIN;
	CREATE TABLE fact AS SELECT g AS id, g % 1000 AS k FROM generate_series(1, 50000) g;
	CREATE TABLE dim AS SELECT g AS k, g % 100 AS c FROM generate_series(1, 1000) g;
	CREATE TABLE plain_fact AS TABLE fact;
	CREATE INDEX fact_id ON fact USING maplet (id);
	GRANT SELECT ON fact, plain_fact, dim TO plain;
	ANALYZE fact, plain_fact, dim});

# What a session says that has loaded the library by its other name.
sub said
{
	my ($sql) = @_;
	my ($out, $error);

	local $ENV{PGOPTIONS} = '-c local_preload_libraries=bloomfam';
	$node->psql('postgres', $sql, stdout => \$out, stderr => \$error, on_error_stop => 0, extra_params => [ '-U', 'plain' ]);
	return $out . ($error =~ /\S/ ? "\n$error" : '');
}

my $join = 'SET bloomfam.join_filter = force; SELECT count(*) FROM fact JOIN dim USING (k) WHERE c = 7;';
my $uses = "SELECT 7 = ANY (ARRAY[7]) AND bloom_agg(k) \@~ 7 FROM dim;";

is(said("$join $uses"), "500\nt", 'nothing is replaced: both names are one');
my $error = qr/ERROR:  library "bloomfam" was replaced after this session had loaded it\nHINT:  Connect again: a new session has the new library\./;
like(said("SELECT 'begins';\n$replace\n$uses"), qr/^begins\n+[^\n]*$error/, 'replaced meanwhile: the first use of the other name is an error');
like(said("SELECT 'begins';\n$replace\nSET enable_seqscan = off; SELECT k FROM fact WHERE id = 7;"), $error, '... and that of an index');
like(said("SELECT 'begins';\n$replace\nSET bloomfam.join_filter = force; SELECT count(*) FROM plain_fact JOIN dim USING (k) WHERE c = 7;"), qr/^500$/m,
	'... but joins of tables without maplet indexes go on');
is(said("$join $uses"), "500\nt", 'a new session has the new library alone');

$node->append_conf('postgresql.conf', "shared_preload_libraries = 'bloomfam'\n");
$node->restart;
is(said("$join $uses"), "500\nt", 'the server has it, too');
said($replace);
is(said("$join $uses"), "500\nt", 'replaced: a session begins with that of the server');
like(said("SET bloomfam.join_filter = force; EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) SELECT count(*) FROM fact JOIN dim USING (k) WHERE c = 7;"),
	qr/Workers Launched: [12](?s:.*)Bloom Filter Probe/, '... and so do its workers');

no_crash($node);
$node->stop;
done_testing();
