# SPDX-License-Identifier: PostgreSQL
# A client that speaks the extended query protocol with binary parameters and results, which psql does not.
#
# A parameter is text, or a reference to binary data.  Rows come as arrays; a query that fails gives undef, and its SQLSTATE is in {sqlstate}.
package Wire;

use strict;
use warnings;

use IO::Socket::UNIX;

sub new
{
	my ($class, $node, $db) = @_;
	my $path = $node->host . '/.s.PGSQL.' . $node->port;
	my $self = bless { socket => IO::Socket::UNIX->new(Peer => $path) }, $class;
	my $user = getpwuid($>);
	my $startup = pack('N', 196608) . "user\0$user\0database\0$db\0\0";

	die "$path: $!" unless $self->{socket};
	$self->{out} = pack('N', 4 + length $startup) . $startup;
	$self->finish;
	return $self;
}

# Appends a message to what will be sent.
sub message
{
	my ($self, $type, $body) = @_;

	$self->{out} .= $type . pack('N', 4 + length $body) . $body;
	return;
}

sub read_exactly
{
	my ($self, $n) = @_;
	my $data = '';

	while (length $data < $n)
	{
		sysread($self->{socket}, $data, $n - length $data, length $data) or die 'the server closed the connection';
	}
	return $data;
}

# Sends, and reads up to ReadyForQuery, or to the end of a part of a portal.  Returns the rows.
sub finish
{
	my ($self) = @_;
	my @rows;

	while (length $self->{out})
	{
		my $n = syswrite($self->{socket}, $self->{out}) // die "send: $!";

		substr($self->{out}, 0, $n, '');
	}
	$self->{sqlstate} = undef;
	$self->{suspended} = 0;
	while (1)
	{
		my $type = $self->read_exactly(1);
		my $body = $self->read_exactly(unpack('N', $self->read_exactly(4)) - 4);

		if ($type eq 'D')
		{
			my $n = unpack('n', $body);
			my $at = 2;
			my @row;

			foreach (1 .. $n)
			{
				my $len = unpack('l>', substr($body, $at, 4));

				push @row, $len < 0 ? undef : substr($body, $at + 4, $len);
				$at += 4 + ($len < 0 ? 0 : $len);
			}
			push @rows, \@row;
		}
		elsif ($type eq 'E')
		{
			($self->{sqlstate}) = $body =~ /(?:^|\0)C([0-9A-Z]{5})\0/;
		}
		elsif ($type eq 's')
		{
			$self->{suspended} = 1;
		}
		elsif ($type eq 'R')
		{
			die 'the server wants a password' if unpack('N', $body) != 0;
		}
		elsif ($type eq 'Z')
		{
			return defined $self->{sqlstate} ? undef : \@rows;
		}
	}
}

# A simple query.
sub query
{
	my ($self, $sql) = @_;

	$self->message('Q', "$sql\0");
	return $self->finish;
}

sub prepare
{
	my ($self, $name, $sql) = @_;

	$self->message('P', "$name\0$sql\0" . pack('n', 0));
	$self->message('S', '');
	return $self->finish;
}

sub execute_prepared
{
	my ($self, $name, $params, %how) = @_;
	my $fetch = $how{fetch} // 0;
	my @rows;

	$self->message('B',
		    "p\0$name\0"
		  . pack('n*', scalar @$params, map { ref $_ ? 1 : 0 } @$params)
		  . pack('n', scalar @$params)
		  . join('', map { my $data = ref $_ ? $$_ : $_; pack('N', length $data) . $data } @$params)
		  . pack('n2', 1, $how{binary} ? 1 : 0));
	do
	{
		$self->message('E', "p\0" . pack('N', $fetch));
		$self->message('S', '');
		push @rows, @{ $self->finish // return undef };
	} while ($self->{suspended});
	return \@rows;
}

sub execute
{
	my ($self, $sql, $params, %how) = @_;

	defined $self->prepare('', $sql) or return undef;
	return $self->execute_prepared('', $params, %how);
}

sub close
{
	my ($self) = @_;

	$self->message('X', '');
	syswrite($self->{socket}, $self->{out});
	CORE::close($self->{socket});
	return;
}

1;
