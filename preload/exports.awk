# Writes the shim's version script: awk -f exports.awk hooks.def seep.h. Exported are the functions that it replaces
# and those that seep.h calls, each by its exact name: a pattern would also hide what a C++ job defines itself.
BEGIN {
    FS = "[(),\"]"
    print "/* Anonymous: a named version node would hide the hooks from callers that ask for another version. */"
    print "{\n    global:"
}

/^SEEP_HOOK\(/ || /^SEEP_DEFINE_\(/ { export($2) }
/SEEP_LOAD_\("/ { export($3) }

END { print "    local:\n        *;\n};" }

function export(name)
{
    if (!(name in exported))
        print "        " name ";"
    exported[name] = 1
}
