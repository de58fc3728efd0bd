# The command.
SEEP := $(BUILD)/seep
# The commands that need VIEWER_LIBS or protocol buffers are a program of their own: their libraries load a dozen others.
# ONE_PROGRAM=1 is for libraries that are linked in.
SEEP_SHOW := $(if $(filter 1,$(ONE_PROGRAM)),,$(BUILD)/seep-show)
VIEWER_LIB := $(BUILD)/libviewer.a

VIEWER_LIBS := -lncursesw -ltinfo -lmicrohttpd
# To load libstdc++ takes as long as all other libraries of the command, at each start of it: what toml++ needs of it is
# linked in where the compiler has it as an archive.
STATIC_CXX := $(if $(strip $(VARIANT)),,$(findstring /,$(shell $(CXX) -print-file-name=libstdc++.a 2>/dev/null)))
COMMAND_LIBS = $(if $(and $(STATIC_CXX),$(filter -lstdc++,$(LIBPROF_LIBS))),-static-libgcc $(LIBPROF_LIBS:-lstdc++=-l:libstdc++.a),$(LIBPROF_LIBS))

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
