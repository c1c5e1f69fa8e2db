// The bare loop for a trace in the memory_replay format: the jemalloc calls and the writes that the engine makes for
// it, and nothing else. Usage: replay TRACE ROUNDS PURGE_EVERY, the latter in operations, 0 for never.
//
// The trace is read, and names are turned into places, before the clock starts. After a round what is live is freed.

#include "anchor.h"

// The engine's options.
const char *malloc_conf =
    "retain:false,background_thread:false,narenas:1,percpu_arena:disabled,lg_extent_max_active_fit:6,prof:false,"
    "hpa:false,junk:false,zero:false";

typedef enum { MAKE, MAKE_ALIGNED, RESIZE, RELEASE } kind_t;

typedef struct {
    uint32_t size;
    uint32_t place : 27, kind : 2;
    uint32_t alignment;
} operation_t;

typedef struct {
    char *address;
    uint32_t size, usable;
} object_t;

// --- Names to places: open addressing, as many slots as lines at least ---

typedef struct {
    uint64_t *names;
    uint32_t *places;
    size_t mask;
    uint32_t *idle;
    size_t idle_count;
    uint32_t count;
} places_t;

static size_t slot_of(const places_t *places, uint64_t name) {
    size_t slot = (name * 0x9e3779b97f4a7c15u >> 20) & places->mask;
    while (places->names[slot] != 0 && places->names[slot] != name) slot = (slot + 1) & places->mask;
    return slot;
}

static const uint32_t nowhere = UINT32_MAX;

/// A freed name keeps its slot, for it comes again.
static uint32_t place_of(places_t *places, uint64_t name, bool makes) {
    size_t slot = slot_of(places, name);
    if (places->names[slot] != 0 && places->places[slot] != nowhere) return places->places[slot];
    if (!makes) return nowhere;
    places->names[slot] = name;
    return places->places[slot] = places->idle_count > 0 ? places->idle[--places->idle_count] : places->count++;
}

static uint32_t take_place(places_t *places, uint64_t name) {
    size_t slot = slot_of(places, name);
    if (places->names[slot] == 0 || places->places[slot] == nowhere) return nowhere;
    uint32_t place = places->places[slot];
    places->places[slot] = nowhere;
    return place;
}

static uint32_t decimal(const char **cursor) {
    const char *at = *cursor + 1;
    uint32_t value = 0;
    while (*at >= '0' && *at <= '9') value = value * 10 + (uint32_t)(*at++ - '0');
    *cursor = at;
    return value;
}

/// After a blank and "0x".
static uint64_t pointer(const char **cursor) {
    const char *at = *cursor + 3;
    uint64_t value = 0;
    for (; *at > ' '; at++) value = value << 4 | (uint64_t)(*at <= '9' ? *at - '0' : (*at | 32) - 'a' + 10);
    *cursor = at;
    return value;
}

/// Reads a well-formed line; false when nothing is to be done for it.
static bool parse(places_t *places, const char *line, operation_t *out) {
    while (*line > ' ') line++;
    const char *name = ++line;
    while (*line > ' ') line++;
    uint64_t id = pointer(&line);
    switch (name[0]) {
    case 'm':
        if (name[1] == 'a') {
            *out = (operation_t){decimal(&line), place_of(places, id, true), MAKE, 0};
        } else {
            uint32_t alignment = decimal(&line);
            *out = (operation_t){decimal(&line), place_of(places, id, true), MAKE_ALIGNED, alignment};
        }
        return true;
    case 'c': {
        uint32_t count = decimal(&line);
        *out = (operation_t){count * decimal(&line), place_of(places, id, true), MAKE, 0};
        return true;
    }
    case 'r': {
        uint64_t old = pointer(&line);
        uint32_t size = decimal(&line);
        if (old == 0 && id == 0) return false;
        if (old == 0) {
            *out = (operation_t){size, place_of(places, id, true), MAKE, 0};
            return true;
        }
        uint32_t place = take_place(places, old);
        if (place == nowhere) return false;
        if (id == 0) {
            *out = (operation_t){0, place, RELEASE, 0};
            places->idle[places->idle_count++] = place;
            return true;
        }
        size_t slot = slot_of(places, id);
        places->names[slot] = id;
        places->places[slot] = place;
        *out = (operation_t){size, place, RESIZE, 0};
        return true;
    }
    case 'f': {
        uint32_t place = id == 0 ? nowhere : take_place(places, id);
        if (place == nowhere) return false;
        *out = (operation_t){0, place, RELEASE, 0};
        places->idle[places->idle_count++] = place;
        return true;
    }
    default: return false;
    }
}

static char *read_all(const char *path, size_t *length) {
    FILE *file = fopen(path, "r");
    if (file == NULL) refuse("the trace cannot be opened");
    fseek(file, 0, SEEK_END);
    *length = (size_t)ftell(file);
    rewind(file);
    char *text = malloc(*length + 1);
    if (fread(text, 1, *length, file) != *length) refuse("the trace cannot be read");
    text[*length] = 0;
    fclose(file);
    return text;
}

static operation_t *read_trace(const char *path, size_t *lines, size_t *count, uint32_t *objects) {
    size_t length;
    char *text = read_all(path, &length);
    *lines = 0;
    for (size_t i = 0; i < length; i++) *lines += text[i] == '\n';
    size_t slots = 1024;
    while (slots < *lines * 2) slots *= 2;
    places_t places = {calloc(slots, 8), malloc(slots * 4), slots - 1, malloc((*lines + 1) * 4), 0, 0};
    memset(places.places, 0xff, slots * 4);
    operation_t *operations = malloc((*lines + 1) * sizeof *operations);
    *count = 0;
    for (const char *line = text; *line != 0;) {
        const char *end = strchr(line, '\n');
        if (parse(&places, line, &operations[*count])) ++*count;
        if (end == NULL) break;
        line = end + 1;
    }
    *objects = places.count;
    free(text);
    free(places.names);
    free(places.places);
    free(places.idle);
    return operations;
}

// --- The loop ---

static int pattern = 0;

static void make(object_t *object, uint32_t size, int flags) {
    size_t wanted = size == 0 ? 1 : size;
    object->address = mallocx(wanted, flags);
    if (object->address == NULL) refuse("the host has no memory left");
    pattern = (pattern + 1) & 0xff;
    memset(object->address, pattern, wanted);
    object->size = (uint32_t)wanted;
    object->usable = (uint32_t)nallocx(wanted, flags);
}

static void resize(object_t *object, uint32_t size, int flags) {
    size_t wanted = size == 0 ? 1 : size;
    if (nallocx(wanted, 0) == object->usable) {
        if (wanted > object->size) {
            pattern = (pattern + 1) & 0xff;
            memset(object->address + object->size, pattern, wanted - object->size);
        }
        object->size = (uint32_t)wanted;
        return;
    }
    object_t old = *object;
    make(object, size, flags);
    sdallocx(old.address, old.usable, MALLOCX_TCACHE_NONE);
}

static void play(const operation_t *operations, size_t count, object_t *objects, unsigned arena, size_t purge_every) {
    int flags = MALLOCX_ARENA(arena) | MALLOCX_TCACHE_NONE;
    size_t until_purge = purge_every;
    for (size_t i = 0; i < count; i++) {
        operation_t operation = operations[i];
        object_t *object = &objects[operation.place];
        switch ((kind_t)operation.kind) {
        case MAKE: make(object, operation.size, flags); break;
        case MAKE_ALIGNED: make(object, operation.size, flags | MALLOCX_ALIGN(operation.alignment)); break;
        case RESIZE: resize(object, operation.size, flags); break;
        case RELEASE:
            sdallocx(object->address, object->usable, MALLOCX_TCACHE_NONE);
            object->address = NULL;
            break;
        }
        if (purge_every > 0 && --until_purge == 0) {
            control_arena("arena.%u.purge", arena, NULL, 0);
            until_purge = purge_every;
        }
    }
}

static void free_all(object_t *objects, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        if (objects[i].address == NULL) continue;
        sdallocx(objects[i].address, objects[i].usable, MALLOCX_TCACHE_NONE);
        objects[i].address = NULL;
    }
}

int main(int count, char **arguments) {
    size_t lines, operation_count;
    uint32_t object_count;
    if (count != 4) refuse("usage: replay TRACE ROUNDS PURGE_EVERY");
    long rounds = number(count, arguments, 2);
    size_t purge_every = (size_t)number(count, arguments, 3);
    operation_t *operations = read_trace(arguments[1], &lines, &operation_count, &object_count);
    object_t *objects = calloc(object_count + 1, sizeof *objects);
    unsigned arena = make_arena();
    ssize_t never = -1, at_once = 0;
    control_arena("arena.%u.dirty_decay_ms", arena, &never, sizeof never);
    control_arena("arena.%u.muzzy_decay_ms", arena, &at_once, sizeof at_once);
    moment_t start = moment();
    for (long round = 0; round < rounds; round++) {
        play(operations, operation_count, objects, arena, purge_every);
        if (round + 1 < rounds) free_all(objects, object_count);
    }
    report(start, moment(), (double)lines * (double)rounds);
}
