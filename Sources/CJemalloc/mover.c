#include "CJemalloc.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

// Headers older than Linux 6.8 do not name these; the numbers are part of Linux's interface.
enum { USER_MODE_ONLY = 1, MOVES = 1 << 16, DO_NOT_WAKE = 1 };

struct move {
    uint64_t to;
    uint64_t from;
    uint64_t length;
    uint64_t mode;
    int64_t moved;
};

int plimsoll_open_mover(void *start, size_t bytes) {
    int mover = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | USER_MODE_ONLY);
    if (mover < 0) return -1;
    struct uffdio_api api = {.api = UFFD_API, .features = MOVES};
    // Pages can only be moved within registered memory. Nothing is ever protected in it, so nothing faults.
    struct uffdio_register range = {
        .range = {.start = (uintptr_t)start, .len = bytes}, .mode = UFFDIO_REGISTER_MODE_WP};
    if (ioctl(mover, UFFDIO_API, &api) == 0 && ioctl(mover, UFFDIO_REGISTER, &range) == 0) return mover;
    close(mover);
    return -1;
}

size_t plimsoll_move_pages(int mover, void *to, void *from, size_t bytes) {
    size_t done = 0;
    while (done < bytes) {
        struct move move = {
            .to = (uintptr_t)to + done, .from = (uintptr_t)from + done, .length = bytes - done, .mode = DO_NOT_WAKE};
        int code = ioctl(mover, _IOWR(UFFDIO, 5, struct move), &move);
        if (move.moved > 0) done += (size_t)move.moved;
        // A signal may end a call early.
        if (code != 0 && (errno != EAGAIN || move.moved <= 0)) break;
    }
    return done;
}
