// A binary heap that does nothing but push and pop: the earliest leaves, a later one comes.
// Usage: heap ENTRIES OPERATIONS
//
// The entries are as large as an event of the engine's queue has to be: an instant, a number for ties, what happens.

#include "anchor.h"
#include <queue>
#include <vector>

struct Event {
    int64_t at;
    uint64_t sequence;
    uint64_t what[3];
};

struct Later {
    bool operator()(const Event &a, const Event &b) const {
        return a.at != b.at ? a.at > b.at : a.sequence > b.sequence;
    }
};

int main(int count, char **arguments) {
    long entries = number(count, arguments, 1), operations = number(count, arguments, 2);
    std::priority_queue<Event, std::vector<Event>, Later> queue;
    uint64_t state = 88172645463325252u, sequence = 0;
    auto next = [&] {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        return (int64_t)(state % 200000);
    };
    for (long i = 0; i < entries; i++) queue.push({next(), sequence++, {0, 0, 0}});
    moment_t start = moment();
    uint64_t sum = 0;
    for (long i = 0; i < operations; i++) {
        Event first = queue.top();
        queue.pop();
        sum += first.what[0];
        queue.push({first.at + next(), sequence++, {(uint64_t)i, 0, 0}});
    }
    moment_t end = moment();
    if (sum == 0) refuse("nothing happened");
    report(start, end, (double)operations);
}
