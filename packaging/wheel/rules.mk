# The wheels: seep for pip, one file for every CPython, and one for each machine. Everything in them is built by zig's
# compiler against glibc 2.28, with its libraries linked in: nothing of this machine is in them but the tools. Needs PyPI,
# and apt for Debian's sources.
WHEEL := build/wheel
WHEEL_HOME := packaging/wheel
WHEEL_PYTHON := $(WHEEL)/venv/bin/python
WHEEL_MACHINES := x86_64 aarch64
WHEEL_CC := $(abspath $(WHEEL_HOME)/zig-cc)
WHEEL_CXX := $(abspath $(WHEEL_HOME)/zig-c++)
WHEEL_ENV = ZIG=$$(echo $(abspath $(WHEEL))/venv/lib/python3*/site-packages/ziglang/zig) \
	ZIG_GLOBAL_CACHE_DIR=$(abspath $(WHEEL)/zig-cache) ZIG_LOCAL_CACHE_DIR=$(abspath $(WHEEL)/zig-cache) \
	SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) TZ=UTC LC_ALL=C.UTF-8
# The wheel that runs here.
WHEEL_HERE = build/dist/seep_profiler-$(VERSION)-py3-none-manylinux_2_28_$(shell uname -m).whl

wheel_step = $(WHEEL_HOME)/step.sh $(WHEEL)

# Steps say since when.
wheel-begun:
	@mkdir -p $(WHEEL) && touch $(WHEEL)/began

# The compiler decides the wheel's bytes, so its version is given; a new one builds all again.
$(WHEEL)/venv/done: $(WHEEL_HOME)/tools.txt | wheel-begun
	@mkdir -p $(@D)
	@$(wheel_step) 1 "the compiler and what packs the wheel, from PyPI"
	$(Q)rm -rf $(addprefix $(WHEEL)/,$(WHEEL_MACHINES))
	$(Q)$(PYTHON) -m venv --clear $(@D) && $(WHEEL_PYTHON) -m pip install -q -r $<
	@touch $@

$(WHEEL)/sources/done: $(WHEEL_HOME)/sources.sh | wheel-begun
	@mkdir -p $(@D)
	@$(wheel_step) 2 "sources of six libraries, from Debian"
	$(Q)$< $(@D) >$(@D)/log 2>&1 || { tail -n 20 $(@D)/log >&2; false; }
	@touch $@

$(WHEEL_MACHINES:%=$(WHEEL)/%/root/done): $(WHEEL)/%/root/done: $(WHEEL_HOME)/libraries.sh $(WHEEL_HOME)/zig-cc $(WHEEL)/venv/done $(WHEEL)/sources/done
	$(Q)$(WHEEL_ENV) ZIG_MACHINE=$* CC=$(WHEEL_CC) CXX=$(WHEEL_CXX) JOBS=2 STEP="$(wheel_step)" $< $(WHEEL)/sources $(@D)
	@touch $@

build/licenses/linked-in: $(WHEEL_HOME)/licenses.sh $(WHEEL)/sources/done $(WHEEL)/venv/done
	$(Q)$(WHEEL_ENV) $< $(WHEEL)/sources $(@D)

# The same Makefile, with another compiler and other libraries.
WHEEL_SEEP = $(WHEEL_ENV) ZIG_MACHINE=$* $(MAKE) --no-print-directory BUILD=$(WHEEL)/$*/seep MPI=0 ONE_PROGRAM=1 CC=$(WHEEL_CC) CXX=$(WHEEL_CXX) \
	OPT='-O2 -ffunction-sections -fdata-sections' WARN=-w CXXFLAGS=-w LDFLAGS='-s -Wl,--gc-sections' CPPFLAGS='$(addprefix -I$(WHEEL)/$*/root/include,/ /ncursesw)' \
	LIBPROF_CFLAGS= TOML_CFLAGS=-DTOML_HEADER_ONLY=1 \
	VIEWER_LIBS='-L$(WHEEL)/$*/root/lib $(addprefix -l:lib,ncursesw.a tinfo.a microhttpd.a)' \
	LIBPROF_LIBS='$(addprefix -l:lib,jansson.a dw.a elf.a protobuf-c.a z.a) -lc++ -lm'

$(addprefix wheel-,$(WHEEL_MACHINES)): wheel-%: $(WHEEL)/%/root/done build/licenses/linked-in | wheel-begun
	@ZIG_MACHINE=$* $(wheel_step) 8 "seep itself"
	+$(Q)$(WHEEL_SEEP) all
	@ZIG_MACHINE=$* $(wheel_step) 9 "the wheel"
	$(Q)rm -f build/dist/*_$*.whl && $(WHEEL_ENV) SEEP_WHEEL_PARTS=$(WHEEL)/$*/seep SEEP_WHEEL_MACHINE=$* \
		$(WHEEL_PYTHON) -m hatchling build -t wheel -d build/dist >/dev/null

wheel: $(addprefix wheel-,$(WHEEL_MACHINES)) ## make wheels of seep for pip, in build/dist, for x86-64 and 64-bit Arm: any CPython from 3.8, glibc from 2.28 (needs PyPI)
	@$(wheel_step) end $(WHEEL_MACHINES:%=build/dist/*_%.whl)

# Needs CPythons of several versions (~/.pyenv/versions), and nothing of the network but pytest.
wheel-check: wheel ## install that wheel in venvs of every CPython of this machine, and use it there
	$(Q)$(PYTHON) $(WHEEL_HOME)/check_wheel.py $(WHEEL_HERE)

wheel-suites: wheel $(SUBJECT_BINS) $(STANDIN_LIBS) ## run the tests from outside with what pip installs from that wheel (an hour)
	$(Q)$(PYTHON) $(WHEEL_HOME)/wheel_suites.py $(WHEEL_HERE)

wheel-debians: wheel ## use that wheel with the libc and Python of Debian 11, and of Debian sid (needs apt for their packages)
	$(Q)$(WHEEL_PYTHON) $(WHEEL_HOME)/check_debians.py $(WHEEL)/debians $(WHEEL_HERE)

.PHONY: wheel wheel-begun $(addprefix wheel-,$(WHEEL_MACHINES)) wheel-check wheel-suites wheel-debians
