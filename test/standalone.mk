# SPDX-License-Identifier: PostgreSQL
# The tests of the core, of the keys and of the client library, fuzzers and benchmarks:
# plain C, no PostgreSQL.
#
#   make -f test/standalone.mk check-core    (or make check-core, and so on)
#
#   check-core  test/core/t_*.c with gcc under ASan and UBSan, or as VARIANTS says;
#               CLANG_TESTS=1: s_*.c, which take long, and t_*.c with gcc -O2, t_*.c with
#               clang under ASan and UBSan as well, bench/core/*.c in short, whether they work;
#               LONG=1: that, more random trials, ten million keys in every kind
#   check-client  test/client/t_*.c under ASan and UBSan, or as VARIANTS says, and by
#               CLANG_TESTS=1 or LONG=1 with -O2, and bench/client/*.c in short, and builds
#               the program bloomfam under ASan and UBSan, for test/t/040_client_program.pl
#   check-cross $(PROGRAMS) of test/core, or all, compiled by $(CROSS)-gcc -O2
#               and run by $(TEST_RUNNER): see test/processors
#   check-fuzz  test/fuzz/corpus through every test/fuzz/fuzz_*.c, under ASan and UBSan:
#               with gcc, and with clang by CLANG_TESTS=1 or LONG=1
#   fuzz        libFuzzer on each of them for FUZZ_SECONDS
#   bench-core  bench/core/*.c
#   bench-client  bench/client/*.c
#
# A program is a file t_*, s_*, fuzz_* or bench/*/*.c, linked with all of src/core
# and src/keys; those of the core with the other files of test/core, those of the
# client library, and fuzz_*, with client/lib.  Everything is built under
# $(BUILD)/VARIANT/, in the folders of its source.

BUILD ?= build
GCC ?= gcc
CLANG ?= $(firstword $(foreach c,clang clang-19 clang-16 clang-14,$(if $(shell command -v $(c)),$(c))) clang)
FUZZ_SECONDS ?= 60

sanitize = -O1 -g1 -fno-omit-frame-pointer -DTEST_SANITIZED -fsanitize=address,undefined -fno-sanitize-recover=all
flags = -std=gnu11 -Isrc -I. -Itest/core -Wall -Wextra -Wshadow -Wcast-qual -Wstrict-prototypes -Wvla -Werror

core = $(patsubst %.c,%,$(sort $(wildcard src/core/*.c src/keys/*.c)))
tests = $(patsubst %.c,%,$(sort $(wildcard test/core/t_*.c)))
long_tests = $(patsubst %.c,%,$(sort $(wildcard test/core/s_*.c)))
helpers = $(filter-out $(tests) $(long_tests),$(patsubst %.c,%,$(sort $(wildcard test/core/*.c))))
client = $(patsubst %.c,%,$(sort $(wildcard client/lib/*.c)))
tool = $(patsubst %.c,%,$(sort $(wildcard client/tool/*.c)))
client_tests = $(patsubst %.c,%,$(sort $(wildcard test/client/t_*.c)))
client_benches = $(patsubst %.c,%,$(sort $(wildcard bench/client/*.c)))
fuzzers = $(patsubst %.c,%,$(sort $(wildcard test/fuzz/fuzz_*.c)))
benches = $(patsubst %.c,%,$(sort $(wildcard bench/core/*.c)))

# clang finds little that gcc does not; what libFuzzer runs is its own in any case.  test/run
# says gcc-o2 everyday: it takes a third of the time.
VARIANTS ?= gcc-asan $(if $(LONG)$(CLANG_TESTS),clang-asan)
# Everyday the server's and the client's tests run all of it with -O2.
optimised = $(if $(LONG)$(CLANG_TESTS),$(tests))

# Everyday test/sql/fpr.sql, t_* and the TAP tests of both indexes stand for them.
everyday = $(if $(LONG)$(CLANG_TESTS),$(long_tests))

# the long ones first, so that none is left to run alone
all_core = $(addprefix $(BUILD)/gcc-o2/,$(everyday)) $(foreach v,$(VARIANTS),$(addprefix $(BUILD)/$(v)/,$(tests))) \
	$(addprefix $(BUILD)/gcc-o2/,$(optimised))
all_client = $(foreach v,$(VARIANTS) $(if $(LONG)$(CLANG_TESTS),gcc-o2),$(addprefix $(BUILD)/$(v)/,$(client_tests)))
all_cross = $(addprefix $(BUILD)/$(CROSS)/,$(or $(addprefix test/core/,$(PROGRAMS)),$(long_tests) $(tests)))
all_replay = $(foreach v,$(VARIANTS),$(addprefix $(BUILD)/$(v)/,$(fuzzers)))

.PHONY: all check-core check-client check-cross check-fuzz fuzz bench-core bench-client FORCE
.SECONDARY:
all: $(all_core) $(all_client) $(all_replay) $(addprefix $(BUILD)/gcc-o2/,$(benches) $(client_benches))

check-core: $(addsuffix .run,$(all_core)) $(if $(LONG)$(CLANG_TESTS),$(patsubst %,$(BUILD)/gcc-o2/%.smoke,$(benches)))
check-client: $(addsuffix .run,$(all_client)) $(if $(LONG)$(CLANG_TESTS),$(patsubst %,$(BUILD)/gcc-o2/%.smoke,$(client_benches))) \
	$(if $(LONG)$(CLANG_TESTS),$(BUILD)/gcc-asan/bloomfam)
# asked by bench/client/csv
$(BUILD)/gcc-o2/bench/client/csv.smoke: $(BUILD)/gcc-o2/bloomfam
check-cross: $(addsuffix .run,$(all_cross))
check-fuzz: $(addsuffix .replay,$(all_replay))
fuzz: $(addprefix fuzz-,$(notdir $(fuzzers)))
bench-core: $(addprefix bench-,$(notdir $(benches)))
bench-client: $(addprefix $(BUILD)/gcc-o2/,$(client_benches) bloomfam)
	set -e; for program in $(filter-out %/bloomfam,$^); do $$program; done

# variant NAME COMPILER FLAGS
define variant
$(BUILD)/$(1)/%.o: %.c test/standalone.mk
	@mkdir -p $$(@D)
	$(2) $$(flags) $(3) -MMD -MP -c -o $$@ $$<
$(BUILD)/$(1)/test/core/%: $(BUILD)/$(1)/test/core/%.o $$(patsubst %,$(BUILD)/$(1)/%.o,$$(core) $$(helpers))
	$(2) $(3) -o $$@ $$^ -lm
$(BUILD)/$(1)/test/client/%: $(BUILD)/$(1)/test/client/%.o $$(patsubst %,$(BUILD)/$(1)/%.o,$$(core) $$(client) client/tool/csv)
	$(2) $(3) -o $$@ $$^ -lm
$(BUILD)/$(1)/bloomfam: $$(patsubst %,$(BUILD)/$(1)/%.o,$$(core) $$(client) $$(tool))
	$(2) $(3) -o $$@ $$^ -lm
$(BUILD)/$(1)/bench/client/%: $(BUILD)/$(1)/bench/client/%.o $$(patsubst %,$(BUILD)/$(1)/%.o,$$(core) $$(client))
	$(2) $(3) -o $$@ $$^ -lm
$(BUILD)/$(1)/test/hostile/generate: $$(patsubst %,$(BUILD)/$(1)/%.o,test/hostile/generate $$(core))
	$(2) $(3) -o $$@.new $$^ -lm && mv $$@.new $$@
$(BUILD)/$(1)/test/fuzz/fuzz_%: $$(patsubst %,$(BUILD)/$(1)/%.o,test/fuzz/fuzz_% test/fuzz/replay $$(core) $$(client))
	$(2) $(3) -o $$@ $$^ -lm
$(BUILD)/$(1)/bench/core/%: $(BUILD)/$(1)/bench/core/%.o $$(patsubst %,$(BUILD)/$(1)/%.o,$$(core))
	$(2) $(3) -o $$@ $$^ -lm
endef

$(eval $(call variant,gcc-asan,$(GCC),$(sanitize)))
$(eval $(call variant,clang-asan,$(CLANG),$(sanitize)))
$(eval $(call variant,clang-fuzz,$(CLANG),$(sanitize) -fsanitize=fuzzer-no-link))
$(eval $(call variant,gcc-o2,$(GCC),-O2))
# static: what emulates the processor has no libraries of it
ifdef CROSS
$(eval $(call variant,$(CROSS),$(CROSS)-gcc,-O2 -g -static -I$(BUILD)/$(CROSS)/include))
endif

$(BUILD)/clang-fuzz/test/fuzz/fuzz_%: $(patsubst %,$(BUILD)/clang-fuzz/%.o,test/fuzz/fuzz_% $(core) $(client))
	$(CLANG) $(sanitize) -fsanitize=fuzzer -o $@ $^ -lm

%.run: % FORCE
	@BUILD=$(BUILD) test/run-program $<
%.smoke: % FORCE
	@BUILD=$(BUILD) test/run-program $< --smoke
%.replay: % FORCE
	@BUILD=$(BUILD) test/run-program $< test/fuzz/corpus

# Finds go to $(BUILD)/fuzz/: the new inputs to a folder of the target's name, those
# that crash beside it.  What is worth keeping is copied to test/fuzz/corpus.
fuzz-%: $(BUILD)/clang-fuzz/test/fuzz/%
	@mkdir -p $(BUILD)/fuzz/$*
	$< -max_total_time=$(FUZZ_SECONDS) -print_final_stats=1 -artifact_prefix=$(BUILD)/fuzz/$*- \
		$(BUILD)/fuzz/$* $(sort $(wildcard test/fuzz/corpus test/fuzz/corpus/*/))

bench-%: $(BUILD)/gcc-o2/bench/core/%
	$<

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
