#!/bin/sh
# Asks lintian about the packages in directory $1, installs them on a bare Debian root in $2, uses them there, and removes them without a trace; then once more
# with compilers on that root. Needs root, mmdebstrap, lintian, and a mirror.
set -eu
packages=$1 root=$2
suite=$(. /etc/os-release && echo "$VERSION_CODENAME")

lintian --allow-root --fail-on error,warning "$packages"/*.deb

if [ -d "$root/proc" ] && mountpoint -q "$root/proc"; then umount "$root/proc"; fi
rm -rf --one-file-system "$root"
mmdebstrap --variant=minbase "$suite" "$root"
# Programs ask there who they are.
mount -t proc proc "$root/proc"
trap 'umount "$root/proc"' EXIT
mkdir "$root/packages"
cp "$packages"/*.deb "$root/packages"

inside() { chroot "$root" /bin/sh -euc "export DEBIAN_FRONTEND=noninteractive; $1"; }
# What is there, but for what the package manager writes down.
everything() { inside 'find / -xdev \( -path /proc -o -path /sys -o -path /dev -o -path /tmp -o -path /packages -o -path /var/lib -o -path /var/cache -o -path /var/log -o -path /run \) -prune -o -print' | sort; }
install_packages() {
    everything >"$root.before"
    inside 'cd /packages && apt-get install -q -y ./*.deb'
}
remove_packages() {
    inside 'apt-get purge -q -y stanchion libstanchion-preload libstanchion-dev libstanchion0'
    rm -rf "$root"/tmp/*
    everything >"$root.after"
    diff "$root.before" "$root.after"
}

install_packages
# A program of the bare root that has threads and mutexes, as it is.
inside 'seq 300000 | stanchion run -- sort -rn --parallel=4 | head -1 | grep -qx 300000'
inside 'seq 300000 | stanchion-preload -- sort -rn --parallel=4 | head -1 | grep -qx 300000'
inside 'STANCHION=verbose stanchion-preload sort --version 2>&1 | grep "replaces mutexes by lock=stanchion,"'
inside 'stanchion --version && test -s /usr/share/bash-completion/completions/stanchion'
remove_packages

inside 'apt-get update -q && apt-get install -q -y --no-install-recommends gcc libc6-dev pkg-config cmake make'
install_packages
cat >"$root/tmp/use.c" <<'C'
#include <pthread.h>
#include <stanchion.h>
#include <stdio.h>
static stanchion_mutex_t mutex = STANCHION_MUTEX_INIT;
static pthread_mutex_t other = PTHREAD_MUTEX_INITIALIZER;
static int ours, theirs;
static void *work(void *unused) {
    for (int i = 0; i < 10000; i++) {
        stanchion_mutex_lock(&mutex);
        ours++;
        stanchion_mutex_unlock(&mutex);
        pthread_mutex_lock(&other);
        theirs++;
        pthread_mutex_unlock(&other);
    }
    return unused;
}
int main(void) {
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    printf("%d %d\n", ours, theirs);
    return ours == 40000 && theirs == 40000 ? 0 : 1;
}
C
cat >"$root/tmp/CMakeLists.txt" <<'CMAKE'
cmake_minimum_required(VERSION 3.13)
project(use C)
find_package(Stanchion 0.1 REQUIRED)
find_package(Threads REQUIRED)
add_executable(shared use.c)
target_link_libraries(shared Stanchion::stanchion Threads::Threads)
add_executable(archive use.c)
target_link_libraries(archive Stanchion::static Threads::Threads)
CMAKE
inside 'cd /tmp && cc -pthread use.c -o use $(pkg-config --cflags --libs stanchion) && ./use'
inside 'cd /tmp && cmake -S . -B build >/dev/null && cmake --build build >/dev/null && build/shared && build/archive'
inside 'cd /tmp && stanchion run -- ./use && stanchion-preload -- ./use && stanchion-preload -l pv-qspin ./use'
inside 'cd /tmp && STANCHION=verbose stanchion-preload -l pv-qspin ./use 2>&1 | grep "replaces mutexes by lock=pv-qspin,"'
remove_packages
echo "deb: installed, used and removed on $suite"
