# libseep.so, which a job loads, and its package for Python.
SHIM := $(BUILD)/libseep.so
SHIM_PARTS := $(BUILD)/libshim.a
HOOKS := $(wildcard preload/hooks/*.c preload/cuda/*.c) preload/life/start.c preload/lifecycle.c
PYTHON_FILES := $(patsubst preload/python/%,$(BUILD)/python/%,$(wildcard preload/python/seep/*.py preload/python/seep/*/*.py))

# No lazily allocated TLS, no lazy binding, and only the hooks are visible. What an event runs lies together, as it is linked.
SHIM_CFLAGS := -fPIC -ftls-model=initial-exec -fno-omit-frame-pointer -fno-semantic-interposition -fno-plt -fno-function-sections \
	-fno-data-sections
SHIM_LIBS :=

$(BUILD)/obj/shim/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(say) CC "$< (shim)"
	$(Q)$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) $(SHIM_CFLAGS) -MMD -MP -c -o $@ $<

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

$(BUILD)/python/%.py: preload/python/%.py
	@mkdir -p $(@D)
	$(Q)cp $< $@
