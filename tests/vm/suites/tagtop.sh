#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# tagtop in a terminal (tmux): while a disk holds its requests, what is on the screen is what the kernel's bitmap says
# and what was made to wait; it ends clean, whichever way. Input: tagtop, tmux, fio, hold.py behind nbd, debugfs. Output:
# results.
# vm: kernels=long timeout=900
# shellcheck source=tests/vm/lib.sh
. "$BLKTAG_ROOT/tests/vm/lib.sh"
# shellcheck source=tests/vm/record.sh
. "$BLKTAG_ROOT/tests/vm/record.sh"
plan 25

disk=nbd0 tags_of_disk=128 readers=134
hold=/run/tagtop.hold
export LANG=C.UTF-8 TERM=xterm-256color HOME=/run TMUX_TMPDIR=/run

screen() { tmux capture-pane -p -t top 2>/dev/null; }
shows() { screen | grep -qE "$1"; }
keys() { tmux send-keys -t top "$@"; }
programs() { bpftool prog show 2>/dev/null | grep -cE 'name (tag_get|tag_put|rq_issue)'; }
# on_screen NAME REGEX: within some seconds; else the screen is shown.
on_screen() {
    for _ in $(seq 120); do
        shows "$2" && ok "$1" && return
        sleep 0.25
    done
    not_ok "$1" "no '$2' on the screen"
    screen | sed 's/^/# /'
}

# A terminal needs a place; the guest mounts none by itself.
mkdir -p /dev/pts
[ -e /dev/pts/ptmx ] || mount -t devpts -o ptmxmode=666 devpts /dev/pts
[ -e /dev/ptmx ] || ln -s pts/ptmx /dev/ptmx

hold_disk $disk $hold

# The shell around it shows afterwards whether the terminal is as it was.
tmux new-session -d -s top -x 132 -y 40 "sh -c 'tagtop -d $disk -i 500ms; echo status \$?; stty -a | grep -owE \"icanon|echo|.icanon|.echo\" | xargs echo modes:; exec sleep 1000'"
on_screen "it begins" "tagtop"
on_screen "nothing waits yet" "no task waits for a tag"

touch $hold
fio --name=m --filename=/dev/$disk --direct=1 --rw=randread --bs=4k --ioengine=psync --thread --numjobs=$readers \
    --number_ios=1 --size=32M --norandommap --output="$suite_dir/fio.txt" &
reader=$!
check "all tags are held" until_true busy_is $disk $tags_of_disk
on_screen "overview: held and waiting now" "$disk .* $tags_of_disk/$tags_of_disk .* $((readers - tags_of_disk)) +[0-9.]+m?s"
on_screen "verdict: where, tags, cause, holder" "^$disk hctx0: .*$tags_of_disk tags, cause: exhausted, held by fio/[0-9]+ and $((tags_of_disk - 1)) more"
is "the kernel's bitmap says the same" "$(busy $disk)" $tags_of_disk
keys 3
on_screen "tasks: as many wait" "waiting: $((readers - tags_of_disk))"
on_screen "tasks: each is told why" "fio/[0-9]+ .* exhausted .*s"
on_screen "tasks: as many tags are held" "holding: $tags_of_disk tags"
keys Down Enter
on_screen "the stack of a waiter" "blk_mq_get_tag"
keys Escape
keys 2
on_screen "tag map" "driver tags of $disk/0: $tags_of_disk of $tags_of_disk held"
on_screen "the chosen tag's holder" "by fio/[0-9]+ pid [0-9]+"
keys 7
on_screen "topology: what binds" "$tags_of_disk: driver tags"
keys '?'
on_screen "help" "keys "
keys Escape
tmux resize-window -t top -x 40 -y 10
on_screen "small" "hctx0"
tmux resize-window -t top -x 30 -y 8
on_screen "too small says so" "needs 40x10"
tmux resize-window -t top -x 100 -y 30
keys 1
on_screen "large again" "$tags_of_disk/$tags_of_disk"
rm $hold
wait $reader
on_screen "let go: none is held" "$disk .* 0/$tags_of_disk"
is "the bitmap is empty too" "$(busy $disk)" 0
pkill -TERM -x tagtop
on_screen "it ends with the signal's status" "status 143"
on_screen "the terminal is as it was" "modes: +icanon +echo *$"
is "no program is left" "$(programs)" 0

is "not on a terminal: text, as many as asked for" "$(tagtop -d $disk -i 300ms --batch 2 | grep -c '^tagtop')" 2
check "without rights it offers the replay" sh -c \
    "setpriv --reuid=65534 --clear-groups $(command -v tagtop) --batch 1 2>&1 | grep -q -- --replay"
tmux kill-server
kill $server
