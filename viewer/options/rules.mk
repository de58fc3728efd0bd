# The sources of the manual pages and the completion.
TABLES := $(addprefix viewer/options/,options.def commands.def) $(addprefix libprof/,export/export_formats.def export/measures.def \
	print/check_formats.def $(addprefix words/,patterns.def severities.def process_roles.def spaces.def))
COMPLETION := $(BUILD)/completion.bash

# The names of the variables that the launcher sets and the shim reads.
VARIABLES := $(BUILD)/gen/seep_variables.h
$(VARIABLES): viewer/options/tables.awk viewer/options/variables.awk viewer/options/options.def
	@mkdir -p $(@D)
	$(say) GEN $@
	$(Q)awk $(patsubst %.awk,-f %.awk,$^) >$@
$(call obj,$(wildcard viewer/*.c)) $(call shim_obj,$(wildcard preload/life/*.c)): | $(VARIABLES)

$(COMPLETION): viewer/options/tables.awk viewer/options/completion.awk $(TABLES) viewer/options/completion.bash
	$(say) GEN $@
	$(Q)awk $(patsubst %.awk,-f %.awk,$^) >$@
