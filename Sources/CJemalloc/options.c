#include "CJemalloc.h"

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
