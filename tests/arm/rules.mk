# seep for 64-bit Arm on a machine that is none: Debian's cross compiler, Debian's arm64 packages in a root of their own,
# and qemu. The same Makefile, with another compiler and other libraries; warnings are errors.
ARM := build/arm
ARM_ROOT := $(ARM)/root
ARM_SEEP := $(ARM)/seep
arm_compiler = $(filter ccache,$(CC)) $(1) --sysroot=$(abspath $(ARM_ROOT)) -isystem $(abspath $(ARM_ROOT))/usr/include/aarch64-linux-gnu
ARM_MAKE = PKG_CONFIG_LIBDIR=$(abspath $(ARM_ROOT))/usr/lib/aarch64-linux-gnu/pkgconfig PKG_CONFIG_SYSROOT_DIR=$(abspath $(ARM_ROOT)) \
	$(MAKE) --no-print-directory BUILD=$(ARM_SEEP) CUDA=0 MPI=0 CFLAGS=-Werror CXXFLAGS=-Werror \
	CC='$(call arm_compiler,aarch64-linux-gnu-gcc)' CXX='$(call arm_compiler,aarch64-linux-gnu-g++)'

# What asks the kernel about processes, filters or limits gets qemu's answers in user emulation, and of a map of 128 GiB it
# keeps a list of pages: these run in a machine of their own. The lab's scenarios take hours in either.
ARM_OF_MACHINE := $(addprefix $(ARM_SEEP)/tests/,kernels/compute/test_stream life/test_seccomp_filter runtime/program/test_memory_room \
	runtime/store/test_os runtime/store/test_own_pages runtime/store/test_vdso snapshot/test_snapshot_drop stack/test_frame_records \
	stack/test_walk viewer/test_ends viewer/test_reader_room who/blocks/test_live_blocks who/find/test_dump who/process/test_copy_memory \
	who/process/test_thread_places)
ARM_TESTS = $(patsubst $(BUILD)/%,$(ARM_SEEP)/%,$(filter-out $(BUILD)/tests/kernels/lab/%,$(TEST_BINS)))
ARM_UNITS = $(filter-out $(ARM_OF_MACHINE),$(ARM_TESTS))

# `make check` has these tests where all that they need is there already; test_cross.py says what is not.
ARM_NEEDS = $(shell command -v aarch64-linux-gnu-gcc) $(firstword $(shell command -v qemu-aarch64 qemu-aarch64-static)) $(wildcard $(ARM)/libraries)
ARM_CHECKED = $(if $(word 3,$(ARM_NEEDS)),$(ARM_UNITS))

arm-root:
	$(Q)$(PYTHON) tests/arm/arm_root.py $(ARM)

# The library alone needs the compiler, but no root.
arm-shim:
	+$(Q)$(ARM_MAKE) $(ARM_SEEP)/libseep.so

# The lab's CUDA code with an Arm host's compiler around it, where nvcc is: by the headers of this machine's toolkit, and not
# linked, since the libraries are of the toolkit for Arm ("sbsa").
arm-cuda: ## compile the lab's CUDA code for GPUs of 64-bit Arm machines
	+$(Q)$(ARM_MAKE) BUILD=$(ARM)/cuda CUDA=1 NVCC='$(or $(NVCC),$(error there is no nvcc)) -ccbin aarch64-linux-gnu-g++ $(patsubst %,-I$(dir $(NVCC))../include%,/ /cccl)' \
		$(patsubst %,$(ARM)/cuda/obj/%.o,$(wildcard kernels/*/*.cu))

check-arm: $(if $(NVCC),arm-cuda) | arm-root ## build seep for 64-bit Arm in a root of Debian's arm64 packages, and test it by emulation, as root (4 GB, hours; goes on where it was)
	+$(Q)$(ARM_MAKE) all tests
	$(Q)$(PYTHON) tests/arm/check_arm.py $(ARM) $(ARM_UNITS) -- $(filter $(ARM_OF_MACHINE),$(ARM_TESTS)) \
		-- $(addprefix $(ARM_SEEP)/tests/,$(LARGE_PAGES))

arm-instructions: all $(BUILD)/subjects/training_step ## what an event costs in instructions on 64-bit Arm and here, after `make check-arm`
	+$(Q)$(ARM_MAKE) all $(ARM_SEEP)/subjects/training_step
	$(Q)$(PYTHON) tests/arm/event_instructions.py $(ARM)

arm-kit: all tests $(BUILD)/bench/events ## on a 64-bit Arm machine: what only hardware settles (ten minutes of threads, and more)
	$(Q)$(PYTHON) tests/arm/arm_kit.py

.PHONY: arm-root arm-shim arm-cuda arm-instructions arm-kit check-arm
