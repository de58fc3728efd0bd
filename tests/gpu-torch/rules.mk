# What stands in front of seep to log what PyTorch's allocator reports.
REPORTS := $(BUILD)/tests/gpu-torch/reports.so
$(REPORTS): tests/gpu-torch/reports.c
	@mkdir -p $(@D)
	$(say) CC $@
	$(Q)$(CC) -std=c11 -D_GNU_SOURCE -O2 -fPIC -shared -Wall -Wextra -o $@ $< -ldl
