# A package for Debian and Ubuntu, made by their own helpers from what is committed. Its files are here and not in
# debian/, which the build makes of this folder in a tree of its own.
DEB := build/deb
DEB_HOME := packaging/deb

# The last commit's files, with debian/, in a folder of this name.
define deb_tree
	$(Q)dpkg-parsechangelog -l $(DEB_HOME)/changelog -S Version | grep -q '^$(VERSION)-' || \
		{ echo 'deb: the newest entry of $(DEB_HOME)/changelog is not of $(VERSION): add one' >&2; false; }
	$(Q)rm -rf $(1) && mkdir -p $(1)/tree && git archive HEAD | tar -x -C $(1)/tree && \
		cp -r $(1)/tree/$(DEB_HOME) $(1)/tree/debian
endef

deb: ## make a Debian package of the last commit, in build/deb, and let lintian judge it (./bootstrap deb has the tools)
	$(say) DEB $(DEB)
	$(call deb_tree,$(DEB))
	$(Q)cd $(DEB)/tree && env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS dpkg-buildpackage -b -us -uc >../log 2>&1 || \
		{ tail -n 30 ../log >&2; false; }
	$(Q)lintian --allow-root --fail-on error,warning $(DEB)/*.changes
	$(Q)ls -l $(DEB)/*.deb

# Nothing is installed into the machine.
deb-check: deb ## unpack that package, and use it: run, report, its module, its plugin for pytest
	$(Q)$(PYTHON) $(DEB_HOME)/check_deb.py $(DEB)/seep-profiler_*.deb

# By Debian's cross compiler, as Debian cross-builds: in a root of its own, which has the libraries for arm64 beside the tools.
DEB_ARM := build/deb-arm64
deb-arm64: ## make the Debian package for 64-bit Arm in a root of its own, in build/deb-arm64, as root (./bootstrap deb-arm64 has the tools; 1.5 GB)
	$(Q)$(PYTHON) $(DEB_HOME)/cross_deb.py root $(DEB_ARM)
	$(say) DEB $(DEB_ARM)
	$(call deb_tree,$(DEB_ARM)/made)
	$(Q)$(PYTHON) $(DEB_HOME)/cross_deb.py build $(DEB_ARM)
	$(Q)ls -l $(DEB_ARM)/made/*.deb

.PHONY: deb deb-check deb-arm64
