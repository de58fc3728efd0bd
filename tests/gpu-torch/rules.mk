# What stands in front of seep to log what PyTorch's allocator reports.
REPORTS := $(BUILD)/tests/gpu-torch/reports.so
$(REPORTS): tests/gpu-torch/reports.c
	@mkdir -p $(@D)
	$(say) CC $@
	$(Q)$(CC) -std=c11 -D_GNU_SOURCE -O2 -fPIC -shared -Wall -Wextra -o $@ $< -ldl

# From PyPI, 1.4 GB, or from the folder in WHEELS; skipped without either.
gpu-torch: all $(STANDIN_LIBS) $(REPORTS) ## PyTorch's wheels on stand-ins for two GPUs, held against PyTorch's own books
	$(Q)SEEP=$(SEEP) $(PYTHON) tests/gpu-torch/gpu_torch.py

what-ifs: $(SEEP) $(STANDIN_LIBS) ## what PyTorch's allocator reserves by each setting, held against what seep says it would
	$(Q)SEEP=$(SEEP) $(PYTHON) tests/gpu-torch/what_ifs.py

# One wheel at a time, 13 GB in all.
snapshot-versions: $(SEEP) $(STANDIN_LIBS) ## memory snapshots as PyTorch's wheels from 1.13 on write them, against the table and PyTorch's books
	$(Q)SEEP=$(SEEP) $(PYTHON) tests/gpu-torch/snapshot_versions.py

gpu-check: all ## all of it on a machine with a GPU and PyTorch ($$PYTHON), where nothing can be installed
	$(Q)SEEP=$(SEEP) PYTHON=$(PYTHON) $(PYTHON) tests/gpu-torch/gpu_check.py

.PHONY: gpu-torch what-ifs snapshot-versions gpu-check
