# From PyPI. The check itself uses Debian's pytest.
check-pytest: all ## the pytest plugin's tests with pytest 7, 8 and 9, from PyPI
	$(Q)for v in 7 8 9; do at=$(BUILD)/pytest/$$v; \
		[ -x $$at/bin/pytest ] || { $(PYTHON) -m venv $$at && $$at/bin/pip install -q "pytest==$$v.*" pytest-xdist pytest-asyncio; } || exit 1; \
		echo "== pytest $$v" && SEEP=$(SEEP) SEEP_PYTEST=$(CURDIR)/$$at/bin/python $(PYTHON) -m unittest tests.pytest.test_pytest_plugin \
			tests.pytest.test_pytest_session || exit 1; done

.PHONY: check-pytest
