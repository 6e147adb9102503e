# SPDX-License-Identifier: PostgreSQL
# Runs a shape of CountPlaces.pm without filters and with them, and tells what differs of its rows, its volatile calls and its row locks.
package CountRunner;

use strict;
use warnings;

use Wire;

use Exporter 'import';

our @EXPORT = qw(run_shape);

my @always = ('plan_cache_mode = force_generic_plan', 'enable_nestloop = on', 'enable_mergejoin = on', "track_functions = 'pl'");
my $calls = q{SELECT 'calls', coalesce(pg_stat_get_xact_function_calls('vf(int)'::regprocedure), 0)};
my $locks = join(' UNION ALL ', map { "SELECT 1 FROM $_ WHERE xmax = pg_current_xact_id()::xid" } qw(f b o c d d_one d_none d_empty f_pt c_pt));
my $written = join(' UNION ALL ', map { "SELECT '$_', count(*), sum(v), count(*) FILTER (WHERE xmin = pg_current_xact_id()::xid) FROM $_" } qw(log full_log f_up));

# Sends a statement that must not fail.
sub must
{
	my ($wire, $sql) = @_;

	return $wire->query($sql) // die "SQLSTATE $wire->{sqlstate}: $sql\n";
}

# A trigger whose function makes the query with the rows that were changed.
sub trigger_sql
{
	my ($table, $sql) = @_;

	return "DROP TRIGGER IF EXISTS counts ON ${table}_src; CREATE OR REPLACE FUNCTION trigger_query() RETURNS trigger LANGUAGE plpgsql AS \$f\$
		DECLARE l text;
		BEGIN
			IF current_setting('counts.explain', true) = 'on' THEN
				FOR l IN EXECUTE \$q\$EXPLAIN (VERBOSE, COSTS OFF) $sql\$q\$ LOOP INSERT INTO lines (line) VALUES (l); END LOOP;
			ELSE
				INSERT INTO lines (line) SELECT q::text FROM ($sql) q;
			END IF;
			RETURN NULL;
		END\$f\$; CREATE TRIGGER counts AFTER UPDATE ON ${table}_src REFERENCING NEW TABLE AS moved FOR EACH STATEMENT EXECUTE FUNCTION trigger_query()";
}

sub prepare
{
	my ($wire, $shape, $sql) = @_;

	return must($wire, trigger_sql($shape->{trigger_on}, $sql)) if $shape->{trigger_on};
	return must($wire, "DEALLOCATE ALL; PREPARE q AS $sql");
}

sub plan_of
{
	my ($wire, $shape) = @_;
	my $rows = must($wire, $shape->{trigger_on} ? "BEGIN; SET LOCAL counts.explain = on; UPDATE $shape->{trigger_on}_src SET v = v; SELECT line FROM lines ORDER BY n; ROLLBACK" : 'EXPLAIN (VERBOSE, COSTS OFF) EXECUTE q');

	return join("\n", map { $_->[0] } @$rows);
}

# How often vp() has been called so far, by workers as well: they have told when they are gone.
sub calls_of_workers
{
	my ($wire) = @_;

	must($wire, 'SELECT pg_stat_force_next_flush()');
	return must($wire, q{SELECT coalesce(pg_stat_get_function_calls('vp(int)'::regprocedure), 0)})->[0][0];
}

# The rows, the calls, and what was locked or written, of one run, which is rolled back.
sub run_once
{
	my ($wire, $shape) = @_;
	my $statement = $shape->{trigger_on} ? "UPDATE $shape->{trigger_on}_src SET v = v" : 'EXECUTE q';
	my $effects = $shape->{way} eq 'locks' ? "; SELECT 'locks', count(*) FROM ($locks) l" : $shape->{trigger_on} ? '; SELECT line FROM lines' : $shape->{node} eq 'ModifyTable' ? "; $written" : '';
	my $before = $shape->{way} eq 'workers' ? calls_of_workers($wire) : 0;
	my $rows = $wire->query("BEGIN; $calls; $statement; $calls$effects; ROLLBACK");

	if (!$rows)
	{
		my $state = $wire->{sqlstate};

		must($wire, 'ROLLBACK');
		return { rows => "SQLSTATE $state", calls => 0, effects => '' };
	}
	my @lines = map { join('|', map { $_ // '~' } @$_) } @$rows;
	my ($first, $last) = grep { $lines[$_] =~ /^calls\|/ } 0 .. $#lines;
	my $count = sub { $lines[ $_[0] ] =~ /\|(.*)/; $1 };

	return { rows => join(' ', sort @lines[ $first + 1 .. $last - 1 ]), calls => $shape->{way} eq 'workers' ? calls_of_workers($wire) - $before : $count->($last) - $count->($first),
		effects => join(' ', @lines[ $last + 1 .. $#lines ]) };
}

# A plan's lines without the nodes of filters.
sub without_filters
{
	my ($plan) = @_;
	my @lines;
	my $own = 0;

	foreach (split /\n/, $plan)
	{
		$own = /Custom Scan \(Bloom Filter/ if /^\s*->  |^\w/;
		push @lines, s/^\s+//r unless $own;
	}
	return join("\n", @lines);
}

sub differences
{
	my ($found, $expected, $what) = @_;

	return map { $found->{$_} eq $expected->{$_} ? () : "$what: $_ $found->{$_} instead of $expected->{$_}" } qw(rows calls effects);
}

# Returns { differences => [ texts ], called => calls without filters, shown => is the node in that plan, filtered => plans with a filter, control => had
# that of the control one, off, last, plan => plans as texts: without filters, with them, and where something differs }.
sub run_shape
{
	my ($wire, $shape) = @_;
	my %result = (differences => [], filtered => 0, control => 0, called => 0);

	must($wire, join('; ', 'RESET ALL', map { "SET $_" } @always, @{ $shape->{set} }));
	must($wire, 'SET bloomfam.join_filter = off');
	prepare($wire, $shape, $shape->{sql});
	my $plan = plan_of($wire, $shape);
	my $off = run_once($wire, $shape);

	$result{called} = $off->{calls};
	$result{off} = $plan;
	$result{shown} = $plan =~ /$shape->{show}/ ? 1 : 0;
	push @{ $result{differences} }, "fails: $off->{rows}" if $off->{rows} =~ /^SQLSTATE/;
	my %seen;
	foreach my $mode (qw(force on))
	{
		foreach my $plans (qw(on off))
		{
			must($wire, "SET bloomfam.join_filter_plans = $plans; SET bloomfam.join_filter = $mode");
			prepare($wire, $shape, $shape->{sql});
			my $with = plan_of($wire, $shape);
			$result{last} = $with;

			next if $seen{$with}++ || $with !~ /Custom Scan \(Bloom Filter/;
			$result{filtered}++;
			my $found = run_once($wire, $shape);

			# the same plan, whose nodes then make no filter
			must($wire, 'SET bloomfam.join_filter = off');
			my $same = run_once($wire, $shape);
			my @different = differences($found, $same, "$mode, plans $plans, and the same plan without filters");

			@different = differences($found, $off, "$mode, plans $plans, and off") if !@different && without_filters($with) eq without_filters($plan);
			push @{ $result{differences} }, @different;
			$result{plan} //= $with if @different;
		}
	}
	if (defined $shape->{control})
	{
		must($wire, 'SET bloomfam.join_filter_plans = off; SET bloomfam.join_filter = force');
		prepare($wire, $shape, $shape->{control});
		$result{control} = plan_of($wire, $shape) =~ /Custom Scan \(Bloom Filter/ ? 1 : 0;
	}
	return \%result;
}

1;
