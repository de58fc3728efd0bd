# Libraries that test_caller.c searches: two that give the function, and who needs which. No sanitizer, as of any library
# that a job brings.
MADE_UP := $(BUILD)/tests/device/made_up
MADE_UP_LIBS := $(patsubst %,$(MADE_UP)/lib%.so,one two needs_two needs_far needs_none)
MADE_UP_NEEDS = $(addprefix -l,$(patsubst lib%.so,%,$(filter lib%.so,$(^F))))

$(MADE_UP)/libone.so: MADE_UP_FLAGS := -DGIVES=100
$(MADE_UP)/libtwo.so: MADE_UP_FLAGS := -DGIVES=200
$(MADE_UP)/libneeds_two.so: $(MADE_UP)/libtwo.so
# What is nearer counts, though it is named later.
$(MADE_UP)/libneeds_far.so: $(MADE_UP)/libneeds_two.so $(MADE_UP)/libone.so

$(MADE_UP_LIBS): tests/device/made_up.c
	@mkdir -p $(@D)
	$(say) CC $@
	$(Q)$(CC) -std=c11 -O2 -fPIC -shared -fvisibility=hidden -Wall -Wextra $(MADE_UP_FLAGS) -Wl,-soname,$(@F) \
		-Wl,-rpath,'$$ORIGIN' -L$(@D) -o $@ $< -Wl,--no-as-needed $(MADE_UP_NEEDS)

$(BUILD)/tests/device/test_caller: | $(MADE_UP_LIBS)
