BENCHES := $(wildcard tests/bench/*.c)
BENCH_SCRIPTS := tests/bench/foreign tests/bench/holders tests/bench/device tests/bench/cold_caches tests/bench/overhead
BENCH_BINS := $(BENCHES:tests/bench/%.c=$(BUILD)/bench/%)

$(BUILD)/obj/tests/bench/report.o: EXTRA_CFLAGS = -DSEEP_PATH='"$(abspath $(SEEP))"'

$(BUILD)/bench/%: $(BUILD)/obj/tests/bench/%.o $(call obj,tests/profile_builder.c) $(SHIM_PARTS) $(LIB)
	@mkdir -p $(@D)
	$(say) LD $@
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $^ $(LIBPROF_LIBS) -lunwind -ldl

bench: all $(BENCH_BINS) $(SUBJECT_BINS) ## cost per event by stage, memory per live block, what other programs cost more
	$(Q)for b in $(BENCH_BINS) $(BENCH_SCRIPTS); do echo "== $$b"; SEEP=$(SEEP) $$b || exit 1; done

bench-jobs: all $(BUILD)/bench/events ## whole jobs plain and recorded, by the clock and by the CPU
	$(Q)SEEP=$(SEEP) tests/bench/overhead

bench-cold: all $(BUILD)/subjects/training_step ## cost per event in cold caches, CPU and wall, and the lines that an event touches
	$(Q)SEEP=$(SEEP) tests/bench/cold_caches

bench-snapshots: $(SEEP) ## reading a memory snapshot of PyTorch's, beside pickle.load()
	$(Q)SEEP=$(SEEP) $(PYTHON) tests/bench/torch_snapshot.py

.PHONY: bench bench-jobs bench-cold bench-snapshots
