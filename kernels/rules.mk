# seep-lab and libseep-kernels: a second product, which uses seep, and which seep does not use. `make lab` builds it.
KERNELS := $(wildcard kernels/*/*.c kernels/*/*/*.c)
SEEP_LAB := $(BUILD)/seep-lab
LAB_LIB := $(BUILD)/liblab.a
LAB_CFLAGS := $(call pkg,--cflags libjpeg libpng libzip)
LAB_LIBS := -ljpeg -lpng -lzip
LAB_PAGE := $(BUILD)/man/seep-lab.1

# Loops over many items, no traps and no errno; tail calls keep their frame, so that reports name
# the line. The user's CFLAGS come after it. Pictures that are equal to the last bit rely on fused
# products and sums, which the compiler makes from -O2 on.
KERNEL_CFLAGS := $(if $(filter 1,$(DEBUG)),,$(if $(SAN),-O2,-O3)) -fno-math-errno -fno-trapping-math -fno-optimize-sibling-calls

# CUDA twins are built where nvcc is (CUDA=1 insists, CUDA=0 leaves them out). With CUDA=cpu, and in
# sanitized builds, the C++ compiler takes them, and they run on the CPU (tests/cuda_on_cpu).
NVCC ?= $(firstword $(shell command -v nvcc 2>/dev/null) $(wildcard /usr/local/cuda/bin/nvcc))
NO_CUDA := $(filter 0,$(CUDA))
CUDA_ON_CPU := $(if $(NO_CUDA),,$(or $(filter cpu,$(CUDA)),$(if $(SAN),cpu)))
WITH_CUDA := $(or $(CUDA_ON_CPU),$(if $(NO_CUDA),,$(if $(NVCC),1,$(if $(filter 1,$(CUDA)),$(error CUDA=1, but there is no nvcc)))))
CUDA_ON_CPU_FLAGS := -Itests/cuda_on_cpu -Wno-unknown-pragmas -Wno-shadow \
	$(if $(findstring address,$(SAN)),-fsanitize-sections=cuda_shared)
# Machine code for the GPU generations in use, as far as nvcc knows them, and PTX for those between them and for later
# ones. Each takes as long as the first, so by default there is one of each major number, which runs on later minor ones;
# CUDA_ARCH=all has code for each, CUDA_ARCH=90 for one.
NVCC_KNOWS := $(if $(filter 1,$(WITH_CUDA)),$(patsubst sm_%,%,$(shell $(NVCC) --list-gpu-code 2>/dev/null)))
CUDA_ARCH ?= $(or $(filter $(NVCC_KNOWS),75 80 90 100 120),80 90)
CUDA_ALL := $(filter $(NVCC_KNOWS),75 80 86 89 90 100 120 121)
NVCC_ARCH = $(foreach a,$(if $(filter all,$(CUDA_ARCH)),$(CUDA_ALL),$(CUDA_ARCH)),-gencode 'arch=compute_$(a)$(comma)code=[sm_$(a)$(comma)compute_$(a)]')
NVCC_FLAGS := -std=c++17 -O3 -lineinfo -Xcompiler -fvisibility=hidden,-Wall,-Wextra
CUDA_LIBS := $(if $(filter 1,$(WITH_CUDA)),-L$(dir $(NVCC))../lib64 -lcudart_static -lrt -ldl -lstdc++)
LAB_CUDA := $(if $(WITH_CUDA),$(wildcard kernels/*/*.cu)) $(if $(CUDA_ON_CPU),$(wildcard tests/cuda_on_cpu/*.cc))
LAB_CUDA_OBJECTS := $(patsubst %,$(BUILD)/obj/%.o,$(LAB_CUDA:.cc=))

# libseep-kernels: the kernels and the readers as a library, shared and static, for other programs than seep-lab. Its
# headers include each other by name alone: they are one folder, seep/, which needs no other.
KERNELS_SONAME := libseep-kernels.so.0
PUBLIC_HEADERS := libprof/base/error.h kernels/compute/stream.h kernels/voxels/voxelize.h \
	$(patsubst %,kernels/splat/%.h,splat splat_adam splat_loss splat_scales splat_ssim) \
	$(patsubst %,kernels/formats/%.h,ply ply_types gaussian_ply colmap colmap_types nerf nerf_types scannet scannet_types \
	coco coco_types image image_types npy npz)
# What times the kernels, or is what they are held against, stays in seep-lab.
OF_THE_LAB := %_bench.c %_bench_room.c %_baseline.c %_race.c %_inputs.c %_garden.c kernels/splat/splat_reference%
KERNELS_SOURCES := libprof/base/error.c libprof/base/text.c \
	$(filter-out kernels/lab/% $(OF_THE_LAB),$(KERNELS))
KERNELS_OBJECTS := $(call obj,$(filter kernels/%,$(KERNELS_SOURCES))) \
	$(patsubst %.c,$(BUILD)/obj/library/%.o,$(filter libprof/%,$(KERNELS_SOURCES))) $(LAB_CUDA_OBJECTS)
KERNELS_LIBS := $(BUILD)/libseep-kernels.so $(BUILD)/libseep-kernels.a
KERNELS_HEADERS := $(foreach header,$(PUBLIC_HEADERS),$(BUILD)/include/seep/$(notdir $(header)))

# A sanitizer's runtime belongs to the program.
LAB_PRODUCTS := $(SEEP_LAB) $(LAB_PAGE) $(if $(SAN),,$(KERNELS_LIBS) $(KERNELS_HEADERS))
lab: all $(LAB_PRODUCTS) ## build seep-lab and libseep-kernels as well (./bootstrap lab installs what they need)
tests: lab

# Objects that can be part of any library. The shared one shows only what its list names.
LIBRARY_CFLAGS := -fPIC -fno-semantic-interposition -fvisibility=default
KERNEL_CFLAGS += $(LIBRARY_CFLAGS)
NVCC_FLAGS += -Xcompiler -fPIC
CUDA_ON_CPU_FLAGS += -fPIC

$(BUILD)/obj/library/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(say) CC "$< (library)"
	$(Q)$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) $(LIBRARY_CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/$(KERNELS_SONAME): $(KERNELS_OBJECTS) kernels/exports.map
	$(say) LD $@
	$(Q)$(CC) -shared $(LDFLAGS_ALL) -Wl,-soname,$(@F) -Wl,-z,relro -Wl,-z,defs -Wl,-Bsymbolic-functions -Wl,--as-needed \
		-Wl,--version-script=$(filter %.map,$^) -o $@ $(filter %.o,$^) $(LAB_LIBS) -ljansson $(CUDA_LIBS) -lstdc++ -lm

$(BUILD)/libseep-kernels.so: $(BUILD)/$(KERNELS_SONAME)
	$(Q)ln -sf $(<F) $@

$(BUILD)/libseep-kernels.a: $(KERNELS_OBJECTS)
	$(say) AR $@
	$(Q)rm -f $@ && $(AR) rcs $@ $^

define kernels_header
$(BUILD)/include/seep/$(notdir $(1)): $(1)
	@mkdir -p $$(@D)
	$$(Q)sed 's,^#include ".*/,#include ",' $$< >$$@
endef
$(foreach header,$(PUBLIC_HEADERS),$(eval $(call kernels_header,$(header))))

# Flags of the lab alone: when they change, seep is not built again.
LAB_FLAGS_NOW := $(if $(WITH_CUDA),$(or $(CUDA_ON_CPU),$(NVCC) $(NVCC_FLAGS) $(NVCC_ARCH))) $(KERNEL_CFLAGS)
$(BUILD)/lab-flags: FORCE
	$(call note_flags,$(LAB_FLAGS_NOW))
$(call obj,$(KERNELS)) $(LAB_CUDA_OBJECTS): $(BUILD)/lab-flags

$(BUILD)/obj/tests/cuda_on_cpu/%.o: EXTRA_CXXFLAGS = $(CUDA_ON_CPU_FLAGS)

$(BUILD)/obj/kernels/%.o: EXTRA_CFLAGS = $(LAB_CFLAGS) $(KERNEL_CFLAGS) $(CFLAGS) $(if $(WITH_CUDA),-DSEEP_WITH_CUDA)

# The manual page of seep-lab is included as it is (.incbin).
$(BUILD)/obj/kernels/lab/lab_page.o: docs/man/seep-lab.txt

$(BUILD)/obj/kernels/%.cu.o: kernels/%.cu $(BUILD)/flags
	@mkdir -p $(@D)
	$(say) $(if $(CUDA_ON_CPU),CXX,NVCC) $<
	$(Q)$(if $(CUDA_ON_CPU),$(CXX) $(CPPFLAGS_ALL) $(CXXFLAGS_ALL) $(CUDA_ON_CPU_FLAGS) -x c++,\
		$(NVCC) $(NVCC_FLAGS) $(NVCC_ARCH) -I.) -MMD -MP -MF $(@:.o=.d) -c -o $@ $<

# The lab without its main(), also for tests.
$(LAB_LIB): $(call obj,$(filter-out kernels/lab/lab_main.c,$(KERNELS))) $(LAB_CUDA_OBJECTS)
	$(say) AR $@
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(SEEP_LAB): $(call obj,kernels/lab/lab_main.c) $(LAB_LIB) $(LIB)
	$(say) LD $@
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $^ $(LAB_LIBS) $(LIBPROF_LIBS) $(CUDA_LIBS)

# ROWS="NAME…": scenarios or constants.
mutants: lab ## move each constant of the lab's scenarios, both ways, and print which rows notice (ten minutes with ccache)
	$(Q)$(PYTHON) tests/mutants/mutants.py $(ROWS)

# numba and Open3D from PyPI (400 MB); the venv sees the system's NumPy and PyTorch. Missing ones are left out.
VOXEL_PEERS := $(BUILD)/voxel-peers/venv/bin/python
bench-voxels-peers: lab ## time voxels beside numba, torch.unique and Open3D
	$(Q)[ -x $(VOXEL_PEERS) ] || { /usr/bin/python3 -m venv --system-site-packages $(BUILD)/voxel-peers/venv && \
		$(VOXEL_PEERS) -m pip install -q numba open3d; } || echo "bench-voxels-peers: not all can be had"
	$(Q)$(if $(SEEP_DATA),SEEP_DATA=$(abspath $(SEEP_DATA))) SEEP_LAB=$(SEEP_LAB) $(VOXEL_PEERS) tests/bench/voxel_peers.py

# Libraries missing on a machine without Debian's packages; the C library is the machine's own.
gpu-kit: tests ## gather in build/lib what tests/on-gpu needs on a machine with a GPU and nothing else installed
	$(Q)mkdir -p $(BUILD)/lib && ldd $(SEEP) $(SEEP_SHOW) $(SEEP_LAB) $(TEST_BINS) | awk '$$3 ~ /^\// { print $$3 }' | sort -u | \
		grep -v '/lib\(c\|m\|dl\|rt\|pthread\)\.so' | xargs cp -Lt $(BUILD)/lib

lab-gpu: tests ## what needs a GPU: the kernels' tests, scenarios and timings on it
	$(Q)$(if $(SEEP_DATA),SEEP_DATA=$(abspath $(SEEP_DATA))) tests/on-gpu $(BUILD)

# What was built is installed: after `make lab`, this too.
install: $(if $(wildcard $(SEEP_LAB)),install-lab)
install-lab: lab install-kernels ## install seep-lab and libseep-kernels under PREFIX
	install -d $(addprefix $(DESTDIR)$(PREFIX)/,bin share/man/man1 share/bash-completion/completions)
	install -m 755 $(SEEP_LAB) $(DESTDIR)$(PREFIX)/bin/
	install -m 644 $(LAB_PAGE) $(DESTDIR)$(PREFIX)/share/man/man1/
	install -m 644 $(COMPLETION) $(DESTDIR)$(PREFIX)/share/bash-completion/completions/seep-lab

install-kernels: lab
	install -d $(addprefix $(DESTDIR)$(PREFIX)/,include/seep lib/pkgconfig)
	install -m 644 $(KERNELS_HEADERS) $(DESTDIR)$(PREFIX)/include/seep/
	install -m 755 $(BUILD)/$(KERNELS_SONAME) $(DESTDIR)$(PREFIX)/lib/
	ln -sf $(KERNELS_SONAME) $(DESTDIR)$(PREFIX)/lib/libseep-kernels.so
	install -m 644 $(BUILD)/libseep-kernels.a $(DESTDIR)$(PREFIX)/lib/
	sed -e 's,@PREFIX@,$(PREFIX),' -e 's,@VERSION@,$(VERSION),' -e 's,@LIBS@,$(if $(WITH_CUDA),$(CUDA_LIBS) -lstdc++),' \
		kernels/seep-kernels.pc.in >$(DESTDIR)$(PREFIX)/lib/pkgconfig/seep-kernels.pc

.PHONY: lab mutants bench-voxels-peers gpu-kit lab-gpu install-lab install-kernels
