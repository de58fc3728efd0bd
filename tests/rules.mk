# Unit tests, the programs that others are about, and what `make check` runs.
ALL_TESTS := $(filter-out $(WITHOUT_LAB),$(wildcard tests/*/test_*.c tests/*/*/test_*.c tests/*/*/*/test_*.c))
# What CUDA_ON_CPU is, the lab's rules say.
TESTS = $(filter-out $(if $(CUDA_ON_CPU),,tests/kernels/%_on_cpu.c),$(ALL_TESTS))
TEST_HELPERS := $(wildcard tests/*.c)
SUBJECTS := $(wildcard tests/subjects/*.c)
SCRIPT_TESTS := $(filter-out $(WITHOUT_LAB),$(sort $(wildcard tests/*/test_*.py tests/*/run.sh)))
TEST_BINS = $(TESTS:tests/%.c=$(BUILD)/tests/%)
SUBJECT_BINS := $(SUBJECTS:tests/subjects/%.c=$(BUILD)/subjects/%)
CHECK_CFLAGS := $(call pkg,--cflags check)
CHECK_LIBS := $(call pkg,--libs check)

$(BUILD)/obj/tests/%.o: EXTRA_CFLAGS = $(CHECK_CFLAGS)
$(BUILD)/obj/tests/stack/test_frame_records.o: EXTRA_CFLAGS += -fno-asynchronous-unwind-tables -fno-unwind-tables

define link_test
	@mkdir -p $(@D)
	$(say) LD $@
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $^ $(CHECK_LIBS) $(1) $(VIEWER_LIBS) $(LIBPROF_LIBS) -Wl,--as-needed -lunwind -ldl \
		$(if $(filter $(LARGE_PAGES),$(@:$(BUILD)/tests/%=%)),-Wl$(comma)--wrap=seep_os_call6)
endef
# Their calls of the kernel go through one with larger pages.
LARGE_PAGES := runtime/store/test_large_pages runtime/store/test_own_pages runtime/store/test_map_set \
	snapshot/test_snapshot_drop record/test_rss_look
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

tests: $(TEST_BINS) $(if $(SAN),,$(SUBJECT_BINS)) ## build the tests without running them

# Unit tests run a second time with the address and undefined-behaviour sanitizers; tests of tables that
# threads share, and of kernels, a third time with the thread sanitizer. Both cover the CUDA twins, too.
SAN_DIR := build/san-address-undefined
SAN_TESTS := $(if $(filter 0,$(CUDA)),$(TESTS),$(ALL_TESTS))
TSAN_DIR := build/san-thread
TSAN_TESTS := $(filter $(addprefix tests/,runtime/store/test_live_blocks.c runtime/store/test_site_table.c stack/test_walk.c \
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
	+$(Q)$(MAKE) --no-print-directory DEBUG=1 build/debug/libseep.so
	+$(Q)$(MAKE) --no-print-directory SAN=thread $(TSAN_TESTS:tests/%.c=$(TSAN_DIR)/tests/%)
	+$(Q)$(if $(ARM_CHECKED),$(ARM_MAKE) all $(ARM_CHECKED))
	$(Q)$(if $(SEEP_DATA),SEEP_DATA=$(abspath $(SEEP_DATA))) SEEP=$(SEEP) SEEP_SAN=$(SAN_DIR)/seep $(PYTHON) tests/run-all --closing build/check.txt $(TEST_BINS) \
		$(SAN_TESTS:tests/%.c=$(SAN_DIR)/tests/%) $(FUZZERS:%=$(SAN_DIR)/replay/%) \
		$(TSAN_TESTS:tests/%.c=$(TSAN_DIR)/tests/%) \
		$(ARM_CHECKED) $(SCRIPT_TESTS)

# What is left out is the lab's, what starts jobs, and each second run with sanitizers.
UNIT_BINS = $(filter-out $(BUILD)/tests/kernels/%,$(TEST_BINS))
check-unit: all $(UNIT_BINS) ## build and run seep's unit tests alone (a minute, once they are built)
	$(Q)$(PYTHON) tests/run-all $(UNIT_BINS)

LOOKS ?= 10000
look-often: all $(SUBJECT_BINS) ## look LOOKS times (10000) at a program that would notice (an hour and more)
	$(Q)SEEP=$(SEEP) SEEP_LOOKS=$(LOOKS) $(PYTHON) -m unittest -v tests.e2e.test_look_unnoticed

.PHONY: tests check check-unit look-often
