check-limits: all ## jobs at 60 to 98 % of a memory cgroup's limit: none that lives without seep is killed (as root, six minutes)
	$(Q)SEEP=$(abspath $(SEEP)) $(PYTHON) -m unittest -v tests.memory_limits.check_limits

.PHONY: check-limits
