// What Swift cannot see of jemalloc by itself: function-like macros, and structs whose layout C must guarantee.

#ifndef PLIMSOLL_CJEMALLOC_H
#define PLIMSOLL_CJEMALLOC_H

#include <jemalloc/jemalloc.h>
#include <stdbool.h>
#include <stddef.h>

/// The flags for an object of one explicit arena that no thread cache holds back.
static inline int plimsoll_flags(unsigned arena) {
    return MALLOCX_ARENA(arena) | MALLOCX_TCACHE_NONE;
}

/// The flags for giving back an object that no thread cache may keep; its arena is known to jemalloc.
static inline int plimsoll_flags_uncached(void) {
    return MALLOCX_TCACHE_NONE;
}

/// jemalloc's `arena_config_t`, the argument of `experimental.arenas_create_ext`; no public header declares it.
typedef struct {
    extent_hooks_t *extent_hooks;
    bool metadata_use_hooks;
} plimsoll_arena_config_t;

/// What the extent hooks of one arena find behind the pointer that jemalloc hands them: the hooks come first.
typedef struct {
    extent_hooks_t hooks;
    /// The device's region, to which the pages belong.
    void *region;
    /// How many of its pages this arena holds.
    size_t pages;
    /// The slot whose arena this is.
    long slot;
} plimsoll_extent_owner_t;

/// The options that are compiled in, for the manifest.
extern const char *const plimsoll_compiled_options;

/// Ends the watch over MALLOC_CONF, which goes on from before jemalloc's first allocation: the environment is again as
/// it was given, and what jemalloc says goes to stderr again.
///
/// \return What jemalloc said of an option, where the environment asks it to end the program then (`abort_conf:true`);
///     otherwise NULL. Valid until the process ends.
const char *plimsoll_settle_options(void);

/// Asks the host for leave to move pages within a range of anonymous memory (userfaultfd, Linux 6.8). No fault is
/// intercepted.
///
/// \return A file descriptor, or -1 if the host does not allow it.
int plimsoll_open_mover(void *start, size_t bytes);

/// Moves pages, with their frames, to addresses without frames. The addresses that they leave read as zeros.
///
/// \return The bytes that were moved, from the start on: fewer than asked for if the host refuses one of the pages.
size_t plimsoll_move_pages(int mover, void *to, void *from, size_t bytes);

#endif
