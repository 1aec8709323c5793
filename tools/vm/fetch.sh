# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# Gets Debian kernels without installing them. Input: versions such as 6.12, the system's own
# mirror and keyring. Output: <vm_dir>/kernels/<version>/{vmlinuz,release,lib/modules}.
# Sourced by vm.

# Old builds vanish from the mirror file by file, so a build counts only when all its packages
# come; this many builds are tried, newest first.
readonly fetch_max_builds=4

vm_fetch_command() {
    local refresh='' version status=0 versions=()
    while [ $# -gt 0 ]; do
        case $1 in
            --refresh) refresh=1 ;;
            -*) die "$vm_status_usage" "fetch: unknown option $1" "vm --help" ;;
            *) versions+=("$1") ;;
        esac
        shift
    done
    [ ${#versions[@]} -gt 0 ] || die "$vm_status_usage" "fetch: no version given" "vm --help"
    for version in "${versions[@]}"; do
        fetch_kernel "$version" "$refresh" || status=$?
    done
    return "$status"
}

# fetch_kernel VERSION REFRESH: 0 when it is here afterwards, 77 when it is not served.
fetch_kernel() {
    local version=$1 refresh=$2 build
    mkdir -p "$vm_dir" || die "$vm_status_failed" "cannot make $vm_dir" "set BLKTAG_VM_DIR"
    exec 9>"$vm_dir/fetch.lock"
    flock 9
    if [ "$version" = default ]; then
        apt_private
        version=$(default_version)
        [ -n "$version" ] || die "$vm_status_failed" "this system's linux-image-amd64 is unknown" \
            "name a version, for example 6.1"
        printf '%s\n' "$version" >"$vm_dir/default"
    fi
    if [ -z "$refresh" ] && kernel_is_here "$version"; then
        say "$version: $(cat "$(kernel_dir "$version")/release") is here"
        return 0
    fi
    need dpkg dpkg
    need depmod kmod
    need_room "$vm_dir" 1500
    apt_private
    for build in $(builds_of "$version" | head -n "$fetch_max_builds"); do
        if fetch_build "$version" "$build"; then
            say "$version: $(cat "$(kernel_dir "$version")/release") fetched"
            return 0
        fi
        say "$version: $build is not wholly served, trying the one before"
    done
    kernel_is_here "$version" && return 0
    say "=== KERNEL $version IS NOT SERVED ANY MORE: it cannot be booted ==="
    return "$vm_status_not_served"
}

# system_mirrors: lines "URI SUITE" of the system's sources, both formats.
system_mirrors() {
    local file
    for file in /etc/apt/sources.list.d/*.sources; do
        [ -f "$file" ] || continue
        awk '
            function flush(  i, j, u, s, nu, ns) {
                nu = split(uris, u, " "); ns = split(suites, s, " ")
                if (types ~ /(^| )deb( |$)/ && enabled != "no")
                    for (i = 1; i <= nu; i++) for (j = 1; j <= ns; j++) print u[i], s[j]
                types = uris = suites = enabled = ""
            }
            /^#/ { next }
            /^[ \t]*$/ { flush(); next }
            { field = tolower($1); value = $0; sub(/^[^:]*:[ \t]*/, "", value) }
            field == "types:" { types = value }
            field == "uris:" { uris = value }
            field == "suites:" { suites = value }
            field == "enabled:" { enabled = tolower(value) }
            END { flush() }' "$file"
    done
    for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
        [ -f "$file" ] || continue
        sed -nE 's/^deb[ \t]+(\[[^]]*\][ \t]+)?([^ \t]+)[ \t]+([^ \t]+).*/\2 \3/p' "$file"
    done
}

codename() { (. /etc/os-release && printf '%s' "${VERSION_CODENAME:-}"); }

# Writes the private apt configuration and refreshes its lists when they are old.
apt_private() {
    local apt=$vm_dir/apt keyring=/usr/share/keyrings/debian-archive-keyring.gpg
    need apt-get apt
    [ -s "$keyring" ] ||
        die "$vm_status_failed" "$keyring is missing" "apt-get install debian-archive-keyring"
    mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$apt/parts"
    apt_sources "$keyring" >"$apt/sources.list.new" || exit "$vm_status_failed"
    cmp -s "$apt/sources.list.new" "$apt/sources.list" || rm -f "$apt/updated"
    mv "$apt/sources.list.new" "$apt/sources.list"
    vm_apt=(-oDir::Etc::SourceList="$apt/sources.list" -oDir::Etc::SourceParts="$apt/parts"
        -oDir::State::Lists="$apt/lists" -oDir::Cache="$apt/cache" -oAPT::Sandbox::User=root
        -oAcquire::Retries=2 -oAcquire::http::Timeout=30 -oAcquire::Languages=none -qq)
    [ -n "$(find "$apt/updated" -mmin -720 2>/dev/null)" ] && return 0
    say "reading the mirror's package lists"
    # One suite that went away must not hide the others: their lists are used all the same.
    apt-get "${vm_apt[@]}" update >"$apt/log" 2>&1 || say "some lists did not come ($apt/log)"
    find "$apt/lists" -name '*Packages*' | grep -q . ||
        die "$vm_status_failed" "no package list could be read" "is there a network? see $apt/log"
    touch "$apt/updated"
}

# apt_sources KEYRING: the releases that hold the kernels, from the mirrors this system uses.
apt_sources() {
    local mirrors main security suite
    mirrors=$(system_mirrors)
    main=$(awk -v s="$(codename)" '$2 == s { print $1; exit }' <<<"$mirrors")
    security=$(awk -v s="$(codename)-security" '$2 == s { print $1; exit }' <<<"$mirrors")
    [ -n "$main" ] || die "$vm_status_failed" "no Debian mirror in this system's apt sources" \
        "run on Debian, or add a line for $(codename) to /etc/apt/sources.list"
    for suite in $(printf '%s\n' bookworm trixie trixie-backports "$(codename)" | sort -u); do
        echo "deb [signed-by=$1] $main $suite main"
    done
    [ -n "$security" ] || return 0
    for suite in bookworm trixie; do
        echo "deb [signed-by=$1] $security $suite-security main"
    done
}

# The version of the kernel that this very Debian would install, such as 6.1.
default_version() {
    apt-cache "${vm_apt[@]}" -oAPT::Default-Release="$(codename)" --no-all-versions \
        show linux-image-amd64 2>/dev/null |
        sed -nE '/^Depends:/s/.*linux-image-([0-9]+\.[0-9]+)\..*/\1/p' | head -n 1
}

# Names of image packages of one version, newest first.
builds_of() {
    local pattern="^linux-image-${1//./\\.}\\.[0-9.-]+(\\+(deb|bpo)[0-9]*)?-amd64\$"
    apt-cache "${vm_apt[@]}" pkgnames "linux-image-$1" | grep -E "$pattern" | sort -rV
}

# fetch_build VERSION PACKAGE: downloads and unpacks; from 7.x on one build is several packages.
fetch_build() {
    local new debs=$vm_dir/apt/debs package part
    new=$(kernel_dir "$1").new
    rm -rf "$new" "$debs"
    mkdir -p "$new" "$debs"
    for package in "$2" $(apt-cache "${vm_apt[@]}" depends "$2" |
        awk '/Depends: linux-(base|binary|modules)-[0-9]/ { print $2 }'); do
        say "$1: downloading $package"
        (cd "$debs" && apt-get "${vm_apt[@]}" download "$package") >>"$vm_dir/apt/log" 2>&1 ||
            return 1
    done
    for part in "$debs"/*.deb; do
        # Graphics, sound and network drivers are most of the bulk and of no use here.
        dpkg --fsys-tarfile "$part" | tar -x -C "$new" --exclude='*/kernel/sound/*' \
            --exclude='*/kernel/drivers/gpu/*' --exclude='*/kernel/drivers/media/*' \
            --exclude='*/kernel/drivers/net/*' --exclude='*/kernel/drivers/infiniband/*' \
            --exclude='*/kernel/drivers/iio/*' --exclude='*/kernel/drivers/staging/*' || return 1
    done
    rm -rf "$debs"
    fetch_finish "$1" "$new"
}

# fetch_finish VERSION DIR: checks an unpacked kernel and puts it in its place.
fetch_finish() {
    local new=$2 release image
    # depmod and modprobe -d look in lib/modules; newer packages put them under usr/.
    [ -d "$new/lib" ] || ln -s usr/lib "$new/lib"
    release=$(cd "$new/lib/modules" 2>/dev/null && echo *)
    [ -d "$new/lib/modules/$release/kernel" ] || return 1
    for image in "$new/boot/vmlinuz-$release" "$new/lib/modules/$release/vmlinuz"; do
        [ -f "$image" ] && cp "$image" "$new/vmlinuz"
    done
    [ -s "$new/vmlinuz" ] || return 1
    PATH=$PATH:/usr/sbin:/sbin depmod -b "$new" "$release" || return 1
    printf '%s\n' "$release" >"$new/release"
    rm -rf "$(kernel_dir "$1")"
    mv "$new" "$(kernel_dir "$1")"
}
