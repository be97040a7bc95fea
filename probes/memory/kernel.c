/* Measure memory without the overhead of an interpreter; mycnf compiles this program and controls it by pipes.

   It reads one request per line and prints one answer per line, until the pipe is closed:
     chase BYTES SECONDS    nanoseconds of a load that depends on the previous one, in random order over BYTES
     through BYTES SECONDS  bytes per second copied from far memory into a buffer of BYTES and read there
     read BYTES SECONDS     bytes per second read repeatedly from a buffer of BYTES
     allocate BYTES SECONDS bytes per second of malloc, one write per page, and free
     huge                   bytes of this process's memory in huge pages
   An answer is the first decile of many short turns, because other load only makes turns longer; "-1" means failure. */

#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LINE = 64, STEPS = 2048, TURNS = 1 << 14, CHAINS = 128, PAGE = 4096 };
static const size_t FAR = (size_t)128 << 20, HUGE_PAGE = (size_t)2 << 20, MOST = (size_t)1 << 40;
static const size_t SHUFFLED = (size_t)16 << 20; /* larger chains: a shuffle would wait for memory at each step */

static volatile uint64_t sink; /* prevents the compiler from removing the work */
static double turns[TURNS];

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

static size_t whole(size_t bytes) { return (bytes + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1); }

/* Huge pages, if available: small pages are scattered over a cache, and page table walks would hide its latency. */
static char *memory(size_t bytes) {
    size_t got = whole(bytes), room = got + HUGE_PAGE;
    char *from = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (from == MAP_FAILED) return NULL;
    char *at = (char *)whole((uintptr_t)from);
    if (at > from) munmap(from, at - from);
    if (at + got < from + room) munmap(at + got, from + room - (at + got));
    madvise(at, got, MADV_HUGEPAGE);
    memset(at, 1, got);
    return at;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double best_tenth(int count) {
    if (!count) return -1;
    qsort(turns, count, sizeof *turns, ascending);
    return turns[count / 10];
}

static uint64_t chance(void) { /* xorshift64*: fast, and random enough for an order */
    static uint64_t state = 0x9e3779b97f4a7c15u;
    state ^= state >> 12, state ^= state << 25, state ^= state >> 27;
    return state * 0x2545f4914f6cdd1du;
}

static void shuffle(char *base, uint64_t lines) { /* Sattolo's algorithm: a single cycle through all lines */
    for (uint64_t i = 0; i < lines; i++) *(void **)(base + i * LINE) = base + i * LINE;
    for (uint64_t i = lines - 1; i > 0; i--) {
        void **here = (void **)(base + i * LINE), **there = (void **)(base + chance() % i * LINE), *held = *here;
        *here = *there, *there = held;
    }
}

static void leap(char *base, uint64_t lines) { /* a single cycle too, for 2^k or 3 * 2^k lines, in one pass */
    uint64_t factor = lines * 618 / 1000 / 12 * 12 + 1, step = lines * 381 / 1000 / 6 * 6 + 1;
    for (uint64_t i = 0; i < lines; i++)
        *(void **)(base + i * LINE) = base + (i * factor + step) % lines * LINE;
}

struct chain { size_t bytes; void **at; };

static struct chain *chain_of(size_t bytes) { /* one chain per size, created once: a cycle through all lines */
    static struct chain chains[CHAINS];
    struct chain *chain = chains;
    for (; chain < chains + CHAINS && chain->bytes; chain++)
        if (chain->bytes == bytes) return chain;
    char *base = chain < chains + CHAINS ? memory(bytes) : NULL;
    if (!base) return NULL;
    bytes > SHUFFLED ? leap(base, bytes / LINE) : shuffle(base, bytes / LINE);
    chain->at = (void **)base, chain->bytes = bytes;
    return chain;
}

static void **walk(void **at, size_t steps) {
    for (size_t i = 0; i < steps; i += 8) {
        at = *at, at = *at, at = *at, at = *at;
        at = *at, at = *at, at = *at, at = *at;
    }
    return at;
}

static double chase(size_t bytes, double seconds) {
    struct chain *chain = chain_of(bytes);
    if (!chain) return -1;
    int count = 0;
    double began = now(), warm = began + seconds / 2;
    for (size_t lines = bytes / LINE, done = 0; done < 2 * lines && now() < warm; done += STEPS)
        chain->at = walk(chain->at, STEPS);
    for (double end = began + seconds, from = now(); count < TURNS && (from < end || !count); count++) {
        chain->at = walk(chain->at, STEPS);
        double to = now();
        turns[count] = (to - from) * 1e9 / STEPS, from = to;
    }
    sink += (uintptr_t)chain->at;
    return best_tenth(count);
}

static uint64_t sum(const char *from, size_t bytes) {
    const uint64_t *word = (const uint64_t *)from;
    uint64_t a = 0, b = 0, c = 0, d = 0;
    for (size_t i = 0; i + 4 <= bytes / 8; i += 4) a += word[i], b += word[i + 1], c += word[i + 2], d += word[i + 3];
    return a + b + c + d;
}

static double rate(int count, double bytes) { return count ? bytes / best_tenth(count) : -1; }

static double through(size_t bytes, double seconds) {
    static char *far;
    char *buffer = memory(bytes);
    if (!far) far = memory(FAR);
    if (!buffer || !far) return -1;
    int count = 0;
    size_t at = 0, turn = bytes > ((size_t)1 << 20) ? bytes : (size_t)1 << 20; /* long enough to be timed accurately */
    for (double end = now() + seconds, from = now(); count < TURNS && (from < end || !count); count++) {
        for (size_t done = 0; done < turn; done += bytes, at = at + 2 * bytes <= FAR ? at + bytes : 0) {
            memcpy(buffer, far + at, bytes);
            sink += sum(buffer, bytes);
        }
        double to = now();
        turns[count] = to - from, from = to;
    }
    munmap(buffer, whole(bytes));
    return rate(count, turn);
}

static double read_again(size_t bytes, double seconds) {
    char *buffer = memory(bytes);
    if (!buffer) return -1;
    int count = 0;
    size_t turn = bytes > ((size_t)1 << 20) ? bytes : (size_t)1 << 20;
    sink += sum(buffer, bytes);
    for (double end = now() + seconds, from = now(); count < TURNS && (from < end || !count); count++) {
        for (size_t done = 0; done < turn; done += bytes) sink += sum(buffer, bytes);
        double to = now();
        turns[count] = to - from, from = to;
    }
    munmap(buffer, whole(bytes));
    return rate(count, turn);
}

static double allocate_here(size_t bytes, double seconds) {
    int count = 0;
    size_t turn = bytes > ((size_t)1 << 20) ? bytes : (size_t)1 << 20;
    for (double end = now() + seconds, from = now(); count < TURNS && (from < end || !count); count++) {
        for (size_t done = 0; done < turn; done += bytes) {
            volatile char *got = malloc(bytes);
            if (!got) return -1;
            for (size_t i = 0; i < bytes; i += PAGE) got[i] = 1;
            free((void *)got);
        }
        double to = now();
        turns[count] = to - from, from = to;
    }
    return rate(count, turn);
}

static double allocate(size_t bytes, double seconds) { /* in a child, because malloc reuses freed memory */
    int ends[2];
    double rate = -1;
    if (pipe(ends)) return -1;
    pid_t child = fork();
    if (child == 0) {
        rate = allocate_here(bytes, seconds);
        _exit(write(ends[1], &rate, sizeof rate) != sizeof rate);
    }
    close(ends[1]);
    if (child < 0 || read(ends[0], &rate, sizeof rate) != sizeof rate) rate = -1;
    close(ends[0]);
    if (child > 0) waitpid(child, NULL, 0);
    return rate;
}

static double huge(void) {
    char line[256];
    double found = -1;
    FILE *file = fopen("/proc/self/smaps_rollup", "r");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "AnonHugePages: %lf", &found) == 1) found *= 1024;
    if (file) fclose(file);
    return found;
}

static void be_the_first_to_go(void) { /* with its parent, and before any server if memory runs out */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    FILE *file = fopen("/proc/self/oom_score_adj", "w");
    if (file) fputs("1000", file), fclose(file);
}

int main(void) {
    char line[128], what[16];
    be_the_first_to_go();
    while (fgets(line, sizeof line, stdin)) {
        unsigned long long bytes = 0;
        double seconds = 0, answer = -1;
        int words = sscanf(line, "%15s %llu %lf", what, &bytes, &seconds);
        int sound = words == 3 && bytes >= LINE && bytes <= MOST;
        if (sound && !strcmp(what, "chase")) answer = chase(bytes, seconds);
        if (sound && bytes <= FAR && !strcmp(what, "through")) answer = through(bytes, seconds);
        if (sound && !strcmp(what, "read")) answer = read_again(bytes, seconds);
        if (sound && !strcmp(what, "allocate")) answer = allocate(bytes, seconds);
        if (words == 1 && !strcmp(what, "huge")) answer = huge();
        printf("%.6g\n", answer);
        fflush(stdout);
    }
    return 0;
}
