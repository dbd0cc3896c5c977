#!/bin/sh
# Shows that a folder that cannot be synced is an error and not a shrug: a small library in front of the system's makes
# fsync of folders fail with one error after another. Needs a C compiler, Linux and a built program.
#
#   scripts/folder-sync.sh [PROGRAM]
set -eu
program=$(realpath "${1:-target/release/condenser}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cat >shim.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

int fsync(int fd) {
    static int (*real)(int);
    struct stat status;
    if (!real) real = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
    const char *code = getenv("FOLDER_ERRNO");
    if (code && fstat(fd, &status) == 0 && S_ISDIR(status.st_mode)) {
        errno = atoi(code);
        return -1;
    }
    return real(fd);
}
C
${CC:-cc} -shared -fPIC -o shim.so shim.c -ldl

for i in 1 2 3 4; do
    printf '{"id":"c%s","messages":[{"role":"user","content":"The cache was warm before the traffic moved."}]}\n' "$i"
done >in.jsonl
"$program" compress in.jsonl -o run --quiet

failed=0
# EIO 5, ENOSPC 28, EROFS 30, EDQUOT 122 are failures; EINVAL 22 and ENOTSUP 95 are systems that sync no folder.
for case in "5 1" "28 1" "30 1" "122 1" "22 0" "95 0"; do
    set -- $case
    for command in "compress in.jsonl -o run-$1" "restore run -o out-$1" "get run c1 -o got-$1/c1" "report run --html page-$1/p.html"; do
        case $command in report*) mkdir -p "page-$1" ;; esac
        code=0
        # shellcheck disable=SC2086
        FOLDER_ERRNO=$1 LD_PRELOAD="$work/shim.so" "$program" $command >out.txt 2>&1 || code=$?
        if [ "$code" -ne "$2" ]; then
            echo "FAILED: errno $1: $command ended with $code, not with $2"
            cat out.txt
            failed=1
        else
            echo "errno $1: $command ended with $code"
        fi
    done
done
exit $failed
