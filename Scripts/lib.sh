#!/usr/bin/env bash
# What several scripts do in the same way. They `source` it after they have set `root`, the project's folder, and `say`,
# which prints a line for people on stderr.

# The release build. All scripts use these words, so that no build undoes another's. Nothing reads debug information.
release_build=(swift build --package-path "$root" -c release -debug-info-format none)

# Usage: build PRODUCT [WORD...]; builds with the words, by default those of the release build, and prints the product's
# path. It speaks only when it fails, and then ends the script, or the command substitution, with status 70.
build() {
    local product=$1 log
    shift
    (($# > 0)) || set -- "${release_build[@]}"
    if ! log=$("$@" --product "$product" 2>&1); then
        printf '%s\n' "$log" >&2
        say "the build failed"
        exit 70
    fi
    printf '%s/%s' "$("$@" --show-bin-path)" "$product"
}

# Usage: needs_program WORD...; whether a tool with these words runs the program: not without any, not for its help, and
# not when PLIMSOLL names one.
needs_program() {
    local word
    (($# > 0)) && [[ -z ${PLIMSOLL-} ]] || return 1
    for word in "$@"; do
        [[ $word != -h && $word != --help ]] || return 1
    done
}
