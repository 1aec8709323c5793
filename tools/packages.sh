# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Installs missing packages of some roles and keeps time for progress lines. Input: tools/packages.
# Output: installed packages, one line saying which. Sourced by tools/check and tools/demo.

# step TEXT: a progress line with the time since the program began.
step() { printf '[%3d:%02d] %s\n' $((SECONDS / 60)) $((SECONDS % 60)) "$*"; }

# as_root COMMAND...
as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo "$@"
    else
        echo "not root and no sudo; as root, run: $*" >&2
        return 1
    fi
}

package_installed() { [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }

# packages_missing FILE ROLE...: one package or "a|b" a line, whatever is not installed.
packages_missing() {
    local file=$1 wanted role words word choice found
    shift
    wanted=" $* "
    while read -r role words; do
        [[ $role == '#'* || $wanted != *" $role "* ]] && continue
        for word in $words; do
            found=''
            for choice in ${word//|/ }; do package_installed "$choice" && found=1; done
            [ -n "$found" ] || printf '%s\n' "$word"
        done
    done <"$file" | sort -u
}

# packages_install FILE ROLE...
packages_install() {
    local missing word choice chosen=() log
    missing=$(packages_missing "$@")
    [ -n "$missing" ] || return 0
    step "reading package lists"
    log=$(mktemp)
    as_root apt-get -qq update >"$log" 2>&1 || { cat "$log" >&2; echo "apt-get update failed; going on" >&2; }
    for word in $missing; do
        for choice in ${word//|/ }; do
            apt-cache show "$choice" >/dev/null 2>&1 && break
        done
        chosen+=("$choice")
    done
    step "installing ${chosen[*]}"
    if ! as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends \
        "${chosen[@]}" >"$log" 2>&1 </dev/null; then
        tail -n 20 "$log" >&2
        echo "cannot install ${chosen[*]}; remedy: see the lines above, then run this again" >&2
        rm -f "$log"
        return 1
    fi
    rm -f "$log"
}
