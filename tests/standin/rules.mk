# Stand-ins for CUDA: a driver, three versions of its runtime, and NVML. No profiler's flag and no sanitizer: they
# are the other side of the tests.
STANDIN := $(BUILD)/tests/standin
STANDIN_DRIVER := $(wildcard tests/standin/driver*.c) $(addprefix tests/standin/,blocks.c conduct.c ledger.c)
STANDIN_RUNTIME := $(wildcard tests/standin/runtime*.c)
STANDIN_NVML := tests/standin/nvml.c tests/standin/ledger.c
STANDIN_CUDART := $(addprefix $(STANDIN)/,11/libcudart.so.11.0 12/libcudart.so.12 13/libcudart.so.13)
STANDIN_LIBS := $(STANDIN_CUDART) $(foreach v,11 12 13,$(addprefix $(STANDIN)/$(v)/,libcuda.so.1 libnvidia-ml.so.1))
STANDIN_CC = $(CC) -std=c11 -D_GNU_SOURCE -I. -O2 -g -pthread -fPIC -shared -Wall -Wextra -Wno-unused-parameter

$(STANDIN_CUDART): $(STANDIN_RUNTIME) $(wildcard tests/standin/*.h)
	@mkdir -p $(@D)
	$(say) CC $@
	$(Q)printf '$(@F) { global: cuda*; __cuda*; local: *; };\n' >$@.map && \
		$(STANDIN_CC) -DCUDA_MAJOR=$(notdir $(@D)) -fvisibility=hidden -Wl,-z,defs -Wl,-soname,$(@F) \
		-Wl,--version-script=$@.map -o $@ $(STANDIN_RUNTIME) -ldl

# One file with several names, so that two runtimes in a process have one driver.
$(STANDIN)/12/libcuda.so.1: $(STANDIN_DRIVER) $(wildcard tests/standin/*.h)
	@mkdir -p $(@D)
	$(say) CC $@
	$(Q)printf '{ global: cu*; standin_core; standin_used; standin_users; standin_live; local: *; };\n' >$@.map && \
		$(STANDIN_CC) -Wl,-soname,$(@F) -Wl,--version-script=$@.map -o $@ $(STANDIN_DRIVER) -ldl

$(STANDIN)/12/libnvidia-ml.so.1: $(STANDIN_NVML) $(wildcard tests/standin/*.h)
	@mkdir -p $(@D)
	$(say) CC $@
	$(Q)$(STANDIN_CC) -fvisibility=hidden -Wl,-z,defs -Wl,-soname,$(@F) -o $@ $(STANDIN_NVML) -ldl

$(foreach v,11 13,$(addprefix $(STANDIN)/$(v)/,libcuda.so.1 libnvidia-ml.so.1)): | $(STANDIN)/12/libcuda.so.1 $(STANDIN)/12/libnvidia-ml.so.1
	@mkdir -p $(@D)
	$(Q)ln -sf ../12/$(@F) $@

tests: $(if $(SAN),,$(STANDIN_LIBS))
