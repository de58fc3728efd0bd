# One make, not recursive; everything it makes is in build/. What a folder needs has its rules beside it, in rules.mk.
# `make help` lists targets and switches.

VERSION := 0.1.0

PREFIX ?= /usr/local
DESTDIR ?=
PYTHON ?= /usr/bin/python3
CC ?= gcc
CXX ?= g++
CLANG ?= $(firstword $(shell command -v clang clang-19 clang-18 clang-17 clang-16 clang-15 clang-14 2>/dev/null))

V ?= 0
DEBUG ?= 0
SAN ?=
COVERAGE ?= 0
MOVED ?= 0
CUDA ?= auto
MPI ?= auto
LAB ?= 1

ifeq ($(V),1)
Q :=
say = @:
else
Q := @
say = @printf '  %-8s %s\n'
endif

# A sanitizer or coverage build has a folder of its own, and never mixes with the plain one.
empty :=
comma := ,
BUILD ?= build$(if $(SAN),/san-$(subst $(comma),-,$(SAN)))$(if $(filter 1,$(COVERAGE)),/cov)$(if $(filter 1,$(MOVED)),/moved)$(if $(filter 1,$(DEBUG)),/debug)

# ---- flags ----------------------------------------------------------------------------------

WARN := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wconversion
# Sanitizer builds are optimised less: the instrumented code would take minutes to compile.
OPT := $(if $(filter 1,$(DEBUG)),-O0 -g3,$(if $(SAN),-O1 -g1,-O2 -g))
VARIANT := $(if $(SAN),-fsanitize=$(SAN) -fno-omit-frame-pointer $(if $(findstring thread,$(SAN)),-Wno-tsan) \
	$(if $(findstring undefined,$(SAN)),-fno-sanitize-recover=undefined)) \
	$(if $(SAN)$(filter 1,$(DEBUG)),-DSEEP_CHECKED) \
	$(if $(filter 1,$(COVERAGE)),--coverage) $(if $(filter 1,$(MOVED)),\
	-DSEEP_MOVED_THRESHOLDS -Wno-sign-compare -Wno-sign-conversion -Wno-conversion)

CPPFLAGS_ALL := -I. -I$(BUILD)/gen -D_GNU_SOURCE -DSEEP_VERSION='"$(VERSION)"' $(CPPFLAGS)
CFLAGS_ALL := -std=c11 $(WARN) $(OPT) -fvisibility=hidden -pthread $(CFLAGS) $(VARIANT)
CXXFLAGS_ALL := -std=c++17 -Wall -Wextra -Wshadow $(OPT) -fvisibility=hidden $(CXXFLAGS) $(VARIANT)
LDFLAGS_ALL := -pthread $(LDFLAGS) $(VARIANT)

PKG_CONFIG ?= pkg-config
pkg = $(shell $(PKG_CONFIG) $(1) 2>/dev/null)
LIBPROF_CFLAGS := $(call pkg,--cflags jansson libdw libelf)
TOML_CFLAGS := $(filter-out -DTOML_%,$(call pkg,--cflags tomlplusplus))
LIBPROF_LIBS := -ljansson -ldw -lelf -lprotobuf-c -lz -lstdc++ -lm

# kernels/ is built by `make lab`, and for tests; LAB=0 leaves it out of these, too.
WITHOUT_LAB := $(if $(filter 0,$(LAB)),kernels/% tests/cli/test_lab% tests/e2e/test_lab% tests/kernels/%)

# ---- files ----------------------------------------------------------------------------------

# Rooms, in the order of docs/architecture.md.
RUNTIME := $(wildcard libprof/runtime/*/*.c)
LIBPROF := $(wildcard libprof/*.c libprof/*/*.c libprof/*/*/*.c)
PRELOAD := $(wildcard preload/*.c preload/*/*.c)
VIEWER := $(filter-out viewer/mpi/%,$(wildcard viewer/*.c viewer/*/*.c))

obj = $(patsubst %.c,$(BUILD)/obj/%.o,$(1))
shim_obj = $(patsubst %.c,$(BUILD)/obj/shim/%.o,$(1))

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SUFFIXES:
.SECONDARY:
.PHONY: all demo install clean help format FORCE

# In the order in which one uses the names of another; those of suites and packages after that.
RULES := $(patsubst %,%/rules.mk,libprof preload viewer/page viewer/options viewer viewer/mpi docs/man tools kernels tests tests/standin)
include $(filter-out $(WITHOUT_LAB),$(RULES) $(filter-out $(RULES),$(sort $(wildcard tests/*/rules.mk packaging/*/rules.mk))))

# A sanitizer's malloc conflicts with ours: such a build has no shim.
all: $(SEEP) $(SEEP_SHOW) $(if $(SAN),,$(SHIM)) $(MAN_PAGES) $(COMPLETION) $(PYTHON_FILES) ## build seep, libseep.so and the manual pages (default)

# ---- compiling ------------------------------------------------------------------------------

# Rebuild everything when the flags change.
FLAGS_NOW = $(CC) $(CXX) $(CXXFLAGS_ALL) $(CPPFLAGS_ALL) $(CFLAGS_ALL) $(LDFLAGS_ALL) $(SHIM_CFLAGS) $(SHIM_LIBS)
define note_flags
	@mkdir -p $(@D)
	@printf '%s\n' '$(subst ','\'',$(1))' | cmp -s - $@ || printf '%s\n' '$(subst ','\'',$(1))' >$@
endef
$(BUILD)/flags: FORCE
	$(call note_flags,$(FLAGS_NOW))

$(BUILD)/obj/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(say) CC $<
	$(Q)$(CC) $(CPPFLAGS_ALL) $(LIBPROF_CFLAGS) $(CFLAGS_ALL) $(EXTRA_CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/obj/%.o: %.cc $(BUILD)/flags
	@mkdir -p $(@D)
	$(say) CXX $<
	$(Q)$(CXX) $(CPPFLAGS_ALL) $(TOML_CFLAGS) $(CXXFLAGS_ALL) $(EXTRA_CXXFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/obj/gen/%.o: $(BUILD)/gen/%.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) -MMD -MP -c -o $@ $<

# ---- the rest -------------------------------------------------------------------------------

demo: $(SEEP) $(SEEP_SHOW) $(SHIM) $(MAN_PAGES) $(PYTHON_FILES) ## profile a PyTorch job that leaks, and show the line that keeps the memory
	$(Q)rm -rf build/demo.d
	$(Q)$(SEEP) run -o build/demo.d -- $(PYTHON) tests/zoo/annotation_cache.py --epochs 3 --images 600

LIBDIR := $(PREFIX)/lib/seep
install: all ## install under PREFIX (/usr/local), below DESTDIR if given
	install -d $(addprefix $(DESTDIR)$(PREFIX)/,bin include lib/seep/python share/man/man1 \
		share/seep share/doc/seep share/bash-completion/completions)
	install -m 755 $(SEEP) $(SEEP_MPI) $(DESTDIR)$(PREFIX)/bin/
	install -m 755 $(SHIM) $(SEEP_SHOW) $(DESTDIR)$(LIBDIR)/
	install -m 644 preload/seep.h $(DESTDIR)$(PREFIX)/include/seep.h
	$(Q)for f in $(PYTHON_FILES:$(BUILD)/%=%); do install -D -m 644 $(BUILD)/$$f $(DESTDIR)$(LIBDIR)/$$f || exit 1; done
	install -m 644 $(MAN_PAGES) $(DESTDIR)$(PREFIX)/share/man/man1/
	install -m 644 $(COMPLETION) $(DESTDIR)$(PREFIX)/share/bash-completion/completions/seep
	install -m 644 LICENSE README.md CHANGELOG.md SECURITY.md $(DESTDIR)$(PREFIX)/share/doc/seep/
	install -m 644 docs/report.schema.json docs/digest.schema.json docs/check.schema.json docs/look.schema.json \
		libprof/code/roles.toml libprof/code/library_caches.def docs/alerts.yml docs/grafana.json docs/pyroscope-types.json \
		$(DESTDIR)$(PREFIX)/share/seep/

clean: ## remove build/
	rm -rf build

format: ## clang-format over all sources
	$(Q)find libprof preload viewer kernels tests -name '*.[ch]' -exec clang-format -i {} +

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-16s %s\n", $$1, $$2 }' $(filter-out %.d,$(MAKEFILE_LIST))
	@echo '  switches:  V=1 DEBUG=1 SAN=address,undefined COVERAGE=1 CUDA=auto|0|1|cpu MPI=auto|0 LAB=1|0 FUZZ_SECONDS=N'
	@echo '  LAB=0 leaves seep-lab out of tests and check, too'

-include $(shell find $(BUILD)/obj -name '*.d' 2>/dev/null)
