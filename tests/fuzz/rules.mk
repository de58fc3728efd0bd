# Each fuzz target, over its saved corpus; and with libFuzzer.
FUZZ_SECONDS ?= 60
ALL_FUZZERS := $(wildcard tests/fuzz/fuzz_*.c)
LAB_FUZZERS := $(shell grep -l '"kernels/' $(ALL_FUZZERS))
FUZZERS := $(filter-out $(if $(WITHOUT_LAB),$(LAB_FUZZERS)),$(ALL_FUZZERS))
FUZZ_BINS := $(FUZZERS:tests/fuzz/%.c=$(BUILD)/fuzz/%)
REPLAY_BINS := $(FUZZERS:tests/fuzz/%.c=$(BUILD)/replay/%)

define link_replay
	@mkdir -p $(@D)
	$(say) LD $@
	$(Q)$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) -DSEEP_CORPUS='"tests/fuzz/corpus/$*"' $(LDFLAGS_ALL) \
		-o $@ $^ $(1) $(LIBPROF_LIBS)
endef
$(BUILD)/replay/%: tests/fuzz/replay.c $(BUILD)/obj/tests/fuzz/%.o $(LIB)
	$(call link_replay)

tests: $(REPLAY_BINS)

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

.PHONY: fuzz fuzz-keep
