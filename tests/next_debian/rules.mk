check-sid: ## build and test with Debian's next release, in a root of its own below build/sid, as root (5 GB)
	$(Q)$(PYTHON) tests/next_debian/check_sid.py

.PHONY: check-sid
