# bloomfam: make, make install, make installcheck, as with any extension.
#
#   PG_CONFIG=...      which PostgreSQL to build for
#   prove_installcheck the TAP tests (not as root: they run initdb)
#   check-core check-fuzz fuzz bench-core   without PostgreSQL: test/standalone.mk

EXTENSION = bloomfam
EXTVERSION = $(shell sed -n "s/^default_version *= *'\([^']*\)'.*/\1/p" bloomfam.control)
MODULE_big = bloomfam
PGFILEDESC = "bloomfam - Bloom filters and their relatives as a datatype"

OBJS = $(patsubst %.c,%.o,$(sort $(wildcard src/*.c src/core/*.c src/pg/*.c src/join/*.c)))
DATA = $(sort $(wildcard sql/bloomfam--*.sql))

PG_CPPFLAGS = -I$(srcdir)/src
# which headers each object needs
PG_CFLAGS = -MMD -MP
SHLIB_LINK = -lm

# test/sql against expected/; install makes the extension the others use.
regress_names = $(patsubst test/sql/%.sql,%,$(sort $(wildcard test/sql/*.sql)))
REGRESS = $(filter install,$(regress_names)) $(filter-out install,$(regress_names))
REGRESS_OPTS = --inputdir=test

# No name may be that of a test above: since 16 both look into expected/ first.
isolation_names = $(patsubst test/isolation/specs/%.spec,%,$(sort $(wildcard test/isolation/specs/*.spec)))
ifneq (,$(isolation_names))
ISOLATION = $(isolation_names)
ISOLATION_OPTS = --inputdir=test/isolation
endif

# No bitcode for the server's JIT, so no clang either.  The server could inline
# a function of ours, but not find the hidden functions of the core it calls.
# Nothing is lost: 15 inlines no function of an extension, contrib's included.
override with_llvm = no

EXTRA_CLEAN = build tmp_check $(OBJS:.o=.d)

PG_CONFIG ?= pg_config
PGXS := $(shell $(PG_CONFIG) --pgxs)
include $(PGXS)

# The core is a library inside the module: its names are nobody's business, and
# must not meet the server's own (bloom_create and its like).  Not the whole
# module: up to PostgreSQL 15 that would hide Pg_magic_func as well.
src/core/%.o: override CFLAGS += -fvisibility=hidden -Wextra -Wshadow -Wcast-qual -Wstrict-prototypes

-include $(wildcard $(OBJS:.o=.d))

# PGXS has these for its TAP_TESTS in t/, and would run them in installcheck.
.PHONY: prove_installcheck
prove_installcheck:
	rm -rf '$(CURDIR)/tmp_check'
	$(MKDIR_P) '$(CURDIR)/tmp_check'
	cd $(srcdir) && TESTDIR='$(CURDIR)' PATH='$(bindir)':"$$PATH" PGPORT='6$(DEF_PGPORT)' \
	PG_REGRESS='$(top_builddir)/src/test/regress/pg_regress' \
	prove -I '$(top_srcdir)/src/test/perl' -I test/perl $(PROVE_FLAGS) $(or $(PROVE_TESTS),test/t/*.pl)

.PHONY: check-core check-fuzz fuzz bench-core
check-core check-fuzz fuzz bench-core:
	$(MAKE) -f test/standalone.mk $@

.PHONY: dist
dist:
	git archive --format=zip --prefix=bloomfam-$(EXTVERSION)/ -o bloomfam-$(EXTVERSION).zip HEAD
