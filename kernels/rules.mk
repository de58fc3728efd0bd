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
KERNELS_OBJECTS := $(call obj,$(KERNELS_SOURCES)) $(patsubst %,$(BUILD)/obj/%.o,$(LAB_CUDA:.cc=))
KERNELS_LIBS := $(BUILD)/libseep-kernels.so $(BUILD)/libseep-kernels.a
KERNELS_HEADERS := $(foreach header,$(PUBLIC_HEADERS),$(BUILD)/include/seep/$(notdir $(header)))

# A sanitizer's runtime belongs to the program.
WITH_KERNELS := $(if $(WITH_LAB),$(if $(SAN),,1))
all: $(if $(WITH_KERNELS),$(KERNELS_LIBS) $(KERNELS_HEADERS))

# Objects that can be part of any library. The shared one shows only what its list names.
LIBRARY_CFLAGS := -fPIC -fno-semantic-interposition -fvisibility=default
KERNEL_CFLAGS += $(LIBRARY_CFLAGS)
$(call obj,$(filter libprof/%,$(KERNELS_SOURCES))): EXTRA_CFLAGS = $(LIBRARY_CFLAGS)
NVCC_FLAGS += -Xcompiler -fPIC
CUDA_ON_CPU_FLAGS += -fPIC

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

install: $(if $(WITH_KERNELS),install-kernels)
install-kernels: all
	install -d $(addprefix $(DESTDIR)$(PREFIX)/,include/seep lib/pkgconfig)
	install -m 644 $(KERNELS_HEADERS) $(DESTDIR)$(PREFIX)/include/seep/
	install -m 755 $(BUILD)/$(KERNELS_SONAME) $(DESTDIR)$(PREFIX)/lib/
	ln -sf $(KERNELS_SONAME) $(DESTDIR)$(PREFIX)/lib/libseep-kernels.so
	install -m 644 $(BUILD)/libseep-kernels.a $(DESTDIR)$(PREFIX)/lib/
	sed -e 's,@PREFIX@,$(PREFIX),' -e 's,@VERSION@,$(VERSION),' -e 's,@LIBS@,$(if $(WITH_CUDA),$(CUDA_LIBS) -lstdc++),' \
		kernels/seep-kernels.pc.in >$(DESTDIR)$(PREFIX)/lib/pkgconfig/seep-kernels.pc

.PHONY: install-kernels
