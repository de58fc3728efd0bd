# The command.
SEEP := $(BUILD)/seep
# The commands that need VIEWER_LIBS or protocol buffers are a program of their own: their libraries load a dozen others.
# ONE_PROGRAM=1 is for libraries that are linked in.
SEEP_SHOW := $(if $(filter 1,$(ONE_PROGRAM)),,$(BUILD)/seep-show)
VIEWER_LIB := $(BUILD)/libviewer.a

VIEWER_LIBS := -lncursesw -ltinfo -lmicrohttpd
# To load libstdc++ takes as long as all other libraries of the command, at each start of it, and few commands read a heap
# profile of protocol buffers: what these two are needed for is linked in where the compiler has them as archives.
LINKED_IN := $(if $(strip $(VARIANT)),,$(foreach name,stdc++ protobuf-c,$(if $(findstring /,$(shell $(CXX) -print-file-name=lib$(name).a 2>/dev/null)),$(name))))
COMMAND_LIBS = $(if $(LINKED_IN),-static-libgcc) $(foreach lib,$(LIBPROF_LIBS),$(if $(filter $(lib:-l%=%),$(LINKED_IN)),-l:lib$(lib:-l%=%).a,$(lib)))

# The command without its main(), also for tests.
$(VIEWER_LIB): $(call obj,$(filter-out viewer/main.c,$(VIEWER))) $(BUILD)/obj/gen/help_pages.o
	$(say) AR $@
	$(Q)rm -f $@ && $(AR) rcs $@ $^

# main() refers to the commands that show weakly, so they are linked in only where that is asked for.
SHOWING = -Wl,-u,seep_view_main,-u,seep_top_main,-u,seep_export_main $(VIEWER_LIBS)
$(SEEP): $(call obj,viewer/main.c) $(VIEWER_LIB) $(LIB)
	$(say) LD $@
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $^ $(if $(SEEP_SHOW),-Wl$(comma)--as-needed,$(SHOWING)) $(COMMAND_LIBS)

$(BUILD)/seep-show: $(call obj,viewer/main.c) $(VIEWER_LIB) $(LIB)
	$(say) LD $@
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $^ $(SHOWING) $(COMMAND_LIBS)
