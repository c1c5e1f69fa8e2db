// Apps that come and go on jemalloc's defaults: an arena is made, filled, and destroyed, again and again.
// Usage: launches COUNT LOWEST_MIB HIGHEST_MIB OBJECT_BYTES
//
// Every page is faulted in anew, which is what the engine's region spares.

#include "anchor.h"

int main(int count, char **arguments) {
    long launches = number(count, arguments, 1);
    long lowest = number(count, arguments, 2), highest = number(count, arguments, 3);
    size_t object = (size_t)number(count, arguments, 4);
    if (highest < lowest || object == 0) refuse("usage: launches COUNT LOWEST_MIB HIGHEST_MIB OBJECT_BYTES");
    double bytes = 0;
    moment_t start = moment();
    for (long launch = 0; launch < launches; launch++) {
        unsigned arena = make_arena();
        int flags = MALLOCX_ARENA(arena) | MALLOCX_TCACHE_NONE;
        // Every size from the lowest to the highest in turn: the same sum as the engine's apps have.
        size_t left = (size_t)(lowest + launch % (highest - lowest + 1)) << 20;
        bytes += (double)left;
        while (left > 0) {
            size_t size = left < object ? left : object;
            char *made = mallocx(size, flags);
            if (made == NULL) refuse("the host has no memory left");
            memset(made, (int)(left & 0xff), size);
            left -= size;
        }
        control_arena("arena.%u.destroy", arena, NULL, 0);
    }
    report(start, moment(), bytes);
}
