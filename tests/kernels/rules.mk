# Tests of the lab, and the fuzzers of its readers.
$(BUILD)/tests/kernels/%: $(BUILD)/obj/tests/kernels/%.o $(call obj,$(TEST_HELPERS)) $(VIEWER_LIB) $(LAB_LIB) $(SHIM_PARTS) $(LIB)
	$(call link_test,$(LAB_LIBS) $(CUDA_LIBS))

$(LAB_FUZZERS:%=$(BUILD)/replay/%): $(BUILD)/replay/%: tests/fuzz/replay.c $(BUILD)/obj/tests/fuzz/%.o $(LAB_LIB) $(LIB) | $(CORPUS)/%
	$(call link_replay,$(LAB_LIBS) $(CUDA_LIBS))
