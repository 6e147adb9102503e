# SPDX-License-Identifier: PostgreSQL
# bloomfam: make, make install, make installcheck, as with any extension.
#
#   PG_CONFIG=...      which PostgreSQL to build for
#   install-plugin     after install, lets any user load it: docs/troubleshooting.md
#   prove_installcheck the TAP tests (not as root: they run initdb)
#   check-core check-client check-fuzz fuzz bench-core bench-client
#                      without PostgreSQL: test/standalone.mk
#   client install-client uninstall-client   the client library: client/Makefile

# The folder of the sources, as srcdir, which only PGXS sets: another than the
# current one in a VPATH build (mkdir b; cd b; make -f ../Makefile).
top := $(patsubst %/,%,$(dir $(firstword $(MAKEFILE_LIST))))
# files PATTERN...: those of the sources, as the build names them
files = $(patsubst $(top)/%,%,$(sort $(wildcard $(addprefix $(top)/,$(1)))))

EXTENSION = bloomfam
DISTVERSION = $(shell sed -n 's/^   "version": *"\(.*\)".*/\1/p' $(top)/META.json)
MODULE_big = bloomfam
PGFILEDESC = "bloomfam - filters for hash joins, indexes, and a datatype"

OBJS = $(patsubst %.c,%.o,$(call files,src/*.c src/core/*.c src/keys/*.c src/pg/*.c src/join/*/*.c src/sampling/*.c src/maplet/*.c src/signature/*.c))
DATA = $(call files,sql/bloomfam--*.sql)

PG_CPPFLAGS = -I$(top)/src
# Which headers each object needs.  A function whose header is not included is
# an error, as it is by default since gcc 14 and clang 16: what a header of the
# server's includes by the way, an older minor's does not.
PG_CFLAGS = -MMD -MP -Werror=implicit-function-declaration
SHLIB_LINK = -lm

# test/sql against expected/; install makes the extension the others use.
regress_names = $(patsubst test/sql/%.sql,%,$(call files,test/sql/*.sql))
REGRESS = $(filter install,$(regress_names)) $(filter-out install,$(regress_names))
REGRESS_OPTS = --inputdir=$(top)/test

# No name may be that of a test above: since 16 both look into expected/ first.
isolation_names = $(patsubst test/isolation/specs/%.spec,%,$(call files,test/isolation/specs/*.spec))
ifneq (,$(isolation_names))
# Unique maplet indexes are from PostgreSQL 18 on.
ISOLATION = $(if $(filter 15 16 17,$(MAJORVERSION)),$(filter-out maplet_ids maplet_places,$(isolation_names)),$(isolation_names))
# bloomfam.join_filter is for sessions that had the module from their start on.
ISOLATION_OPTS = --inputdir=$(top)/test/isolation --launcher="env PGOPTIONS='-c session_preload_libraries=bloomfam'"
endif

# pg_regress looks for expected/ in the current folder.
ifneq ($(top),.)
REGRESS_PREP = $(CURDIR)/expected
EXTRA_CLEAN = $(REGRESS_PREP)
endif

# No bitcode for the server's JIT, so no clang either.  The server could inline
# a function of ours, but not find the hidden functions of the core it calls.
# Nothing is lost: 15 inlines no function of an extension, contrib's included.
override with_llvm = no

EXTRA_CLEAN += build tmp_check $(OBJS:.o=.d)

PG_CONFIG ?= pg_config
PGXS := $(shell $(PG_CONFIG) --pgxs)
include $(PGXS)

# The core and the keys are a library inside the module: its names are nobody's
# business, and must not meet the server's own (bloom_create and its like).  Not
# the whole module: up to PostgreSQL 15 that would hide Pg_magic_func as well.
src/core/%.o src/keys/%.o: override CFLAGS += -fvisibility=hidden -Wextra -Wshadow -Wcast-qual -Wstrict-prototypes

# Loops over the characters of texts, for which compilers can use the processor's vectors.
src/signature/%.o: override CFLAGS += $(CFLAGS_VECTORIZE)

# Of a VPATH build: full names, as make would find these in the sources.
object_folders = $(sort $(patsubst %,$(CURDIR)/%.,$(dir $(OBJS))))
$(OBJS): | $(object_folders)
$(object_folders):
	$(MKDIR_P) $@

# The server that they are for: what was built for another one is built anew.
server := $(VERSION), $(includedir_server)
built_for := $(CURDIR)/build/server
$(OBJS): $(built_for)
ifneq ($(server),$(shell cat '$(built_for)' 2>/dev/null))
.PHONY: $(built_for)
endif
$(built_for):
	@$(MKDIR_P) $(@D) && echo '$(server)' >$@

$(CURDIR)/expected:
	ln -s '$(abspath $(top))/expected' $@

-include $(wildcard $(OBJS:.o=.d))

# PGXS has these for its TAP_TESTS in t/, and would run them in installcheck.
# TESTDIR is for PostgreSQL 15, the two after it since 16: full names, as a
# server looks for an archive from its own folder.
.PHONY: prove_installcheck
prove_installcheck:
	rm -rf '$(CURDIR)/tmp_check'
	$(MKDIR_P) '$(CURDIR)/tmp_check'
	cd $(srcdir) && TESTDIR='$(CURDIR)' \
	TESTDATADIR='$(CURDIR)/tmp_check' TESTLOGDIR='$(CURDIR)/tmp_check/log' \
	PATH='$(abspath $(top))/test/perl/bin:$(bindir)':"$$PATH" PG_CONFIG='$(PG_CONFIG)' PGPORT='6$(DEF_PGPORT)' \
	PG_REGRESS='$(top_builddir)/src/test/regress/pg_regress' \
	prove -I '$(top_srcdir)/src/test/perl' -I test/perl $(PROVE_FLAGS) $(or $(PROVE_TESTS),test/t/*.pl)

# What works without the server: client/Makefile.  The server's flags are not its.
.PHONY: client install-client uninstall-client
client: client-target = all
install-client: client-target = install
uninstall-client: client-target = uninstall
client install-client uninstall-client:
	$(MAKE) -C $(top)/client BUILD='$(CURDIR)/build/client' $(client-target)

.PHONY: check-core check-client check-fuzz fuzz bench-core bench-client
check-core check-client check-fuzz fuzz bench-core bench-client:
	$(MAKE) -C $(top) -f test/standalone.mk BUILD='$(CURDIR)/build' $@

# Lets any user load the module when a session begins, by local_preload_libraries: a link in the only folder that may name.  Relative, so that
# it holds in a package's folders, too; the server takes both names for one file.  It builds and installs nothing else.
installed = $(DESTDIR)$(pkglibdir)/$(MODULE_big)$(DLSUFFIX)
plugin = $(DESTDIR)$(pkglibdir)/plugins/$(MODULE_big)$(DLSUFFIX)
.PHONY: install-plugin uninstall-plugin
install-plugin:
	@[ -e '$(installed)' ] || { echo 'there is no $(installed): make install first' >&2; exit 1; }
	$(MKDIR_P) '$(DESTDIR)$(pkglibdir)/plugins'
	ln -sf '../$(MODULE_big)$(DLSUFFIX)' '$(plugin)'

uninstall-plugin:
	rm -f '$(plugin)'

# The archive for PGXN; .distignore says what it leaves out.  And all of the
# tree, which is what a distribution's source package begins with.
DIST_OF = HEAD
.PHONY: dist dist-full
dist:
	git -C $(top) -c core.attributesFile='$(abspath $(top))/.distignore' archive --format=zip --prefix=bloomfam-$(DISTVERSION)/ -o '$(CURDIR)/bloomfam-$(DISTVERSION).zip' $(DIST_OF)

dist-full:
	git -C $(top) archive --format=tar.gz --prefix=bloomfam-$(DISTVERSION)/ -o '$(CURDIR)/bloomfam-$(DISTVERSION).tar.gz' $(DIST_OF)
