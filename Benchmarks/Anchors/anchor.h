// What the anchors share: clocks, jemalloc's options, and one line of JSON on stdout.

#ifndef ANCHOR_H
#define ANCHOR_H

#include <jemalloc/jemalloc.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

/// Wall and CPU time (user and system) since the start of the process, in seconds.
typedef struct {
    double wall, cpu;
} moment_t;

static inline moment_t moment(void) {
    struct timespec now;
    struct rusage usage;
    clock_gettime(CLOCK_MONOTONIC, &now);
    getrusage(RUSAGE_SELF, &usage);
    moment_t result = {
        (double)now.tv_sec + (double)now.tv_nsec / 1e9,
        (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
            + (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6,
    };
    return result;
}

/// Says what is wrong and ends the process.
__attribute__((noreturn)) static inline void refuse(const char *what) {
    fprintf(stderr, "anchor: %s\n", what);
    exit(1);
}

static inline void control(const char *name, void *old, size_t *size, void *value, size_t length) {
    if (mallctl(name, old, size, value, length) != 0) refuse(name);
}

/// A control that exists per arena, such as `arena.%u.purge`.
static inline void control_arena(const char *format, unsigned arena, void *value, size_t length) {
    char name[64];
    snprintf(name, sizeof name, format, arena);
    control(name, NULL, NULL, value, length);
}

static inline unsigned make_arena(void) {
    unsigned arena;
    size_t size = sizeof arena;
    control("arenas.create", &arena, &size, NULL, 0);
    return arena;
}

/// A number of the command line; anything else is refused.
static inline long number(int count, char **arguments, int position) {
    if (position >= count) refuse("an argument is missing");
    char *end;
    long value = strtol(arguments[position], &end, 10);
    if (*end != 0 || value < 0) refuse("an argument is not a number");
    return value;
}

/// `work` is the loop that the engine is compared with; what came before it is the preparation.
static inline void report(moment_t start, moment_t end, double amount) {
    printf("{\"wall_s\": %.6f, \"cpu_s\": %.6f, \"before_cpu_s\": %.6f, \"amount\": %.0f}\n", end.wall - start.wall,
        end.cpu - start.cpu, start.cpu, amount);
}

#endif
