# SPDX-License-Identifier: PostgreSQL
# shellcheck shell=bash
# Shared by test/matrix, test/asserted, test/package and test/upgrade, after test/lib.sh: chroots of the Debian suites that have a PostgreSQL major.  Sourced, never run.
#
# Chroots are kept in $BLOOMFAM_CACHE (/var/cache/bloomfam-matrix), and made again where they do not work any more.  Mounts live in a mount
# namespace of their own, so nothing stays mounted whatever ends the script.

cache=${BLOOMFAM_CACHE:-/var/cache/bloomfam-matrix}
all_majors=(15 17 18 19)

suite_of()
{
	case $1 in
		15) echo bookworm ;;
		17) echo trixie ;;
		18) echo sid ;;
		19) echo experimental ;;
		*) return 1 ;;
	esac
}

# enter DIR COMMAND...: in the chroot, with /proc, /dev and shared memory; every
# process of it ends with the command.
enter()
{
	local dir=$1

	shift
	unshare --mount --pid --fork --kill-child --propagation private bash -c '
		set -e
		mount -t proc proc "$0/proc"
		mount --bind /dev "$0/dev"
		mount -t tmpfs tmpfs "$0/dev/shm"
		mkdir -p "$0/dev/pts" && mount --bind /dev/pts "$0/dev/pts"
		exec chroot "$0" /usr/bin/env -i HOME=/root TERM=dumb LC_ALL=C.UTF-8 \
			PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive "$@"
	' "$dir" "$@" </dev/null
}

# bootstrap DIR SUITE: a minimal Debian.
bootstrap()
{
	local dir=$1 suite=$2 mirror

	mirror=$(debian_mirror)			# none: debootstrap has its own default
	# experimental is an addition to sid, of which nothing but a PostgreSQL is wanted
	# shellcheck disable=SC2086 # no mirror: no argument
	debootstrap --variant=minbase "${suite/experimental/sid}" "$dir" $mirror || return
	if [ "$suite" = experimental ]; then
		echo "deb ${mirror:-http://deb.debian.org/debian} experimental main" >"$dir/etc/apt/sources.list.d/experimental.list"
		printf '%s\n' 'Package: src:postgresql-19' 'Pin: release a=experimental' 'Pin-Priority: 900' >"$dir/etc/apt/preferences.d/experimental"
	fi
	printf '#!/bin/sh\nexit 101\n' >"$dir/usr/sbin/policy-rc.d"
	chmod +x "$dir/usr/sbin/policy-rc.d"
	cp /etc/resolv.conf /etc/hosts "$dir/etc/"
	# sid's index may be older than its own expiry date on a slow mirror.
	printf '%s\n' 'Acquire::Check-Valid-Until "false";' 'APT::Install-Recommends "false";' >"$dir/etc/apt/apt.conf.d/99bloomfam"
	apt-config dump 2>/dev/null | grep -E '^Acquire::(http|https)::Proxy ' >>"$dir/etc/apt/apt.conf.d/99bloomfam"
	# create_main_cluster: the tests make clusters of their own.
	mkdir -p "$dir/etc/postgresql-common/createcluster.d"
	echo 'create_main_cluster = false' >"$dir/etc/postgresql-common/createcluster.d/no-main.conf"
	enter "$dir" apt-get -qq update
}

# kept NAME COMMAND...: sets $chroot to the folder NAME of the cache, which the command fills unless it is there; the command is called with the
# name of a new folder after its arguments, and writes to $work/NAME.log.  Returns non-zero with the reason in $reason.
kept()
{
	local name=$1 new

	shift
	chroot=$cache/$name
	mkdir -p "$cache"
	# Two runs at once take turns.
	exec 9>"$chroot.lock"
	flock 9
	if [ -f "$chroot/.bloomfam-ready" ] && enter "$chroot" dpkg --audit >/dev/null 2>&1; then
		return 0
	fi
	note "making the chroot $chroot"
	new=$chroot.new.$$
	temporary+=("$new")
	rm -rf --one-file-system "$chroot" "$chroot".new.*
	if ! "$@" "$new" >"$work/$name.log" 2>&1; then
		tail -n 15 "$work/$name.log"
		reason="no chroot $name could be made"
		return 1
	fi
	date >"$new/.bloomfam-ready"
	mv "$new" "$chroot"
}

bare()
{
	bootstrap "$2" "$1"
}

with_packages()
{
	local new=${*: -1}

	cp -a --reflink=auto "$1" "$new" && rm -f "$new/.bloomfam-ready" &&
		enter "$new" apt-get -qq -y install "${@:2:$#-2}" && enter "$new" apt-get clean
}

# need_chroot MAJOR NAME PACKAGE...: sets $chroot to the suite's chroot that has the packages beside its minimal system, and $bare to that.
# Returns non-zero with the reason in $reason.
need_chroot()
{
	local major=$1 name=$2 suite

	shift 2
	if ! suite=$(suite_of "$major"); then
		reason="no suite is known for PostgreSQL $major"
		return 1
	fi
	if ! unshare --mount --pid --fork true 2>/dev/null; then
		reason="this machine does not allow mount namespaces"
		return 1
	fi
	if ! install_packages debootstrap >"$work/debootstrap.log" 2>&1; then
		reason="debootstrap cannot be installed"
		return 1
	fi
	kept "$suite" bare "$suite" || return
	bare=$chroot
	kept "$suite-$name" with_packages "$bare" "$@"
}

# need_server_chroot MAJOR: sets $chroot to one that has this server, and what building for it takes.  Returns non-zero with the reason in $reason.
need_server_chroot()
{
	need_chroot "$1" "$1" "postgresql-$1" "postgresql-server-dev-$1" libxxhash-dev make gcc libc6-dev
}

# in_copy MAJOR COMMAND: runs it in a copy of the tree inside $chroot, which has that server.  The copy stays until the script ends: $copy.
in_copy()
{
	local major=$1

	copy=$(mktemp -d "$chroot/tmp/bloomfam.XXXXXX")
	temporary+=("$copy")
	copy_tree "$copy"
	enter "$chroot" sh -c "export PATH=/usr/lib/postgresql/$major/bin:\$PATH
		export PG_CONFIG=/usr/lib/postgresql/$major/bin/pg_config MAKEFLAGS=-j$(nproc) BLOOMFAM_MOUNTS=private
		cd '${copy#"$chroot"}' && $2"
}

# leave_layers: layers go away with the script.
leave_layers()
{
	trap 'umount --lazy "$work"/*/root 2>/dev/null; rm -rf --one-file-system "${temporary[@]}"' EXIT
}

# layer NAME LOWER: a chroot $layer that begins as the folder LOWER, with a user builder.
layer()
{
	layer=$work/$1/root
	mkdir -p "$work/$1/changes" "$work/$1/overlay" "$layer" &&
		mount -t overlay overlay -o "lowerdir=$2,upperdir=$work/$1/changes,workdir=$work/$1/overlay" "$layer" &&
		cp /etc/resolv.conf /etc/hosts "$layer/etc/" &&
		enter "$layer" useradd --create-home builder
}
