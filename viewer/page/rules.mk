# The page that `seep view` fills: its parts in order, and d3 from Debian's node-d3. That of a look has scripts of its own
# among those that both have.
PAGE_CSS := $(addprefix viewer/page/,page.css look/look.css ranks/ranks.css print.css)
page_scripts = $(patsubst %,viewer/page/%.js,$(1))
PAGE_BASE := readable dom palette derived state controls editor chart $(addprefix table/,order long_table) flame/boxes
PAGE_JS_tail := $(call page_scripts,$(PAGE_BASE) data window_choice levels how_to_read table/line_order \
	resident_parts $(addprefix findings/,source run_facts finding_places finding_card findings) \
	marks timeline $(addprefix flame/,weights shown_stacks tree readout draw_flame sandwich flame) \
	$(addprefix table/,site site_line site_list) processes device_map device \
	$(addprefix ranks/,rank_words histogram rank_cells heat_map ranks_view) \
	$(addprefix comparison/,courses comparison changes difference) views live/keep live/carry live/live keys shown profile_page)
PAGE_JS_look := $(call page_scripts,$(PAGE_BASE) $(addprefix look/,look_data path_steps holder_tree icicle look_facts holder_list \
	look_verdict holder_course look_view) keys shown look/look_page)
D3 ?= /usr/share/nodejs/d3/dist/d3.min.js

PAGE_PARTS := $(patsubst %,$(BUILD)/gen/page_%.html,head middle tail look)
$(PAGE_PARTS): $(BUILD)/gen/page_%.html: viewer/page/page.awk viewer/page/page.html \
		$(PAGE_CSS) $(PAGE_JS_tail) $(PAGE_JS_look) $(D3)
	@mkdir -p $(@D)
	$(say) GEN $@
	$(Q)awk -v part=$* -v css='$(PAGE_CSS)' -v js='$(PAGE_JS_$*)' -v d3=$(D3) -f $< viewer/page/page.html >$@

$(D3):
	$(Q)echo '$@ is missing: install node-d3, or name d3 version 5 with D3=FILE' >&2; false

$(BUILD)/obj/viewer/page/page_html.o: EXTRA_CFLAGS = -Wa,-I$(BUILD)/gen
$(BUILD)/obj/viewer/page/page_html.o: $(PAGE_PARTS)
