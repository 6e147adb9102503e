# SPDX-License-Identifier: PostgreSQL
# A PostgreSQL installation of a test's own, where it may put another library or script of the extension.
package Installation;

use strict;
use warnings;

use Exporter 'import';
use File::Basename qw(dirname);
use File::Copy qw(copy);
use File::Path qw(make_path);
use PostgreSQL::Test::Utils;

our @EXPORT = qw(make_installation replace_file);

# Links to all files of a folder that are not left out.
sub link_all
{
	my ($from, $to, $without) = @_;

	make_path($to);
	foreach my $name (grep { !/^\.\.?$/ && !/$without/ } slurp_dir($from))
	{
		symlink "$from/$name", "$to/$name" or die "$to/$name: $!";
	}
	return;
}

# What is installed, below a folder: links, but for the programs that find the rest by where they are, and for bloomfam's own files, which are
# copies.  Returns the folders of programs, of libraries and of the extension's scripts.
sub make_installation
{
	my ($folder) = @_;
	my ($bin, $lib, $share) = map { `'@{[ $ENV{PG_CONFIG} // 'pg_config' ]}' --$_` =~ s/\n//r } qw(bindir pkglibdir sharedir);
	my @programs = qw(postgres initdb pg_ctl);

	link_all($bin, "$folder$bin", '^(' . join('|', @programs) . ')$');
	link_all($lib, "$folder$lib", '^bloomfam');
	link_all($share, "$folder$share", '^extension$');
	link_all("$share/extension", "$folder$share/extension", '^bloomfam');
	foreach my $file ((map { "$bin/$_" } @programs), glob("$lib/bloomfam.* $share/extension/bloomfam*"))
	{
		copy($file, "$folder$file") or die "$file: $!";
		chmod 0755, "$folder$file";
	}
	return ("$folder$bin", "$folder$lib", "$folder$share/extension");
}

# Puts a file in another's place as make install does: who has opened the former one keeps it.
sub replace_file
{
	my ($from, $to) = @_;

	copy($from, "$to.new") or die "$from: $!";
	chmod 0755, "$to.new";
	rename "$to.new", $to or die "$to: $!";
	return;
}

1;
