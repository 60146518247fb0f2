#!/bin/sh
# Installs the packages in directory $1 on a fresh Debian root in $2, uses them, and removes them without a trace. Needs root, mmdebstrap, and a mirror.
set -eu
packages=$1 root=$2
suite=$(. /etc/os-release && echo "$VERSION_CODENAME")

[ -d "$root/usr" ] || mmdebstrap --variant=minbase --include=gcc,libc6-dev,pkg-config,cmake,make "$suite" "$root"
inside() { chroot "$root" /bin/sh -euc "$1"; }
# What is there, but for what the package manager writes down.
everything() { inside 'find / -xdev \( -path /proc -o -path /sys -o -path /dev -o -path /tmp -o -path /var/lib -o -path /var/cache -o -path /var/log -o -path /run \) -prune -o -print' | sort; }

# Programs ask there who they are.
mount -t proc proc "$root/proc"
trap 'umount "$root/proc"' EXIT

everything >"$root.before"
mkdir -p "$root/tmp/packages"
cp "$packages"/*.deb "$root/tmp/packages"
inside 'dpkg -i /tmp/packages/*.deb'

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
inside 'stanchion --version && test -s /usr/share/man/man1/stanchion-run.1.gz'

inside 'dpkg -P stanchion libstanchion-preload libstanchion-dev libstanchion0'
rm -rf "$root/tmp/packages" "$root"/tmp/use* "$root"/tmp/CMakeLists.txt "$root"/tmp/build
everything >"$root.after"
diff "$root.before" "$root.after"
echo "deb: installed, used and removed on $suite"
