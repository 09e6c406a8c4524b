/* Memory that a process keeps after sessions were closed: opens and closes sessions with the same
 * config one after the other, and prints memory by kind.
 *
 *     growth CONFIG SESSIONS STEP HOW [KEY=VALUE ...]
 *
 * HOW: run; prepare, without a design; open, which only reads the config. Prints one line per STEP
 * sessions: bytes allocated with malloc, bytes that malloc holds from the system, resident bytes,
 * their growth per session since the first line, and the name of the mapping that grew most. Not
 * part of the suite: soak.c is the test, and this program finds the cause of growth. */
#define _GNU_SOURCE
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/hextop.h"

enum { MOST_NAMES = 256, TEXT = 128 };

typedef struct part {
    char name[TEXT];
    long long kb, n, first_kb, first_n; /* resident memory, number of mappings with the name */
} part;

static part parts[MOST_NAMES];
static int n_part;

static part *part_of(const char *name)
{
    for (int i = 0; i < n_part; i++)
        if (strcmp(parts[i].name, name) == 0) return &parts[i];
    if (n_part == MOST_NAMES) return &parts[MOST_NAMES - 1];
    snprintf(parts[n_part].name, TEXT, "%s", name);
    return &parts[n_part++];
}

/* Resident kB by the names of /proc/self/smaps: "[heap]", files, and unnamed mappings by their
 * size. Returns the sum. */
static long long read_parts(void)
{
    char line[4096], name[TEXT] = "";
    long long sum = 0, begin, end, kb;
    for (int i = 0; i < n_part; i++) parts[i].kb = parts[i].n = 0;
    FILE *const file = fopen("/proc/self/smaps", "r");
    while (file && fgets(line, sizeof line, file)) {
        int at = 0;
        if (sscanf(line, "%llx-%llx %*s %*s %*s %*s %n", (unsigned long long *)&begin,
                   (unsigned long long *)&end, &at) == 2 &&
            at > 0) {
            line[strcspn(line, "\n")] = '\0';
            const long long size = (end - begin) >> 10;
            const char *const kind = size >= 65536  ? "64 MB and more"
                                     : size >= 8192 ? "8 to 64 MB"
                                     : size >= 1024 ? "1 to 8 MB"
                                                    : "below 1 MB";
            if (line[at])
                snprintf(name, sizeof name, "%.100s", line + at);
            else
                snprintf(name, sizeof name, "anonymous, %s", kind);
        } else if (sscanf(line, "Rss: %lld", &kb) == 1) {
            part *const p = part_of(name);
            p->kb += kb;
            p->n++;
            sum += kb;
        }
    }
    if (file) fclose(file);
    return sum;
}

/* The part that grew most since the first line. */
static const part *most_risen(void)
{
    const part *most = &parts[0];
    for (int k = 1; k < n_part; k++)
        if (parts[k].kb - parts[k].first_kb > most->kb - most->first_kb) most = &parts[k];
    return most;
}

static void print_held(int n, long long fused, double bytes_per_session)
{
    long long in_use = 0, taken = 0;
#ifdef __GLIBC__
    const struct mallinfo2 info = mallinfo2();
    in_use = (long long)(info.uordblks + info.hblkhd);
    taken = (long long)(info.arena + info.hblkhd);
#endif
    const part *const most = most_risen();
    printf("%6d sessions: malloc %lld of %lld, resident %lld kB, %+.0f bytes per session; largest "
           "growth %+lld "
           "kB, "
           "%+lld mappings: %s\n",
           n, in_use, taken, fused, bytes_per_session, most->kb - most->first_kb,
           most->n - most->first_n, most->name);
    fflush(stdout);
}

static int session(const char *config, const char *how, int n_key, char **key)
{
    hextop *h = NULL;
    int rc = hextop_open(&h, NULL, config);
    for (int i = 0; i < n_key && rc == 0; i++) rc = hextop_set(h, key[i]);
    if (rc == 0 && strcmp(how, "prepare") == 0) rc = hextop_prepare(h);
    if (rc == 0 && strcmp(how, "run") == 0) rc = hextop_run(h, 0);
    if (rc < 0) fprintf(stderr, "%s\n", hextop_error(h));
    hextop_close(h);
    return rc;
}

int main(int argc, char **argv)
{
    long long first = 0;
    int n_first = 0;
    if (argc < 5) return 2;
    const int n = atoi(argv[2]), step = atoi(argv[3]);
    for (int i = 1; i <= n; i++) {
        if (session(argv[1], argv[4], argc - 5, argv + 5) < 0) return 1;
        if (step < 1 || i % step != 0) continue;
#ifdef __GLIBC__
        (void)malloc_trim(0);
#endif
        const long long now = read_parts();
        if (first == 0) {
            first = now;
            n_first = i;
            for (int k = 0; k < n_part; k++)
                parts[k].first_kb = parts[k].kb, parts[k].first_n = parts[k].n;
        }
        print_held(i, now, i > n_first ? 1024.0 * (double)(now - first) / (i - n_first) : 0.0);
    }
    return 0;
}
