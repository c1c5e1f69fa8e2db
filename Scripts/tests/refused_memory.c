/* Refuses memory: loaded before all libraries (LD_PRELOAD), it fails the call of mmap or madvise whose number REFUSE_AT
 * names, once; REFUSE_CALL says which of the two it counts, of at least REFUSE_LEAST bytes. The first ones are the allocator's own, before a program begins:
 * they are not counted. With REFUSE_COUNT it writes the number of calls there at the
 * end. Calls that the loader and the C library make for themselves are not seen. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_long counted;
static const char *wanted;
static long refused;
static size_t least;

__attribute__((constructor)) static void begin(void) {
    /* The allocator makes itself ready. */
    free(malloc(1 << 20));
    const char *at = getenv("REFUSE_AT");
    refused = at ? atol(at) : -1;
    const char *bytes = getenv("REFUSE_LEAST");
    least = bytes ? strtoul(bytes, NULL, 10) : 0;
    wanted = getenv("REFUSE_CALL");
}

static int is_refused(const char *call, size_t size) {
    if (!wanted || size < least || strcmp(wanted, call) != 0) return 0;
    if (atomic_fetch_add(&counted, 1) + 1 != refused) return 0;
    errno = ENOMEM;
    return 1;
}

__attribute__((destructor)) static void end(void) {
    const char *path = getenv("REFUSE_COUNT");
    FILE *file = path ? fopen(path, "w") : NULL;
    if (!file) return;
    fprintf(file, "%ld\n", (long)counted);
    fclose(file);
}

void *mmap(void *place, size_t size, int protection, int flags, int descriptor, off_t offset) {
    if (is_refused("mmap", size)) return MAP_FAILED;
    return (void *)syscall(SYS_mmap, place, size, protection, flags, descriptor, offset);
}

void *mmap64(void *place, size_t size, int protection, int flags, int descriptor, off_t offset) {
    return mmap(place, size, protection, flags, descriptor, offset);
}

int madvise(void *place, size_t size, int advice) {
    return is_refused("madvise", size) ? -1 : (int)syscall(SYS_madvise, place, size, advice);
}
