#!/bin/sh
# sources.sh FOLDER: unpacks Debian's sources of what the wheel links in, below FOLDER. Needs the machine's apt and its
# keys, but neither root nor a change in /etc: apt's lists and settings for this are in FOLDER/apt.
set -eu
at=$(realpath "$1")
packages="zlib jansson protobuf-c libmicrohttpd ncurses elfutils"

mkdir -p "$at/apt/lists/partial" "$at/apt/archives/partial"
# The places that the machine's own lists of packages are from.
apt-get indextargets --format 'deb-src $(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
    while read -r type uri release component; do
        case $(apt-get indextargets --format '$(ORIGIN)' 'Created-By: Packages' "Repo-URI: $uri" | head -n 1) in
        Debian | Ubuntu) echo "$type $uri $release $component" ;;
        esac
    done | awk '!seen[$0]++' >"$at/apt/sources.list"
if [ ! -s "$at/apt/sources.list" ]; then
    echo "wheel: apt has no lists of Debian's or Ubuntu's packages: run apt-get update" >&2
    exit 1
fi

own_apt() {
    apt-get -q -o Dir::Etc::SourceList="$at/apt/sources.list" -o Dir::Etc::SourceParts=- -o Dir::State::Lists="$at/apt/lists" \
        -o Dir::Cache="$at/apt" -o Acquire::Retries=3 -o Acquire::Languages=none -o APT::Sandbox::User= "$@"
}

own_apt update
cd "$at"
for package in $packages; do
    rm -rf "$package" "$package.new"
    mkdir "$package.new"
    # --download-only, then dpkg-source: so no compiler or debhelper is asked for.
    (cd "$package.new" && own_apt source --download-only "$package" && dpkg-source --no-check -x ./*.dsc source &&
        dpkg-parsechangelog -l source/debian/changelog -S Version >version)
    mv "$package.new" "$package"
done
