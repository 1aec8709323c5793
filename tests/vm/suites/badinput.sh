#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What goes wrong around a recording: no rights, no device, no room, nobody who reads, signals, no tracefs, no BTF. Each
# gives a cause and a remedy, leaves what was recorded readable and nothing attached. Input: tagtrace, tagreport, fio,
# null_blk. Output: results.
# vm: kernels=main timeout=900
# shellcheck source=tests/vm/lib.sh
. "$BLKTAG_ROOT/tests/vm/lib.sh"
# shellcheck source=tests/vm/record.sh
. "$BLKTAG_ROOT/tests/vm/record.sh"
plan 49

# Slow enough that an emulated CPU keeps up and nothing is lost.
modprobe null_blk nr_devices=1 gb=1 queue_mode=2 submit_queues=1 hw_queue_depth=8 irqmode=2 completion_nsec=200000
scheduler nullb0 none
workload="fio --name=x --filename=/dev/nullb0 --direct=1 --rw=randread --bs=4k --norandommap --size=1g --output=/dev/null"
few="$workload --ioengine=psync --number_ios=200"
# Some seconds of it on an idle host: several pieces of a file, each of them smaller than the disk that fills up. A
# recording that failed still waits for its command, so there may not be too much of it for a busy host.
many="$workload --ioengine=io_uring --iodepth=8 --rate_iops=2000 --number_ios=8000"
endless="$workload --ioengine=psync --time_based --runtime=1000"

# What the kernel has of us: loaded programs and patched functions, by its own lists.
attached() {
    echo "$(bpftool prog show 2>/dev/null | grep -c '^[0-9]') $(wc -l </sys/kernel/tracing/enabled_functions)"
}
# Programs are freed a moment after their last user has gone.
nothing_left() { [ "$(attached)" = "$nothing" ]; }
nothing=$(attached)
clean() { check "$1: nothing is left attached" until_true nothing_left; }

# complains NAME FILE WORD: one line of cause, which has this word, and at most one of remedy; apart from the closing
# line with the books, which a recording that had begun ends with.
complains() {
    local lines
    lines=$(grep -vE ' events( =|  )' "$2" | grep -c .)
    if grep -qi -- "$3" "$2" && [ "$lines" -le 2 ]; then
        ok "$1: a line of cause and one of remedy"
    else
        not_ok "$1: a line of cause and one of remedy" "it said: $(head -n 5 "$2" | tr '\n' '|')"
    fi
}

# fails NAME STATUS WORD COMMAND...
fails() {
    local name=$1 want=$2 word=$3 status
    shift 3
    timeout -k 5 150 "$@" >"$suite_dir/out" 2>"$suite_dir/err" </dev/null
    status=$?
    is "$name: status" "$status" "$want"
    complains "$name" "$suite_dir/err" "$word"
}

# readable NAME FILE [STATUS]: a report can be made of it.
readable() {
    tagreport --json -o "$suite_dir/report.json" "$2" 2>"$suite_dir/err"
    is "$1: what was recorded is readable" "$?" "${3:-0}"
    facts_of "$suite_dir/report.json"
}

# --- a recording as it should be, to compare with: the list of what is attached can see ours ---
tagtrace --record="$suite_dir/good.tag" -d nullb0 -- sh -c "$few; bpftool prog show | grep -c '^[0-9]' >$suite_dir/progs" \
    2>"$suite_dir/err"
is "a good recording" "$?" 0
between "its programs are seen in the kernel" "$(($(cat "$suite_dir/progs") - ${nothing% *}))" 10 200
clean "a good recording"
readable "a good recording" "$suite_dir/good.tag"
is "a good recording: its reads" "$(fact totals.completed)" 200

# --- before it begins ---
nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all)
mkdir -p /run/nobody && chmod 777 /run/nobody
fails "not root" 1 root "${nobody[@]}" tagtrace --record=/run/nobody/x.tag -d nullb0 -- true
fails "no such device" 1 nosuchdisk tagtrace --record=/run/x.tag -d nosuchdisk -- true
fails "no such folder" 1 'nowhere' tagtrace --record=/run/nowhere/x.tag -d nullb0 -- true
fails "no such command" 1 'nosuchcommand' tagtrace --record=/run/none.tag -d nullb0 -- nosuchcommand
timeout 100 tagtrace --nonsense >"$suite_dir/out" 2>"$suite_dir/err"
is "usage: status" "$?" 2
touch "$suite_dir/empty"
check "no BTF" mount --bind "$suite_dir/empty" /sys/kernel/btf/vmlinux
fails "no BTF" 1 BTF tagtrace --record=/run/x.tag -d nullb0 -- true
umount /sys/kernel/btf/vmlinux
umount /sys/kernel/debug/tracing 2>/dev/null
check "no tracefs" umount /sys/kernel/tracing
record no_tracefs -d nullb0 -- sh -c "$few"
mount -t tracefs none /sys/kernel/tracing
is "no tracefs: it is not needed" "$record_status $(fact totals.completed)" "0 200"
[ "$record_status" = 0 ] || explain no_tracefs

# --- under way ---
tagtrace --record="$suite_dir/status.tag" -d nullb0 -- sh -c "$few; exit 7" 2>"$suite_dir/err"
is "the command's own status" "$?" 7
readable "the command's own status" "$suite_dir/status.tag"

mkdir -p /run/small && mount -t tmpfs -o size=64k none /run/small
timeout -k 5 250 tagtrace --record=/run/small/full.tag -d nullb0 -- sh -c "$many" \
    >"$suite_dir/out" 2>"$suite_dir/err"
is "full disk: status" "$?" 1
check "full disk: it says so" grep -qi 'no space' "$suite_dir/err"
readable "full disk" /run/small/full.tag 3
between "full disk: and holds something" "$(fact latency.whole.count)" 100 20000
umount /run/small
clean "full disk"

(timeout -k 5 250 tagtrace --record=- -d nullb0 -- sh -c "$many" 2>"$suite_dir/err"
    echo $? >"$suite_dir/status") | head -c 100 >/dev/null
is "closed pipe: status" "$(cat "$suite_dir/status")" 1
complains "closed pipe" "$suite_dir/err" "went away"
clean "closed pipe"
(tagtrace print "$suite_dir/good.tag" 2>"$suite_dir/err"; echo $? >"$suite_dir/status") | head -c 100 >/dev/null
is "closed pipe of print: that is its end" "$(cat "$suite_dir/status")" 0
tagtrace --record=- -d nullb0 -- sh -c "$few" 2>"$suite_dir/err" | cat >"$suite_dir/piped.tag"
readable "through a pipe" "$suite_dir/piped.tag"
is "through a pipe: its reads" "$(fact totals.completed)" 200

$endless &
load=$!
for signal in INT TERM HUP; do
    tagtrace --record="$suite_dir/$signal.tag" -d nullb0 2>"$suite_dir/$signal.err" &
    tracer=$!
    until_true test -s "$suite_dir/$signal.tag"
    sleep 1.5
    kill -$signal $tracer
    wait $tracer
    is "SIG$signal: an orderly end" "$?" 0
    readable "SIG$signal" "$suite_dir/$signal.tag"
    between "SIG$signal: with what there was" "$(fact totals.completed)" 10 1000000
    clean "SIG$signal"
done
tagtrace --record="$suite_dir/KILL.tag" -d nullb0 2>"$suite_dir/KILL.err" &
tracer=$!
until_true test -s "$suite_dir/KILL.tag"
sleep 3
kill -KILL $tracer
wait $tracer 2>/dev/null
readable "SIGKILL" "$suite_dir/KILL.tag" 3
between "SIGKILL: with what there was" "$(fact latency.whole.count)" 10 1000000
clean "SIGKILL"
kill $load 2>/dev/null
wait $load 2>/dev/null

# --- names that a terminal must never see as they are ---
record names -d nullb0 -- python3 -I -S -c 'open("/proc/self/comm", "w").write("\033[2J\nx")
open("/dev/nullb0", "rb", 0).read(4096)'
tagreport "$suite_dir/names.tag" >"$suite_dir/names.txt" 2>&1
tagtrace print "$suite_dir/names.tag" >>"$suite_dir/names.txt" 2>&1
is "no control byte comes through" "$(LC_ALL=C grep -caP '[\x00-\x08\x0b-\x1f\x7f]' "$suite_dir/names.txt")" 0
check "and the task is there, escaped" grep -qF '[2J' "$suite_dir/names.txt"
