# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# Boots one guest, runs scripts in it, brings back results. Input: options of "vm run".
# Output: result folder, guest's log on stdout, exit status. Sourced by vm.

readonly run_complaint='WARNING:|BUG:|Oops|general protection fault|Kernel panic|KASAN|UBSAN|unable to handle|soft lockup|hard LOCKUP|rcu.*stall|INFO: task .* blocked for|possible (recursive|circular) locking|refcount_t:|list_(add|del) corruption'

# No self-tests of cryptography that nobody here uses; a log that holds whole suites.
readonly run_quicker='cryptomgr.notests initcall_blacklist=jent_mod_init log_buf_len=4M'

vm_run_command() {
    run_kernel='' run_smp=2 run_mem=3G run_icount='' run_timeout_s=300 run_script_timeout_s=0
    run_out='' run_share='' run_append='' run_live='' run_quiet=''
    run_env=() run_qemu=() run_scripts=() run_command=() run_names=() run_logs=()
    run_temp='' run_pid='' run_tail='' run_qemu_status=0
    run_parse "$@"
    trap run_cleanup EXIT
    trap 'exit 129' HUP
    trap 'exit 130' INT
    trap 'exit 143' TERM
    need qemu-system-x86_64 qemu-system-x86
    if ! kernel_is_here "$run_kernel"; then
        fetch_kernel "$run_kernel" '' || exit $?
        [ "$run_kernel" = default ] && run_kernel=$(cat "$vm_dir/default")
    fi
    need_room "$vm_dir" 200
    initramfs_for "$run_kernel"
    run_prepare
    run_boot
    run_collect
}

run_parse() {
    while [ $# -gt 0 ]; do
        case $1 in
            --icount) run_icount=1 ;;
            --live) run_live=1 ;;
            --quiet) run_quiet=1 ;;
            --)
                shift
                run_command=("$@")
                break
                ;;
            --kernel | --smp | --mem | --timeout | --script-timeout | --out | --share | --env | \
                --qemu-arg | --append | --script)
                [ $# -ge 2 ] || die "$vm_status_usage" "run: $1 needs a value" "vm --help"
                run_set "$1" "$2"
                shift
                ;;
            *) die "$vm_status_usage" "run: unknown option $1" "vm --help; a command comes after --" ;;
        esac
        shift
    done
    [ -n "$run_kernel" ] ||
        die "$vm_status_usage" "run: no --kernel" "vm run --kernel 6.12 -- uname -r"
    [ ${#run_scripts[@]} -gt 0 ] || [ ${#run_command[@]} -gt 0 ] ||
        die "$vm_status_usage" "run: nothing to run" "vm run --kernel 6.12 -- uname -r"
    [ "$run_kernel" = default ] && [ -s "$vm_dir/default" ] && run_kernel=$(cat "$vm_dir/default")
    [ -n "$run_icount" ] && run_smp=${run_smp_asked:-1}
    return 0
}

run_set() {
    case $1 in
        --kernel) run_kernel=$2 ;;
        --smp) run_smp=$2 run_smp_asked=$2 ;;
        --mem) run_mem=$2 ;;
        --timeout) run_timeout_s=$2 ;;
        --script-timeout) run_script_timeout_s=$2 ;;
        --out) run_out=$2 ;;
        --share) run_share=$2 ;;
        --env) run_env+=("$2") ;;
        --qemu-arg) run_qemu+=("$2") ;;
        --append) run_append=$2 ;;
        --script)
            [ -f "$2" ] || die "$vm_status_usage" "run: no script $2" "name a file that exists"
            run_scripts+=("$(readlink -f "$2")")
            ;;
    esac
}

# Fills the result folder with what guest-main reads.
run_prepare() {
    local script name pair
    if [ -z "$run_out" ]; then
        # What failed runs left is for a look, not for ever.
        find "$vm_dir" -maxdepth 1 -name 'run.*' -mmin +1440 -exec rm -rf {} +
        run_temp=$(mktemp -d "$vm_dir/run.XXXXXX") || exit "$vm_status_failed"
        run_out=$run_temp
    fi
    mkdir -p "$run_out/.vm" || die "$vm_status_failed" "cannot write $run_out" "choose another --out"
    run_out=$(readlink -f "$run_out")
    rm -f "$run_out"/{dmesg,console,kernel-complaints,qemu.err} "$run_out"/.vm/*
    cp "$vm_home/guest-main" "$run_out/.vm/"
    {
        printf 'export VM_MODULES=%q VM_KERNEL=%q\nVM_START_DIR=%q VM_SCRIPT_TIMEOUT=%q\n' \
            "$(kernel_dir "$run_kernel")" "$run_kernel" "$PWD" "$run_script_timeout_s"
        for pair in "${run_env[@]}"; do printf 'export %s=%q\n' "${pair%%=*}" "${pair#*=}"; done
    } >"$run_out/.vm/env"
    [ ${#run_command[@]} -gt 0 ] && run_prepare_command
    for script in "${run_scripts[@]}"; do
        name=$(basename "$script")
        printf '%s\t%s\n' "${name%.*}" "$script" >>"$run_out/.vm/list"
    done
    while IFS=$'\t' read -r name _; do
        run_names+=("$name")
        run_logs+=("$run_out/$name.log")
        rm -f "$run_out/$name.rc"
        : >"$run_out/$name.log"
    done <"$run_out/.vm/list"
}

# One word that is a file is a script, one that is not is shell text, several are a command line.
run_prepare_command() {
    local script=/run/vm/out/.vm/command
    if [ ${#run_command[@]} -eq 1 ] && [ -f "${run_command[0]}" ]; then
        script=$(readlink -f "${run_command[0]}")
    elif [ ${#run_command[@]} -eq 1 ]; then
        printf '%s\n' "${run_command[0]}" >"$run_out/.vm/command"
    else
        printf '%q ' "${run_command[@]}" >"$run_out/.vm/command"
    fi
    printf 'command\t%s\n' "$script" >>"$run_out/.vm/list"
}

# A comma ends a QEMU option, so one inside a path is doubled.
virtfs() { printf 'local,path=%s,mount_tag=%s,security_model=none%s' "${1//,/,,}" "$2" "${3:-}"; }

# qemu_start ACCEL CONSOLE APPEND [ARG...]: becomes QEMU with this kernel.
qemu_start() {
    local accel=$1 console=$2 append=$3 cpu=max
    shift 3
    [ "$accel" = kvm ] && cpu=host
    # If this shell is killed outright, QEMU must not outlive it.
    exec setpriv --pdeathsig KILL qemu-system-x86_64 -accel "$accel" -cpu "$cpu" \
        -nodefaults -no-user-config -no-reboot -display none -monitor none \
        -serial "file:${console//,/,,}" \
        -kernel "$(kernel_dir "$run_kernel")/vmlinux" \
        -initrd "$(kernel_dir "$run_kernel")/initramfs.gz" \
        -append "console=ttyS0 quiet loglevel=4 panic=-1 nokaslr mitigations=off no_timer_check $run_quicker $append" \
        "$@"
}

# Sets run_accel to kvm or tcg. A nested hypervisor may offer /dev/kvm and then hang with a guest,
# so a real guest must answer within the limit; the answer is kept until QEMU or the host's
# kernel changes.
run_choose_accel() {
    local key file=$vm_dir/accel
    run_accel=${BLKTAG_VM_ACCEL:-}
    [ -n "$run_accel" ] && return
    run_accel=tcg
    [ -r /dev/kvm ] && [ -w /dev/kvm ] || return 0
    key="$(uname -r) $(qemu-system-x86_64 --version | head -n 1)"
    exec 7>"$file.lock"
    flock 7
    if [ "$(head -n 1 "$file" 2>/dev/null)" = "$key" ]; then
        run_accel=$(sed -n 2p "$file")
    else
        say "finding out whether KVM really runs a guest (at most 20 s, once)"
        run_probe_kvm 2>/dev/null && run_accel=kvm
        printf '%s\n%s\n' "$key" "$run_accel" >"$file"
        say "using $run_accel"
    fi
    exec 7>&-
}

run_probe_kvm() {
    local console status=1
    console=$(mktemp "$vm_dir/kvm.XXXXXX") || return 1
    (qemu_start kvm "$console" blktag.probe -m 512M) </dev/null >/dev/null 2>&1 7>&- &
    run_pid=$!
    for _ in $(seq 100); do
        grep -q blktag-guest-runs "$console" && status=0 && break
        kill -0 "$run_pid" 2>/dev/null || break
        sleep 0.2
    done
    run_stop
    rm -f "$console"
    return "$status"
}

qemu_before_8_1() {
    local version
    version=$(qemu-system-x86_64 --version | sed -nE '1s/.*version ([0-9]+)\.([0-9]+).*/\1 \2/p')
    ! { [ "${version% *}" -gt 8 ] || [ "$version" = "8 1" ] || [ "$version" = "8 2" ]; }
}

# QEMU before 8.1 may translate code while another emulated CPU writes it and then keep a stale
# breakpoint, which kills a guest whenever its kernel patches itself (static keys, tracing): there
# all CPUs share one thread.
run_threads() { if qemu_before_8_1; then echo single; else echo multi; fi; }

run_boot() {
    local args=() share='' accel
    if [ -n "$run_icount" ]; then
        accel=tcg,thread=single
        args+=(-icount "shift=0,sleep=off" -rtc "clock=vm")
        # Before QEMU 8.1 a CPU that never pauses leaves the others no instructions, and so hangs
        # the boot of several CPUs on kernels before 6.5; guest-main brings the others up.
        # What the clock's rate is, one tick a nanosecond, need not be measured by waiting either.
        [ "$run_smp" -gt 1 ] && qemu_before_8_1 && run_append+=" maxcpus=1 lpj=4000000 tsc=reliable"
    else
        run_choose_accel
        accel=$run_accel
        [ "$accel" = tcg ] && accel=tcg,thread=$(run_threads)
    fi
    printf '%s\n' "$accel${run_icount:+ icount}" >"$run_out/accel"
    args+=(-m "$run_mem" -smp "$run_smp"
        -virtfs "$(virtfs / vmroot ,multidevs=remap,readonly=on)"
        -virtfs "$(virtfs "$run_out" vmout)")
    if [ -n "$run_share" ]; then
        mkdir -p "$run_share"
        args+=(-virtfs "$(virtfs "$(readlink -f "$run_share")" vmshare)")
        share=blktag.share
    fi
    (qemu_start "$accel" "$run_out/console" "$share $run_append" "${args[@]}" "${run_qemu[@]}") \
        </dev/null >"$run_out/qemu.err" 2>&1 &
    run_pid=$!
    if [ -n "$run_live" ] && [ -z "$run_quiet" ]; then
        tail -q -n +1 -F -s 0.2 --pid="$run_pid" "${run_logs[@]}" 2>/dev/null &
        run_tail=$!
    fi
    run_wait
}

# Waits for the guest's end or the time limit.
run_wait() {
    local deadline=$((SECONDS + run_timeout_s))
    while kill -0 "$run_pid" 2>/dev/null; do
        if [ "$SECONDS" -ge "$deadline" ]; then
            run_stop
            run_print
            run_temp='' # the evidence stays
            die "$vm_status_timeout" "time limit of $run_timeout_s s reached, guest ended" \
                "--timeout with more seconds; what it had done is in $run_out"
        fi
        sleep 0.1
    done
    wait "$run_pid"
    run_qemu_status=$?
    run_pid=''
    [ -n "$run_tail" ] && wait "$run_tail" 2>/dev/null
    run_tail=''
}

run_stop() {
    [ -n "$run_pid" ] || return 0
    kill -KILL "$run_pid" 2>/dev/null
    wait "$run_pid" 2>/dev/null
    run_pid=''
}

run_print() {
    local name
    if [ -n "$run_quiet" ] || [ -n "$run_live" ]; then
        return
    fi
    for name in "${run_names[@]}"; do
        [ ${#run_names[@]} -gt 1 ] && printf '== %s\n' "$name"
        cat "$run_out/$name.log"
    done
}

run_collect() {
    local name status=0 rc
    run_print
    cat "$run_out/dmesg" "$run_out/console" 2>/dev/null | grep -aE "$run_complaint" |
        sed -E 's/^\[[ 0-9.]+\] //; s/\r$//' | sort -u >"$run_out/kernel-complaints"
    if [ -s "$run_out/kernel-complaints" ]; then
        say "the guest's kernel complained:"
        head -n 5 "$run_out/kernel-complaints" >&2
    fi
    if ! [ -e "$run_out/.vm/finished" ]; then
        say "the guest died before its scripts ended (QEMU status $run_qemu_status)"
        tail -q -n 15 "$run_out/qemu.err" "$run_out/console" >&2
        run_temp=''
        die "$vm_status_failed" "what it left is in $run_out" \
            "less --mem if the host has no room, another --kernel if this one panics"
    fi
    for name in "${run_names[@]}"; do
        rc=$(cat "$run_out/$name.rc" 2>/dev/null || echo "$vm_status_failed")
        [ "$status" -eq 0 ] && status=$rc
    done
    return "$status"
}

run_cleanup() {
    run_stop
    [ -n "$run_tail" ] && kill "$run_tail" 2>/dev/null
    [ -n "$run_out" ] && rm -rf "$run_out/.vm"
    [ -n "$run_temp" ] && rm -rf "$run_temp"
    return 0
}
