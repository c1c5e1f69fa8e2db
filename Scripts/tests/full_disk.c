/* Makes a disk full: loaded before all libraries (LD_PRELOAD), it lets the first writes to files pass and refuses the one
 * whose number FULL_AFTER names, and all after it, with ENOSPC. It counts what may need room on a disk: data, new files
 * and folders, names. Streams and pipes are left alone. With FULL_COUNT it writes the number of calls there at the end. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static atomic_long counted;
static long last = -1;

__attribute__((constructor)) static void begin(void) {
    const char *word = getenv("FULL_AFTER");
    if (word) last = atol(word);
}

__attribute__((destructor)) static void end(void) {
    const char *path = getenv("FULL_COUNT");
    FILE *file = path ? fopen(path, "w") : NULL;
    if (!file) return;
    fprintf(file, "%ld\n", (long)counted);
    fclose(file);
}

static int is_full(void) {
    long number = atomic_fetch_add(&counted, 1) + 1;
    if (last < 0 || number <= last) return 0;
    errno = ENOSPC;
    return 1;
}

static int is_file(int descriptor) {
    struct stat status;
    return descriptor > 2 && fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
}

#define REAL(name) static __typeof__(&name) real; if (!real) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

ssize_t write(int descriptor, const void *bytes, size_t count) {
    REAL(write);
    return is_file(descriptor) && is_full() ? -1 : real(descriptor, bytes, count);
}

ssize_t pwrite(int descriptor, const void *bytes, size_t count, off_t place) {
    REAL(pwrite);
    return is_file(descriptor) && is_full() ? -1 : real(descriptor, bytes, count, place);
}

ssize_t writev(int descriptor, const struct iovec *pieces, int count) {
    REAL(writev);
    return is_file(descriptor) && is_full() ? -1 : real(descriptor, pieces, count);
}

int fsync(int descriptor) {
    REAL(fsync);
    return is_file(descriptor) && is_full() ? -1 : real(descriptor);
}


int open(const char *path, int flags, ...) {
    REAL(open);
    va_list more;
    va_start(more, flags);
    mode_t mode = flags & O_CREAT ? va_arg(more, mode_t) : 0;
    va_end(more);
    return (flags & O_CREAT) && is_full() ? -1 : real(path, flags, mode);
}

int open64(const char *path, int flags, ...) {
    REAL(open64);
    va_list more;
    va_start(more, flags);
    mode_t mode = flags & O_CREAT ? va_arg(more, mode_t) : 0;
    va_end(more);
    return (flags & O_CREAT) && is_full() ? -1 : real(path, flags, mode);
}

int mkdir(const char *path, mode_t mode) {
    REAL(mkdir);
    return is_full() ? -1 : real(path, mode);
}

int rename(const char *from, const char *to) {
    REAL(rename);
    return is_full() ? -1 : real(from, to);
}
