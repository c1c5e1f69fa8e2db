#!/usr/bin/env bash
# What several scripts do in the same way. They `source` it first, and have `root`, the project's folder, and `scripts`
# from it. Those that call `options` or `misused` have a function `usage`, which prints how to call them.

scripts=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)
root=$(dirname -- "$scripts")

# The release build. All scripts use these words, so that no build undoes another's. Nothing reads debug information.
release_build=(swift build --package-path "$root" -c release -debug-info-format none)

# --- What a script says -----------------------------------------------------------------------------------------------

# Usage: say MESSAGE; a line for people, on stderr.
say() {
    local name=${0##*/}
    printf '%s: %s\n' "${name%.sh}" "$*" >&2
}

# Usage: refuse STATUS MESSAGE
refuse() {
    say "$2"
    exit "$1"
}

# Usage: misused; the script was called in a wrong way.
misused() {
    usage >&2
    exit 64
}

# --- Options ----------------------------------------------------------------------------------------------------------

# Usage: asks_for_help WORD...
asks_for_help() {
    local word
    for word in "$@"; do
        [[ $word != -h && $word != --help ]] || return 0
    done
    return 1
}

# Usage: options FORM... -- WORD...; reads the words of a command line. The form `force` is an option without a value,
# which sets the variable `force` to yes. The form `out=.` is one with a value, `--out VALUE` or `--out=VALUE`, which
# must match the pattern after the sign; it sets the variable `out`. All other words are left in the array `words`. Help
# ends the script, and so does a wrong value.
options() {
    local -A forms=()
    local name
    while [[ $1 != -- ]]; do
        forms[${1%%=*}]=${1#"${1%%=*}"}
        shift
    done
    shift
    words=()
    while (($# > 0)); do
        name=${1%%=*} name=${name#--}
        if asks_for_help "$1"; then
            usage
            exit 0
        elif [[ $1 != --?* || -z ${forms[$name]+known} ]]; then
            words+=("$1")
        elif [[ -z ${forms[$name]} ]]; then
            [[ $1 == "--$name" ]] || misused
            printf -v "$name" yes
        else
            [[ $1 == *=* ]] || set -- "$1=${2-}" "${@:3}"
            [[ ${1#*=} =~ ${forms[$name]#=} ]] || misused
            printf -v "$name" '%s' "${1#*=}"
        fi
        shift
    done
}

# --- The program and the tools in Python ------------------------------------------------------------------------------

# Usage: build PRODUCT [WORD...]; builds with the words, by default those of the release build, and prints the product's
# path. It speaks only when it fails, and then ends the script, or the command substitution, with status 70.
build() {
    local product=$1 log
    shift
    (($# > 0)) || set -- "${release_build[@]}"
    if ! log=$("$@" --product "$product" 2>&1); then
        printf '%s\n' "$log" >&2
        refuse 70 "the build failed"
    fi
    printf '%s/%s' "$("$@" --show-bin-path)" "$product"
}

# Usage: sanitized_tests [WORD...]; builds the Swift tests with the address sanitizer, in a folder of their own, for the
# build would replace the plain one, and runs those that the words of `swift test` choose. C++ takes new and delete from
# libstdc++, for jemalloc's new beside the sanitizer's free is an error. The leaks would be XCTest's own, and the faults
# that one test counts the sanitizer's. Under the thread sanitizer Swift 6.3.1 aborts at swift-collections' BasicContainers.
sanitized_tests() {
    local words=(--package-path "$root" --scratch-path "$root/.build/sanitize-address" --sanitize address)
    swift build "${words[@]}" --build-tests \
        && env ASAN_OPTIONS=detect_leaks=0 LD_PRELOAD=libstdc++.so.6 \
            swift test "${words[@]}" --skip-build --skip 'DeviceRegionTests/exchange' "$@"
}

# Usage: provide_program WORD...; builds the program for a tool with these words, and names it in PLIMSOLL. A tool
# without any words, or that is asked for help, needs none, nor does one to which PLIMSOLL names it already.
provide_program() {
    if (($# > 0)) && [[ -z ${PLIMSOLL-} ]] && ! asks_for_help "$@"; then
        "$scripts/setup.sh" build
        PLIMSOLL=$(build plimsoll)
        export PLIMSOLL
    fi
}

# Usage: become_module ENVIRONMENT MODULE WORD...; goes on as a module of the package plimsoll_tools. -I: neither
# PYTHONPATH, nor the user's own packages, nor what lies in the current folder may change what runs.
become_module() { exec "$1/bin/python" -I -m "plimsoll_tools.$2" "${@:3}"; }
