# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# Makes what QEMU loads: the bare kernel, and an initramfs of busybox, guest-init and the few modules
# that reach the host's files. Input: a fetched kernel. Output: <kernel dir>/{vmlinux,initramfs.gz},
# made again when these scripts changed.
# Sourced by vm.

readonly initramfs_modules="virtio_pci 9pnet_virtio 9p overlay"

initramfs_for() {
    local dir key
    dir=$(kernel_dir "$1")
    exec 8>"$dir/initramfs.lock"
    flock 8
    key=$(cat "$vm_home/guest-init" "$vm_home/initramfs.sh" | sha256sum)
    if ! [ -s "$dir/initramfs.gz" ] || [ "$key" != "$(cat "$dir/initramfs.key" 2>/dev/null)" ]; then
        vmlinux_make "$dir"
        initramfs_make "$1" "$dir"
        printf '%s\n' "$key" >"$dir/initramfs.key"
    fi
    exec 8>&-
}

# u8 / u32 FILE OFFSET: a number out of a file.
u8() { od -An -v -tu1 -j "$2" -N 1 "$1" | tr -d ' '; }
u32() { od -An -v -tu4 -j "$2" -N 4 "$1" | tr -d ' '; }

# An emulated CPU takes seconds to unpack a kernel, the host does it once. The places are those of
# the x86 boot protocol's header; where anything is unusual vmlinuz itself serves as well.
vmlinux_make() {
    local image=$1/vmlinuz start length unpack magic
    rm -f "$1/vmlinux" # it may be a link to vmlinuz
    start=$((($(u8 "$image" 497) + 1) * 512 + $(u32 "$image" 584)))
    length=$(u32 "$image" 588)
    magic=$(od -An -v -tx1 -j "$start" -N 4 "$image" | tr -d ' ')
    case $magic in
        fd377a58) unpack=(xz -dc) ;;
        28b52ffd) unpack=(zstd -qdc) ;;
        1f8b*) unpack=(gzip -dc) ;;
        *) unpack=(false) ;;
    esac
    # Behind the packed data stand four bytes with its size, which are no part of it.
    tail -c "+$((start + 1))" "$image" | head -c "$((length - 4))" |
        "${unpack[@]}" >"$1/vmlinux" 2>/dev/null
    [ "$(head -c 4 "$1/vmlinux" | od -An -tx1 | tr -d ' ')" = 7f454c46 ] && return
    ln -f "$image" "$1/vmlinux"
}

initramfs_make() {
    local dir=$2 tree
    need busybox busybox-static
    need cpio cpio
    need modprobe kmod
    tree=$(mktemp -d "$dir/initramfs.XXXXXX") || exit "$vm_status_failed"
    mkdir -p "$tree"/{bin,proc,sys,dev,root,lower,upper,modules}
    cp "$vm_home/guest-init" "$tree/init"
    chmod 755 "$tree/init"
    if ! initramfs_busybox "$tree/bin" ||
        ! initramfs_copy_modules "$dir" "$(cat "$dir/release")" "$tree/modules" ||
        ! (cd "$tree" && find . | cpio --quiet -o -H newc) | gzip -1 >"$dir/initramfs.gz"; then
        rm -rf "$tree" "$dir/initramfs.gz"
        die "$vm_status_failed" "cannot make the initramfs of $1" "vm fetch --refresh $1"
    fi
    rm -rf "$tree"
}

initramfs_busybox() {
    local busybox
    busybox=$(command -v busybox) || return 1
    # A busybox that needs shared libraries cannot start in an initramfs that has none.
    if ldd "$busybox" 2>/dev/null | grep -q '=>'; then
        say "$busybox is not static: apt-get install busybox-static"
        return 1
    fi
    cp "$busybox" "$1/busybox"
}

# Plain .ko files and their load order; newer kernels ship them compressed.
initramfs_copy_modules() {
    local module file name
    for module in $initramfs_modules; do
        PATH=$PATH:/usr/sbin:/sbin modprobe -d "$1" -S "$2" --show-depends "$module" 2>/dev/null
    done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }' >"$3/files"
    while read -r file; do
        name=$(basename "$file")
        case $name in
            *.xz) xz -dc "$file" >"$3/${name%.xz}" ;;
            *.zst) zstd -qdc "$file" >"$3/${name%.zst}" ;;
            *) cp "$file" "$3/$name" ;;
        esac || return 1
        name=${name%.xz}
        printf '%s\n' "${name%.zst}" >>"$3/list"
    done <"$3/files"
    rm "$3/files"
    [ -s "$3/list" ]
}
