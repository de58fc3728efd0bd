# ---- many nodes -------------------------------------------------------------------------------

FLEET_NODES ?= 10 100 1000 10000

$(BUILD)/tests/fleet/node_of: tests/fleet/node_of.c | $(BUILD)
	@mkdir -p $(@D)
	@echo "  CC       $<"
	$(Q)$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) -MMD -MP -MF $(BUILD)/obj/node_of.d -MT $@ -o $@ $<

.PHONY: fleet fleet-mpi
fleet: all $(BUILD)/tests/fleet/node_of ## digests of FLEET_NODES nodes of 72 processes: what making and merging them takes
	$(Q)rm -rf $(BUILD)/fleet
	$(Q)SEEP=$(SEEP) $(PYTHON) tests/fleet/fleet.py $(BUILD)/fleet --nodes $(FLEET_NODES)

# From PyPI: what a digest's tables are written and read with.
check-parquet: all ## a digest's tables as Parquet, read back by DuckDB and pandas, from PyPI
	$(Q)at=$(BUILD)/venv-parquet; [ -x $$at/bin/python ] || { $(PYTHON) -m venv $$at && $$at/bin/pip install -q pyarrow duckdb pandas; } && \
		SEEP=$(SEEP) SEEP_PARQUET=$(CURDIR)/$$at/bin/python $(PYTHON) -m unittest -v tests.cli.test_digest_tables

.PHONY: check-parquet

fleet-mpi: all $(SEEP_MPIS) ## the same over MPI, after "make fleet": the tree's depth, bytes a rank, times, for 1, 8 and 64 ranks
	$(Q)SEEP=$(abspath $(SEEP)) $(PYTHON) tests/fleet/fleet_mpi.py $(BUILD)/fleet
