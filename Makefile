# One non-recursive Makefile; everything it makes is in build/.
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
FUZZ_SECONDS ?= 60

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
VARIANT := $(if $(SAN),-fsanitize=$(SAN) -fno-omit-frame-pointer \
	$(if $(findstring undefined,$(SAN)),-fno-sanitize-recover=undefined)) \
	$(if $(filter 1,$(COVERAGE)),--coverage) $(if $(filter 1,$(MOVED)),\
	-DSEEP_MOVED_THRESHOLDS -Wno-sign-compare -Wno-sign-conversion -Wno-conversion)

CPPFLAGS_ALL := -I. -I$(BUILD)/gen -D_GNU_SOURCE -DSEEP_VERSION='"$(VERSION)"' $(CPPFLAGS)
CFLAGS_ALL := -std=c11 $(WARN) $(OPT) -fvisibility=hidden -pthread $(CFLAGS) $(VARIANT)
CXXFLAGS_ALL := -std=c++17 -Wall -Wextra -Wshadow $(OPT) -fvisibility=hidden $(CXXFLAGS) $(VARIANT)
LDFLAGS_ALL := -pthread $(LDFLAGS) $(VARIANT)

pkg = $(shell pkg-config $(1) 2>/dev/null)
LIBPROF_CFLAGS := $(call pkg,--cflags jansson libdw libelf)
TOML_CFLAGS := $(filter-out -DTOML_%,$(call pkg,--cflags tomlplusplus))
VIEWER_LIBS := -lncursesw -ltinfo -lmicrohttpd
LIBPROF_LIBS := -ljansson -ldw -lelf -lprotobuf-c -lz -lstdc++ -lm
# To load libstdc++ takes as long as all other libraries of the command, at each start of it: what toml++ needs of it is
# linked in where the compiler has it as an archive.
STATIC_CXX := $(if $(strip $(VARIANT)),,$(findstring /,$(shell $(CXX) -print-file-name=libstdc++.a 2>/dev/null)))
COMMAND_LIBS = $(if $(and $(STATIC_CXX),$(filter -lstdc++,$(LIBPROF_LIBS))),-static-libgcc $(LIBPROF_LIBS:-lstdc++=-l:libstdc++.a),$(LIBPROF_LIBS))
# kernels/ is built by `make lab`, and for tests; LAB=0 leaves it out of these, too.
WITHOUT_LAB := $(if $(filter 0,$(LAB)),tests/cli/test_lab% tests/e2e/test_lab% tests/kernels/%)
CHECK_CFLAGS := $(call pkg,--cflags check)
CHECK_LIBS := $(call pkg,--libs check)

# The shim: no lazily allocated TLS, no lazy binding, and only the hooks are visible.
SHIM_CFLAGS := -fPIC -ftls-model=initial-exec -fno-omit-frame-pointer -fno-semantic-interposition -fno-plt
SHIM_LIBS :=

# ---- files ----------------------------------------------------------------------------------

# Rooms, in the order of docs/architecture.md.
RUNTIME := $(wildcard libprof/runtime/*/*.c)
LIBPROF := $(wildcard libprof/*.c libprof/*/*.c libprof/*/*/*.c)
PRELOAD := $(wildcard preload/*.c preload/*/*.c)
VIEWER := $(filter-out viewer/mpi/%,$(wildcard viewer/*.c viewer/*/*.c))
ALL_TESTS := $(filter-out $(WITHOUT_LAB),$(wildcard tests/*/test_*.c tests/*/*/test_*.c tests/*/*/*/test_*.c))
# What CUDA_ON_CPU is, the lab's rules say.
TESTS = $(filter-out $(if $(CUDA_ON_CPU),,tests/kernels/%_on_cpu.c),$(ALL_TESTS))
TEST_HELPERS := $(wildcard tests/*.c)
SUBJECTS := $(wildcard tests/subjects/*.c)
BENCHES := $(wildcard tests/bench/*.c)
BENCH_SCRIPTS := tests/bench/foreign tests/bench/holders tests/bench/device tests/bench/cold_caches tests/bench/overhead
SCRIPT_TESTS := $(filter-out $(WITHOUT_LAB),$(sort $(wildcard tests/*/test_*.py tests/*/run.sh)))
ALL_FUZZERS := $(wildcard tests/fuzz/fuzz_*.c)
LAB_FUZZERS := $(shell grep -l '"kernels/' $(ALL_FUZZERS))
FUZZERS := $(filter-out $(if $(WITHOUT_LAB),$(LAB_FUZZERS)),$(ALL_FUZZERS))
PAGES := $(filter-out docs/man/seep-lab.txt,$(wildcard docs/man/*.txt))

obj = $(patsubst %.c,$(BUILD)/obj/%.o,$(1))
shim_obj = $(patsubst %.c,$(BUILD)/obj/shim/%.o,$(1))

SEEP := $(BUILD)/seep
# The commands that need VIEWER_LIBS or protocol buffers are a program of their own: their libraries load a dozen others.
# ONE_PROGRAM=1 is for libraries that are linked in.
SEEP_SHOW := $(if $(filter 1,$(ONE_PROGRAM)),,$(BUILD)/seep-show)
SHIM := $(BUILD)/libseep.so
SHIM_PARTS := $(BUILD)/libshim.a
HOOKS := $(wildcard preload/hooks/*.c preload/cuda/*.c) preload/life/start.c preload/lifecycle.c
LIB := $(BUILD)/libprof.a
VIEWER_LIB := $(BUILD)/libviewer.a
# The page that `seep view` fills: its parts in order, and d3 from Debian's node-d3. That of a look has scripts of its own
# among those that both have.
PAGE_CSS := $(addprefix viewer/page/,page.css look/look.css ranks/ranks.css print.css)
page_scripts = $(patsubst %,viewer/page/%.js,$(1))
PAGE_BASE := readable dom palette derived state controls editor chart $(addprefix table/,order long_table) flame/boxes
PAGE_JS_tail := $(call page_scripts,$(PAGE_BASE) data window_choice levels how_to_read table/line_order \
	resident_parts $(addprefix findings/,source run_facts finding_places finding_card findings) \
	marks timeline $(addprefix flame/,weights shown_stacks tree readout draw_flame sandwich flame) \
	$(addprefix table/,site site_line site_list) processes device_map device \
	$(addprefix ranks/,rank_words histogram rank_cells heat_map ranks_view) \
	$(addprefix comparison/,courses comparison changes difference) views live/keep live/carry live/live keys shown profile_page)
PAGE_JS_look := $(call page_scripts,$(PAGE_BASE) $(addprefix look/,look_data path_steps holder_tree icicle look_facts holder_list \
	look_verdict holder_course look_view) keys shown look/look_page)
D3 ?= /usr/share/nodejs/d3/dist/d3.min.js
TEST_BINS = $(TESTS:tests/%.c=$(BUILD)/tests/%)
SUBJECT_BINS := $(SUBJECTS:tests/subjects/%.c=$(BUILD)/subjects/%)
BENCH_BINS := $(BENCHES:tests/bench/%.c=$(BUILD)/bench/%)
FUZZ_BINS := $(FUZZERS:tests/fuzz/%.c=$(BUILD)/fuzz/%)
MAN_PAGES := $(PAGES:docs/man/%.txt=$(BUILD)/man/%.1)
# The sources of the manual pages and the completion.
TABLES := $(addprefix viewer/options/,options.def commands.def) $(addprefix libprof/,export/export_formats.def export/measures.def \
	print/check_formats.def $(addprefix words/,patterns.def severities.def process_roles.def spaces.def))
COMPLETION := $(BUILD)/completion.bash
PYTHON_FILES := $(patsubst preload/python/%,$(BUILD)/python/%,$(wildcard preload/python/seep/*.py preload/python/seep/*/*.py))

# A sanitizer's malloc conflicts with ours: such a build has no shim.
PRODUCTS := $(SEEP) $(SEEP_SHOW) $(if $(SAN),,$(if $(PRELOAD),$(SHIM))) $(MAN_PAGES) $(COMPLETION) $(PYTHON_FILES)

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SUFFIXES:
.SECONDARY:
.PHONY: all check check-frameworks gpu-torch gpu-check tests demo look-often look-strangers pictures peers zoo zoo-looks zoo-reports zoo-gpu mutate bench bench-jobs bench-cold fuzz fuzz-keep pages texts install clean help format FORCE

all: $(PRODUCTS) ## build seep, libseep.so and the manual pages (default)

# The lab, which is a second product, suites and packages keep their rules in their folders.
ifeq ($(WITHOUT_LAB),)
include kernels/rules.mk
endif
-include $(wildcard tests/*/rules.mk viewer/mpi/rules.mk packaging/*/rules.mk)

# ---- compiling ------------------------------------------------------------------------------

# Rebuild everything when the flags change.
FLAGS_NOW := $(CC) $(CXX) $(CXXFLAGS_ALL) $(CPPFLAGS_ALL) $(CFLAGS_ALL) $(LDFLAGS_ALL) $(SHIM_CFLAGS) $(SHIM_LIBS)
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

$(BUILD)/obj/shim/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(say) CC "$< (shim)"
	$(Q)$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) $(SHIM_CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/obj/tests/%.o: EXTRA_CFLAGS = $(CHECK_CFLAGS)

$(BUILD)/obj/%.o: %.cc $(BUILD)/flags
	@mkdir -p $(@D)
	$(say) CXX $<
	$(Q)$(CXX) $(CPPFLAGS_ALL) $(TOML_CFLAGS) $(CXXFLAGS_ALL) $(EXTRA_CXXFLAGS) -MMD -MP -c -o $@ $<

# Texts that are compiled in.
PAGE_PARTS := $(patsubst %,$(BUILD)/gen/page_%.html,head middle tail look)
$(PAGE_PARTS): $(BUILD)/gen/page_%.html: viewer/page/page.awk viewer/page/page.html \
		$(PAGE_CSS) $(PAGE_JS_tail) $(PAGE_JS_look) $(D3)
	@mkdir -p $(@D)
	$(say) GEN $@
	$(Q)awk -v part=$* -v css='$(PAGE_CSS)' -v js='$(PAGE_JS_$*)' -v d3=$(D3) -f $< viewer/page/page.html >$@

$(D3):
	$(Q)echo '$@ is missing: install node-d3, or name d3 version 5 with D3=FILE' >&2; false

$(BUILD)/obj/viewer/page/page_html.o: EXTRA_CFLAGS = -Wa,-I$(BUILD)/gen
$(BUILD)/obj/viewer/page/page_html.o: $(PAGE_PARTS)

# Without its comments, which each report would read.
$(BUILD)/gen/roles_toml.c: libprof/code/roles.toml
	@mkdir -p $(@D)
	$(say) GEN $@
	$(Q)sed -e '1i extern const char seep_roles_toml[];\nconst char seep_roles_toml[] =' -e '$$a ;' \
		-e '/^#/d' -e 's/[\\"]/\\&/g' -e 's/.*/"&\\n"/' $< >$@

# Formats of other tools that are protocol buffers.
PROTOS := $(patsubst libprof/export/%.proto,$(BUILD)/gen/%.pb-c,$(wildcard libprof/export/*.proto))
$(BUILD)/gen/%.pb-c.c $(BUILD)/gen/%.pb-c.h: libprof/export/%.proto
	@mkdir -p $(@D)
	$(say) GEN $@
	$(Q)protoc-c --proto_path=$(<D) --c_out=$(@D) $(<F)
$(call obj,$(wildcard libprof/export/*.c tests/export/*.c)): | $(PROTOS:=.h)

# The names of the variables that the launcher sets and the shim reads.
VARIABLES := $(BUILD)/gen/seep_variables.h
$(VARIABLES): viewer/options/tables.awk viewer/options/variables.awk viewer/options/options.def
	@mkdir -p $(@D)
	$(say) GEN $@
	$(Q)awk $(patsubst %.awk,-f %.awk,$^) >$@
$(call obj,viewer/run_options.c viewer/run.c) $(call shim_obj,preload/life/run_settings.c): | $(VARIABLES)

$(BUILD)/obj/gen/%.o: $(BUILD)/gen/%.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) -MMD -MP -c -o $@ $<

$(LIB): $(call obj,$(LIBPROF) $(if $(filter 1,$(MOVED)),tests/mutate/moved_thresholds.c)) $(BUILD)/obj/libprof/base/toml.o $(BUILD)/obj/gen/roles_toml.o $(PROTOS:$(BUILD)/gen/%=$(BUILD)/obj/gen/%.o)
	$(say) AR $@
	$(Q)rm -f $@ && $(AR) rcs $@ $^

# The shim exports exactly the names in its list of hooks and in seep.h.
$(BUILD)/gen/exports.map: preload/exports.awk libprof/format/hooks.def preload/seep.h
	@mkdir -p $(@D)
	$(say) GEN $@
	$(Q)awk -f $^ >$@

# What each event reads (SEEP_HOT) lies as these are linked: in one cache line, and only an import's is beyond.
SHIM_FIRST := preload/record/thread.c libprof/runtime/store/site_table.c libprof/runtime/store/arena.c libprof/runtime/store/live_blocks.c \
	preload/python/pyframe.c preload/job/job.c preload/record/record.c
$(SHIM): $(call shim_obj,$(SHIM_FIRST) $(filter-out $(SHIM_FIRST),$(PRELOAD) $(RUNTIME))) $(BUILD)/gen/exports.map
	$(say) LD $@
	$(Q)$(CC) -shared $(LDFLAGS_ALL) -Wl,-soname,libseep.so -Wl,-z,now -Wl,-z,relro -Wl,-z,defs -Wl,-z,initfirst -Wl,-z,noseparate-code \
		-Wl,--sort-section=name \
		-Wl,--version-script=$(filter %.map,$^) \
		-o $@ $(filter %.o,$^) $(SHIM_LIBS)

# The parts of the shim that override nothing of libc or CUDA, for tests and benchmarks.
$(SHIM_PARTS): $(call shim_obj,$(filter-out $(HOOKS),$(PRELOAD)))
	$(say) AR $@
	$(Q)rm -f $@ && $(AR) rcs $@ $^

# The command without its main(), also for tests.
$(VIEWER_LIB): $(call obj,$(filter-out viewer/main.c,$(VIEWER))) $(BUILD)/obj/gen/help_pages.o
	$(say) AR $@
	$(Q)rm -f $@ && $(AR) rcs $@ $^

# main() refers to the commands that show weakly, so they are linked in only where that is asked for.
SHOWING = -Wl,-u,seep_view_main,-u,seep_top_main,-u,seep_export_main $(VIEWER_LIBS)
$(SEEP): $(call obj,viewer/main.c) $(VIEWER_LIB) $(LIB)
	$(say) LD $@
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $^ $(if $(SEEP_SHOW),-Wl$(comma)--as-needed,$(SHOWING)) $(COMMAND_LIBS)

$(BUILD)/seep-show: $(call obj,viewer/main.c) $(VIEWER_LIB) $(LIB)
	$(say) LD $@
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $^ $(SHOWING) $(COMMAND_LIBS)

# The text of a command's page, filled from the tables, is the source of both its manual page and its help.
FILLED_PAGES := $(PAGES:docs/man/%=$(BUILD)/gen/man/%)
$(BUILD)/gen/man/%.txt: viewer/options/tables.awk docs/man/fill-page.awk $(TABLES) docs/man/%.txt
	@mkdir -p $(@D)
	$(say) GEN $@
	$(Q)awk $(patsubst %.awk,-f %.awk,$^) >$@

$(BUILD)/gen/help_pages.c: docs/man/pages-to-c.awk $(FILLED_PAGES) $(BUILD)/flags
	@mkdir -p $(@D)
	$(say) GEN $@
	$(Q)awk -f $(filter-out %/flags,$^) >$@

$(BUILD)/man/%.1: docs/man/page-to-roff.awk $(BUILD)/gen/man/%.txt
	@mkdir -p $(@D)
	$(say) MAN $@
	$(Q)awk -v version=$(VERSION) -f $^ >$@

$(COMPLETION): viewer/options/tables.awk viewer/options/completion.awk $(TABLES) viewer/options/completion.bash
	$(say) GEN $@
	$(Q)awk $(patsubst %.awk,-f %.awk,$^) >$@

$(BUILD)/python/%.py: preload/python/%.py
	@mkdir -p $(@D)
	$(Q)cp $< $@

# ---- tests ----------------------------------------------------------------------------------

define link_test
	@mkdir -p $(@D)
	$(say) LD $@
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $^ $(CHECK_LIBS) $(1) $(VIEWER_LIBS) $(LIBPROF_LIBS) -Wl,--as-needed -lunwind -ldl
endef
$(BUILD)/tests/%: $(BUILD)/obj/tests/%.o $(call obj,$(TEST_HELPERS)) $(VIEWER_LIB) $(SHIM_PARTS) $(LIB)
	$(call link_test)

# Subjects are ordinary programs: built plainly, without flags that would help a profiler. But GCC 16 leaves out calls of
# malloc and its kin whose results are not used.
NO_BUILTINS := $(addprefix -fno-builtin-,malloc calloc realloc free aligned_alloc posix_memalign)
$(BUILD)/subjects/%: tests/subjects/%.c
	@mkdir -p $(@D) $(BUILD)/obj/tests/subjects
	$(say) CC $@
	$(Q)$(CC) -std=c11 -D_GNU_SOURCE -I. -O2 -g -pthread -Wall -Wextra \
		$(NO_BUILTINS) -MMD -MP -MF $(BUILD)/obj/tests/subjects/$*.d -MT $@ -o $@ $< -ldl -lm

$(BUILD)/obj/tests/bench/report.o: EXTRA_CFLAGS = -DSEEP_PATH='"$(abspath $(SEEP))"'

$(BUILD)/bench/%: $(BUILD)/obj/tests/bench/%.o $(call obj,tests/profile_builder.c) $(SHIM_PARTS) $(LIB)
	@mkdir -p $(@D)
	$(say) LD $@
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $^ $(LIBPROF_LIBS) -lunwind -ldl

# Each fuzz target, over its saved corpus.
REPLAY_BINS := $(FUZZERS:tests/fuzz/%.c=$(BUILD)/replay/%)
define link_replay
	@mkdir -p $(@D)
	$(say) LD $@
	$(Q)$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) -DSEEP_CORPUS='"tests/fuzz/corpus/$*"' $(LDFLAGS_ALL) \
		-o $@ $^ $(1) $(LIBPROF_LIBS)
endef
$(BUILD)/replay/%: tests/fuzz/replay.c $(BUILD)/obj/tests/fuzz/%.o $(LIB)
	$(call link_replay)

tests: $(TEST_BINS) $(REPLAY_BINS) $(if $(SAN),,$(SUBJECT_BINS)) ## build the tests without running them

# Unit tests run a second time with the address and undefined-behaviour sanitizers; tests of tables that
# threads share, and of kernels, a third time with the thread sanitizer. Both cover the CUDA twins, too.
SAN_DIR := build/san-address-undefined
SAN_TESTS := $(if $(filter 0,$(CUDA)),$(TESTS),$(ALL_TESTS))
TSAN_DIR := build/san-thread
TSAN_TESTS := $(filter $(addprefix tests/,runtime/store/test_live_blocks.c runtime/store/test_site_table.c preload/test_walk.c \
	$(addprefix kernels/,compute/test_cuda_on_cpu.c splat/test_splat.c splat/test_splat_gradients.c \
	splat/test_splat_optimizer.c voxels/test_voxelize.c voxels/test_voxel_features.c voxels/test_voxel_ways.c)),$(SAN_TESTS))
# The rooms that those tests use: the thread sanitizer's build needs no others.
THREADED := $(filter $(foreach room,libprof/base libprof/runtime/store preload/objects preload/python preload/stack \
	kernels/compute kernels/formats kernels/splat kernels/voxels,$(room)/%),$(LIBPROF) $(PRELOAD) $(KERNELS))
THREADED_LIB := $(BUILD)/libthreaded.a
$(THREADED_LIB): $(call shim_obj,$(filter preload/%,$(THREADED))) $(call obj,$(filter-out preload/%,$(THREADED))) $(LAB_CUDA_OBJECTS)
	$(say) AR $@
	$(Q)rm -f $@ && $(AR) rcs $@ $^

ifeq ($(SAN),thread)
$(TSAN_TESTS:tests/%.c=$(BUILD)/tests/%): $(BUILD)/tests/%: $(BUILD)/obj/tests/%.o $(call obj,$(TEST_HELPERS)) $(THREADED_LIB)
	$(call link_test,$(LAB_LIBS) $(CUDA_LIBS))
endif

# Real pictures, point clouds and scenes are not in the repository: tests on them run only where they exist.
SEEP_DATA ?= $(wildcard ../shared/data)
check: all tests ## build and run every test; the last line counts them
	+$(Q)$(MAKE) --no-print-directory SAN=address,undefined all tests
	+$(Q)$(MAKE) --no-print-directory SAN=thread $(TSAN_TESTS:tests/%.c=$(TSAN_DIR)/tests/%)
	$(Q)$(if $(SEEP_DATA),SEEP_DATA=$(abspath $(SEEP_DATA))) SEEP=$(SEEP) SEEP_SAN=$(SAN_DIR)/seep $(PYTHON) tests/run-all --closing build/check.txt $(TEST_BINS) \
		$(SAN_TESTS:tests/%.c=$(SAN_DIR)/tests/%) $(FUZZERS:tests/fuzz/%.c=$(SAN_DIR)/replay/%) \
		$(TSAN_TESTS:tests/%.c=$(TSAN_DIR)/tests/%) \
		$(SCRIPT_TESTS)

pictures: all ## make the pictures of README.md and docs/tour.md again, in a real browser
	$(Q)SEEP=$(SEEP) $(PYTHON) tests/browser/pictures.py docs/pictures

# From PyPI; the venv sees the system's PyTorch. docs/beside-others.md says where the rest is from. Missing ones are skipped.
peers: all $(STANDIN_LIBS) ## ask memray's reports, PyTorch's memory_viz and "seep view" the same, and count the clicks
	$(Q)[ -x $(BUILD)/peers/venv/bin/memray ] || { /usr/bin/python3 -m venv --system-site-packages $(BUILD)/peers/venv && \
		$(BUILD)/peers/venv/bin/python -m pip install -q memray; } || echo "peers: memray cannot be had"
	$(Q)SEEP=$(SEEP) $(PYTHON) tests/peers/questions.py

# From PyPI; the venv sees the system's PyTorch. Missing packages are skipped.
STRANGERS := $(BUILD)/look-strangers/venv/bin/python
look-strangers: all ## "seep look" at a Jupyter kernel, web servers and trainings that nobody wrote for it
	$(Q)[ -x $(STRANGERS) ] || { /usr/bin/python3 -m venv --system-site-packages $(BUILD)/look-strangers/venv && \
		$(STRANGERS) -m pip install -q ipykernel jupyter_client flask gunicorn pympler "transformers<4.36" "accelerate<0.25" \
		"stable-baselines3<2.3" gymnasium; } || echo "look-strangers: not all can be had"
	$(Q)SEEP=$(abspath $(SEEP)) $(STRANGERS) tests/peers/look_strangers.py

LOOKS ?= 10000
look-often: all $(SUBJECT_BINS) ## look LOOKS times (10000) at a program that would notice (an hour and more)
	$(Q)SEEP=$(SEEP) SEEP_LOOKS=$(LOOKS) $(PYTHON) -m unittest -v tests.e2e.test_look_unnoticed

demo: $(SEEP) $(SEEP_SHOW) $(SHIM) $(MAN_PAGES) $(PYTHON_FILES) ## profile a PyTorch job that leaks, and show the line that keeps the memory
	$(Q)rm -rf build/demo.d
	$(Q)$(SEEP) run -o build/demo.d -- $(PYTHON) tests/zoo/annotation_cache.py --epochs 3 --images 600

zoo: all ## run the zoo's training jobs and hold the verdicts against their tables
	$(Q)SEEP=$(SEEP) $(PYTHON) tests/zoo/zoo.py

zoo-looks: all ## ask "seep look" who holds the memory of the zoo's jobs, leaking and fixed, not under seep (20 minutes)
	$(Q)status=0; for variant in "" --fixed; do SEEP=$(SEEP) $(PYTHON) -m tests.zoo.looks $$variant || status=1; done; exit $$status

# ROWS="NAME…" limits it to these rows, and prints who else notices.
MOVED_TESTS := $(patsubst tests/%.c,build/moved/tests/%,$(filter $(foreach room,judge measure model report signs who/find who/merge \
	who/ways,tests/$(room)/%),$(TESTS)))
mutate: ## move each threshold by half, both ways, and print who notices (two minutes, once it is built)
	+$(Q)$(MAKE) --no-print-directory MOVED=1 $(MOVED_TESTS)
	$(Q)$(PYTHON) tests/mutate/mutate.py $(if $(ROWS),--others $(ROWS))

zoo-reports: all ## run jobs written after public reports, and score what seep says of them (ten minutes)
	$(Q)SEEP=$(SEEP) $(PYTHON) tests/zoo/reports/score.py

# Two PyTorch wheels, on the stand-ins that "make gpu-torch" has put beside them.
zoo-gpu: all $(STANDIN_LIBS) ## the same for jobs on a GPU, with the wheels that make gpu-torch has installed
	$(Q)for v in 12 13; do at=$(BUILD)/gpu-torch/cu$$v; \
		if [ ! -x $$at/venv/bin/python ]; then echo "zoo-gpu: no PyTorch for CUDA $$v: make gpu-torch installs it"; \
		else echo "== PyTorch for CUDA $$v" && SEEP=$(SEEP) PYTHON=$$at/venv/bin/python $(PYTHON) \
			tests/zoo/reports/score.py --set gpu --env LD_LIBRARY_PATH=$(abspath $(STANDIN)/$$v):$(CURDIR)/$$at/lib || exit 1; fi; done

# From PyPI, 8 GB: python3 -m venv build/venv-frameworks, and there pip install jax tensorflow-cpu torch lightning
# transformers accelerate stable-baselines3 ultralytics-opencv-headless timm torch-geometric. What is missing is skipped.
check-frameworks: all ## trainings of JAX, Keras, Lightning and others, where build/venv-frameworks has them
	$(Q)SEEP=$(SEEP) $(PYTHON) tests/frameworks/frameworks.py

# From PyPI, 1.4 GB, or from the folder in WHEELS; skipped without either.
gpu-torch: all $(STANDIN_LIBS) $(REPORTS) ## PyTorch's wheels on stand-ins for two GPUs, held against PyTorch's own books
	$(Q)SEEP=$(SEEP) $(PYTHON) tests/gpu-torch/gpu_torch.py

gpu-check: $(PRODUCTS) ## all of it on a machine with a GPU and PyTorch ($$PYTHON), where nothing can be installed
	$(Q)SEEP=$(SEEP) PYTHON=$(PYTHON) $(PYTHON) tests/gpu-torch/gpu_check.py

bench: all $(BENCH_BINS) $(SUBJECT_BINS) ## cost per event by stage, memory per live block, what other programs cost more
	$(Q)for b in $(BENCH_BINS) $(BENCH_SCRIPTS); do echo "== $$b"; SEEP=$(SEEP) $$b || exit 1; done

bench-jobs: all $(BUILD)/bench/events ## whole jobs plain and recorded, by the clock and by the CPU
	$(Q)SEEP=$(SEEP) tests/bench/overhead

bench-cold: all $(BUILD)/subjects/training_step ## cost per event in cold caches, CPU and wall, and the lines that an event touches
	$(Q)SEEP=$(SEEP) tests/bench/cold_caches

# libFuzzer needs clang; libprof and the lab's readers are compiled once more, instrumented.
FUZZED := $(LIBPROF) $(filter kernels/formats/%,$(KERNELS))
$(BUILD)/fuzz/%: tests/fuzz/%.c $(FUZZED) $(wildcard libprof/*.h libprof/*/*.h libprof/*/*/*.h kernels/formats/*.h) $(BUILD)/obj/libprof/base/toml.o $(BUILD)/gen/roles_toml.c $(PROTOS:=.c)
	@mkdir -p $(@D)
	$(say) FUZZ $@
	$(Q)$(CLANG) -std=c11 $(CPPFLAGS_ALL) $(LIBPROF_CFLAGS) $(LAB_CFLAGS) -O1 -g \
		-fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined \
		-o $@ $< $(FUZZED) $(BUILD)/obj/libprof/base/toml.o $(BUILD)/gen/roles_toml.c $(PROTOS:=.c) $(LAB_LIBS) $(LIBPROF_LIBS)

fuzz: $(FUZZ_BINS) ## fuzz every reader, FUZZ_SECONDS each, from tests/fuzz/corpus on; finds go to build/fuzz/found
	$(Q)for f in $(FUZZERS:tests/fuzz/%.c=%); do \
		mkdir -p build/fuzz/grown/$$f build/fuzz/found && \
		$(BUILD)/fuzz/$$f -max_total_time=$(FUZZ_SECONDS) -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
			-artifact_prefix=build/fuzz/found/ build/fuzz/grown/$$f tests/fuzz/corpus/$$f || exit 1; done

fuzz-keep: $(FUZZ_BINS) ## add what `make fuzz` has found to reach new code to tests/fuzz/corpus
	$(Q)for f in $(FUZZERS:tests/fuzz/%.c=%); do \
		$(BUILD)/fuzz/$$f -merge=1 tests/fuzz/corpus/$$f build/fuzz/grown/$$f || exit 1; done

# ---- the rest -------------------------------------------------------------------------------

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

pages: ## make docs/patterns.md, and the lists in README.md and the schemas, from the tables
	@mkdir -p $(BUILD)
	$(Q)$(PYTHON) docs/patterns.py >$(BUILD)/patterns.md && cp $(BUILD)/patterns.md docs/patterns.md
	$(Q)$(PYTHON) docs/lists.py

texts: ## list all that users read, with its place, in build/texts.txt; counts what breaks rules of English
	@mkdir -p $(BUILD)
	$(Q)$(PYTHON) docs/texts.py >$(BUILD)/texts.txt

clean: ## remove build/
	rm -rf build

format: ## clang-format over all sources
	$(Q)find libprof preload viewer kernels tests -name '*.[ch]' -exec clang-format -i {} +

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-16s %s\n", $$1, $$2 }' $(filter-out %.d,$(MAKEFILE_LIST))
	@echo '  switches:  V=1 DEBUG=1 SAN=address,undefined COVERAGE=1 CUDA=auto|0|1|cpu MPI=auto|0 LAB=1|0 FUZZ_SECONDS=N'
	@echo '  LAB=0 leaves seep-lab out of tests and check, too'

-include $(shell find $(BUILD)/obj -name '*.d' 2>/dev/null)
