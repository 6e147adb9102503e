# SPDX-License-Identifier: PostgreSQL
# Files of pages as text: most of a page is zeros.
package HexFile;

use strict;
use warnings;

use Exporter 'import';

our @EXPORT = qw(to_hex from_hex);

# Lines of 32 bytes with their offset, those of zeros left out; the length first.
sub to_hex
{
	my ($file) = @_;

	return join '', length($file) . "\n", map { my $line = substr $file, $_ * 32, 32; $line =~ /[^\0]/ ? sprintf("%06x %s\n", $_ * 32, unpack 'H*', $line) : () }
	  0 .. length($file) / 32 - 1;
}

sub from_hex
{
	my ($length, @lines) = split /\n/, $_[0];
	my $file = "\0" x $length;

	foreach (@lines)
	{
		my ($offset, $hex) = split / /;
		substr($file, hex $offset, 32) = pack 'H*', $hex;
	}
	return $file;
}

1;
