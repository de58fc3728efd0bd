# seep-mpi, a program of its own: it is built where an MPI compiler is, and runs with that MPI only. MPI=0 leaves it
# out. Tests use Debian's Open MPI and MPICH side by side, each with a seep-mpi in a folder of its own.
MPI_SOURCES := $(wildcard viewer/mpi/*.c)
MPICC ?= $(firstword $(shell command -v mpicc 2>/dev/null))
NO_MPI := $(or $(filter 0,$(MPI)),$(SAN),$(filter 1,$(COVERAGE) $(MOVED)))
MPI_KINDS := $(if $(NO_MPI),,$(foreach kind,openmpi mpich,$(if $(shell command -v mpicc.$(kind) 2>/dev/null),$(kind))))
SEEP_MPI := $(if $(NO_MPI),,$(if $(MPICC),$(BUILD)/seep-mpi))
SEEP_MPIS := $(MPI_KINDS:%=$(BUILD)/mpi/%/seep-mpi)

# The wrappers of both MPIs take the compiler from the environment.
mpi_cc = OMPI_CC='$(CC)' MPICH_CC='$(CC)' $(1)

# One of each source for each compiler: $(1) is the program, $(2) the compiler.
define mpi_rules
$(1)-obj/%.o: %.c $(BUILD)/flags
	@mkdir -p $$(@D)
	$$(say) MPICC $$<
	$$(Q)$$(call mpi_cc,$(2)) $$(CPPFLAGS_ALL) $$(LIBPROF_CFLAGS) $$(CFLAGS_ALL) -MMD -MP -c -o $$@ $$<

$(1): $(MPI_SOURCES:%.c=$(1)-obj/%.o) $(VIEWER_LIB) $(LIB)
	$$(say) LD $$@
	$$(Q)$$(call mpi_cc,$(2)) $$(LDFLAGS_ALL) -Wl,--as-needed -o $$@ $$^ $(VIEWER_LIBS) $(LIBPROF_LIBS)

-include $(MPI_SOURCES:%.c=$(1)-obj/%.d)
endef
$(if $(SEEP_MPI),$(eval $(call mpi_rules,$(SEEP_MPI),$(MPICC))))
$(foreach kind,$(MPI_KINDS),$(eval $(call mpi_rules,$(BUILD)/mpi/$(kind)/seep-mpi,mpicc.$(kind))))

all: $(SEEP_MPI)
tests: $(SEEP_MPIS)
