# libprof.a: all that reads, judges and prints. Two of its sources are made.
LIB := $(BUILD)/libprof.a

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
$(call obj,$(wildcard libprof/export/*.c libprof/pprof/*.c tests/export/*.c tests/pprof/*.c)): | $(PROTOS:=.h)

$(LIB): $(call obj,$(LIBPROF) $(if $(filter 1,$(MOVED)),tests/mutate/moved_thresholds.c)) $(BUILD)/obj/libprof/base/toml.o $(BUILD)/obj/gen/roles_toml.o $(PROTOS:$(BUILD)/gen/%=$(BUILD)/obj/gen/%.o)
	$(say) AR $@
	$(Q)rm -f $@ && $(AR) rcs $@ $^
