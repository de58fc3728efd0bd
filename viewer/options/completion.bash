# bash completion for seep

_seep_files() {
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -f -- "$1")
}

_seep_folders() {
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -d -- "$1")
}

_seep_words() {
    mapfile -t COMPREPLY < <(compgen -W "$1" -- "$2")
}

# What is made of options.def and commands.def:
#   _seep_words_of[command]           what its words are: JOB, FOLDERS, FILES, PROCESS, COMMAND or NONE
#   _seep_options[command]            all of its options
#   _seep_values["command option"]    of one with a value: FILE, DIR, or words to offer; unset where it has none
@TABLES@

# Completes the value of an option; fails where it has none.
_seep_value() {
    local of="$1 $2" word=$3

    [[ ${_seep_values[$of]+set} ]] || return
    case ${_seep_values[$of]} in
    FILE) _seep_files "$word" ;;
    DIR) _seep_folders "$word" ;;
    *) _seep_words "${_seep_values[$of]}" "$word" ;;
    esac
    if [[ ${COMPREPLY[0]} == *= ]]; then
        compopt -o nospace 2>/dev/null
    fi
    return 0
}

# The options of `run` and `doctor` end where the job's command begins: from there on it completes itself.
_seep_job() {
    local command=$1 word=$2 i=2 of

    while ((i < COMP_CWORD)); do
        of="$command ${COMP_WORDS[i]}"
        if [[ ${COMP_WORDS[i]} == -- ]]; then
            ((i++))
            break
        elif [[ ${_seep_values[$of]+set} ]]; then
            [[ ${COMP_WORDS[i + 1]} != = ]] || ((i++))
            ((i += 2))
        elif [[ ${COMP_WORDS[i]} == -* ]]; then
            ((i++))
        else
            break
        fi
    done
    if ((i < COMP_CWORD)) && declare -F _command_offset >/dev/null; then
        _command_offset "$i"
    elif ((i == COMP_CWORD)) && [[ $word == -* && ${COMP_WORDS[i - 1]} != -- ]]; then
        return 1
    else
        compopt -o filenames 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -c -- "$word"; compgen -f -- "$word")
    fi
}

_seep() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]}

    COMPREPLY=()
    if ((COMP_CWORD == 1)); then
        _seep_words "$_seep_commands --help --version" "$word"
        return
    fi
    # Of --gpu=off bash makes three words.
    [[ $word != = ]] || word=""
    [[ $before != = ]] || before=${COMP_WORDS[COMP_CWORD - 2]}
    _seep_value "$command" "$before" "$word" && return
    case ${_seep_words_of[$command]},$word in
    JOB,*) _seep_job "$command" "$word" || _seep_words "${_seep_options[$command]} --" "$word" ;;
    COMMAND,*) _seep_words "$_seep_commands" "$word" ;;
    *,-*) _seep_words "${_seep_options[$command]}" "$word" ;;
    FOLDERS,*) _seep_folders "$word" ;;
    FILES,*) _seep_files "$word" ;;
    esac
}

complete -F _seep seep

# The scenarios and their variants are what the program itself lists: "name: …", then "  variant  …".
_seep_lab() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} own=""
    local listed
    listed=$("${COMP_WORDS[0]}" list 2>/dev/null)

    COMPREPLY=()
    if ((COMP_CWORD == 1)); then
        _seep_words "list run verify make-data bench job --help --version" "$word"
        return
    fi
    case $before in
    --variant)
        _seep_words "$(awk -v s="${COMP_WORDS[2]}:" '/^[^ ]/ { own = $1 == s } /^ / && own { print $1 }' \
            <<<"$listed")" "$word"
        return
        ;;
    --device) _seep_words "cpu cuda" "$word" && return ;;
    --format) _seep_words "text json" "$word" && return ;;
    --data | --pictures | --keep) _seep_folders "$word" && return ;;
    -o | --output | --measured | --save) _seep_files "$word" && return ;;
    --scale) _seep_words "0.002 0.01 0.1 1" "$word" && return ;;
    --seed | --epochs | --images | --capacity) return ;;
    esac
    case ${COMP_WORDS[1]} in
    list) own="--format --json" ;;
    run) own="--variant --device --scale --data --images --seed --epochs --capacity --pictures --save -o --output --format --json" ;;
    verify) own="--device --scale --data --seed --epochs --capacity --jobs -o --output --keep --format --json" ;;
    make-data) own="--scale --seed" ;;
    bench) own="--device --data --capacity --format --json" ;;
    job) own="--variant --device --scale --data --images --seed --epochs --capacity --pictures --save --measured" ;;
    esac
    case $word,${COMP_WORDS[1]} in
    -*) _seep_words "$own -h --help" "$word" ;;
    *,run | *,verify | *,job) _seep_words "$(awk -F: '/^[^ ]/ { print $1 }' <<<"$listed")" "$word" ;;
    *,make-data)
        if ((COMP_CWORD == 2)); then
            _seep_words "pointgroup minkowski maskrcnn splat colmap colmap-text nerf ply scannet coco" "$word"
        else
            _seep_folders "$word"
        fi
        ;;
    *,bench) _seep_words "copy voxels splat minkowski" "$word" ;;
    esac
}

complete -F _seep_lab seep-lab
