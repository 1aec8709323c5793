# shellcheck shell=bash disable=SC2034,SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# What the suites of tagtrace share: one recording and the numbers in its report. Input: calls from
# tests/vm/suites/*.sh, after lib.sh. Output: NAME.tag, NAME.json, NAME.err in the suite's folder.
#
#   record reads -d nullb0 -- fio ...
#   is "all of them" "$(fact totals.gets)" 100003

declare -A facts
record_status='' report_status=''

# flatten FILE: lines "PATH<TAB>VALUE", one for each value of a JSON file. Objects in a list go by
# what names them: queues.nullb0.hctxs.0.totals.gets. One program for all values, as an emulated CPU
# takes a second to start it.
flatten() {
    python3 -I -S - "$1" <<'END'
import json, sys
NAMES = {"queues": "name", "hctxs": "hctx_num", "spaces": "space_id", "rungs": "probe",
         "operations": "op", "notes": "id", "sets": "set_id"}
def walk(path, value):
    if isinstance(value, dict):
        for key, below in value.items():
            if not key.startswith("bins_"):
                walk(path + [key], below)
    elif isinstance(value, list) and value and isinstance(value[0], dict):
        for at, below in enumerate(value):
            walk(path + [str(below.get(NAMES.get(path[-1] if path else ""), at))], below)
    else:
        if isinstance(value, list):
            value = ",".join(str(one) for one in value)
        text = json.dumps(value) if isinstance(value, bool) or value is None else str(value)
        print(".".join(path), text.replace("\n", " ").replace("\t", " "), sep="\t")
walk([], json.load(open(sys.argv[1], encoding="utf-8")))
END
}

# facts_of FILE: from now on `fact` tells what stands in this file.
facts_of() {
    local path value
    facts=()
    flatten "$1" >"$suite_dir/facts" # through a file: the guest has no /dev/fd
    while IFS=$'\t' read -r path value; do
        [ -n "$path" ] && facts[$path]=$value
    done <"$suite_dir/facts"
}

# fact PATH: its value, "null" where it was not measured, nothing when it is not there: a made-up 0
# could pass for an answer.
fact() { printf '%s' "${facts[$1]-}"; }

# sum PATH...: of measured values; nothing when one is missing or was not measured.
sum() {
    local path value total=0
    for path in "$@"; do
        value=${facts[$path]-}
        [[ $value =~ ^[0-9]+$ ]] || return 1
        total=$((total + value))
    done
    printf '%s' "$total"
}

# record NAME [OPTION...] -- COMMAND...: sets record_status and report_status, fills the facts. The file is written to
# memory: over 9p the recorder would wait for the host, which an instruction-counting guest sees as years.
record() {
    local name=$1 file=/run/$suite_name.$1.tag
    shift
    rm -f "$file" "$suite_dir/$name".{tag,json}
    timeout -k 5 "${record_limit_s:-300}" tagtrace --record="$file" "$@" \
        >"$suite_dir/$name.out" 2>"$suite_dir/$name.err" </dev/null
    record_status=$?
    mv "$file" "$suite_dir/$name.tag"
    report "$name"
}

# report NAME: the JSON report of a recording that exists.
report() {
    tagreport --json -o "$suite_dir/$1.json" "$suite_dir/$1.tag" 2>>"$suite_dir/$1.err"
    report_status=$?
    facts_of "$suite_dir/$1.json"
}

# fio_ios FILE: what fio's own JSON says it did, all jobs, reads and writes.
fio_ios() {
    python3 -I -S -c 'import json, sys
text = open(sys.argv[1]).read()
jobs = json.loads(text[text.index("{"):])["jobs"]
print(sum(job[way]["total_ios"] for job in jobs for way in ("read", "write", "trim")))' "$1" 2>/dev/null
}

# fio_mean_ns FILE TIME: of the first job's reads, as fio saw them: lat_ns from submission to the answer, slat_ns the
# submission alone.
fio_mean_ns() {
    python3 -I -S -c 'import json, sys
text = open(sys.argv[1]).read()
print(int(json.loads(text[text.index("{"):])["jobs"][0]["read"][sys.argv[2]]["mean"]))' "$1" "$2"
}

# disk_ios DISK: reads and writes that the kernel has completed on it, by its own count.
disk_ios() { awk '{ print $1 + $5 }' "/sys/block/$1/stat"; }

# explain NAME: why, for the log, when a recording did not end as it should.
explain() { tail -n 15 "$suite_dir/$1.err" 2>/dev/null | sed 's/^/# /'; }

# until_true COMMAND...: within ten seconds.
until_true() {
    for _ in $(seq 100); do
        "$@" && return 0
        sleep 0.1
    done
    return 1
}

# hold_disk DISK FILE: an nbd disk that keeps its requests while FILE exists; sets server, the process behind it. One
# result: that it is there.
hold_disk() {
    modprobe nbd nbds_max=1 max_part=0
    python3 -I -S "$BLKTAG_ROOT/tests/vm/hold.py" "/dev/$1" "$2" 2>"$suite_dir/hold.err" &
    server=$!
    check "the disk is there" until_true sh -c "[ \"\$(cat /sys/block/$1/size)\" -gt 0 ]"
    scheduler "$1" none
    echo 2 >"/sys/block/$1/queue/nomerges"
}

# busy DISK: its tags in use, by the kernel's own bitmap. busy_is DISK N
busy() { awk -F= '/^busy=/ { print $2; exit }' "/sys/kernel/debug/block/$1/hctx0/tags"; }
busy_is() { [ "$(busy "$1")" = "$2" ]; }

# scheduler DISK NAME: a switch meets another one's lock now and then (7.2 and up).
scheduler() {
    for _ in $(seq 20); do
        echo "$2" 2>/dev/null >"/sys/block/$1/queue/scheduler" && return 0
        sleep 0.1
    done
    return 1
}
