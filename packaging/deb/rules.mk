# A package for Debian and Ubuntu, made by their own helpers from what is committed. Its files are here and not in
# debian/, which the build makes of this folder in a tree of its own.
DEB := build/deb
DEB_HOME := packaging/deb

deb: ## make a Debian package of the last commit, in build/deb, and let lintian judge it (./bootstrap deb has the tools)
	$(say) DEB $(DEB)
	$(Q)dpkg-parsechangelog -l $(DEB_HOME)/changelog -S Version | grep -q '^$(VERSION)-' || \
		{ echo 'deb: the newest entry of $(DEB_HOME)/changelog is not of $(VERSION): add one' >&2; false; }
	$(Q)rm -rf $(DEB) && mkdir -p $(DEB)/tree && git archive HEAD | tar -x -C $(DEB)/tree && \
		cp -r $(DEB)/tree/$(DEB_HOME) $(DEB)/tree/debian
	$(Q)cd $(DEB)/tree && env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS dpkg-buildpackage -b -us -uc >../log 2>&1 || \
		{ tail -n 30 ../log >&2; false; }
	$(Q)lintian --allow-root --fail-on error,warning $(DEB)/*.changes
	$(Q)ls -l $(DEB)/*.deb

# Nothing is installed into the machine.
deb-check: deb ## unpack that package, and use it: run, report, its module, its plugin for pytest
	$(Q)$(PYTHON) $(DEB_HOME)/check_deb.py $(DEB)/seep-profiler_*_amd64.deb

.PHONY: deb deb-check
