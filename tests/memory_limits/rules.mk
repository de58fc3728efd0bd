check-limits: all ## jobs at 60 to 98 % of a memory cgroup's limit: none that lives without seep is killed (as root, six minutes)
	$(Q)SEEP=$(abspath $(SEEP)) $(PYTHON) -m unittest -v tests.memory_limits.check_limits

# A kernel of its own, so any user may make cgroups in it.
check-limits-uml: all ## the same with version 2 of cgroups, in User-Mode Linux (apt-get install user-mode-linux; an hour)
	$(Q)command -v linux.uml >/dev/null || { echo "check-limits-uml: there is no linux.uml: apt-get install user-mode-linux"; exit 1; }
	$(Q)rm -f build/check-limits.status; mkdir -p build/uml
	$(Q)TMPDIR=$(CURDIR)/build/uml linux.uml mem=2500M root=/dev/root rootfstype=hostfs rootflags=/ rw quiet con=null \
		con0=null,fd:1 init=$(CURDIR)/tests/memory_limits/uml_init.sh TREE=$(CURDIR) SEEP=$(abspath $(SEEP)) \
		PYTHON=$$(command -v $(PYTHON)) </dev/null
	$(Q)[ "$$(cat build/check-limits.status)" = 0 ]

.PHONY: check-limits check-limits-uml
