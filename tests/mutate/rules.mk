# ROWS="NAME…" limits it to these rows, and prints who else notices.
MOVED_TESTS := $(patsubst tests/%.c,build/moved/tests/%,$(filter $(foreach room,measure model report verdict who/find who/merge \
	who/ways,tests/$(room)/%),$(TESTS)))
mutate: ## move each threshold by half, both ways, and print who notices (two minutes, once it is built)
	+$(Q)$(MAKE) --no-print-directory MOVED=1 $(MOVED_TESTS)
	$(Q)$(PYTHON) tests/mutate/mutate.py $(if $(ROWS),--others $(ROWS))

.PHONY: mutate
