# ---- many nodes -------------------------------------------------------------------------------

FLEET_NODES ?= 10 100 1000 10000

$(BUILD)/tests/fleet/node_of: tests/fleet/node_of.c | $(BUILD)
	@mkdir -p $(@D)
	@echo "  CC       $<"
	$(Q)$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) -MMD -MP -MF $(BUILD)/obj/node_of.d -MT $@ -o $@ $<

.PHONY: fleet
fleet: all $(BUILD)/tests/fleet/node_of ## digests of FLEET_NODES nodes of 72 processes: what making and merging them takes
	$(Q)rm -rf $(BUILD)/fleet
	$(Q)SEEP=$(SEEP) $(PYTHON) tests/fleet/fleet.py $(BUILD)/fleet --nodes $(FLEET_NODES)
