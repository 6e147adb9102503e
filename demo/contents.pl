# SPDX-License-Identifier: PostgreSQL
# Turn a Debian Contents index (stdin) into rows for COPY: path, package, architecture.
#
# A line is "path<blanks>section/package[,section/package...]".  A path may hold blanks, the list of packages may not; a path
# that several packages ship becomes several rows.
#
# usage: perl contents.pl ARCHITECTURE < Contents

use strict;
use warnings;

my $arch = shift or die "usage: contents.pl ARCHITECTURE\n";

while (<STDIN>)
{
	chomp;
	my $cut = rindex($_, ' ');
	die "contents.pl: line $. is not \"path section/package\": $_\n" if $cut < 1;

	my $path = substr($_, 0, $cut);
	my $packages = substr($_, $cut + 1);

	$path =~ s/[ \t]+\z//;
	$path =~ s/([\\\t])/$1 eq "\t" ? '\\t' : '\\\\'/ge if $path =~ tr/\\\t//;

	for my $package (index($packages, ',') < 0 ? $packages : split(/,/, $packages))
	{
		print $path, "\t", substr($package, rindex($package, '/') + 1), "\t", $arch, "\n";
	}
}
