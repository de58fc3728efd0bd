PAGES := $(filter-out docs/man/seep-lab.txt,$(wildcard docs/man/*.txt))
MAN_PAGES := $(PAGES:docs/man/%.txt=$(BUILD)/man/%.1)

# The text of a command's page, filled from the tables, is the source of both its manual page and its help.
FILLED_PAGES := $(PAGES:docs/man/%=$(BUILD)/gen/man/%)
$(BUILD)/gen/man/%.txt: viewer/options/tables.awk tools/fill-page.awk $(TABLES) docs/man/%.txt
	@mkdir -p $(@D)
	$(say) GEN $@
	$(Q)awk $(patsubst %.awk,-f %.awk,$^) >$@

$(BUILD)/gen/help_pages.c: tools/pages-to-c.awk $(FILLED_PAGES) $(BUILD)/flags
	@mkdir -p $(@D)
	$(say) GEN $@
	$(Q)awk -f $(filter-out %/flags,$^) >$@

$(BUILD)/man/%.1: tools/page-to-roff.awk $(BUILD)/gen/man/%.txt
	@mkdir -p $(@D)
	$(say) MAN $@
	$(Q)awk -v version=$(VERSION) -f $^ >$@
