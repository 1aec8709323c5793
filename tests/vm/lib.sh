# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What a VM suite says its results with. Input: calls from tests/vm/suites/*.sh, in the guest.
# Output: lines "1..N", "ok NAME" and "not ok NAME: why" on stdout; tests/vm/run reads them.
#
# A suite:
#   #!/bin/bash
#   # SPDX-License-Identifier: GPL-2.0-or-later
#   # What it shows; input; output.
#   # vm: icount kernels=main timeout=120
#   . "$BLKTAG_ROOT/tests/vm/lib.sh"
#   plan 2
#   check "null_blk loads" modprobe null_blk nr_devices=1
#   is "one disk" "$(ls /dev/nullb* | wc -l)" 1
#
# Set for it: BLKTAG_ROOT (the tree), BLKTAG_BUILD (the build folder, its bin/ is on the PATH),
# VM_KERNEL (6.12), suite_dir (an empty folder whose files the host keeps).
set -u

suite_name=$(basename "$0" .sh)
suite_dir=$VM_OUT/$suite_name.files
rm -rf "$suite_dir"
mkdir -p "$suite_dir"
suite_failed=0

# plan N: how many results follow. A suite that dies early is caught by its missing ones.
plan() { printf '1..%d\n' "$1"; }

ok() { printf 'ok %s\n' "$*"; }

# not_ok NAME WHY
not_ok() {
    suite_failed=1
    printf 'not ok %s: %s\n' "$1" "$2"
}

# is NAME GOT WANT
is() {
    if [ "$2" = "$3" ]; then ok "$1"; else not_ok "$1" "got '$2', want '$3'"; fi
}

# between NAME GOT LOW HIGH: inclusive, decimals allowed; an empty GOT fails.
between() {
    if awk -v x="$2" -v lo="$3" -v hi="$4" \
        'BEGIN { exit !(x ~ /^-?[0-9.]+(e[-+]?[0-9]+)?$/ && x + 0 >= lo + 0 && x + 0 <= hi + 0) }'; then
        ok "$1"
    else
        not_ok "$1" "got '$2', want $3 to $4"
    fi
}

# check NAME COMMAND...: ok when the command succeeds; its output is shown when it does not.
check() {
    local name=$1 output status
    shift
    output=$("$@" 2>&1)
    status=$?
    if [ "$status" -eq 0 ]; then
        ok "$name"
    else
        not_ok "$name" "status $status of: $*"
        printf '%s\n' "$output" | tail -n 20 | sed 's/^/# /'
    fi
}

# json FILE EXPRESSION: a value out of a JSON file, for example: json r.json '["totals"]["gets"]'.
# Prints nothing when it is not there, so that a comparison fails instead of meeting a made-up 0.
json() {
    python3 -c 'import json, sys
value = json.load(open(sys.argv[1]))
value = eval("value" + sys.argv[2])
print(json.dumps(value) if isinstance(value, (dict, list, bool)) else value)' "$1" "$2" 2>/dev/null
}

# sys FILE: a line of sysfs or configfs, empty when there is none.
sys() { cat "$1" 2>/dev/null; }

# Suites share one boot, so each leaves the machine as it found it.
suite_cleanup() {
    local status=$?
    trap - EXIT
    # shellcheck disable=SC2046
    kill $(jobs -p) 2>/dev/null
    wait 2>/dev/null
    rmdir /sys/kernel/config/nullb/* 2>/dev/null
    modprobe -r null_blk scsi_debug 2>/dev/null
    [ "$status" -eq 0 ] && status=$suite_failed
    exit "$status"
}
trap suite_cleanup EXIT
