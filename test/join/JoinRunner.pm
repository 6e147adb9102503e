# SPDX-License-Identifier: PostgreSQL
# Runs random items with the filters off and with them on, and tells what differs.
package JoinRunner;

use strict;
use warnings;

use JoinQuery;
use JoinSchema;
use Time::HiRes qw(usleep);
use Wire;

use Exporter 'import';

our @EXPORT = qw(make_tables run_items);

my $hang = 120;				# seconds after which a step without an answer is a defect
my $timeout = 1500;			# milliseconds for a step; one that needs more is left out

# The tables of a seed, in a database of their own.
sub make_tables
{
	my ($node, $db, $seed) = @_;
	my $wire = Wire->new($node, $db);

	srand($seed);
	foreach my $sql (schema_sql())
	{
		$wire->query($sql) // die "SQLSTATE $wire->{sqlstate}: $sql\n";
	}
	# foreign tables, of a database beside it
	my ($host, $port, $encoding) = ($node->host, $node->port, rand() < 0.5 ? 'UTF8' : 'LATIN1');
	my ($there, $here) = foreign_sql("host '$host', port '$port', dbname '${db}_far'");

	$wire->query("CREATE DATABASE ${db}_far TEMPLATE template0 ENCODING '$encoding' LC_COLLATE 'C' LC_CTYPE 'C'") // die "SQLSTATE $wire->{sqlstate}: CREATE DATABASE\n";
	my $far = Wire->new($node, "${db}_far");
	foreach my $statement ((map { [ $far, $_ ] } @$there), map { [ $wire, $_ ] } @$here)
	{
		my ($to, $sql) = @$statement;

		$to->query($sql) // die "SQLSTATE $to->{sqlstate}: $sql\n";
	}
	$far->close;
	$wire->close;
	return;
}

# A connection; the server may just be on its way up again.
sub connect_to
{
	my ($self) = @_;

	foreach (1 .. 300)
	{
		my $wire = eval { Wire->new($self->{node}, $self->{db}) };

		return $wire if $wire && $wire->query('SELECT 1');
		usleep(100_000);
	}
	die "no connection to the server\n";
}

sub reset_session
{
	my ($self) = @_;

	$self->{wire}->query($_) foreach 'ROLLBACK', 'DISCARD ALL', "SET statement_timeout = $timeout", q{SET timezone = 'UTC'};
	return;
}

# Rows as lines; those of a multiset in an order of their own.
sub lines
{
	my ($rows, $how) = @_;
	my @lines = map { join('|', map { $_ // '~' } @$_) } @$rows;

	return $how eq 'set' ? sort @lines : @lines;
}

# What the steps give: for each step to be compared (or pool of them) [name, SQLSTATE or '', lines].
sub outcome
{
	my ($self, $item, $mode) = @_;
	my (@results, %pools);
	my $wire = $self->{wire};

	reset_session($self);
	foreach my $sql (@{ $item->{settings} })
	{
		$wire->query($sql) // die "SQLSTATE $wire->{sqlstate}: $sql\n";
	}
	$wire->query("SET bloomfam.join_filter = $mode") // die "SQLSTATE $wire->{sqlstate}: bloomfam.join_filter\n";
	my $samples = $mode eq 'off' ? 'off' : 'on';
	$wire->query("SET bloomfam.join_samples = $samples") // die "SQLSTATE $wire->{sqlstate}: bloomfam.join_samples\n";
	if ($mode eq 'force')
	{
		foreach my $plan ($item->{plan}, map { $_->{plan} } grep { ($_->{plan} // 'EXECUTE') !~ /^EXECUTE/ } @{ $item->{steps} })
		{
			look_at_plan($self, $item, $plan) if defined $plan;
		}
	}

	my $number = 0;
	foreach my $step (@{ $item->{steps} })
	{
		$number++;
		if ($step->{switch})
		{
			$wire->query("SET bloomfam.join_filter = $step->{switch}") if $mode ne 'off';
			next;
		}
		look_at_plan($self, $item, $step->{plan}) if $mode eq 'force' && ($step->{plan} // '') =~ /^EXECUTE/;

		my $rows = $item->{table} ? waiting_step($self, $item, $step) : $wire->query($step->{sql});
		my $state = $wire->{sqlstate} // '';

		next if $step->{any};
		if (!$step->{rows})
		{
			push @results, [ $number, $state, [] ] if $state;
			next;
		}
		my @lines = $rows ? ($step->{rows} eq 'count' ? (scalar @$rows) : lines($rows, $step->{rows})) : ();
		if (defined $step->{pool} && $pools{ $step->{pool} })
		{
			my $pool = $pools{ $step->{pool} };

			$pool->[1] ||= $state;
			$pool->[2] = [ sort @{ $pool->[2] }, @lines ];
			next;
		}
		push @results, [ $number, $state, \@lines ];
		$pools{ $step->{pool} } = $results[-1] if defined $step->{pool};
	}
	return \@results;
}

# What is not sent to foreign scans has a reason.
sub check_reasons
{
	my ($plan) = @_;

	foreach my $line (grep { /Sent to Foreign Scans: keys/ } split /\n/, $plan)
	{
		while ($line =~ / (\d++) of (\d++)( \(\w)?/g)
		{
			die "no reason for what is not sent: $line\n" if $1 < $2 && !$3;
		}
	}
	# a plan that was made before has no decisions
	return if $plan !~ /^ *Join Filters:/m;
	while ($plan =~ /Bloom Filter Probe\).*\n((?:(?! *->).*\n)*) *->  (?:Async )?Foreign Scan/g)
	{
		die "nothing is said of a foreign scan below a filter\n" if $1 =~ /Bloom Filter \d/ && $plan !~ /Sent to Foreign Scans: /;
	}
	return;
}

sub look_at_plan
{
	my ($self, $item, $sql) = @_;
	# what changes rows begins with WITH, too, and EXPLAIN ANALYZE would change them for good
	my $analyze = $sql =~ /^(SELECT|WITH)/ && $sql !~ /\b(INSERT|UPDATE|DELETE|MERGE)\b/ && (rand() < 0.1 || $item->{kind} =~ /^(skip|pages|foreign)$/);
	my $rows = $self->{wire}->query('EXPLAIN (VERBOSE, COSTS OFF' . ($analyze ? ', ANALYZE, TIMING OFF, SUMMARY OFF' : '') . ") $sql");

	# what the query needs may be gone by now, but no plan is one that cannot be shown
	die "SQLSTATE $self->{wire}{sqlstate}: EXPLAIN of $sql\n" if !$rows && ($self->{wire}{sqlstate} // '') =~ /^XX/;
	return if !$rows;
	my $plan = join("\n", map { $_->[0] } @$rows);
	my $tally = $self->{tally};

	check_reasons($plan);
	return if $self->{quiet};
	$tally->{plans}++;
	$self->{foreign_joins}++ if $plan =~ /Foreign Scan/ && $plan =~ /->  .*(?:Join|Nested Loop)|^(?:.*Join|Nested Loop)/m;
	$tally->{"plans $item->{kind}"}++;
	$tally->{sampled}++ if $plan =~ /% of the rows of/;
	$tally->{'planned with samples'}++ if $plan =~ /Planned Fraction/;
	if ($plan =~ /Bloom Filter Probe/)
	{
		$tally->{filtered}++;
		$tally->{"filtered $item->{kind}"}++;
		$tally->{"filters $1"}++ while $plan =~ /Bloom Filter Probe.*\n(?:(?!.*-> ).*\n)*.*->  (?:Parallel )?(\w+(?: \w+)?)/g;
	}
	if ($analyze)
	{
		$tally->{analyzed}++;
		$tally->{dropped} += $1 while $plan =~ /\bRows Removed: (\d+)/g;
		$tally->{'pages skipped'} += $1 while $plan =~ /\bPages Skipped: (\d+)/g;
		$tally->{skipped} += $1 while $plan =~ /\bPartitions Skipped: (\d+)/g;
		foreach my $sent ($plan =~ /\bSent to Foreign Servers: (.*)/g)
		{
			$tally->{'sent keys'}++ if $sent =~ /\d keys/;
			$tally->{'sent bounds'}++ if $sent =~ /bounds/;
			$tally->{'sent filter'}++ if $sent =~ /a filter/;
		}
	}
	return;
}

# The step waits for rows that another session has changed, and sees the change when that commits.
sub waiting_step
{
	my ($self, $item, $step) = @_;
	my $wire = $self->{wire};
	my $other = connect_to($self);
	my $pid = $wire->query('SELECT pg_backend_pid()')->[0][0];

	$other->query($_) // die "SQLSTATE $other->{sqlstate}: $_\n"
	  foreach 'SET bloomfam.join_filter = off', 'DROP TABLE IF EXISTS recheck', $item->{table}, 'ANALYZE recheck', 'BEGIN', $item->{change};
	$wire->query('BEGIN');
	$wire->message('Q', "$step->{sql}\0");
	syswrite($wire->{socket}, $wire->{out}) == length $wire->{out} or die 'send';
	$wire->{out} = '';

	# until it waits, or has ended because it met no changed row
	my $waits = '';
	foreach (1 .. 100)
	{
		my $ready = '';

		vec($ready, fileno($wire->{socket}), 1) = 1;
		last if select($ready, undef, undef, 0.005);
		$waits = $other->query("SELECT 1 FROM pg_locks WHERE pid = $pid AND NOT granted");
		last if $waits && @$waits;
	}
	$self->{tally}{rechecked}++ if $waits && @$waits;
	$other->query('COMMIT');
	my $rows = $wire->finish;
	my $state = $wire->{sqlstate};

	$wire->query('ROLLBACK');
	$wire->{sqlstate} = $state;
	$other->close;
	return $rows;
}

# '' where two outcomes agree; else [number of the step, what differs, SQLSTATE of an error with filters alone]; ['late'] if one was cancelled
# for its time.
sub difference
{
	my ($off, $on, $tally) = @_;

	foreach my $i (0 .. ($#$off > $#$on ? $#$off : $#$on))
	{
		my ($a, $b) = ($off->[$i], $on->[$i]);

		return ['late'] if grep { $_ && $_->[1] eq '57014' } $a, $b;
		return [ ($a // $b)->[0], 'steps that failed are others: ' . join(' and ', map { $_ ? "$_->[0] ($_->[1])" : 'none' } $a, $b) ]
		  unless $a && $b && $a->[0] == $b->[0];
		if ($a->[1] ne $b->[1])
		{
			# The row that had the error, or whose array has elements that cannot be hashed, may have gone before: PostgreSQL leaves open
			# when an expression is computed.  The same below of a line 'error', which a function gives that has caught one.
			if ($a->[1] =~ /^(22|42883$)/ && $b->[1] eq '')
			{
				$tally->{'errors that went away'}++;
				return '';
			}
			return [ $a->[0], "SQLSTATE '$a->[1]' off, '$b->[1]' on", $a->[1] eq '' ? $b->[1] : undef ];
		}
		foreach my $line (grep { ($a->[2][$_] // '') eq 'error' } 0 .. $#{ $b->[2] })
		{
			$tally->{'errors that went away'}++ if $b->[2][$line] ne 'error';
			$b->[2][$line] = 'error';
		}
		return [ $a->[0], different_rows($a->[2], $b->[2]) ] if "@{$a->[2]}" ne "@{$b->[2]}";
	}
	return '';
}

sub different_rows
{
	my ($off, $on) = @_;
	my %count;

	$count{$_}++ foreach @$off;
	$count{$_}-- foreach @$on;
	my @less = grep { $count{$_} > 0 } sort keys %count;
	my @more = grep { $count{$_} < 0 } sort keys %count;

	return "the same rows in another order" if !@less && !@more;
	return @$off . ' rows off, ' . @$on . " on\n"
	  . join('', map { "  missing: $_\n" } grep { defined } @less[ 0 .. 4 ]) . join('', map { "  added:   $_\n" } grep { defined } @more[ 0 .. 4 ]);
}

# Does an item fail so without filters as well, by one of the ways to join?  A side of a join is not read where the other one is empty, and what is
# wrong with it goes unseen there.
sub fails_by_itself
{
	my ($self, $item, $state) = @_;
	my @ways = qw(hashjoin mergejoin nestloop);

	foreach my $way (grep { !($item->{merge} && $_ eq 'hashjoin') } @ways)
	{
		my %other = (%$item, settings => [ @{ $item->{settings} }, map { "SET enable_$_ = " . ($_ eq $way ? 'on' : 'off') } @ways ]);

		return 1 if grep { $_->[1] eq $state } @{ outcome($self, \%other, 'off') };
	}
	return 0;
}

sub compare
{
	my ($self, $item, $mode) = @_;

	$self->{foreign_joins} = 0;
	return eval {
		local $SIG{ALRM} = sub { die "no answer in $hang seconds\n" };
		alarm $hang;
		my $off = outcome($self, $item, 'off');
		my $on = (grep { $_->[1] eq '57014' } @$off) ? $off : outcome($self, $item, $mode);
		my $found = difference($off, $on, $self->{tally});
		if ($found && $found->[2] && fails_by_itself($self, $item, $found->[2]))
		{
			$self->{tally}{'errors of other plans'}++;
			$found = '';
		}
		alarm 0;
		$self->{tally}{items}++ unless $self->{quiet};
		$self->{tally}{'joins with foreign tables'} += $self->{foreign_joins} unless $self->{quiet} || grep { $_->[1] eq '57014' } @$off, @$on;
		# one row that counts none says as little as no row
		$self->{tally}{empty}++ unless $self->{quiet} || grep { grep { /[1-9]/ } @{ $_->[2] } } @$off;
		if (!$self->{quiet} && grep { $_->[1] && $_->[1] !~ /^(22012|57014)/ } @$off)
		{
			$self->{tally}{failed}++;
			$self->{failures}{ (grep { $_->[1] } @$off)[0][1] } //= $item->{id};
		}
		$found;
	} // do {
		my $why = $@ || 'unknown';

		alarm 0;
		chomp $why;
		usleep(500_000) if $why =~ /closed/;
		$self->{wire} = connect_to($self);
		[ 0, $why ];
	};
}

# All that is needed to see a difference again, with as few settings as it takes.
sub report
{
	my ($self, $item, $mode, $found) = @_;
	my @plans;

	local $self->{quiet} = 1;
	foreach my $setting (@{ [ @{ $item->{settings} } ] })
	{
		my %less = (%$item, settings => [ grep { $_ ne $setting } @{ $item->{settings} } ]);
		my $again = compare($self, \%less, $mode);

		next unless $again && $again->[0] ne 'late';
		($item, $found) = (\%less, $again);
	}
	# the rows themselves in place of their digest
	if (grep { $_->{show} } @{ $item->{steps} })
	{
		my %open = (%$item, steps => [ map { { %$_, sql => $_->{show} // $_->{sql} } } @{ $item->{steps} } ]);
		my $again = compare($self, \%open, $mode);

		($item, $found) = (\%open, $again) if $again && $again->[0] ne 'late';
	}
	my $again = compare($self, $item, $mode);
	my ($step) = grep { $_->{plan} } @{ $item->{steps} };
	my $plan = $step ? $step->{plan} : $item->{plan};
	foreach my $m ('off', $mode)
	{
		next unless $plan && $plan !~ /^EXECUTE/;
		my $rows = eval {
			reset_session($self);
			$self->{wire}->query($_) foreach @{ $item->{settings} }, "SET bloomfam.join_filter = $m";
			$self->{wire}->query("EXPLAIN (COSTS OFF) $plan");
		};

		$self->{wire} = connect_to($self) if $@;
		push @plans, "-- plan, $m:\n" . join("\n", map { "--   $_->[0]" } @{ $rows // [ ['none'] ] });
	}
	return join("\n",
		"-- DIFFERENCE: seed $self->{seed}, item $item->{id} ($item->{kind}), join_filter = $mode, step $found->[0]; "
		  . ($again ? 'seen again' : 'NOT seen again'),
		map({ "--   $_" } split /\n/, $found->[1]), (map { "$_;" } @{ $item->{settings} }), "SET bloomfam.join_filter = $mode;", ($ENV{JOIN_SAMPLES} ? 'SET bloomfam.join_samples = on;' : ()),
		($item->{table} ? "-- another session: $item->{table}; $item->{change}; then, while the next waits, COMMIT" : ()),
		(map { $_->{switch} ? "SET bloomfam.join_filter = $_->{switch};" : "$_->{sql};" } @{ $item->{steps} }), @plans, '');
}

# Runs items number first .. last of a seed.  Returns a tally; {differences} are texts.  Stops after ten of those, or {seconds}.
sub run_items
{
	my ($node, $db, $seed, $first, $last, %o) = @_;
	my $self = { node => $node, db => $db, seed => $seed, tally => { differences => [] }, failures => {} };
	my $start = time;

	$self->{wire} = connect_to($self);
	foreach my $number ($first .. $last)
	{
		# an item is the same whatever ran before it
		srand($seed * 1_000_003 + $number);
		my $item = random_item($o{kind});
		my $mode = rand() < 0.06 ? 'on' : 'force';

		$item->{id} = $number;
		if ($o{print})
		{
			$o{print}->(join("\n", (map { "$_;" } @{ $item->{settings} }), map { $_->{switch} ? "-- switch $_->{switch}" : "$_->{sql};" } @{ $item->{steps} }));
			next;
		}
		if ($number % 50 == 0)
		{
			$self->{wire}->close;
			$self->{wire} = connect_to($self);
		}
		my $found = compare($self, $item, $mode);
		if ($found && $found->[0] eq 'late')
		{
			$self->{tally}{late}++;
		}
		elsif ($found)
		{
			push @{ $self->{tally}{differences} }, report($self, $item, $mode, $found);
			last if @{ $self->{tally}{differences} } >= ($o{most} // 10);
		}
		last if $o{seconds} && time - $start > $o{seconds};
	}
	$self->{tally}{failures} = join(', ', map { "$_ (item $self->{failures}{$_})" } sort keys %{ $self->{failures} });
	$self->{wire}->close;
	return $self->{tally};
}

1;
