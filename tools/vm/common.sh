# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# What all parts of vm share: messages, exit codes, checks of the host. Sourced, runs nothing.

# Read by the files beside this one.
# shellcheck disable=SC2034
readonly vm_status_usage=2 vm_status_not_served=77 vm_status_timeout=124 vm_status_failed=125

say() { printf 'vm: %s\n' "$*" >&2; }

# die STATUS CAUSE REMEDY
die() {
    say "$2"
    [ -n "${3:-}" ] && say "remedy: $3"
    exit "$1"
}

# need PROGRAM PACKAGE
need() {
    command -v "$1" >/dev/null 2>&1 ||
        PATH=$PATH:/usr/sbin:/sbin command -v "$1" >/dev/null 2>&1 ||
        die "$vm_status_failed" "$1 is not installed" "apt-get install $2"
}

# need_room DIR MEGABYTES
need_room() {
    local free_mb
    mkdir -p "$1" 2>/dev/null ||
        die "$vm_status_failed" "cannot make folder $1" "set BLKTAG_VM_DIR to a folder you may write"
    free_mb=$(df -Pm "$1" | awk 'NR == 2 { print $4 }')
    [ "${free_mb:-0}" -ge "$2" ] ||
        die "$vm_status_failed" "$1 has $free_mb MB free and $2 MB are needed" \
            "free some room, or set BLKTAG_VM_DIR to a folder on another disk"
}

kernel_dir() { printf '%s/kernels/%s' "$vm_dir" "$1"; }

kernel_is_here() { [ -s "$(kernel_dir "$1")/release" ]; }

vm_list_command() {
    local dir
    for dir in "$vm_dir"/kernels/*/; do
        [ -s "$dir/release" ] && printf '%s %s\n' "$(basename "$dir")" "$(cat "$dir/release")"
    done
    return 0
}
