#include "CJemalloc.h"

#include <stdio.h>

// Each option with its reason; jemalloc reads them before main. /etc/malloc.conf and MALLOC_CONF are read afterwards
// and win: what breaks the books is refused when a device is made, the rest is a measurement warning.
//   retain:false               the pages that an arena gives up go back to the device at once; with `true`, the default
//                              on Linux, jemalloc takes more than it needs and keeps it, and the books miss those pages
//   background_thread:false    nobody purges beside us
//   narenas:1                  one automatic arena for the harness's own heap, so that the number of arenas left for
//                              apps does not depend on the host's cores
//   percpu_arena:disabled      the same
//   lg_extent_max_active_fit:6 the default, stated: it decides which dirty pages are used again
//   prof:false, hpa:false      sampling moves small objects into pages of their own; the huge page allocator would
//                              pass by our hooks
//   junk:false, zero:false     objects are written by us
// Not set: cache_oblivious. 5.3.0 knows the control `opt.cache_oblivious` but refuses the option (fixed in 5.3.1), so
// every object from 16 KiB on has one page more than its size class; setting it would make versions differ.
#define OPTIONS                                                                                                        \
    "retain:false,background_thread:false,narenas:1,percpu_arena:disabled,lg_extent_max_active_fit:6,prof:false,"      \
    "hpa:false,junk:false,zero:false"

const char *const plimsoll_compiled_options = OPTIONS;

const char *malloc_conf = OPTIONS;

// With `abort_conf:true` jemalloc ends the program at the first option that it does not know, before main and with a
// signal. So that the program can say it in a line and end with its own status, that wish is taken out of MALLOC_CONF
// before jemalloc reads it, and what jemalloc says meanwhile is kept. Without the wish nothing is touched.

enum { LONGEST = 4096, LONGEST_MESSAGE = 512 };

static char **entry;
static char *given;
static char without[LONGEST];
static char said[LONGEST_MESSAGE];

static void keep(void *unused, const char *text) {
    (void)unused;
    // The first message says what is wrong.
    if (said[0] == '\0') snprintf(said, sizeof said, "%s", text);
}

/// Where `word` begins in `text`; NULL: nowhere. No function of the library, which a sanitizer may not have set up yet.
static char *find(char *text, const char *word) {
    for (; *text != '\0'; text++) {
        size_t length = 0;
        while (word[length] != '\0' && text[length] == word[length]) length++;
        if (word[length] == '\0') return text;
    }
    return NULL;
}

/// Runs before the constructors of all libraries, jemalloc's among them.
__attribute__((no_sanitize("address", "thread", "undefined")))
static void watch(int count, char **arguments, char **environment) {
    (void)count;
    (void)arguments;
    static const char wish[] = "abort_conf:true";
    for (char **each = environment; *each != NULL; each++) {
        if (find(*each, "MALLOC_CONF=") != *each) continue;
        char *place = find(*each, wish);
        if (place == NULL) return;
        // `abort_conf:false` in its place; of a text that is too long nothing is left.
        size_t length = 0;
        for (char *from = *each; *from != '\0' && length + 2 < sizeof without; from++) {
            without[length++] = *from;
            if (from != place) continue;
            static const char refusal[] = "bort_conf:false";
            for (size_t next = 0; refusal[next] != '\0' && length + 2 < sizeof without; next++) {
                without[length++] = refusal[next];
            }
            from += sizeof wish - 2;
        }
        without[length] = '\0';
        entry = each;
        given = *each;
        *each = without;
        malloc_message = keep;
        return;
    }
}

__attribute__((section(".preinit_array"), used))
static void (*const watching)(int, char **, char **) = watch;

const char *plimsoll_settle_options(void) {
    if (entry == NULL) return NULL;
    *entry = given;
    entry = NULL;
    malloc_message = NULL;
    return said[0] == '\0' ? NULL : said;
}
