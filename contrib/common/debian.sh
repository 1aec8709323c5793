# shellcheck shell=bash disable=SC2154 # cache, die and say come from the caller
# SPDX-License-Identifier: GPL-2.0-or-later
# Gets Debian kernel headers, a kernel's vmlinux and a newer Debian userland; installs nothing.
# In: functions for contrib/build, which defines cache, work, log, say, logged and die. Out: folders
# below $cache.

next_suite=trixie

# The system's own mirror, in a private configuration: the newer kernels live in the next release.
apt_setup() {
	local uri suite keyring=/usr/share/keyrings/debian-archive-keyring.gpg
	command -v apt-get > /dev/null || die "apt-get is needed to fetch kernel headers"
	uri=$(sed -n 's/^URIs: *\([^ ]*\).*/\1/p' /etc/apt/sources.list.d/debian.sources 2> /dev/null ||
		true)
	[ -n "$uri" ] || uri=$(sed -nE 's/^deb ([[][^]]*[]] )?([^ ]+) .*/\2/p' /etc/apt/sources.list \
		2> /dev/null || true)
	uri=$(head -n 1 <<< "$uri")
	[ -n "$uri" ] || die "no Debian mirror found in the system's apt sources"
	mirror=${uri%/}
	suite=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
	mkdir -p "$cache"/apt/lists/partial "$cache"/apt/cache/archives/partial "$cache"/apt/none
	{
		for s in $suite $next_suite $next_suite-backports; do
			echo "deb [signed-by=$keyring] $mirror $s main"
		done | sort -u
		# security updates of the newer release bring the newest builds of the kernels
		for s in $suite $next_suite; do
			echo "deb [signed-by=$keyring] $mirror-security $s-security main"
		done | sort -u
	} > "$cache/apt/sources.list.new"
	apt_options=("-oDir::Etc::SourceList=$cache/apt/sources.list"
		"-oDir::Etc::SourceParts=$cache/apt/none" "-oDir::State::Lists=$cache/apt/lists"
		"-oDir::Cache=$cache/apt/cache" -oAPT::Sandbox::User=root)
	if ! cmp -s "$cache/apt/sources.list.new" "$cache/apt/sources.list" ||
		[ -z "$(find "$cache/apt/updated" -mtime -7 2> /dev/null)" ]; then
		cp "$cache/apt/sources.list.new" "$cache/apt/sources.list"
		say "reading package lists"
		logged "apt-get update failed" apt-get "${apt_options[@]}" update
		touch "$cache/apt/updated"
	fi
}

# Prints the release to build for: of a series, one made for this Debian rather than for the next.
pick_release() {
	local want=$1 found host served
	if [[ $want == *-amd64 ]]; then found=$want; else
		host=$(. /etc/os-release && echo "${VERSION_ID:-0}")
		served=$(apt-cache "${apt_options[@]}" pkgnames "linux-headers-$want." |
			sed -nE 's/^linux-headers-([0-9.-]+([+]deb[0-9]+)?-amd64)$/\1/p' | sort -V)
		found=$(grep -E "[+]deb$host-amd64\$|^[0-9.-]+-amd64\$" <<< "$served" | tail -1 || true)
		[ -n "$found" ] || found=$(tail -1 <<< "$served")
	fi
	if [ -z "$found" ] ||
		! apt-cache "${apt_options[@]}" show "linux-headers-$found" > /dev/null 2>&1; then
		die "the mirror serves no headers of ${found:-$want}: modules cannot be built for it"
	fi
	echo "$found"
}

fetch_deb() { # package, folder to unpack into
	(cd "$work" && logged "cannot download $1" apt-get "${apt_options[@]}" download "$1") || exit 1
	dpkg -x "$work/${1}"_*.deb "$2" || die "cannot unpack $1"
	rm -f "$work/${1}"_*.deb
}

fetch_headers() { # release, tree
	local release=$1 tree=$2 part
	# the makefiles are bound to the folder, so a cache that was moved is fetched anew
	[ "$(cat "$tree/headers" 2> /dev/null)" != "$tree" ] || return 0
	say "fetching headers"
	rm -rf "$tree.new" && mkdir -p "$tree.new"
	for part in "linux-headers-$release" $(
		apt-cache "${apt_options[@]}" depends "linux-headers-$release" |
			sed -nE 's/^ *Depends: (linux-(headers|kbuild)-.*)/\1/p'
	); do
		fetch_deb "$part" "$tree.new"
	done
	# Debian's makefiles name the place they expect to be installed in
	sed -i "s#/usr/src/linux-headers-#$tree&#" "$tree.new/usr/src/linux-headers-$release/Makefile"
	add_resolve_btfids "$tree.new/usr/src/linux-headers-$release/tools/bpf/resolve_btfids"
	echo "$tree" > "$tree.new/headers"
	rm -rf "$tree" && mv "$tree.new" "$tree"
}

# Debian's 6.1 leaves this tool out, though its makefiles call it for module BTF. It only has work to
# do for modules that refer to BTF ids of their own, so what stands in for it refuses those.
add_resolve_btfids() { # folder
	[ ! -e "$1/resolve_btfids" ] || return 0
	mkdir -p "$1"
	cat > "$1/resolve_btfids" <<-'T'
		#!/bin/sh
		for module in "$@"; do :; done
		! readelf -SW "$module" | grep -q '[.]BTF_ids' && exit 0
		echo "$module needs a real resolve_btfids" >&2
		exit 1
	T
	chmod +x "$1/resolve_btfids"
}

# True when the headers' own tools and the compiler they ask for run on this system.
kbuild_runs_here() {
	local tree=$1 compiler tool file
	compiler=$(grep -hoE 'gcc-[0-9]+' "$tree"/usr/src/linux-headers-*/.kernelvariables | head -1)
	command -v "${compiler:-gcc}" > /dev/null || { say "no ${compiler:-gcc} here"; return 1; }
	for tool in "$tree"/usr/lib/linux-kbuild-*/scripts/{basic/fixdep,mod/modpost} \
		"$tree"/usr/lib/linux-kbuild-*/tools/{objtool/objtool,bpf/resolve_btfids/resolve_btfids}; do
		[ -f "$tool" ] || continue
		# modpost is a small dispatcher in Debian, so all that lie beside it are asked
		for file in "$tool" "$tool".real*; do
			if [ -f "$file" ] && ldd "$file" 2>&1 | grep -q 'not found'; then
				say "$tool does not run here"
				return 1
			fi
		done
	done
	command -v pahole > /dev/null || die "pahole is needed (package dwarves)"
}

make_userland() { # root
	local root=$1
	[ "$(id -u)" = 0 ] || die "this kernel's modules are built in a chroot, which needs root"
	command -v debootstrap > /dev/null || die "debootstrap is needed for this kernel"
	[ ! -f "$root/ready" ] || return 0
	say "making a $next_suite userland, once"
	rm -rf --one-file-system "$root.new"
	logged "debootstrap failed" debootstrap --variant=minbase \
		--include=gcc-14,make,dwarves,libelf1t64,binutils "$next_suite" "$root.new" "$mirror"
	rm -rf "$root.new"/var/cache/apt/archives/*.deb "$root.new"/var/lib/apt/lists/*
	touch "$root.new/ready"
	rm -rf --one-file-system "$root" && mv "$root.new" "$root"
}

# Module BTF is a supplement to the kernel's own, which sits in the image that boots.
fetch_vmlinux() { # release, tree, image or ""
	local release=$1 tree=$2 image=$3 package
	local target=$tree/usr/src/linux-headers-$release/vmlinux
	[ ! -f "$target" ] || return 0
	if [ -z "$image" ]; then
		say "fetching the kernel image"
		package=linux-image-$release
		rm -rf "$work/image" && mkdir "$work/image"
		fetch_deb "$package" "$work/image"
		image=$(find "$work/image" -name 'vmlinuz*' -type f -print -quit)
		if [ -z "$image" ]; then
			fetch_deb "linux-binary-$release" "$work/image"
			image=$(find "$work/image" -name 'vmlinuz*' -type f -print -quit)
		fi
		[ -n "$image" ] || die "no kernel image inside $package"
	fi
	unpack_vmlinuz "$image" "$work/vmlinux" || die "cannot unpack $image"
	mv "$work/vmlinux" "$target"
	rm -rf "$work/image"
}

# A bzImage is a small loader with the compressed kernel behind it: try each place that looks like
# the start of one.
unpack_vmlinuz() { # image, target
	local image=$1 target=$2 magic tool offset
	for magic in 'xz:\xfd7zXZ\x00' 'zstd:\x28\xb5\x2f\xfd' 'gzip:\x1f\x8b\x08'; do
		tool=${magic%%:*}
		command -v "$tool" > /dev/null || continue
		for offset in $(LC_ALL=C grep -obUaP "${magic#*:}" "$image" | cut -d: -f1 | head -20); do
			tail -c "+$((offset + 1))" "$image" 2> /dev/null | "$tool" -dc > "$target" 2> /dev/null || true
			# bytes after the stream make the tool complain, so the result is judged instead
			if [ "$(head -c 4 "$target" | tail -c 3)" = ELF ]; then return 0; fi
		done
	done
	rm -f "$target"
	return 1
}
