# Shared by test/run, test/matrix and .ci/run: messages, installing what is
# missing, and counting.  Sourced, never run; needs bash.

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

# become_root SCRIPT [ARGS]: goes on as root, which installing needs.
become_root()
{
	if [ "$(id -u)" -ne 0 ]; then
		if ! command -v sudo >/dev/null; then
			echo "$1: needs root, or sudo" >&2
			exit 2
		fi
		exec sudo --preserve-env=CI,BLOOMFAM_CACHE,FUZZ_SECONDS,PG_CONFIG bash "$@"
	fi
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

# count_regress LABEL FILE: counts the tests of pg_regress and of the isolation
# tester in what they printed: "test x ... ok" or "     x ... FAILED" up to
# PostgreSQL 15, "ok 1 - x" and "not ok 1 - x" since 16.  Returns non-zero when
# there was none.
count_regress()
{
	local verdict name n=0

	while read -r verdict name; do
		n=$((n + 1))
		if [ "$verdict" = ok ]; then
			pass "$1 $name"
		else
			fail "$1 $name"
		fi
	done < <(sed -nE \
		-e 's/^(test |     )([A-Za-z0-9_-]+) +\.\.\. ok( .*)?$/ok \2/p' \
		-e 's/^(test |     )([A-Za-z0-9_-]+) +\.\.\. (FAILED|failed).*$/failed \2/p' \
		-e 's/^ok [0-9]+ +[-+] ([A-Za-z0-9_-]+).*$/ok \1/p' \
		-e 's/^not ok [0-9]+ +[-+] ([A-Za-z0-9_-]+).*$/failed \1/p' "$2")
	[ "$n" -gt 0 ]
}

# show_diffs DIR: the regression differences below DIR, cut to a readable length.
show_diffs()
{
	find "$1" -name regression.diffs -size +0 -print | while read -r f; do
		printf -- '---- %s\n' "${f#"$1"/}"
		head -n "${DIFF_LINES:-200}" "$f"
	done
}
