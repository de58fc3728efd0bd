#!/bin/bash
# seep.sh STEP: the steps of action.yml. Their inputs are variables, SEEP_ACTION_…, so that no text of a workflow
# becomes a part of a script.
set -euo pipefail

# An annotation of the workflow's run: annotate error|warning TEXT
annotate() {
    local text=${2//'%'/%25}
    text=${text//$'\r'/%0D}
    printf '::%s title=seep::%s\n' "$1" "${text//$'\n'/%0A}"
}

fail() {
    annotate error "$2"
    exit "$1"
}

output() {
    printf '%s=%s\n' "$1" "$2" >>"$GITHUB_OUTPUT"
}

# Standard input becomes a block that nothing in it can end.
quoted() {
    echo
    sed 's/^/    /'
    echo
}

# Cuts $1 into `words`, by quotes and backslashes as a shell does. Nothing in it is expanded or run.
cut_words() {
    local cut
    cut=$(mktemp)
    xargs -r printf '%s\0' <<<"$1" >"$cut" || fail 2 "these options end within quotes: $1"
    mapfile -d '' -t words <"$cut"
    rm -f "$cut"
}

any_python() {
    if type -P python >/dev/null; then python "$@"; else python3 "$@"; fi
}

install() {
    if type -P seep; then
        return
    fi
    local what=$SEEP_ACTION_INSTALL
    if [ -z "$what" ]; then
        what=$(realpath "$GITHUB_ACTION_PATH/../../..")
        "$what/bootstrap" all BUILD=build/pip
    fi
    any_python -m pip install -- "$what"
    type -P seep || fail 2 "pip has installed seep outside of PATH: add actions/setup-python before this action"
}

plan() {
    local name=$SEEP_ACTION_NAME base=${GITHUB_BASE_REF:-$GITHUB_REF_NAME} key
    [[ $name =~ ^[A-Za-z0-9_-][A-Za-z0-9._-]*$ ]] || fail 2 "name: $name: use letters, digits, dots, dashes only"
    [ -n "$SEEP_ACTION_RUN$SEEP_ACTION_PYTEST" ] || fail 2 "there is nothing to record: give run or pytest"
    [ -z "$SEEP_ACTION_RUN" ] || [ -z "$SEEP_ACTION_PYTEST" ] || fail 2 "give either run or pytest, not both"

    local folder=$RUNNER_TEMP/seep-$name
    rm -rf "$folder"
    mkdir -p "$folder"
    output folder "$folder"
    output baseline "$folder/baseline.d"
    if [ -n "$SEEP_ACTION_RUN" ]; then
        output profile "$folder/profile.d"
    else
        output profile "$folder/pytest/session.d"
    fi
    # Keys must have no comma; names of branches have neither : nor ^.
    key="seep:$name:${base//,/^}:"
    output key "$key$GITHUB_RUN_ID-$GITHUB_RUN_ATTEMPT"
    output older-keys "$key"
}

# Sets `command`: a program with plain arguments is the job itself, anything else a script as `run:` has it.
make_command() {
    read -ra command <<<"$1"
    [[ $1 =~ ^[[:alnum:][:blank:]_./,:@%+=-]+$ ]] && [ "$(type -t -- "${command[0]}")" = file ] ||
        command=(bash --noprofile --norc -eo pipefail -c "$1")
}

record() {
    local job=$SEEP_ACTION_RUN tests=$SEEP_ACTION_PYTEST status=0
    local folder=$SEEP_ACTION_FOLDER profile=$SEEP_ACTION_PROFILE
    # The job's environment is the workflow's.
    unset "${!SEEP_ACTION_@}"
    if [ -n "$job" ]; then
        make_command "${job%$'\n'}"
        seep run -q -o "$profile" -- "${command[@]}" || status=$?
    else
        cut_words "$tests"
        any_python -m pytest --seep --seep-dir="$folder/pytest" "${words[@]}" || status=$?
    fi
    [ "$status" -eq 0 ] || annotate error "The job ended with status $status."
    output status "$status"
}

# Runs `seep check`; sets `result` to its status and `why` to what it complains about.
check() {
    result=0
    seep check "${against[@]}" "${words[@]}" "$@" "$SEEP_ACTION_PROFILE" 2>"$SEEP_ACTION_FOLDER/why" || result=$?
    why=$(<"$SEEP_ACTION_FOLDER/why")
    rm -f "$SEEP_ACTION_FOLDER/why"
}

# A baseline that was asked for must fit. One that was found need not: the job may have changed.
check_against_baseline() {
    case $SEEP_ACTION_BASELINE in
    none) ;;
    '') [ ! -d "$SEEP_ACTION_FOUND" ] || against=(--baseline "$SEEP_ACTION_FOUND") ;;
    *) against=(--baseline "$SEEP_ACTION_BASELINE") ;;
    esac
    check
    if [ "$result" -ge 2 ] && [ -z "$SEEP_ACTION_BASELINE" ] && [ "${#against[@]}" -gt 0 ]; then
        local misfit=$why
        against=()
        check
        [ "$result" -ge 2 ] || annotate warning "Not compared with the base branch: $misfit"
    fi
}

# A path as SARIF has it: what is neither unreserved nor a slash becomes %XX.
uri_path() {
    local LC_ALL=C i c
    for ((i = 0; i < ${#1}; i++)); do
        c=${1:i:1}
        case $c in
        [A-Za-z0-9._~/-]) printf '%s' "$c" ;;
        *) printf '%%%02X' $(($(printf '%d' "'$c") & 255)) ;;
        esac
    done
}

# GitHub takes the relative paths of SARIF to be below the repository's root, not below the working directory.
place_in_repository() {
    local root below workspace
    workspace=$(uri_path "$GITHUB_WORKSPACE")
    root=$(sed -n 's|^ *"uri": "file://\(.*\)/"$|\1|p' "$1")
    below=${root#"$workspace"/}
    if [ "$below" != "$root" ]; then
        sed -i -e "s|\"uri\": \"file://$root/\"|\"uri\": \"file://$workspace/\"|" \
            -e "/\"uri\": \"file:/!s|^\( *\"uri\": \"\)|\1$below/|" "$1"
    fi
}

# Tests with a mark that failed have a folder each, with the words of their failure.
show_failed_tests() {
    local words_of_failure folder
    while IFS= read -r -d '' words_of_failure; do
        folder=$(dirname "$words_of_failure")
        quoted <"$words_of_failure" >>"$GITHUB_STEP_SUMMARY"
        seep view "$folder/profile.d" -o "$1/$(basename "$folder").html" || true
    done < <(find "$SEEP_ACTION_FOLDER/pytest" -name failure.txt -print0 2>/dev/null | sort -z)
}

# Sets `result` to 0 if that is all right: a session may have too few tests to be judged, while each mark has been.
show_why() {
    { echo "### seep could not judge this run" && quoted <<<"$why"; } >>"$GITHUB_STEP_SUMMARY"
    if [ -n "$SEEP_ACTION_PYTEST" ] && [ -z "$SEEP_ACTION_CHECK$SEEP_ACTION_BASELINE" ]; then
        annotate warning "The session as a whole was not judged, only tests with a mark were: $why"
        result=0
    else
        annotate error "The memory of this run could not be judged: $why"
    fi
}

judge() {
    local folder=$SEEP_ACTION_FOLDER status=$SEEP_ACTION_STATUS result why words against=()
    cut_words "$SEEP_ACTION_CHECK"
    check_against_baseline
    if [ "$result" -ge 2 ]; then
        show_why
    else
        check --format markdown >>"$GITHUB_STEP_SUMMARY"
        check --format sarif -o "$folder/seep.sarif"
        place_in_repository "$folder/seep.sarif"
        output sarif "$folder/seep.sarif"
        output findings "$(grep -c '^ *"id": "F[0-9]*"' "$folder/seep.sarif" || true)"
    fi

    mkdir -p "$folder/pages"
    if seep view "$SEEP_ACTION_PROFILE" -o "$folder/pages/seep.html"; then
        output page "$folder/pages/seep.html"
        output pages "$folder/pages"
    fi
    show_failed_tests "$folder/pages"

    if [ "$status" -eq 0 ] && [ -f "$folder/seep.sarif" ] && [ -z "$SEEP_ACTION_BASELINE" ] &&
        [ "$GITHUB_EVENT_NAME" = push ] && [ "$GITHUB_REF_TYPE" = branch ]; then
        rm -rf "$SEEP_ACTION_FOUND"
        cp -a "$SEEP_ACTION_PROFILE" "$SEEP_ACTION_FOUND"
        output save true
    fi
    [ "$status" -eq 0 ] || result=$status
    output exit "$result"
}

verdict() {
    local status=${SEEP_ACTION_STATUS:-}
    case ${SEEP_ACTION_EXIT:-none} in
    0) echo "The memory holds." ;;
    none) fail 2 "Nothing was judged: an earlier step of this action failed." ;;
    "$status") fail "$status" "The job itself ended with status $status." ;;
    1) fail 1 "The memory does not hold: the summary of this run says why." ;;
    *) fail "$SEEP_ACTION_EXIT" "The memory was not judged, so it has not passed." ;;
    esac
}

case ${1-} in
install | plan | record | judge | verdict) "$1" ;;
*) fail 2 "seep.sh: ${1-}: no such step" ;;
esac
