# SPDX-License-Identifier: PostgreSQL
# Turn a Debian Packages index (stdin) into rows for COPY: package, section, priority, architecture, installed size in kB,
# maintainer.  A field that a package lacks is NULL.

use strict;
use warnings;

my @columns = qw(Package Section Priority Architecture Installed-Size Maintainer);

$/ = '';						# one stanza at a time
while (my $stanza = <STDIN>)
{
	my %field = $stanza =~ /^([A-Za-z-]+):[ \t]*(.*)$/mg;
	next unless defined $field{Package};

	print join("\t", map {
		my $value = $field{$_};
		defined $value ? $value =~ s/\\/\\\\/gr =~ s/\t/ /gr : '\\N';
	} @columns), "\n";
}
