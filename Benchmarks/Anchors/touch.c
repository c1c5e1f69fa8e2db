// The machine's own limits: how fast memory is written when every page must first be faulted in, and when none must.
// Usage: touch MIB ROUNDS fresh|again

#include "anchor.h"
#include <sys/mman.h>

int main(int count, char **arguments) {
    size_t bytes = (size_t)number(count, arguments, 1) << 20;
    long rounds = number(count, arguments, 2);
    if (count != 4) refuse("usage: touch MIB ROUNDS fresh|again");
    bool is_fresh = strcmp(arguments[3], "fresh") == 0;
    char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) refuse("the host has no memory left");
    madvise(memory, bytes, MADV_NOHUGEPAGE);
    memset(memory, 1, bytes);
    moment_t start = moment();
    for (long round = 0; round < rounds; round++) {
        if (is_fresh) madvise(memory, bytes, MADV_DONTNEED);
        memset(memory, (int)round, bytes);
    }
    report(start, moment(), (double)bytes * (double)rounds);
}
