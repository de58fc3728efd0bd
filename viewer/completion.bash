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

_seep_folder_or() {
    if [[ $2 == -* ]]; then
        _seep_words "$1" "$2"
    else
        _seep_folders "$2"
    fi
}

# The options of `run` and `doctor` end where the job's command begins: from there on it completes itself.
_seep_job() {
    local word=$1 i=2
    while ((i < COMP_CWORD)); do
        case ${COMP_WORDS[i]} in
        --)
            ((i++))
            break
            ;;
        -o | --output | --sample | --max-profile | --holders | --step-nvtx | --roles) ((i += 2)) ;;
        -*) ((i++)) ;;
        *) break ;;
        esac
    done
    if ((i < COMP_CWORD)) && declare -F _command_offset >/dev/null; then
        _command_offset "$i"
    elif ((i <= COMP_CWORD)) && [[ $word != -* || ${COMP_WORDS[COMP_CWORD - 1]} == -- ]]; then
        compopt -o filenames 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -c -- "$word"; compgen -f -- "$word")
    else
        return 1
    fi
}

_seep() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
    local commands="run report view top check verify diff export doctor help version"

    COMPREPLY=()
    if ((COMP_CWORD == 1)); then
        _seep_words "$commands --help --version" "$word"
        return
    fi
    case ${COMP_WORDS[1]} in
    run)
        case $before in
        -o | --output) _seep_folders "$word" ;;
        --sample) _seep_words "64KiB 512KiB 1MiB" "$word" ;;
        --roles) _seep_files "$word" ;;
        --max-profile) _seep_words "64MiB 256MiB 1GiB" "$word" ;;
        --max-folder) _seep_words "1GiB 4GiB 16GiB" "$word" ;;
        --memory-limit) _seep_words "8GiB 16GiB 64GiB" "$word" ;;
        --helpers) _seep_words "count full" "$word" ;;
        --holders) _seep_words "auto off" "$word" ;;
        --gpu) _seep_words "auto runtime cupti off" "$word" ;;
        *)
            _seep_job "$word" ||
                _seep_words "-o --output -q --quiet --no-report --sample --max-profile \
                    --python-allocators --max-folder --memory-limit --helpers --holders --gpu --step-nvtx --holder-keys --roles -h --help --" "$word"
            ;;
        esac
        ;;
    report)
        case $before in
        --format) _seep_words "text json markdown sarif junit" "$word" ;;
        -o | --output | --roles) _seep_files "$word" ;;
        *) _seep_folder_or "--format -o --output --all --series --layouts --holders --roles -h --help" "$word" ;;
        esac
        ;;
    top)
        case $before in
        --interval) _seep_words "1 2 10 60" "$word" ;;
        *) _seep_folder_or "--once --interval -h --help" "$word" ;;
        esac
        ;;
    check)
        case $before in
        --format) _seep_words "text json markdown sarif junit" "$word" ;;
        -o | --output | --roles | --budget) _seep_files "$word" ;;
        --baseline) _seep_folders "$word" ;;
        --max-growth | --max-peak)
            compopt -o nospace
            _seep_words "host= mmap= shm= pinned= device:0= tensor:0=" "$word"
            ;;
        --max-findings) _seep_words "leak=0 retention=0 pressure=0 info=0" "$word" ;;
        *)
            _seep_folder_or "--max-growth --max-peak --max-findings --budget --baseline --allow-incomplete \
                --format -o --output --roles -h --help" "$word"
            ;;
        esac
        ;;
    view)
        case $before in
        -o | --output | --roles) _seep_files "$word" ;;
        *) _seep_folder_or "--all -o --output --roles --serve -h --help" "$word" ;;
        esac
        ;;
    verify | diff)
        case $before in
        --format) _seep_words "text json" "$word" ;;
        --sort) _seep_words "retained growth" "$word" ;;
        -o | --output | --roles) _seep_files "$word" ;;
        *)
            local own=--allow-incomplete
            [[ ${COMP_WORDS[1]} == verify ]] || own=--sort
            _seep_folder_or "$own --format -o --output --roles -h --help" "$word"
            ;;
        esac
        ;;
    export)
        case $before in
        --format) _seep_words "collapsed speedscope pprof perfetto snapshot openmetrics" "$word" ;;
        --measure) _seep_words "retained live peak allocated growth" "$word" ;;
        -o | --output | --roles) _seep_files "$word" ;;
        *) _seep_folder_or "--format --measure -o --output --roles -h --help" "$word" ;;
        esac
        ;;
    doctor) _seep_job "$word" || _seep_words "-h --help --" "$word" ;;
    help) _seep_words "$commands" "$word" ;;
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
    -o | --output | --measured) _seep_files "$word" && return ;;
    --scale) _seep_words "0.002 0.01 0.1 1" "$word" && return ;;
    --seed | --epochs) return ;;
    esac
    case ${COMP_WORDS[1]} in
    list) own="--format --json" ;;
    run) own="--variant --device --scale --data --seed --epochs --pictures -o --output --format --json" ;;
    verify) own="--device --scale --data --seed --epochs -o --output --keep --format --json" ;;
    make-data) own="--scale --seed" ;;
    bench) own="--device --data --format --json" ;;
    job) own="--variant --device --scale --data --seed --epochs --pictures --measured" ;;
    esac
    case $word,${COMP_WORDS[1]} in
    -*) _seep_words "$own -h --help" "$word" ;;
    *,run | *,verify | *,job) _seep_words "$(awk -F: '/^[^ ]/ { print $1 }' <<<"$listed")" "$word" ;;
    *,make-data)
        if ((COMP_CWORD == 2)); then
            _seep_words "pointgroup maskrcnn splat colmap colmap-text nerf ply scannet coco" "$word"
        else
            _seep_folders "$word"
        fi
        ;;
    *,bench) _seep_words "copy voxels splat" "$word" ;;
    esac
}

complete -F _seep_lab seep-lab
