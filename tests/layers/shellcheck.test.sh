#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Runs shellcheck over every shell script of the tree. Input: the tree's root. Output: its findings,
# non-zero when there are any, or when it would not find a planted one.
set -u
cd "$1" || exit 1
command -v shellcheck >/dev/null || { echo "shellcheck is missing: apt-get install shellcheck"; exit 1; }

# shellcheck disable=SC2016
if printf '#!/bin/bash\nx=$(ls); rm $unset_name\n' | shellcheck --severity=warning - >/dev/null; then
    echo "shellcheck does not notice a planted mistake"
    exit 1
fi

mapfile -t scripts < <(find . \( -name .git -o -name 'build*' -type d \) -prune -o -type f -print |
    while read -r file; do
        read -r first <"$file"
        [[ $first =~ ^'#!'.*(bash|/sh|' sh')$ || $first == '# shellcheck shell='* ]] && echo "$file"
    done 2>/dev/null)
[ ${#scripts[@]} -ge 5 ] || { echo "only ${#scripts[@]} scripts found"; exit 1; }
echo "${#scripts[@]} scripts"
exec shellcheck --severity=warning "${scripts[@]}"
