# The order of memory: as a model, and on the processor itself. Needs no library, so it is built on a bare machine, too.
ORDER_SOURCES := tests/order/order_stress.c $(wildcard libprof/runtime/store/*.c) \
	preload/job/job.c preload/job/job_table.c preload/record/rss_sample.c
ORDER_STRESS := $(BUILD)/order-stress
ORDER_BUILD = $(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) -fno-omit-frame-pointer -o $@ $(ORDER_SOURCES) $(LDFLAGS_ALL)
# The same without any order: on 64-bit Arm it must be found out.
ORDER_BROKEN := $(BUILD)/order-broken
NO_ORDER := $(foreach order,RELEASE ACQUIRE ACQ_REL,-U__ATOMIC_$(order) -D__ATOMIC_$(order)=0)

$(ORDER_STRESS): $(ORDER_SOURCES) $(wildcard libprof/runtime/store/*.h libprof/format/*.h)
	@mkdir -p $(@D)
	$(say) LD $@
	$(Q)$(ORDER_BUILD)

$(ORDER_BROKEN): $(ORDER_STRESS)
	$(say) LD $@
	$(Q)$(ORDER_BUILD) $(NO_ORDER)

tests: $(if $(SAN),,$(ORDER_STRESS))

check-order: ## models of the live set and of the profile, by spin: what holds, and fails without each order (apt-get install spin; a minute)
	$(Q)command -v spin >/dev/null || { echo "check-order: there is no spin: apt-get install spin"; exit 1; }
	$(Q)$(PYTHON) -m unittest -v tests.order.check_models

# The first shows that the second can fail; the third, whether this processor needs what is there.
ORDER_SECONDS ?= 600
check-arm-order: $(ORDER_STRESS) $(ORDER_BROKEN) ## the order of memory on this processor, ORDER_SECONDS (600) of it: for 64-bit Arm; needs GCC alone
	$(Q)$(ORDER_STRESS) --torn --seconds 1 >/dev/null
	$(Q)$(ORDER_STRESS) --seconds $(ORDER_SECONDS)
	$(Q)if $(ORDER_BROKEN) --seconds 30; then echo "check-arm-order: without any order nothing was torn, either"; \
		else echo "check-arm-order: without any order it was torn, or ended: $$(uname -m) needs it"; fi

.PHONY: check-order check-arm-order
