# Each fuzz target, over its saved corpus; and with libFuzzer. A corpus is an archive, unpacked here.
FUZZ_SECONDS ?= 60
ALL_FUZZERS := $(patsubst tests/fuzz/%.c,%,$(wildcard tests/fuzz/fuzz_*.c))
LAB_FUZZERS := $(patsubst tests/fuzz/%.c,%,$(shell grep -l '"kernels/' $(ALL_FUZZERS:%=tests/fuzz/%.c)))
FUZZERS := $(filter-out $(if $(WITHOUT_LAB),$(LAB_FUZZERS)),$(ALL_FUZZERS))
FUZZ_BINS := $(FUZZERS:%=$(BUILD)/fuzz/%)
REPLAY_BINS := $(FUZZERS:%=$(BUILD)/replay/%)
CORPUS := build/fuzz/corpus

$(CORPUS)/%: tests/fuzz/corpus/%.tar
	$(Q)rm -rf $@ $@.new && mkdir -p $@.new && tar -xf $< -C $@.new && mv $@.new $@

define link_replay
	@mkdir -p $(@D)
	$(say) LD $@
	$(Q)$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) -DSEEP_CORPUS='"$(CORPUS)/$*"' $(LDFLAGS_ALL) \
		-o $@ $^ $(1) $(LIBPROF_LIBS)
endef
$(BUILD)/replay/%: tests/fuzz/replay.c $(BUILD)/obj/tests/fuzz/%.o $(LIB) | $(CORPUS)/%
	$(call link_replay)

tests: $(REPLAY_BINS)
# They read what one of the fuzzers begins with.
$(BUILD)/tests/page/test_page_look $(BUILD)/tests/print/test_look_text: | $(CORPUS)/fuzz_look_page

# libFuzzer needs clang; libprof and the lab's readers are compiled once more, instrumented.
FUZZED := $(LIBPROF) $(filter kernels/formats/%,$(KERNELS))
$(BUILD)/fuzz/%: tests/fuzz/%.c $(FUZZED) $(wildcard libprof/*.h libprof/*/*.h libprof/*/*/*.h kernels/formats/*.h) $(BUILD)/obj/libprof/base/toml.o $(BUILD)/gen/roles_toml.c $(PROTOS:=.c)
	@mkdir -p $(@D)
	$(say) FUZZ $@
	$(Q)$(CLANG) -std=c11 $(CPPFLAGS_ALL) $(LIBPROF_CFLAGS) $(LAB_CFLAGS) -O1 -g \
		-fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined \
		-o $@ $< $(FUZZED) $(BUILD)/obj/libprof/base/toml.o $(BUILD)/gen/roles_toml.c $(PROTOS:=.c) $(LAB_LIBS) $(LIBPROF_LIBS)

fuzz: $(FUZZ_BINS) $(FUZZERS:%=$(CORPUS)/%) ## fuzz every reader, FUZZ_SECONDS each, from tests/fuzz/corpus on; finds go to build/fuzz/found
	$(Q)for f in $(FUZZERS); do \
		mkdir -p build/fuzz/grown/$$f build/fuzz/found && \
		$(BUILD)/fuzz/$$f -max_total_time=$(FUZZ_SECONDS) -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
			-artifact_prefix=build/fuzz/found/ build/fuzz/grown/$$f $(CORPUS)/$$f || exit 1; done

fuzz-keep: $(FUZZ_BINS) $(FUZZERS:%=$(CORPUS)/%) ## add what `make fuzz` has found to reach new code to tests/fuzz/corpus
	$(Q)for f in $(FUZZERS); do mkdir -p build/fuzz/grown/$$f && \
		$(BUILD)/fuzz/$$f -merge=1 $(CORPUS)/$$f build/fuzz/grown/$$f || exit 1; done
	+$(Q)$(MAKE) --no-print-directory fuzz-pack

# The same files make the same archive.
fuzz-pack: $(FUZZERS:%=$(CORPUS)/%) ## write the archives of tests/fuzz/corpus anew from build/fuzz/corpus, where inputs can be added
	$(Q)for f in $(FUZZERS); do tar --format=ustar --sort=name --mode=644 --mtime=@0 --owner=0 --group=0 --numeric-owner \
		-C $(CORPUS)/$$f -cf tests/fuzz/corpus/$$f.tar $$(ls $(CORPUS)/$$f) || exit 1; done

.PHONY: fuzz fuzz-keep fuzz-pack
