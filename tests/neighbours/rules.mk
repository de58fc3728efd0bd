check-neighbours: $(SEEP) ## files that JAX really writes (from PyPI), read by seep
	$(Q)SEEP=$(SEEP) $(PYTHON) tests/neighbours/check.py

.PHONY: check-neighbours
