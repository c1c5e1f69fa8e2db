#!/usr/bin/env bash
# Installs what is missing, and only that, on Debian and Ubuntu. It leaves alone what is there already and does not ask
# the network about it: a second call returns within milliseconds.
#
#   Scripts/setup.sh build     what `swift build` needs: jemalloc, zlib and LZ4 with headers, pkg-config
#   Scripts/setup.sh plot      what pictures and reports need: .venv/ with Scripts/pyproject.toml's group plot
#   Scripts/setup.sh tune      what Scripts/tune needs: .venv/ with the group tune, which contains plot
#   Scripts/setup.sh clusters  what Scripts/sweep-on needs: .venv/ with the group clusters, which contains tune and Dask
#   Scripts/setup.sh python    what all of them and the tests need: .venv/ with every group but `clusters`
#   Scripts/setup.sh bench     what Scripts/bench needs: a C compiler, Benchmarks/.venv/ with SimPy
#   Scripts/setup.sh tests     what some tests need: Chromium, PostgreSQL (no server is started), GNU parallel, shellcheck
#   Scripts/setup.sh clusters-test  what Scripts/tests/check_clusters.py needs: Slurm, munge, PostgreSQL, Dask
#   Scripts/setup.sh           build and python
#
# Speaks on stderr alone. Exit status: 0 everything is there, 64 usage, 71 this machine refuses.
set -euo pipefail

# shellcheck source-path=SCRIPTDIR source=lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

# What the Python environments are made from: groups of requirements, and the version of each package.
sources=("$scripts/pyproject.toml" "$scripts/constraints.txt" "$root/Benchmarks/requirements.txt")

# --- Debian packages ---------------------------------------------------------------------------------------------------

as_root() {
    if [[ $EUID -eq 0 ]]; then
        "$@"
    elif ! command -v sudo >/dev/null; then
        refuse 71 "cannot install without root rights: neither root nor sudo here; as root, run: apt-get install $missing"
    elif [[ -t 2 ]] && { : </dev/tty; } 2>/dev/null; then
        # sudo asks on the terminal itself, whatever its standard input is.
        sudo "$@"
    else
        # No terminal to type a password on: fail instead of waiting forever.
        sudo -n "$@"
    fi
}

# Usage: apt_install PACKAGE...
apt_install() {
    local missing="$*"
    command -v apt-get >/dev/null || refuse 71 "no apt-get here; please install by hand: $missing"
    say "installing $missing"
    local apt=(env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300)
    # One dead mirror among many fails the update, yet the index at hand may do; the install below decides.
    as_root "${apt[@]}" update >&2 </dev/null || say "apt-get update failed; trying with the package index at hand"
    as_root "${apt[@]}" install -y --no-install-recommends "$@" >&2 </dev/null \
        || refuse 71 "apt-get could not install: $missing"
}

# --- What the build needs ----------------------------------------------------------------------------------------------

setup_build() {
    command -v swift >/dev/null || refuse 71 "no Swift toolchain on PATH; get one from https://www.swift.org/install/linux"

    local packages=()
    command -v pkg-config >/dev/null || packages+=(pkg-config)
    # The second question needs pkg-config: on a machine without it, the first has settled that we install anyway.
    pkg-config --exists jemalloc 2>/dev/null || packages+=(libjemalloc-dev)
    pkg-config --exists zlib 2>/dev/null || packages+=(zlib1g-dev)
    pkg-config --exists liblz4 2>/dev/null || packages+=(liblz4-dev)
    if ((${#packages[@]} > 0)); then
        apt_install "${packages[@]}"
    fi

    # Arenas get their extent hooks at birth (experimental.arenas_create_ext), which came with 5.3.
    pkg-config --atleast-version=5.3 jemalloc \
        || refuse 71 "jemalloc $(pkg-config --modversion jemalloc) is too old: 5.3 or later is needed"
}

# --- What Python needs -------------------------------------------------------------------------------------------------

# What an environment is stamped with. It names the checkout, because the package is installed as a link to it.
venv_state() { { printf '%s\n' "$root" && cat -- "${sources[@]}"; } | sha256sum; }

# Whether the environment holds every group. A dangling link (its Python was removed) counts as absent.
# Usage: venv_has FOLDER GROUP...
venv_has() {
    local venv=$1 state group
    shift
    [[ -x $venv/bin/python ]] || return
    state=$(venv_state)
    for group in "$@"; do
        [[ -r $venv/.group-$group && $(<"$venv/.group-$group") == "$state" ]] || return
    done
}

# Prints the first Python that can make an environment. The one on PATH may be an old one of pyenv or conda, or lack
# ensurepip, as Debian's does without python3-venv.
find_python() {
    local candidate
    for candidate in python3 /usr/bin/python3; do
        if "$candidate" -c 'import sys, ensurepip, venv; sys.exit(sys.version_info < (3, 10))' 2>/dev/null; then
            printf '%s\n' "$candidate"
            return
        fi
    done
    return 1
}

# Usage: make_venv FOLDER
make_venv() {
    local venv=$1 python
    if ! python=$(find_python); then
        apt_install python3 python3-venv
        python=$(find_python) || refuse 71 "Python 3.10 or later is needed; found $(python3 --version 2>&1)"
    fi
    "$python" -m venv --clear -- "$venv" >&2 || refuse 71 "$python could not make $venv"
}

# Usage: fill_venv FOLDER GROUP...; `bench` is Benchmarks/requirements.txt, `base` is the package without any group.
fill_venv() {
    local venv=$1 stamps group names=() words=()
    shift
    # A user's PYTHONPATH or PYTHONHOME belongs to another interpreter.
    unset PYTHONPATH PYTHONHOME
    say "installing Python packages into $venv (once; a minute or less)"
    # A group that is added to a complete environment leaves the others alone. Without the stamp of `base` the
    # environment is another checkout's, an older one, or what an interrupted call left: it is made anew.
    venv_has "$venv" base || make_venv "$venv"
    rm -f -- "$venv/.group-base"
    for group in "$@"; do
        case $group in
            base) ;;
            bench) words+=(--requirement "$root/Benchmarks/requirements.txt") ;;
            *) names+=("$group") ;;
        esac
    done
    local IFS=,
    words+=(--editable "$scripts${names[*]:+[${names[*]}]}")
    "$venv/bin/python" -m pip --quiet --disable-pip-version-check --no-input \
        install --constraint "$scripts/constraints.txt" "${words[@]}" >&2 </dev/null \
        || refuse 71 "pip could not install the groups $* of $scripts/pyproject.toml"
    stamps=("${@/#/$venv/.group-}")
    venv_state | tee -- "${stamps[@]}" >/dev/null
}

# Usage: setup_python FOLDER GROUP...
setup_python() {
    local venv=$1
    shift
    set -- "$venv" base "$@"
    if venv_has "$@"; then
        return
    fi
    # Two calls at once: the second waits, and then finds the work done. The lock is held on pyproject.toml itself, so
    # that no lock file is left behind.
    (
        flock 9
        if ! venv_has "$@"; then
            fill_venv "$@"
        fi
    ) 9<"$scripts/pyproject.toml"
}

# --- What the measurements need ----------------------------------------------------------------------------------------

setup_bench() {
    if ! command -v cc >/dev/null || ! command -v c++ >/dev/null; then
        apt_install gcc g++ libc6-dev
    fi
    setup_python "$root/Benchmarks/.venv" bench
}

# --- What tests need ---------------------------------------------------------------------------------------------------

# A package that cannot be had (Ubuntu has Chromium as a snap alone) leaves its tests skipped, and named as such.
setup_tests() {
    local packages=()
    command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null \
        || packages+=(chromium)
    compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null || command -v initdb >/dev/null || packages+=(postgresql)
    command -v parallel >/dev/null || packages+=(parallel)
    command -v shellcheck >/dev/null || packages+=(shellcheck)
    # `runuser` starts PostgreSQL as a user without rights.
    command -v runuser >/dev/null || packages+=(util-linux)
    local package
    for package in ${packages[@]+"${packages[@]}"}; do
        # Debian's own scripts ask this variable: at runlevel 1 a new package starts no server.
        (RUNLEVEL=1 apt_install "$package") || say "tests that need $package will be skipped"
    done
}

setup_cluster_tests() {
    local packages=()
    command -v slurmctld >/dev/null || packages+=(slurmctld)
    command -v slurmd >/dev/null || packages+=(slurmd)
    command -v sbatch >/dev/null || packages+=(slurm-client)
    command -v munged >/dev/null || packages+=(munge)
    command -v ip >/dev/null || packages+=(iproute2)
    compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null || command -v initdb >/dev/null || packages+=(postgresql)
    # Debian's own scripts ask this variable: at runlevel 1 a new package starts no server.
    ((${#packages[@]} == 0)) || RUNLEVEL=1 apt_install "${packages[@]}"
    setup_python "$root/.venv" plot tune clusters clusters-test
}

# -----------------------------------------------------------------------------------------------------------------------

(($# > 0)) || set -- build python
for part in "$@"; do
    case $part in
        build) setup_build ;;
        plot) setup_python "$root/.venv" plot ;;
        tune) setup_python "$root/.venv" plot tune ;;
        clusters) setup_python "$root/.venv" plot tune clusters ;;
        clusters-test) setup_cluster_tests ;;
        python) setup_python "$root/.venv" plot tune test lint ;;
        bench) setup_bench ;;
        tests) setup_tests ;;
        *)
            refuse 64 "unknown part '$part'; usage: Scripts/setup.sh [build|plot|tune|clusters|python|bench|tests|clusters-test]..."
            ;;
    esac
done
