# SPDX-License-Identifier: PostgreSQL
# shellcheck shell=bash
# Shared by the scripts below test/, by .ci/run and by bench/sql/turns: messages, counting, installing what is missing, and a private view of
# PostgreSQL's folders.  Sourced, never run.
#
# A script that needs a server begins so:
#
#	become_root "$0" "$@"
#	private_mounts "$0" "$@" || stop skip "..."
#	work_folder NAME			# $work, $log
#	need_server				# $PG_CONFIG, $major
#	install_copy				# $work/tree, built and installed

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

passed=0
failed=0
skipped=0

# say TEXT: a step begins; what follows belongs to it.
say()
{
	printf '\n== %s  [%dm%02ds]\n' "$*" $((SECONDS / 60)) $((SECONDS % 60))
}

note()
{
	printf '   %s\n' "$*"
}

# One test each; the text names it.
pass()
{
	passed=$((passed + 1))
	printf 'ok      %s\n' "$*"
}

fail()
{
	failed=$((failed + 1))
	printf 'FAILED  %s\n' "$*"
}

skip()
{
	skipped=$((skipped + 1))
	printf 'skipped %s\n' "$*"
}

# tally: the closing line, and the exit code.  A run without a passed test
# has shown nothing, so it is no success unless everything was skipped.
tally()
{
	local line="$passed passed, $failed failed"

	if [ "$skipped" -gt 0 ]; then
		line="$line, $skipped skipped"
	fi
	printf '\n%s\n' "$line"
	[ "$failed" -eq 0 ] && [ $((passed + skipped)) -gt 0 ]
}

# stop VERDICT TEXT: skip or fail as the last thing that the script does.
stop()
{
	"$@"
	tally
	exit
}

# usage: prints the script's own first comment.
usage()
{
	sed -n '3,/^set /s/^# \{0,1\}//p' "$0"
	exit 2
}

# count_verdicts [PREFIX]: counts the lines of pass, fail and skip in its input, and says them again, with the prefix before each name.  Returns
# non-zero when there is none.
count_verdicts()
{
	local line n=0

	while IFS= read -r line; do
		case $line in
			'ok      '*) pass "${1-}${line#ok      }" ;;
			'FAILED  '*) fail "${1-}${line#FAILED  }" ;;
			'skipped '*) skip "${1-}${line#skipped }" ;;
			*) continue ;;
		esac
		n=$((n + 1))
	done
	[ "$n" -gt 0 ]
}

# become_private_root SCRIPT [ARGS]: goes on as root, where the system allows it as that of a user namespace, which may mount for itself alone and needs no
# sudo.  Packages cannot be installed there.  $BLOOMFAM_USER is then who called the script: user:group.
become_private_root()
{
	if [ "$(id -u)" -ne 0 ] && unshare --user --map-root-user --mount true 2>/dev/null; then
		BLOOMFAM_USER=$(id -u):$(id -g) BLOOMFAM_MOUNTS=private exec unshare --user --map-root-user --mount --propagation private bash "$@"
	fi
	become_root "$@"
}

# become_root SCRIPT [ARGS]: goes on as root, which installing needs.
become_root()
{
	if [ "$(id -u)" -ne 0 ]; then
		if ! command -v sudo >/dev/null; then
			echo "$1: needs root, or sudo" >&2
			exit 2
		fi
		exec sudo --preserve-env=CI,BLOOMFAM_CACHE,CLANG_TESTS,FUZZ_SECONDS,LONG,PG16,PG_CONFIG bash "$@"
	fi
}

# private_mounts SCRIPT [ARGS]: goes on where what is mounted is seen by this script alone, and ends with it.  Returns non-zero where the system
# allows none.
private_mounts()
{
	[ "${BLOOMFAM_MOUNTS-}" != private ] || return 0
	unshare --mount true 2>/dev/null || return 1
	BLOOMFAM_MOUNTS=private exec unshare --mount --propagation private bash "$@"
}

# work_folder NAME: makes the folder $work, which any user may enter.  It goes away with the script, as does all that is in $temporary.
work_folder()
{
	work=$(mktemp -d "${TMPDIR:-/tmp}/bloomfam-$1.XXXXXX")
	chmod 755 "$work"
	log=$work/log
	temporary=("$work")
	trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf --one-file-system "${temporary[@]}"' EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM
}

# debian_mirror: the archive that this machine itself installs from; nothing where apt does not say.
debian_mirror()
{
	{
		sed -n 's/^URIs: *\([^ ]*\).*/\1/p' /etc/apt/sources.list.d/*.sources
		sed -n 's/^deb \(\[[^]]*\] *\)\?\([^ ]*\).*/\2/p' /etc/apt/sources.list /etc/apt/sources.list.d/*.list
	} 2>/dev/null | grep -m 1 '/debian/\?$'
}

# install_packages NAME...: installs those that dpkg does not have, and does
# nothing when none is missing.
install_packages()
{
	local missing=() p

	for p in "$@"; do
		if [ "$(dpkg-query -W -f '${db:Status-Status}' "$p" 2>/dev/null)" != installed ]; then
			missing+=("$p")
		fi
	done
	if [ ${#missing[@]} -eq 0 ]; then
		return 0
	fi
	if [ -n "${BLOOMFAM_USER-}" ]; then
		note "not installed, which root could: ${missing[*]}"
		return 1
	fi
	note "installing ${missing[*]}"
	apt-get -qq update >/dev/null || true
	# No cluster is wanted, and no daemon: the tests make their own.
	DEBIAN_FRONTEND=noninteractive apt-get -qq -y --no-install-recommends \
		install "${missing[@]}" >"${TMPDIR:-/tmp}/bloomfam-apt.$$" 2>&1 || {
		tail -n 30 "${TMPDIR:-/tmp}/bloomfam-apt.$$" >&2
		rm -f "${TMPDIR:-/tmp}/bloomfam-apt.$$"
		return 1
	}
	rm -f "${TMPDIR:-/tmp}/bloomfam-apt.$$"
}

# find_major: the major to test, which is that of PG_CONFIG, else the newest that extensions can be built for, else the newest server, else the
# distribution's.
find_major()
{
	local file major

	if [ -n "${PG_CONFIG-}" ]; then
		"$PG_CONFIG" --version | sed -E 's/^PostgreSQL ([0-9]+).*/\1/'
		return
	fi
	for file in lib/pgxs bin/postgres; do
		major=$(cd /usr/lib/postgresql 2>/dev/null && printf '%s\n' */$file | sed -nE 's,^([0-9]+)/.*,\1,p' | sort -n | tail -n 1)
		if [ -n "$major" ]; then
			echo "$major"
			return
		fi
	done
	apt-get -qq update >/dev/null
	apt-cache depends postgresql | sed -nE 's/^ *Depends: postgresql-([0-9]+)$/\1/p' | head -n 1
}

# need_server [PACKAGE...]: sets $major, and PG_CONFIG where the environment does not; installs those and what building needs, where it can.
need_server()
{
	local packages=(gcc libc6-dev make libxxhash-dev postgresql-common "$@")

	if [ -z "${PG_CONFIG-}" ] && [ -n "${BLOOMFAM_USER-}" ] && [ ! -d /usr/lib/postgresql ]; then
		PG_CONFIG=$(command -v pg_config) || stop fail "there is no pg_config in PATH"
	fi
	major=$(find_major)
	if [ -z "${PG_CONFIG-}" ]; then
		packages+=("postgresql-$major" "postgresql-server-dev-$major")
	fi
	install_packages "${packages[@]}" || [ -n "${BLOOMFAM_USER-}" ] || stop fail "installing ${packages[*]}"
	export PG_CONFIG=${PG_CONFIG:-/usr/lib/postgresql/$major/bin/pg_config}
	note "$("$PG_CONFIG" --version), $(gcc --version | head -n 1)"
}

# free_port: one that nobody listens on, at random, so that clusters started at
# the same time do not take the same (pg_virtualenv's own choice is the first).
free_port()
{
	local port

	while :; do
		port=$((20000 + (RANDOM * 32768 + RANDOM) % 12000))
		(: </dev/tcp/127.0.0.1/$port) 2>/dev/null || break
	done
	echo "$port"
}

# copy_tree DIR: the sources as they are on disk, committed or not, without
# what a build leaves behind.
copy_tree()
{
	mkdir -p "$1"
	tar -C "$root" -cf - --exclude=./.git --exclude=./build --exclude=./results \
		--exclude=./output_iso --exclude=./tmp_check --exclude=./tmp_check_iso \
		--exclude='*.o' --exclude='*.bc' --exclude='*.so' . | tar -C "$1" --no-same-owner -xf -
}

# private_folders: what is installed from now on goes into copies of PostgreSQL's folders, which have no bloomfam and which this script alone sees.
private_folders()
{
	local dir

	for dir in "$("$PG_CONFIG" --pkglibdir)" "$("$PG_CONFIG" --sharedir)/extension"; do
		mkdir -p "$work/pg$dir" && cp -dR --preserve=mode,timestamps,links "$dir/." "$work/pg$dir/" && rm -f "$work/pg$dir"/bloomfam* && mount --bind "$work/pg$dir" "$dir" || return
	done
}

# install_copy [VARIABLE=VALUE...]: builds and installs a copy of the tree, $work/tree, into the private view; the variables are make's.
install_copy()
{
	say "build and install"
	copy_tree "$work/tree"
	if ! { private_folders && make -j"$(nproc)" -C "$work/tree" "$@" install; } >"$log" 2>&1; then
		tail -n 40 "$log"
		stop fail "make install"
	fi
}

# make_sanitized DIR: builds a copy of the tree under ASan and UBSan there.
make_sanitized()
{
	copy_tree "$1"
	make -j"$(nproc)" -C "$1" CC=gcc COPT="$sanitized_options"
}
sanitized_options='-O1 -DUSE_ASSERT_CHECKING=1 -g1 -fno-omit-frame-pointer -U_FORTIFY_SOURCE -fsanitize=address,undefined -fno-sanitize-recover=all'

# install_sanitized: as install_copy, under ASan and UBSan; $sanitizers is the environment that makes a TAP test's server load what they need, and die of
# what they find.  SANITIZED_TREE in the environment: what make_sanitized has built already.
#
# A library of the server's calls malloc() with a lock of gettext's held when it is loaded.  Were that the first call, ASan would begin there, call
# gettext, and break the lock, so that the server hangs: a library that is initialised before all others begins instead.
install_sanitized()
{
	local asan

	say "build and install under ASan and UBSan"
	if [ -n "${SANITIZED_TREE-}" ]; then
		cp -a "$SANITIZED_TREE" "$work/tree"
	elif ! make_sanitized "$work/tree" >"$log" 2>&1; then
		tail -n 40 "$log"
		stop fail "make"
	fi
	if ! { private_folders && make -C "$work/tree" CC=gcc COPT="$sanitized_options" install; } >"$log" 2>&1; then
		tail -n 40 "$log"
		stop fail "make install"
	fi
	asan=$(gcc -print-file-name=libasan.so)
	echo 'void __asan_init(void); __attribute__((constructor)) static void first(void) { __asan_init(); }' |
		gcc -x c -shared -fPIC -Wl,-z,initfirst -o "$work/tree/first.so" - -x none "$asan" || stop fail "a library that begins ASan"
	if grep -q __asan_report_load "$work/tree/bloomfam.so" && grep -q __ubsan_handle "$work/tree/bloomfam.so"; then
		pass "the module is under ASan and UBSan"
	else
		stop fail "the module is not under ASan and UBSan"
	fi
	# shellcheck disable=SC2034
	sanitizers=(SERVER_PRELOAD="$asan $work/tree/first.so" ASAN_OPTIONS=detect_leaks=0:abort_on_error=1 UBSAN_OPTIONS=print_stacktrace=1:abort_on_error=1)
}

# as_server COMMAND...: runs it as who runs servers, as initdb refuses root: postgres, or who called the script.
as_server()
{
	if [ -n "${BLOOMFAM_USER-}" ]; then
		unshare --user --map-user="${BLOOMFAM_USER%:*}" --map-group="${BLOOMFAM_USER#*:}" -- "$@"
	else
		runuser -u postgres -- "$@"
	fi
}

# server_user: the number of who runs servers, as root sees it here.
server_user()
{
	[ -n "${BLOOMFAM_USER-}" ] && echo 0 || id -u postgres
}

# give_to_server FOLDER...: makes folders those of who runs servers, whose they are in a user namespace in any case.
give_to_server()
{
	[ -n "${BLOOMFAM_USER-}" ] || chown -R postgres: "$@"
}

# with_server COMMAND...: runs it beside a server of its own, whose superuser is postgres; PGHOST and PGPORT say where it is.
with_server()
{
	local bin folder port status

	bin=$("$PG_CONFIG" --bindir)
	port=$(free_port)
	folder=$(mktemp -d "$work/server.XXXXXX") && give_to_server "$folder"
	if ! (cd / && as_server "$bin/initdb" -D "$folder/data" -A trust -U postgres --no-sync &&
		as_server "$bin/pg_ctl" -D "$folder/data" -l "$folder/log" -o "-p $port -k $folder -c listen_addresses=localhost -c fsync=off" -w start) >"$folder.log" 2>&1; then
		cat "$folder.log" "$folder/log"
		return 2
	fi
	PGHOST=localhost PGPORT=$port PGUSER=postgres "$@"
	status=$?
	(cd / && as_server "$bin/pg_ctl" -D "$folder/data" -m immediate stop) >/dev/null 2>&1
	rm -rf "$folder"
	return $status
}

# run_tap TREE FILE [VARIABLE=VALUE...]: runs a TAP test of a built copy of the tree as who runs servers.
run_tap()
{
	local tree=$1 file=$2

	shift 2
	give_to_server "$tree"
	as_server env HOME="$tree" "$@" \
		make -s -C "$tree" PG_CONFIG="$PG_CONFIG" PROVE_TESTS="$file" PROVE_FLAGS=--verbose prove_installcheck </dev/null
}

# count_regress LABEL FILE TREE: counts the tests of pg_regress and of the isolation tester in what they printed: "test x ... ok" or
# "     x ... FAILED" up to PostgreSQL 15, "ok 1 - x" and "not ok 1 - x" since 16.  One that gave its alternate output was skipped: the server has
# not what it tests.  Returns non-zero when there was none.
count_regress()
{
	count_verdicts "$1 " < <(sed -nE \
		-e 's/^(test |     )([A-Za-z0-9_-]+) +\.\.\. ok( .*)?$/ok      \2/p' \
		-e 's/^(test |     )([A-Za-z0-9_-]+) +\.\.\. (FAILED|failed).*$/FAILED  \2/p' \
		-e 's/^ok [0-9]+ +[-+] ([A-Za-z0-9_-]+).*$/ok      \1/p' \
		-e 's/^not ok [0-9]+ +[-+] ([A-Za-z0-9_-]+).*$/FAILED  \1/p' "$2" |
		while read -r verdict test; do
			if [ "$verdict" = ok ] && cmp -s "$3/results/$test.out" "$3/expected/${test}_1.out"; then
				verdict=skipped
			fi
			printf '%-8s%s\n' "$verdict" "$test"
		done)
}

# show_diffs DIR: the regression differences below DIR, cut to a readable length.
show_diffs()
{
	find "$1" -name regression.diffs -size +0 -print | while read -r f; do
		printf -- '---- %s\n' "${f#"$1"/}"
		head -n "${DIFF_LINES:-200}" "$f"
	done
}
