check-sandboxes: all $(BUILD)/tests/runtime/store/test_vdso ## "seep run" in gVisor and in User-Mode Linux, the latter as root (half a minute)
	$(Q)SEEP=$(abspath $(SEEP)) $(PYTHON) -m unittest -v tests.sandboxes.check_sandboxes

.PHONY: check-sandboxes
