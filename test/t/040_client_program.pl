# SPDX-License-Identifier: PostgreSQL
# Property: the program bloomfam sends each row of CSV one of two ways, byte for byte, and calls none new whose key may be in the filter; whatever
# fails, files are whole or as before.
#
# BLOOMFAM_PROGRAM in the environment: another build of it, such as one under ASan.  SMALL_DISK: an empty folder on a file system of 4 MB.

use strict;
use warnings;

use BloomfamTest;
use File::Temp qw(tempdir);
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $program = $ENV{BLOOMFAM_PROGRAM} // '';

if ($program eq '')
{
	is(system('make', '-s', 'client'), 0, 'make client') or BAIL_OUT('no program');
	$program = "$ENV{PWD}/build/client/bloomfam";
}
my $dir = tempdir(CLEANUP => 1);
my $sources = $ENV{PWD};
chdir $dir or die;

sub content
{
	my ($name) = @_;

	return undef unless -e $name;
	open my $f, '<:raw', $name or die "$name: $!";
	local $/;
	return scalar(<$f>) // '';
}

sub put
{
	my ($name, $bytes) = @_;

	open my $f, '>:raw', $name or die "$name: $!";
	print $f $bytes;
	close $f or die;
	return $name;
}

# tool ARGUMENTS, INPUT: exit code, standard output, standard error
sub tool
{
	my ($arguments, $input) = @_;
	my ($out, $err) = ('', '');

	# a file: who ends without reading breaks no pipe
	IPC::Run::run([ $program, @$arguments ], '<', put('tool.in', $input // ''), '>', \$out, '2>', \$err, IPC::Run::timeout(120));
	fail("@$arguments: signal " . ($? & 127)) if $? & 127;
	return ($? >> 8, $out, $err);
}

# split_rows OPTIONS, INPUT: exit code, new rows, maybe rows, standard error
sub split_rows
{
	my ($options, $input) = @_;

	unlink 'new', 'maybe';
	my ($status, $out, $err) = tool([ 'split', '--new', 'new', '--maybe', 'maybe', @$options ], $input);
	return ($status, content('new'), content('maybe'), $err);
}

sub leftovers
{
	my ($folder) = @_;

	return join(' ', sort grep { /\.[A-Za-z0-9]{6}$/ && !/\.filter$/ } slurp_dir($folder // '.'));
}

# ---- the command line ----

{
	my ($status, $out, $err) = tool(['--help']);
	is($status, 0, '--help');
	like($out, qr/bloomfam split/, '... shows commands');
	($status, $out) = tool(['--version']);
	like($out, qr/^bloomfam \d+\.\d+\.\d+\n$/, '--version');
	($status, $out, $err) = tool(['keep', '--help']);
	is($status, 0, '--help behind a command');
	for ([[], qr/a command is missing/], [['join'], qr/there is no command "join"/], [['keep', '-c', 'id'], qr/keep needs --filter/],
		[['keep', '-f', 'x'], qr/keep needs --column/], [['keep', '-f', 'x', '-c', '1', 'in.csv'], qr/reads rows from standard input/],
		[['split', '-f', 'x', '-c', '1', '--new', 'a'], qr/split needs --new and --maybe/],
		[['drop', '-f', 'x', '-c', '1'], qr/--accept-loss agrees/], [['keep', '--accept-loss', '-f', 'x', '-c', '1'], qr/keep has no option --accept-loss/],
		[['build', '-c', '1'], qr/build needs --type/], [['info'], qr/info needs a FILTER/], [['key', 'int'], qr/key needs a TYPE and a VALUE/],
		[['keep', '-f', 'x', '-c', '1', '-d', '"'], qr/the delimiter must be/], [['keep', '-f', 'x', '-c', '1', '-d', ',,'], qr/the delimiter must be/],
		[['keep', '-f', 'x', '-c', '1', '-d', "\t\t"], qr/the delimiter must be/], [['keep', '--nonsense'], qr/an option is not known/],
		[['build', '-c', '1', '-t', 'int', '--fpr', '1'], qr/--fpr must be above 0 and below 1/],
		[['build', '-c', '1', '-t', 'int', '--expected', '-5'], qr/--expected must be a number/],
		[['build', '-c', '1', '-t', 'nonsense'], qr/nonsense/], [['build', '-c', '1', '-t', 'int', '--kind', 'nonsense', '-o', 'x'], qr/nonsense/])
	{
		my ($arguments, $expected) = @$_;
		($status, $out, $err) = tool($arguments, "id\n1\n");
		is($status, 2, "bloomfam @$arguments: an error");
		like($err, $expected, '... that says why');
		is($out, '', '... and writes nothing');
	}
}

# ---- filters to ask ----

is((tool(['build', '-c', 'id', '-t', 'bigint', '--fpr', '1e-4', '-o', 'ids.filter'], "id\n" . join('', map { "$_\n" } 1 .. 1000)))[0], 0, 'build of numbers');
is((tool(['build', '-c', '1', '-t', 'text', '--no-header', '-o', 'texts.filter', '--fpr', '1e-4'],
	qq{a b\n"c,d"\n"e""f"\n"g\nh"\n""\n\xc3\xa9\n}))[0], 0, 'build of texts');
is((tool(['build', '-c', 'id', '-t', 'bigint', '-o', 'none.filter'], "id\n"))[0], 0, 'build of nothing');
is((tool(['build', '-c', 'x', '-t', 'double precision', '--kind', 'parquet', '-o', 'doubles.filter'], "x\n0.1\n"))[0], 0, 'build of doubles');

# ---- records: (name, options, input, rows that are new, rows that may be known, exit code) ----

my @ids = ('-f', 'ids.filter', '-c', 'id');
my @texts = ('-f', 'texts.filter', '-c', '1', '--no-header');
for (
	['rows', \@ids, "id,x\n1,a\n5000,b\n2,c\n", "id,x\n5000,b\n", "id,x\n1,a\n2,c\n", 0],
	['no last newline, new', \@ids, "id,x\n1,a\n5000,b", "id,x\n5000,b", "id,x\n1,a\n", 0],
	['no last newline, maybe', \@ids, "id,x\n5000,a\n1,b", "id,x\n5000,a\n", "id,x\n1,b", 0],
	['only a header', \@ids, "id,x\n", "id,x\n", "id,x\n", 0],
	['only a header, without its newline', \@ids, "id,x", "id,x", "id,x", 0],
	['CRLF', \@ids, "x,id\r\na,1\r\nb,5000\r\n", "x,id\r\nb,5000\r\n", "x,id\r\na,1\r\n", 0],
	['CR and LF mixed', \@ids, "x,id\r\na,1\nb,5000\r\n", "x,id\r\nb,5000\r\n", "x,id\r\na,1\n", 0],
	['a quoted key', \@ids, qq{"id",x\n"1",a\n"5000",b\n}, qq{"id",x\n"5000",b\n}, qq{"id",x\n"1",a\n}, 0],
	['a quoted field before the key', \@ids, qq{x,id\n"a,1\n5000",5000\n"a""",1\n}, qq{x,id\n"a,1\n5000",5000\n}, qq{x,id\n"a""",1\n}, 0],
	['newlines in a field behind the key', \@ids, qq{id,x\n5000,"\n1,\n"\n1,"\n"\n}, qq{id,x\n5000,"\n1,\n"\n}, qq{id,x\n1,"\n"\n}, 0],
	['a byte order mark', \@ids, "\xef\xbb\xbfid,x\n1,a\n5000,b\n", "\xef\xbb\xbfid,x\n5000,b\n", "\xef\xbb\xbfid,x\n1,a\n", 0],
	['a byte order mark and a quoted name', \@ids, qq{\xef\xbb\xbf"id",x\n1,a\n5000,b\n}, qq{\xef\xbb\xbf"id",x\n5000,b\n}, qq{\xef\xbb\xbf"id",x\n1,a\n}, 0],
	['a byte order mark without a header, in another column', ['-f', 'ids.filter', '-c', '2', '--no-header'], "\xef\xbb\xbfa,1\nb,5000\n", "b,5000\n", "\xef\xbb\xbfa,1\n", 0],
	['... in a row that is new', ['-f', 'ids.filter', '-c', '2', '--no-header'], "\xef\xbb\xbfa,5000\nb,1\n", "\xef\xbb\xbfa,5000\n", "b,1\n", 0],
	['... and in the key itself', \@texts, "\xef\xbb\xbfzzz,1\nb,5000\n", "b,5000\n", "\xef\xbb\xbfzzz,1\n", 3],
	['nothing but a byte order mark', \@texts, "\xef\xbb\xbf", '', "\xef\xbb\xbf", 3],
	['nothing at all', \@texts, '', '', '', 0],
	['empty lines', \@ids, "id,x\n\n5000,b\n\r\n1,c\n\n", "id,x\n5000,b\n", "id,x\n\n\r\n1,c\n\n", 0],
	['NULL', \@ids, qq{x,id\na,\nb,5000\n}, qq{x,id\nb,5000\n}, qq{x,id\na,\n}, 0],
	['NULL texts', ['-f', 'texts.filter', '-c', '2', '--no-header'], qq{a,\nb,zz\n,\n}, qq{b,zz\n}, qq{a,\n,\n}, 0],
	['the empty string, known', \@texts, qq{"",x\nzz,y\n}, qq{zz,y\n}, qq{"",x\n}, 0],
	['the empty string, in a filter without it', ['-f', 'ids.filter', '-c', '1', '--no-header', '-t', 'bigint'], qq{"",x\n5000,y\n}, qq{5000,y\n}, qq{"",x\n}, 3],
	['texts with quotes, commas, newlines, blanks', \@texts, qq{"c,d",1\n"e""f",2\n"g\nh",3\na b  ,4\n\xc3\xa9,5\n"c,e",6\n"e""""f",7\n e,8\n},
		qq{"c,e",6\n"e""""f",7\n e,8\n}, qq{"c,d",1\n"e""f",2\n"g\nh",3\na b  ,4\n\xc3\xa9,5\n}, 0],
	['no UTF-8', \@texts, "zz,1\nz\xff,2\n\xc3\xa9,3\n\xe9,4\n", "zz,1\n", "z\xff,2\n\xc3\xa9,3\n\xe9,4\n", 3],
	['no UTF-8 with --bytes', [@texts, '--bytes'], "zz,1\nz\xff,2\n\xc3\xa9,3\n", "zz,1\nz\xff,2\n", "\xc3\xa9,3\n", 0],
	['a zero byte', \@texts, "zz,1\nz\0,2\n", "zz,1\n", "z\0,2\n", 3],
	['no number', \@ids, "id\n5000\n5000x\n 5000\n0x10\n5_000\n50.0\n", "id\n5000\n", "id\n5000x\n 5000\n0x10\n5_000\n50.0\n", 3],
	['a number beyond the type', \@ids, "id\n5000\n99999999999999999999\n", "id\n5000\n", "id\n99999999999999999999\n", 3],
	['a column that a row lacks', ['-f', 'ids.filter', '-c', '2'], "x,id\na,5000\nb\nc,5001\n", "x,id\na,5000\nc,5001\n", "x,id\nb\n", 3],
	['a quote within a field', \@ids, qq{x,id\n5" pipe,5000\n6,5000\n7" pipe,5001\n8,5002\n}, qq{x,id\n8,5002\n}, qq{x,id\n5" pipe,5000\n6,5000\n7" pipe,5001\n}, 3],
	['a quote that is never closed', \@ids, qq{x,id\na,5000\n"b,5001\nc,5002\n}, qq{x,id\na,5000\n}, qq{x,id\n"b,5001\nc,5002\n}, 3],
	['a carriage return in the middle', \@ids, "x,id\na\rb,5000\nc,5001\n", "x,id\nc,5001\n", "x,id\na\rb,5000\n", 3],
	['what ends the data of COPY', \@texts, "zz\n\\.\nzy\n", "zz\nzy\n", "\\.\n", 3],
	['tabs', [@ids, '-d', '\t'], "x\tid\na,b\t1\n\"c\td\"\t5000\n", "x\tid\n\"c\td\"\t5000\n", "x\tid\na,b\t1\n", 0],
	['semicolons', [@ids, '-d', ';'], "x;id\na,b;1\nc;5000\n", "x;id\nc;5000\n", "x;id\na,b;1\n", 0],
	['a filter of nothing', ['-f', 'none.filter', '-c', 'id'], "id\n1\n2\n\"\"\n", "id\n1\n2\n", "id\n\"\"\n", 3],
  )
{
	my ($name, $options, $input, $new, $maybe, $expected) = @$_;
	my ($status, @rows) = split_rows($options, $input);

	is_deeply([ $status, @rows[0, 1] ], [ $expected, $new, $maybe ], $name) or diag($rows[2]);
}
is(leftovers(), '', 'no temporary files are left');

{
	my ($status, $out, $err) = tool([ 'keep', @ids ], "id\n" . join('', map { "x$_\n" } 1 .. 20));
	is(() = $err =~ /^bloomfam: line \d+: /gm, 10, 'ten bad lines are told');
	like($err, qr/line 2: .*x1\b/, '... with their number and what is wrong');
	like($err, qr/20 kept \(0 without a key, 20 bad\)/, '... and all are counted');
	($status, $out, $err) = tool([ 'keep', @ids ], qq{x,id\n"\n\n",1\na,b\n});
	like($err, qr/line 5: /, 'lines within a field are counted');
}

# ---- columns ----

for (['a name that is not there', ['-c', 'idx'], "id\n1\n", qr/there is no column "idx"/],
	['a name that is there twice', ['-c', 'id'], "id,id\n1,2\n", qr/two columns are called "id"/],
	['a number beyond the header', ['-c', '3'], "id,x\n1,2\n", qr/there is no column 3: the first line has 2/],
	['number 0', ['-c', '0'], "id\n1\n", qr/counted from 1/],
	['a name that is the number of another', ['-c', '2'], "2,x\n1,2\n", qr/"2" is the number of one column and the name of another/],
	['a name without a header', ['-c', 'id', '--no-header'], "1\n", qr/without a header, --column must be a number/],
	['no header at all', ['-c', 'id'], '', qr/there is no line of column names/],
	['a header that is no CSV', ['-c', 'id'], qq{a"b,id\n1,2\n}, qr/the line of column names cannot be read/],
	['a header that does not end', ['-c', 'id'], qq{"id\n1\n}, qr/the line of column names cannot be read/],
	['a wrong type', ['-c', 'id', '-t', 'text'], "id\n1\n", qr/ids\.filter: .*\n?.*(int|text)/],
	['a type that is none', ['-c', 'id', '-t', 'nonsense'], "id\n1\n", qr/nonsense/],
	['a type that is two', ['-c', 'x', '-t', 'float', '-f', 'doubles.filter'], "x\n0.1\n", qr/type "float" is double precision in SQL, and real in Parquet\n.*Write "double precision", or "real"/],
  )
{
	my ($name, $options, $input, $expected) = @$_;
	my ($status, $new, $maybe, $err) = split_rows([ '-f', 'ids.filter', @$options ], $input);

	is($status, 2, "$name: an error");
	like($err, $expected, '... that says why');
	ok(!defined $new && !defined $maybe, '... and no file');
}
# ---- keys of several columns ----

is((tool([ 'build', '-c', 'shop,day', '-t', 'int,date', '--fpr', '1e-5', '-o', 'pairs.filter' ], "day,x,shop\n2024-01-01,a,1\n2024-01-02,\"b,c\",2\n,d,3\n"))[0], 0, 'a filter of two columns');
like((tool([ 'info', 'pairs.filter' ]))[1], qr/^family: row\(int,date\)\nkeys added: 3$/m, '... whose rows may have NULLs in them');
my @pairs = ('-f', 'pairs.filter', '-c', 'shop,day');

for (['names in another order than the columns', \@pairs, "day,x,shop\n2024-01-01,,1\n2024-01-01,,2\n", "day,x,shop\n2024-01-01,,2\n", "day,x,shop\n2024-01-01,,1\n", 0],
	['fields with quotes, and carriage returns', \@pairs, qq{"shop",x,"day"\r\n"1","a ""b"", c\n",2024-01-01\r\n1,"",\"2024-01-03\"\r\n02,,"2024-01-02"\r\n}, qq{"shop",x,"day"\r\n1,"",\"2024-01-03\"\r\n},
		qq{"shop",x,"day"\r\n"1","a ""b"", c\n",2024-01-01\r\n02,,"2024-01-02"\r\n}, 0],
	['NULLs in either column', \@pairs, "shop,day\n,2024-01-01\n9,\n,\n\n3,\n9,2024-01-01\n", "shop,day\n9,2024-01-01\n", "shop,day\n,2024-01-01\n9,\n,\n\n3,\n", 0],
	['keys that cannot be read, or cannot be', \@pairs, "shop,day\n1,no\nx,2024-01-01\n99999999999999999999,2024-01-01\n1\n9,2024-01-09\n", "shop,day\n9,2024-01-09\n", "shop,day\n1,no\nx,2024-01-01\n99999999999999999999,2024-01-01\n1\n", 3],
	['numbers, and no header', ['-f', 'pairs.filter', '-c', '3,1', '--no-header'], "2024-01-01,x,1\n2024-01-09,x,1", '2024-01-09,x,1', "2024-01-01,x,1\n", 0],
	['a byte order mark before a field that is no key', ['-f', 'pairs.filter', '-c', '3,2', '--no-header'], qq{\xef\xbb\xbf"a,b",2024-01-01,1\nx,2024-01-09,1\n}, "x,2024-01-09,1\n", qq{\xef\xbb\xbf"a,b",2024-01-01,1\n}, 0],
	['a byte order mark before a key', ['-f', 'pairs.filter', '-c', '2,1', '--no-header'], qq{\xef\xbb\xbf2024-01-09,1\n2024-01-09,1\n}, "2024-01-09,1\n", qq{\xef\xbb\xbf2024-01-09,1\n}, 3],
	['a byte order mark before a header', \@pairs, qq{\xef\xbb\xbfshop,day\n1,2024-01-01\n1,2024-01-09\n}, qq{\xef\xbb\xbfshop,day\n1,2024-01-09\n}, qq{\xef\xbb\xbfshop,day\n1,2024-01-01\n}, 0],
	['names with commas and quotes', ['-f', 'pairs.filter', '-c', '"a,""b""",day'], qq{"a,""b""",day\n1,2024-01-01\n2,2024-01-01\n}, qq{"a,""b""",day\n2,2024-01-01\n}, qq{"a,""b""",day\n1,2024-01-01\n}, 0],
	['a single column whose name has a comma', ['-f', 'ids.filter', '-c', 'a,b'], qq{"a,b",day\n1,x\n5000,x\n}, qq{"a,b",day\n5000,x\n}, qq{"a,b",day\n1,x\n}, 0],
	['the types by --type', [@pairs, '-t', 'row(bigint, date)'], "shop,day\n1,2024-01-01\n1,2024-01-09\n", "shop,day\n1,2024-01-09\n", "shop,day\n1,2024-01-01\n", 0],
  )
{
	my ($name, $options, $input, $new, $maybe, $expected) = @$_;
	my ($status, @rows) = split_rows($options, $input);

	is_deeply([ $status, @rows[0, 1] ], [ $expected, $new, $maybe ], $name) or diag($rows[2]);
}
split_rows([ '-f', 'pairs.filter', '-c', 'shop,day', '--keys', 'keys' ], qq{day,x,"shop"\n2024-01-01,,1\n2024-01-01,,2\n"2024-01-02",,2\n,,3\n});
is(content('keys'), qq{"shop",day\n1,2024-01-01\n2,"2024-01-02"\n}, 'the keys of rows that may be known, in the order of the key');
is((tool([ 'drop', @pairs, '--accept-loss' ], "shop,day\n1,2024-01-01\n3,\n,\n9,2024-01-01\n"))[1], "shop,day\n3,\n,\n9,2024-01-01\n", 'drop keeps rows with a NULL in their key, even of one that the filter has');
is((tool([ 'keep', @pairs, '--nulls', 'drop' ], "shop,day\n1,2024-01-01\n3,\n,\n9,2024-01-01\n"))[1], "shop,day\n1,2024-01-01\n", 'keep drops them if it is told to');
like((tool([ 'key', 'int, text', '1', 'a' ]))[1], qr/^family: row\(int,text\)\nkey: ad1bcd082f66caaf:f3793e98577af2ec$/, 'a key of two columns');
for ([ [ 'key', 'int,text', '1' ], qr/a key of type int,text has 2 values/ ], [ [ 'key', 'int,date', '1', 'x' ], qr/invalid key of type date: "x"\n.*column 2 of the key/ ],
	[ [ 'split', '-f', 'pairs.filter', '-c', 'shop', '--new', 'a', '--maybe', 'b' ], qr/the keys have 2 columns, and --column names 1/ ],
	[ [ 'split', '-f', 'pairs.filter', '-c', 'shop,', '--new', 'a', '--maybe', 'b' ], qr/--column has an empty name/ ],
	[ [ 'split', '-f', 'pairs.filter', '-c', '"shop"x,day', '--new', 'a', '--maybe', 'b' ], qr/--column has a quote where none belongs/ ],
	[ [ 'split', '-f', 'pairs.filter', '-c', 'shop,"day', '--new', 'a', '--maybe', 'b' ], qr/--column has a quote where none belongs/ ],
	[ [ 'split', '-f', 'pairs.filter', '-c', 'shop,nothing', '--new', 'a', '--maybe', 'b' ], qr/there is no column "nothing"/ ],
	[ [ 'split', '-f', 'pairs.filter', '-c', 'shop,1', '--new', 'a', '--maybe', 'b' ], qr/--column names the same column twice: "shop,1"/ ],
	[ [ 'split', '-f', 'ids.filter', '-c', 'shop,day', '-t', 'int,date', '--new', 'a', '--maybe', 'b' ], qr/keys of type int, and the key is of type row\(int,date\)/ ],
	[ [ 'split', '-f', 'ids.filter', '-c', 'shop', '--nulls', 'drop', '--new', 'a', '--maybe', 'b' ], qr/split has no option --nulls/ ],
	[ [ 'keep', '-f', 'ids.filter', '-c', 'shop', '--nulls', 'no' ], qr/--nulls must be keep or drop: "no"/ ],
	[ [ 'build', '-c', 'shop,day', '-t', 'int,date', '--kind', 'parquet', '-o', 'a' ], qr/keys of several columns cannot be those of kind "parquet"/ ])
{
	my ($arguments, $expected) = @$_;
	my ($status, $out, $err) = tool($arguments, "shop,day\n1,2024-01-01\n");

	is($status, 2, "bloomfam @$arguments: an error");
	like($err, $expected, '... that says why');
}
unlink 'a', 'b';
{
	# a filter that has the key of NULLs alone: records with a fault are not asked for that
	is((tool([ 'build', '-c', 'a,b', '-t', 'int,int', '-o', 'nulls.filter' ], "a,b\n1,1\n,\n"))[0], 0, 'a filter with a key of NULLs alone');
	split_rows([ '-f', 'nulls.filter', '-c', 'b,a', '--keys', 'keys' ], qq{a,b\n6,7\n1,1\nx"y,1\n8,"9\n10,11\n});
	is(content('keys'), "b,a\n1,1\n", '... records with a fault have no key to be written');
	my ($code, $kept, $said) = tool([ 'drop', '-f', 'nulls.filter', '-c', 'a,b', '--accept-loss' ], "a,b\nx,\n2,2\n");
	is($code, 0, 'a row with a NULL in its key, and no number beside it, is not bad');
	like($said, qr/2 rows: 1 certainly new, 0 dropped\n.*\nbloomfam: without a key: 1 rows, kept/, '... and kept as one without a key');
}
{
	# keys that may be of one type or another: drop asks which
	my @several = ('-f', 'several.filter', '-c', 'x,y', '--accept-loss');

	is((tool([ 'build', '-c', 'x,y', '-t', 'float8,int', '-o', 'several.filter' ], "x,y\n1.5,1\n"))[0], 0, 'a filter of floats');
	my ($code, $kept, $said) = tool([ 'drop', @several ], "x,y\n2.5,1\n0.1,1\n");
	is($code, 2, 'a key of several readings ends drop');
	like($said, qr/line 3: the filter does not say of which type its keys are, and this one may be several: --type says it/, '... which says what to do');
	is((tool([ 'drop', @several, '-t', 'float8,int', '--once' ], "x,y\n0.1,1\n0.2,1\n0.1,1\n1.5,1\n"))[1], "x,y\n0.1,1\n0.2,1\n", '... and no row is lost');
	my @rows = split_rows([ @several[ 0 .. 3 ], '--once' ], "x,y\n2.5,1\n0.1,1\n0.2,1\n");
	is_deeply([ @rows[ 0 .. 2 ] ], [ 0, "x,y\n2.5,1\n", "x,y\n0.1,1\n0.2,1\n" ], 'split --once leaves them to the rows that may be known');
	unlike($rows[3], qr/repeated/, '... and calls them no repeated ones');
}
is((split_rows([ '-f', 'ids.filter', '-c', "a \"b\"\n" ], qq{x,"a ""b""\n"\nx,1\ny,5000\n}))[1], qq{x,"a ""b""\n"\ny,5000\n}, 'a name with quotes and a newline');

# ---- keys, keep, drop ----

{
	my ($status, $new, $maybe, $err) = split_rows([ '-f', 'texts.filter', '-c', 'k', '--keys', 'keys' ],
		qq{x,"k"\n1,"c,d"\n2,zz\n3,"e""f"\n4,\n5,a b\n6,"g\nh"\n7,""\n8,\xff\n});
	is($status, 3, 'keys of the rows that may be known');
	is(content('keys'), qq{"k"\n"c,d"\n"e""f"\na b\n"g\nh"\n""\n}, '... as they stand, without those that are none');
	($status) = split_rows([ '-f', 'texts.filter', '-c', 'k', '-d', ';', '--keys', 'keys' ], qq{x;"k"\n1;c,d\n2;zz\n3;"e""f"\n4;"c,d"\n5;a b\n});
	is(content('keys'), qq{"k"\n"c,d"\n"e""f"\n"c,d"\na b\n}, '... separated by nothing, whatever separated the fields');
	put('mark.filter', '');
	is((tool([ 'build', '-c', '2', '-t', 'text', '--no-header', '-o', 'mark.filter' ], "1,\\.\n"))[0], 0, 'a filter of \.');
	split_rows([ '-f', 'mark.filter', '-c', '2', '--no-header', '--keys', 'keys' ], "1,\\.\n");
	is(content('keys'), qq{"\\."\n}, 'a key that would end the data of COPY is quoted');
}
{
	my ($status, $out, $err) = tool([ 'keep', @ids ], "id\n1\n5000\n\n2\n");
	is($out, "id\n1\n\n2\n", 'keep');
	like($err, qr/^bloomfam: 4 rows: 3 kept \(1 without a key, 0 bad\), 1 certainly without a match$/m, '... says what it did');
	($status, $out, $err) = tool([ 'drop', @ids, '--accept-loss', '-o', 'dropped' ], "id\n1\n5000\n\n2\n");
	is($out, '', 'drop into a file');
	is(content('dropped'), "id\n5000\n\n", '... the rows that are certainly new, and those without a key');
	like($err, qr/^bloomfam: 4 rows: 1 certainly new, 2 dropped\nbloomfam: expected loss: \S+ new rows \(1 x (\S+)\)\nbloomfam: without a key: 1 rows, kept as NULL equals nothing$/m, '... and tells its loss');
	$err =~ /1 x (\S+)\)/ or die;
	cmp_ok($1, '<', 2e-4, '... by the rate of the filter');
	cmp_ok($1, '>', 1e-6, '... which is not 0');

	{
		my ($dropped, $rest, $said) = tool([ 'drop', @ids, '--accept-loss', '--nulls', 'drop' ], "id\n1\n5000\n\nx\n");

		is($rest, "id\n5000\n", '--nulls drop: drop loses rows without a key');
		like($said, qr/: 4 rows: 1 certainly new, 3 dropped \(1 without a key, 1 bad\)\n.*\nbloomfam: without a key: 1 rows, lost by --nulls drop\nbloomfam: bad: 1 rows, lost whether they are new or not$/, '... and says so, and that of bad ones');
		is((tool([ 'keep', @ids, '--nulls', 'drop' ], "id\n1\n5000\n\n2\n"))[1], "id\n1\n2\n", '... and keep drops them, as they match nothing');
		is((tool([ 'keep', @ids, '--nulls', 'keep' ], "id\n1\n5000\n\n2\n"))[1], "id\n1\n\n2\n", '--nulls keep is what keep does');
	}
	{
		# more new keys than the set has room for at first; the hash 0 is nobody's here
		my @new = split /\n/, (split_rows([ @ids, '--no-header', '-c', 1 ], join('', map { 100_000 + $_ . "\n" } 1 .. 20_000)))[1];
		my $n = scalar(@new) =~ s/(\d{3})$/,$1/r;
		my ($code, $new, $maybe, $said) = split_rows([ @ids, '--once' ], join("\n", 'id', @new, 1, @new[ 5, 7 ], '', '', 2) . "\n");

		is($new, join("\n", 'id', @new) . "\n", '--once: a key is new in its first row');
		is($maybe, "id\n1\n$new[5]\n$new[7]\n\n\n2\n", '... and may be known in the next ones');
		like($said, qr/: \d+,\d+ rows: $n certainly new, 6 maybe known, 2 of them repeated \(2 without a key, 0 bad\)$/m, '... which are counted');
		is((tool([ 'drop', @ids, '--accept-loss', '--once' ], "id\n5000\n1\n5000\n\n\n"))[1], "id\n5000\n\n\n", '... and drop drops them, but none without a key');
	}

	is((tool([ 'keep', @ids, '--exit-status' ], "id\n5000\n"))[0], 1, '--exit-status: keep kept nothing');
	is((tool([ 'keep', @ids ], "id\n5000\n"))[0], 0, '... which is 0 without');
	is((tool([ 'keep', @ids, '--exit-status' ], "id\n5000\n1\n"))[0], 0, '... and 0 if it did');
	is((tool([ 'keep', @ids, '--exit-status' ], "id\nx\n"))[0], 3, '... and 3 for a bad line');
	is((tool([ 'drop', @ids, '--accept-loss', '--exit-status' ], "id\n1\n"))[0], 1, '--exit-status: drop found nothing new');
	is((split_rows([ @ids, '--exit-status' ], "id\n1\n"))[0], 1, '... nor did split');
	is((tool([ 'split', @ids, '--new', '-', '--maybe', 'maybe' ], "id\n1\n5000\n"))[1], "id\n5000\n", 'split to standard output');
}

# ---- forms of a filter, and values that are none ----

{
	my $bytes = content('ids.filter');
	my $hex = unpack('H*', $bytes);
	my %forms = (
		'text' => "\\x$hex", 'text and a newline' => "\\x$hex\n", 'COPY text' => "\\\\x$hex\n",
		'COPY binary' => "PGCOPY\n\xff\r\n\0" . pack('N N n N', 0, 0, 1, length $bytes) . $bytes . pack('n', 0xffff));

	for my $form (sort keys %forms)
	{
		put('form.filter', $forms{$form});
		is((split_rows([ '-f', 'form.filter', '-c', 'id' ], "id\n1\n5000\n"))[1], "id\n5000\n", "a filter as $form");
	}
	my ($status, $out, $err) = tool([ 'info', 'ids.filter' ]);
	is($status, 0, 'info');
	like($out, qr/^kind: blocked\nfamily: int\nkeys added: 1000\nmade for: 1000 keys at a false positive rate of 0\.0001\n/, '... tells what it is');
	like($out, qr/^size: ${\length $bytes} bytes, /m, '... and its size');
	like($out, qr/^written: \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$/m, '... and when the file was written');
	is((tool([ 'info', '-' ], $bytes))[0], 0, 'info of standard input');

	for my $length (0, 1, 79, 80, 100, length($bytes) - 1)
	{
		put('cut.filter', substr($bytes, 0, $length));
		my ($status, $new, $maybe, $err) = split_rows([ '-f', 'cut.filter', '-c', 'id' ], "id\n1\n");
		is($status, 2, "a filter that is cut after $length bytes: an error");
		like($err, qr/^bloomfam: cut\.filter: ./, '... that says why');
		ok(!defined $new && !defined $maybe, '... and no file');
	}
	put('bad.filter', substr($bytes, 0, 200) . chr(ord(substr($bytes, 200, 1)) ^ 1) . substr($bytes, 201));
	is((split_rows([ '-f', 'bad.filter', '-c', 'id' ], "id\n1\n"))[0], 2, 'a filter with a bit that changed');
	is((split_rows([ '-f', 'no.filter', '-c', 'id' ], "id\n1\n"))[0], 2, 'a filter that is not there');
	is((split_rows([ '-f', '.', '-c', 'id' ], "id\n1\n"))[0], 2, 'a folder in the place of a filter');
}

# ---- outputs: whole, or as before ----

{
	my $rows = "id\n" . join('', map { "$_\n" } 1 .. 200000);

	put('old', 'as before');
	chmod 0640, 'old';
	my ($status, $out, $err) = tool([ 'split', @ids, '--new', 'old', '--maybe', 'no/such/folder' ], "id\n1\n");
	is($status, 2, 'an output in a folder that is not there');
	is(content('old'), 'as before', '... leaves the other one as it was');
	($status, $out, $err) = tool([ 'split', '-f', 'ids.filter', '-c', 'idx', '--new', 'old', '--maybe', 'maybe' ], $rows);
	is(content('old'), 'as before', 'so does a wrong column');
	is((tool([ 'keep', @ids, '-o', 'old' ], "id\n1\n5000\n"))[0], 0, 'a file is replaced');
	is(content('old'), "id\n1\n", '... by the whole result');
	is((stat 'old')[2] & 07777, 0640, '... with its permissions');
	symlink 'old', 'link' or die;
	tool([ 'keep', @ids, '-o', 'link' ], "id\n2\n5000\n");
	ok(-l 'link', 'a symbolic link stays one');
	is(content('old'), "id\n2\n", '... and its file is replaced');
	put('in.csv', "id\n1\n5000\n");
	is(system("$program keep -f ids.filter -c id -o in.csv <in.csv 2>err"), 0, 'the output is the input');
	is(content('in.csv'), "id\n1\n", '... which is read before it is replaced');

	for (['--new', 'same', '--maybe', 'same'], ['--new', 'same', '--maybe', './same'], ['--new', '-', '--maybe', '-'],
		['--new', 'old', '--maybe', 'link'], ['--new', 'n', '--maybe', 'm', '--keys', 'n'])
	{
		($status, $out, $err) = tool([ 'split', @ids, @$_ ], "id\n1\n");
		is($status, 2, "split @$_: an error");
		like($err, qr/two outputs are the same/, '... that says why');
	}
	is(content('old'), "id\n2\n", '... and changes nothing');
	($status, $out, $err) = tool([ 'keep', @ids, '-o', 'ids.filter' ], "id\n1\n");
	like($err, qr/the output is the file of the filter/, 'the filter is not overwritten');
	is((tool([ 'keep', @ids, '-o', '.' ], "id\n1\n"))[0], 2, 'a folder is no output');
	is((tool([ 'keep', @ids, '-o', 'new/' ], "id\n1\n"))[0], 2, '... nor is what would be one');

	# what is written to a pipe that nobody reads, or to a full device, is an error
	put('rows.csv', $rows);
	for (['a closed pipe', "(sleep 0.1; $program drop -f none.filter -c id --accept-loss <rows.csv 2>err; echo \$? >status) | :"],
		['a closed pipe that takes the other rows', "(sleep 0.1; $program split -f none.filter -c id --new - --maybe maybe.pipe <rows.csv 2>err; echo \$? >status) | :"],
		['a full device', "$program drop -f none.filter -c id --accept-loss <rows.csv >/dev/full 2>err; echo \$? >status"],
		['a full device, few rows', "$program keep -f ids.filter -c id <in.csv >/dev/full 2>err; echo \$? >status"],
		['a full device by name', "$program keep -f ids.filter -c id -o /dev/full <in.csv 2>err; echo \$? >status"],
		['help for a full device', "$program --help >/dev/full 2>err; echo \$? >status"],
		['info for a full device', "$program info ids.filter >/dev/full 2>err; echo \$? >status"],
		['a filter for a full device', "$program build -c id -t int <in.csv >/dev/full 2>err; echo \$? >status"],
		['a closed standard output', "$program keep -f ids.filter -c id <in.csv >&- 2>err; echo \$? >status"],
		['a closed standard input', "$program keep -f ids.filter -c id <&- >out 2>err; echo \$? >status"],
		['a closed standard output, and a file that could get its number', "$program split -f ids.filter -c id --new new.closed --maybe - <in.csv >&- 2>err; echo \$? >status"],
		['a file that may not grow', "(ulimit -f 100; $program drop -f none.filter -c id --accept-loss -o limited <rows.csv 2>err; echo \$? >status)"])
	{
		my ($name, $command) = @$_;
		system('bash', '-c', $command);
		is(content('status'), "2\n", "$name: an error");
		like(content('err'), qr/^bloomfam: could not (write|read)/, '... that says so');
	}
	ok(!-e 'maybe.pipe' && !-e 'limited' && !-e 'new.closed', 'no file is left of these');
	is(system('bash', '-c', "$program keep -f ids.filter -c id <in.csv >/dev/null 2>err"), 0, '/dev/null takes everything');
	is((tool([ 'split', @ids, '--new', '/dev/null', '--maybe', '/dev/null' ], "id\n1\n"))[0], 0, '... twice');

	# what is open already is written to, whoever else writes there
	for my $name ('/dev/stdout', '/dev/fd/1', '/proc/self/fd/1', '/proc/thread-self/fd/1', "$dir/out.link")
	{
		symlink '/dev/stdout', "$dir/out.link" unless -l "$dir/out.link";
		put('shared', "first\n");
		system('bash', '-c', "($program keep -f ids.filter -c id -o $name <in.csv 2>err; echo \$? >status; echo last) >>shared");
		is(content('shared'), "first\nid\n1\nlast\n", "$name is written to as it is open") or diag(content('err'));
		is(content('status'), "0\n", '... which is no error');
	}
	put('shared', '');
	put('in.csv', "id\n1\n5000\n");
	system('bash', '-c', "$program split -f ids.filter -c id --new /dev/fd/7 --maybe - <in.csv 7>>third >shared 2>err; echo \$? >status");
	is(content('third') . content('shared'), "id\n5000\nid\n1\n", 'another descriptor');
	is(content('status'), "0\n", '... too');
	for (['a descriptor that is not open', "--new /dev/fd/7 --maybe -", qr/could not write/], ['a descriptor of another process', "--new /proc/1/fd/1 --maybe -", qr/is a descriptor of another process|could not write/],
		['a file of the program\'s own', "--new fresh --maybe /dev/fd/3", qr/could not write/], ['standard output twice', "--new /dev/stdout --maybe -", qr/two outputs are the same/])
	{
		my ($name, $options, $expected) = @$_;

		system('bash', '-c', "$program split -f ids.filter -c id $options <in.csv >shared 2>err; echo \$? >status");
		is(content('status'), "2\n", "$name: an error");
		like(content('err'), $expected, '... that says why');
	}
	ok(!-e 'fresh', '... and no file');
	put('both', "id\n" . "1\n" x 300000);
	system('bash', '-c', "ulimit -f 100000; $program keep -f ids.filter -c id <both >>both 2>err; echo \$? >status");
	is(content('status'), "2\n", 'the input as the output: an error');
	like(content('err'), qr/the output is the input: standard output/, '... that says so');
	is(-s 'both', 3 + 2 * 300000, '... and the file does not grow');

	# files are published together
	{
		put("$_.old", "old $_") for qw(new keys);
		my $pid = open(my $pipe, '|-', "exec $program split -f ids.filter -c id --new new.old --maybe maybe.old --keys keys.old 2>err") or die;
		syswrite $pipe, "id\n1\n5000\n";
		for (1 .. 600) { last if leftovers() =~ /new\.old.*|maybe\.old.*keys\.old/; select(undef, undef, undef, 0.05); }
		mkdir 'maybe.old' or die;
		close $pipe;
		is($? >> 8, 2, 'one of the files cannot have its name: an error');
		like(content('err'), qr/could not rename ".*" to ".*maybe\.old": Is a directory/, '... that says so');
		is(content('new.old') . content('keys.old'), 'old newold keys', '... and the others are as before');
		is(leftovers(), '', '... nothing is left');
		rmdir 'maybe.old' or die;
		is((tool([ 'split', @ids, '--new', 'new.old', '--maybe', 'maybe.old', '--keys', 'keys.old' ], "id\n1\n5000\n"))[0], 0, '... but if it can');
		is(content('new.old') . content('maybe.old') . content('keys.old'), "id\n5000\nid\n1\nid\n1\n", '... all are new');
		is(leftovers(), '', '... nothing is left');
	}

	# signals in the middle
	for my $signal (qw(TERM XCPU USR1 ALRM))
	{
		my $pid = open(my $pipe, '|-', "exec $program keep -f ids.filter -c id -o signalled 2>/dev/null") or die;
		syswrite $pipe, "id\n1\n";
		for (1 .. 600) { last if leftovers() ne ''; select(undef, undef, undef, 0.05); }
		isnt(leftovers(), '', 'while it works, the result is beside its name');
		kill $signal, $pid;
		close $pipe;
		isnt($? & 127, 0, "... SIG$signal ends it");
		is(leftovers(), '', '... and nothing is left');
		ok(!-e 'signalled', '... nor written');
	}
}

SKIP:
{
	my $disk = $ENV{SMALL_DISK} // '';
	skip 'SMALL_DISK names no small file system', 5 if $disk eq '';
	my $rows = "id\n" . join('', map { 1e9 + $_ . "\n" } 1 .. 700000);

	put("$disk/new", 'as before');
	my ($status, $out, $err) = tool([ 'split', '-f', 'none.filter', '-c', 'id', '--new', "$disk/new", '--maybe', "$disk/maybe" ], $rows);
	is($status, 2, 'a full disk: an error');
	like($err, qr/No space left on device/, '... that says why');
	is(content("$disk/new"), 'as before', '... the old file is as it was');
	ok(!-e "$disk/maybe", '... and no other one came');
	is(leftovers($disk), '', '... nothing is left');
	unlink "$disk/new";
}

# ---- long fields ----

{
	my $long = 'x' x 10_000_000;
	my $lines = join("\n", ('y' x 999) x 10_000);
	my $input = qq{x,id\n"$long",1\n$long,5000\n"$lines",5001\n"$lines""",2\n};
	my ($status, $new, $maybe, $err) = split_rows(\@ids, $input);

	is($status, 0, 'fields of 10 MB');
	ok($new eq qq{x,id\n$long,5000\n"$lines",5001\n}, '... in rows that are new');
	ok($maybe eq qq{x,id\n"$long",1\n"$lines""",2\n}, '... and in others');
	put('long.csv', qq{k\n"$lines"\n$long""\n});
	is((tool([ 'build', '-c', '1', '-t', 'text', '-o', 'long.filter', '--fpr', '1e-4' ], qq{k\n"$lines"\n$long\n}))[0], 0, 'keys of 10 MB');
	($status, $new, $maybe) = split_rows([ '-f', 'long.filter', '-c', 'k' ], qq{k\n"$lines"\n"$lines""\n"\n$long\n${long}x\n});
	ok($new eq qq{k\n"$lines""\n"\n${long}x\n}, '... are told apart');
}

# ---- building ----

for (['no number', "id\n1\nx\n", qr/line 3: .*x/], ['a column that a row lacks', "x,id\na,1\nb\n", qr/line 3: there is no such column/],
	['a quote within a field', qq{id\n1"2"\n}, qr/line 2: a quote/])
{
	my ($name, $input, $expected) = @$_;
	my ($status, $out, $err) = tool([ 'build', '-c', 'id', '-t', 'int', '-o', 'built.filter' ], $input);

	is($status, 2, "build of $name: an error");
	like($err, $expected, '... that says which');
	ok(!-e 'built.filter', '... and no filter');
}

# ---- random records ----

# The values are known before they are written, so no reader has to be trusted; Python's reads them again.
srand($ENV{SEED} // 7);
my @alphabet = ('a' .. 'e', ',', ',', '"', '"', "\n", "\r\n", ' ', ';', "\t", "\xc3\xa9", '\\', '.');
sub random_text { return join('', map { $alphabet[ rand @alphabet ] } 1 .. rand(12)); }

sub random_field
{
	my ($value, $quote) = @_;

	return $value unless $quote || $value eq '' || $value =~ /[",\r\n]/;
	return '"' . $value =~ s/"/""/gr . '"';
}

# what a filter of texts calls the same: blanks at the end are no part of a key
my $reader = <<'PYTHON';
import csv, sys
for name in sys.argv[1:]:
    with open(name, newline='', encoding='utf-8') as f:
        for row in csv.reader(f, strict=True):
            if row:
                print(row[1].encode().hex())
PYTHON
my $python = system('python3 -c "import csv" 2>/dev/null') == 0;
for my $trial (1 .. share(5, 12, 60))
{
	my $ending = $trial % 2 ? "\n" : "\r\n";
	my %known = map { random_text() =~ s/ +$//r => 1 } 1 .. 100;
	my @known = sort keys %known;
	my (@records, @keys);

	for (1 .. 400)
	{
		my $key = rand() < 0.3 ? $known[ rand @known ] . ' ' x rand(3) : random_text() . int rand 1000;
		my @fields = (random_field(random_text(), rand() < 0.3), random_field($key, rand() < 0.3), random_field(random_text(), 0));

		push @keys, $key;
		push @records, join(',', @fields[ 0 .. 1 + int rand 2 ]) . $ending;
	}
	$records[-1] =~ s/\r?\n$// if $trial % 3 == 0;
	is((tool([ 'build', '-c', '1', '--no-header', '-t', 'text', '-o', 'random.filter' ], join('', map { random_field($_, 1) . $ending } @known)))[0], 0, "trial $trial: build");
	my ($status, $new, $maybe, $err) = split_rows([ '-f', 'random.filter', '-c', '2', '--no-header' ], join('', @records));
	my ($at_new, $at_maybe, $wrong, $lost, $false) = (0, 0, 0, 0, 0);

	for my $i (0 .. $#records)
	{
		my $record = $records[$i];

		if (substr($new, $at_new, length $record) eq $record && !$known{ $keys[$i] =~ s/ +$//r })
		{
			$at_new += length $record;
		}
		elsif (substr($maybe, $at_maybe, length $record) eq $record)
		{
			$at_maybe += length $record;
			$false++ unless $known{ $keys[$i] =~ s/ +$//r };
		}
		else
		{
			$lost++;
		}
	}
	is_deeply([ $status, $lost, $at_new, $at_maybe ], [ 0, 0, length $new, length $maybe ], '... each record is in one of the outputs, byte for byte, in order') or diag($err);
	cmp_ok($false, '<', 30, '... and few that are new are among the others');
  SKIP:
	{
		skip 'no Python', 1 unless $python;
		my $read = '';
		IPC::Run::run([ 'python3', '-c', $reader, 'new', 'maybe' ], '>', \$read);
		is_deeply([ sort $read =~ /^(.*)\n/mg ], [ sort map { unpack 'H*', $_ } @keys ], '... and has the key that it had');
	}
}

# ---- with a server: filters that it made, and the page's example ----

my $node = start_node('primary');
$node->safe_psql('postgres', q{
	CREATE TABLE events (id bigint PRIMARY KEY, device text, at timestamptz);
	INSERT INTO events SELECT g * 7919, 'device ' || g % 100, '2026-01-01Z'::timestamptz + g * interval '1 s' FROM generate_series(1, 20000) g;
});
local $ENV{PGHOST} = $node->host;
local $ENV{PGPORT} = $node->port;
local $ENV{PGDATABASE} = 'postgres';

for (['int', 'bigint', '-7'], ['text', 'text', 'a b '], ['numeric', 'numeric', '1.50'], ['uuid', 'uuid', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'],
	['timestamptz', 'timestamptz', '2026-01-02 03:04:05.678+00'], ['double', 'double precision', '0.1'], ['bool', 'boolean', 't'], ['date', 'date', '2026-02-03'])
{
	my ($name, $type, $value) = @$_;
	my ($status, $out, $err) = tool([ 'key', $type, $value ]);
	my $expected = $node->safe_psql('postgres', "SELECT bloom_key('$value'::$type)");

	like($out, qr/^key: \Q$expected\E$/m, "the key of $name is the server's") or diag($err);
}
for my $kind (qw(blocked standard partitioned counting cuckoo xor xor_plus binary_fuse ribbon parquet))
{
	$node->safe_psql('postgres', "COPY (SELECT bloom_agg(id, 0.01, '$kind') FROM events) TO '$dir/server.filter' WITH (FORMAT binary)");
	system("psql -XAtqc \"COPY (SELECT id FROM events ORDER BY random()) TO STDOUT\" >ids.csv") == 0 or die;
	is(system("$program build -c 1 --no-header -t bigint --kind $kind -o client.filter <ids.csv 2>err"), 0, "build of kind $kind") or diag(content('err'));
	my $server = pack('H*', substr($node->safe_psql('postgres', "SELECT bloom_agg(id, 0.01, '$kind') FROM events"), 2));
	ok(content('client.filter') eq $server, '... the bytes are those of bloom_agg');
	is(system("$program split -f server.filter -c 1 --no-header --new new --maybe maybe <ids.csv 2>err"), 0, '... a filter of the server is asked');
	is(content('new'), '', '... and denies none of its keys');
}
{
	my ($status, $out, $err);

	$node->safe_psql('postgres', "COPY (SELECT bloom_agg((id, ARRAY[device])) FROM events) TO '$dir/rows.filter' WITH (FORMAT binary)");
	($status, $out, $err) = tool([ 'keep', '-f', 'rows.filter', '-c', 'id' ], "id\n1\n");
	put('empty.filter', $node->safe_psql('postgres', 'SELECT bloom_agg((id, device)) FROM events WHERE false'));
	is_deeply([ (split_rows([ '-f', 'empty.filter', '-c', 'shop,day' ], "shop,day\n1,x\n,y\n"))[ 0 .. 2 ] ], [ 0, "shop,day\n1,x\n", "shop,day\n,y\n" ], 'a filter of nothing, two columns');
	is_deeply([ (split_rows([ '-f', 'empty.filter', '-c', 'a,b' ], qq{"a,b",a,b\n1,,\n,2,3\n}))[ 0 .. 2 ] ], [ 0, qq{"a,b",a,b\n1,,\n}, qq{"a,b",a,b\n,2,3\n} ], '... and one whose name has a comma');
	is_deeply([ (split_rows([ '-f', 'empty.filter', '-c', 'shop,day', '-t', 'int,text', '--once' ], "shop,day\n1,x\n01,x\n2,x\n"))[ 0 .. 2 ] ], [ 0, "shop,day\n1,x\n2,x\n", "shop,day\n01,x\n" ], '... once');
	is((split_rows([ '-f', 'empty.filter', '-c', 'shop,day', '--once' ], "shop,day\n1,x\n1,x\n01,x\n"))[1], "shop,day\n1,x\n01,x\n", '... which compares texts where it knows no type');
	like((split_rows([ '-f', 'empty.filter', '-c', join(',', 1 .. 33) ], "shop,day\n1,x\n"))[3], qr/a key has at most 32 columns/, '... more columns than there can be');
	is($status, 2, 'a filter of rows with arrays cannot be asked outside the server');
	like($err, qr/rows\.filter: ./, '... which is said');
	($status, $out, $err) = tool([ 'info', 'rows.filter' ]);
	is($status, 0, '... but info tells what it is');
	like($out, qr/cannot be asked for outside the server/, '... and that');
}

# names, which a server cuts where its encoding says: a key that it stores, or finds, is never called new
for (['LATIN1', 'repeat(chr(233), 40)', "\xc3\xa9" x 40], ['LATIN1', 'repeat(chr(233), 70)', "\xc3\xa9" x 70], ['SQL_ASCII', q{repeat('a', 62) || E'\\xc3\\xa9'}, 'a' x 62 . "\xc3\xa9"],
	['UTF8', 'repeat(chr(233), 40)', "\xc3\xa9" x 40], ['EUC_JP', q{convert_from(decode(repeat('e697a5', 40), 'hex'), 'UTF8')}, "\xe6\x97\xa5" x 40])
{
	my ($encoding, $value, $literal) = @$_;
	my $base = lc "names_$encoding";

	if ($node->safe_psql('postgres', "SELECT count(*) FROM pg_database WHERE datname = '$base'") eq '0')
	{
		$node->safe_psql('postgres', "CREATE DATABASE $base ENCODING '$encoding' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'");
		$node->safe_psql($base, 'CREATE EXTENSION bloomfam');
	}
	$node->safe_psql($base, "DROP TABLE IF EXISTS t; CREATE TABLE t (k name); INSERT INTO t VALUES ($value);
		COPY (SELECT bloom_agg(k, 1e-9, 'ribbon') FROM t) TO '$dir/names.filter' (FORMAT binary);
		COPY t TO '$dir/names.csv' (FORMAT csv, ENCODING '" . ($encoding eq 'SQL_ASCII' ? 'SQL_ASCII' : 'UTF8') . "')");
	for my $options ([], [ '-t', 'name' ])
	{
		for my $input (content('names.csv'), "$literal\n")
		{
			is((split_rows([ '-f', 'names.filter', '-c', '1', '--no-header', '--bytes', @$options ], $input))[1], '', "a name in $encoding, of " . length($literal) . " bytes here, is found (@$options)");
		}
	}
}

# COPY as the referee: what it reads of each output, and what the server's filter says of the keys that it read.  Before PostgreSQL 18 it stops at
# \. on a line of its own even within quotes.
@alphabet = grep { $_ ne '.' } @alphabet;
$node->safe_psql('postgres', q{CREATE TABLE referee (a text, k text, b text); CREATE TABLE referee_filter (f bloomfilter)});
for my $ending ("\n", "\r\n")
{
	my @known = map { random_text() } 1 .. 200;
	my @rows = map { [ random_text(), rand() < 0.05 ? undef : rand() < 0.4 ? $known[ rand @known ] . ' ' x rand(2) : random_text() . int rand 100, random_text() ] } 1 .. 3000;
	my $csv = join('', map { join(',', map { defined $_ ? random_field($_, $_ eq '' || $_ eq '\.' || rand() < 0.2) : '' } @$_) . $ending } @rows);

	is((tool([ 'build', '-c', '1', '--no-header', '-t', 'text', '-o', 'referee.filter' ], join('', map { random_field($_, 1) . "\n" } @known)))[0], 0, 'a filter of random texts');
	is((split_rows([ '-f', 'referee.filter', '-c', '2', '--no-header' ], $csv))[0], 0, 'split of random texts');
	put('whole', $csv);
	$node->safe_psql('postgres', "TRUNCATE referee_filter; INSERT INTO referee_filter VALUES ('\\x" . unpack('H*', content('referee.filter')) . "')");
	my %read;
	for my $file (qw(whole new maybe))
	{
		$node->safe_psql('postgres', 'TRUNCATE referee');
		is(system("psql -Xqc \"\\\\copy referee FROM '$dir/$file' (FORMAT csv)\" 2>err"), 0, "COPY reads $file") or diag(content('err'));
		$read{$file} = $node->safe_psql('postgres', q{SELECT count(*), count(k), sum(hash_record_extended(r, 0)),
			count(*) FILTER (WHERE bloom_may_contain(f, k)), count(*) FILTER (WHERE NOT bloom_may_contain(f, k)) FROM referee r, referee_filter});
	}
	my %part = map { $_ => [ split /\|/, $read{$_} ] } keys %read;

	is($part{whole}[0], 3000, 'all rows are read');
	is($part{new}[$_] + $part{maybe}[$_], $part{whole}[$_], '... the two outputs are the input') for 0, 1;
	is($node->safe_psql('postgres', "SELECT $part{new}[2] + $part{maybe}[2] - $part{whole}[2]"), 0, '... in each column');
	is($part{new}[4], $part{new}[0], '... the server denies each key that is new');
	is($part{maybe}[3], $part{maybe}[1], '... and none of the others, NULLs apart');
}

# the reader that docs/format.md begins with
SKIP:
{
	my ($reader_of_page) = content("$sources/docs/format.md") =~ /```python\n(.*?)```/s or die;
	my ($known, $others);

	skip 'no package xxhash for Python', 2 if system('/usr/bin/python3 -c "import xxhash" 2>/dev/null') != 0;
	put('reader.py', $reader_of_page . <<'PYTHON');
import sys
data = bytes.fromhex(open(sys.argv[1]).read()[2:])
answers = [may_contain(data, key) for key in range(-20000, 60000)]
print("".join("ft"[answer] for answer in answers))
PYTHON
	$node->safe_psql('postgres', q{CREATE TABLE asked AS SELECT bloom_agg(g * 3) AS f FROM generate_series(-3000, 9000) g});
	put('asked.filter', $node->safe_psql('postgres', 'SELECT f FROM asked'));
	my $read = `/usr/bin/python3 reader.py asked.filter 2>&1`;
	is($read, $node->safe_psql('postgres', q{SELECT string_agg(bloom_may_contain(f, g)::text::"char"::text, '' ORDER BY g) FROM asked, generate_series(-20000, 59999) g}) . "\n",
		"the reader in docs/format.md answers as the server does");
	cmp_ok($read =~ tr/t//, '<', 14000, '... and denies most other keys');
}

# the pages as they stand: their commands, one after the other, and what these print

{
	my @lines = map { split /\n/, content("$sources/docs/$_.md") } qw(load outside cookbook);
	my (@examples, $number, $is_result);

	mkdir 'page' or die;
	$node->safe_psql('postgres', 'CREATE DATABASE page');
	$node->safe_psql('page', 'CREATE EXTENSION bloomfam');
	for (my $i = 0; $i < @lines; $i++)
	{
		next unless $lines[$i] =~ /^```(.*)$/;
		my ($word, @inside) = ($1);
		push @inside, $lines[$i] while ++$i < @lines && $lines[$i] ne '```';
		if ($word eq 'sh')
		{
			push @examples, { commands => join("\n", @inside) };
		}
		elsif ($word eq '' && $is_result)
		{
			$examples[-1]{result} = join("\n", @inside);
		}
		$is_result = $word eq 'sh';
	}
	# what is installed goes into a folder of its own
	my $prelude = "set -e -o pipefail\nmake() { command make -s -C '$sources' PREFIX='$dir/installed' \"\$@\"; }\nexport PATH='$dir/installed/bin':\"\$PATH\" PGDATABASE=page\ncd '$dir/page'\n";

	for my $example (@examples)
	{
		my $name = 'commands of the pages, example ' . ++$number;
		my $printed = '';

		IPC::Run::run([ 'bash', '-c', $prelude . $example->{commands} ], '<', '/dev/null', '>&', \$printed);
		is($?, 0, $name) or diag($printed);
		next unless exists $example->{result};
		s/^written: .*$/written: .../m, s/ +$//mg, s/\n+$// for $printed, $example->{result};
		is($printed, $example->{result}, '... prints what the page shows');
	}
	cmp_ok($number, '>', 8, 'the pages have examples');
}

no_crash($node);
$node->stop;
done_testing();
