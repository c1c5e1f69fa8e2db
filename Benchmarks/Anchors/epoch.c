// What a sample would cost without books: refreshing jemalloc's statistics, and reading of every arena the figures that
// a row of apps.csv needs. Usage: epoch ARENAS ROUNDS

#include "anchor.h"

static const char *const figures[] = {"pactive", "pdirty", "small.allocated", "large.allocated", "base", "internal"};
enum { FIGURES = sizeof figures / sizeof *figures };

int main(int count, char **arguments) {
    long arenas = number(count, arguments, 1), rounds = number(count, arguments, 2);
    size_t paths[FIGURES][8], lengths[FIGURES];
    for (int i = 0; i < FIGURES; i++) {
        char name[64];
        snprintf(name, sizeof name, "stats.arenas.0.%s", figures[i]);
        lengths[i] = 8;
        if (mallctlnametomib(name, paths[i], &lengths[i]) != 0) refuse(name);
    }
    unsigned *made = malloc((size_t)arenas * sizeof *made);
    for (long i = 0; i < arenas; i++) {
        made[i] = make_arena();
        memset(mallocx(4096, MALLOCX_ARENA(made[i]) | MALLOCX_TCACHE_NONE), 1, 4096);
    }
    size_t sum = 0;
    moment_t start = moment();
    for (long round = 0; round < rounds; round++) {
        uint64_t epoch = 1;
        control("epoch", NULL, NULL, &epoch, sizeof epoch);
        for (long i = 0; i < arenas; i++) {
            for (int figure = 0; figure < FIGURES; figure++) {
                size_t value, size = sizeof value;
                paths[figure][2] = made[i];
                if (mallctlbymib(paths[figure], lengths[figure], &value, &size, NULL, 0) != 0) refuse("a figure");
                sum += value;
            }
        }
    }
    moment_t end = moment();
    if (sum == 0) refuse("the arenas hold nothing");
    report(start, end, (double)rounds);
}
