/* The communicator of the processes that mpirun started, by MPI. Transfers of more than 2^30 bytes
 * are split, since MPI counts are of type int. */
#define _GNU_SOURCE /* sched_setaffinity */
#include <stdio.h>
#include <stdlib.h>

#include "comm_internal.h"

/* Variables of the innermost mpirun (Open MPI, MPICH and its relatives) or srun, in this order. */
static const struct starter {
    const char *size, *rank;
} starters[] = {{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
                {"PMI_SIZE", "PMI_RANK"},
                {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID"}};

/* The one that started this process as one of several; NULL: there is only this one. */
static const struct starter *find_starter(void)
{
    for (size_t i = 0; i < sizeof starters / sizeof starters[0]; i++) {
        const char *const text = getenv(starters[i].size);
        if (text) return strtol(text, NULL, 10) > 1 ? &starters[i] : NULL;
    }
    return NULL;
}

int hx_comm_is_started(void)
{
    return find_starter() != NULL;
}

int hx_comm_started_rank(void)
{
    const struct starter *const starter = find_starter();
    const char *const text = starter ? getenv(starter->rank) : NULL;
    return text ? (int)strtol(text, NULL, 10) : 0;
}

#ifdef HX_HAVE_MPI
#include <errno.h>
#include <mpi.h>
#include <sched.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../base/clock.h"
#include "../base/memory.h"

enum { PIECE = 1 << 30 };

static int check_mpi(int rc, const char *what)
{
    char text[MPI_MAX_ERROR_STRING];
    int n;
    if (rc == MPI_SUCCESS) return HX_OK;
    MPI_Error_string(rc, text, &n);
    return HX_RAISE(HX_EDEVICE, "MPI: %s failed: %s", what, text);
}

static int mpi_broadcast(const hx_comm *comm, int from, void *data, size_t bytes)
{
    (void)comm;
    for (size_t at = 0; at < bytes; at += PIECE) {
        const int n = (int)(bytes - at < PIECE ? bytes - at : PIECE);
        HX_TRY(check_mpi(MPI_Bcast((char *)data + at, n, MPI_BYTE, from, MPI_COMM_WORLD),
                         "the broadcast"));
    }
    return HX_OK;
}

/* hx_comm.impl: buffers kept from one exchange to the next. */
typedef struct requests {
    MPI_Request *request; /* [capacity] */
    size_t capacity;
} requests;

static int need_requests(requests *kept, int n, const hx_message *message)
{
    size_t capacity = 0;
    for (int i = 0; i < n; i++) capacity += 2 * (message[i].bytes / PIECE + 1);
    if (kept->capacity >= capacity) return HX_OK;
    free(kept->request);
    *kept = (requests){0};
    /* NOLINTNEXTLINE(bugprone-sizeof-expression): a list of pointers */
    HX_TRY(hx_alloc_raw(&kept->request, capacity, sizeof *kept->request, "messages"));
    kept->capacity = capacity;
    return HX_OK;
}

/* Exchanges messages[n] with other ranks in both directions, in pieces. */
static int mpi_exchange(const hx_comm *comm, int n, const hx_message *message)
{
    requests *const kept = (requests *)comm->impl;
    size_t n_request = 0;
    if (n == 0) return HX_OK;
    HX_TRY(need_requests(kept, n, message));
    MPI_Request *const request = kept->request;
    int rc = MPI_SUCCESS;
    for (int way = 0; way < 2; way++) /* all receives are posted before the first byte is sent */
        for (int i = 0; i < n; i++)
            for (size_t at = 0; at < message[i].bytes && rc == MPI_SUCCESS; at += PIECE) {
                const size_t left = message[i].bytes - at;
                const int count = (int)(left < PIECE ? left : PIECE);
                rc = way == 0 ? MPI_Irecv((char *)message[i].receive + at, count, MPI_BYTE,
                                          message[i].rank, 0, MPI_COMM_WORLD, &request[n_request])
                              : MPI_Isend((const char *)message[i].send + at, count, MPI_BYTE,
                                          message[i].rank, 0, MPI_COMM_WORLD, &request[n_request]);
                n_request++;
            }
    if (rc == MPI_SUCCESS) rc = MPI_Waitall((int)n_request, request, MPI_STATUSES_IGNORE);
    return check_mpi(rc, "the exchange of messages");
}

static int mpi_all_gather(const hx_comm *comm, const void *own, size_t bytes, void *all)
{
    if (bytes <= PIECE / 8)
        return check_mpi(
            MPI_Allgather(own, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE, MPI_COMM_WORLD),
            "gathering data");
    for (int r = 0; r < comm->size; r++) {
        char *const to = (char *)all + (size_t)r * bytes;
        if (r == comm->rank) memcpy(to, own, bytes);
        HX_TRY(mpi_broadcast(comm, r, to, bytes));
    }
    return HX_OK;
}

/* Moves data one way between rank `root`, which has everything, and the others. */
static int move_all(const hx_comm *comm, int root, const size_t *bytes, char *all, char *own,
                    int to_root)
{
    size_t at = 0;
    for (int r = 0; r < comm->size; at += bytes[r], r++) {
        if (r == root && comm->rank == root && bytes[r] > 0)
            memcpy(to_root ? all + at : own, to_root ? own : all + at, bytes[r]);
        if (r == root || (comm->rank != root && comm->rank != r)) continue;
        for (size_t done = 0; done < bytes[r]; done += PIECE) {
            const int n = (int)(bytes[r] - done < PIECE ? bytes[r] - done : PIECE);
            const int is_root = comm->rank == root, peer = is_root ? r : root;
            char *const here = is_root ? all + at + done : own + done;
            HX_TRY(check_mpi(
                is_root == to_root
                    ? MPI_Recv(here, n, MPI_BYTE, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
                    : MPI_Send(here, n, MPI_BYTE, peer, 1, MPI_COMM_WORLD),
                "gathering data"));
        }
    }
    return HX_OK;
}

static int mpi_gather(const hx_comm *comm, int to, const void *own, const size_t *bytes, void *all)
{
    return move_all(comm, to, bytes, all, (char *)own, 1);
}

static int mpi_scatter(const hx_comm *comm, int from, const void *all, const size_t *bytes,
                       void *own)
{
    return move_all(comm, from, bytes, (char *)all, own, 0);
}

static int mpi_meet(const hx_comm *comm, double seconds)
{
    MPI_Request request;
    int done = 0;
    const double end = hx_clock() + seconds;
    (void)comm;
    if (MPI_Ibarrier(MPI_COMM_WORLD, &request) != MPI_SUCCESS) return 0;
    for (;;) {
        if (MPI_Test(&request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS || done) return done;
        if (hx_clock() > end) return 0;
        const struct timespec pause = {0, 1000000};
        nanosleep(&pause, NULL);
    }
}

/* Each rank opens the file independently, so that a rank that fails does not block the others. Open
 * MPI's own IO leaves them in a barrier if one of the ranks cannot open the file. */
static int mpi_open_file(const hx_comm *comm, FILE *stream, const char *path, void **opened)
{
    MPI_File *file;
    (void)comm;
    (void)stream;
    *opened = NULL;
    /* NOLINTNEXTLINE(bugprone-sizeof-expression): MPI_File is a pointer */
    HX_TRY(hx_alloc(&file, 1, sizeof *file, "a file of several processes"));
    const int rc = MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_WRONLY, MPI_INFO_NULL, file);
    if (rc == MPI_SUCCESS)
        *opened = file;
    else
        free(file);
    return check_mpi(rc, "opening the file");
}

/* MPI libraries report a refusal of the disk differently: as fewer bytes without an error, or as an
 * unspecified error. The reason is in errno. */
static int mpi_write_at(void *opened, uint64_t at, const void *data, size_t bytes)
{
    const MPI_File file = *(MPI_File *)opened;
    for (size_t done = 0; done < bytes;) {
        const int n = (int)(bytes - done < PIECE ? bytes - done : PIECE);
        MPI_Status status;
        int n_done = 0;
        errno = 0;
        /* NOLINTNEXTLINE(bugprone-misplaced-widening-cast): both have 64 bits */
        const int rc = MPI_File_write_at(file, (MPI_Offset)(at + done), (const char *)data + done,
                                         n, MPI_BYTE, &status);
        const int reason = errno;
        if (rc == MPI_SUCCESS) MPI_Get_count(&status, MPI_BYTE, &n_done);
        if (n_done <= 0 || n_done > n) return reason ? reason : EIO;
        done += (size_t)n_done;
    }
    return 0;
}

static int mpi_close_file(void *opened, int is_synced)
{
    MPI_File *const file = opened;
    int rc = is_synced ? MPI_File_sync(*file) : MPI_SUCCESS;
    const int closed = MPI_File_close(file);
    free(file);
    if (rc == MPI_SUCCESS) rc = closed;
    return check_mpi(rc, "closing the file");
}

static void mpi_abort(const hx_comm *comm, int status)
{
    (void)comm;
    MPI_Abort(MPI_COMM_WORLD, status);
}

static void mpi_leave(hx_comm *comm)
{
    requests *const kept = (requests *)comm->impl;
    MPI_Finalize();
    if (kept) free(kept->request);
    free(kept);
    comm->impl = NULL;
}

static const hx_comm_ops mpi = {
    .name = "MPI",
    .broadcast = mpi_broadcast,
    .all_gather = mpi_all_gather,
    .gather = mpi_gather,
    .scatter = mpi_scatter,
    .exchange = mpi_exchange,
    .meet = mpi_meet,
    .open_file = mpi_open_file,
    .write_at = mpi_write_at,
    .close_file = mpi_close_file,
    .abort = mpi_abort,
    .leave = mpi_leave,
};

int hx_comm_available(void)
{
    return 1;
}

static int count_host(hx_comm *comm)
{
    MPI_Comm host;
    HX_TRY(check_mpi(
        MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, comm->rank, MPI_INFO_NULL, &host),
        "counting the processes of this machine"));
    MPI_Comm_rank(host, &comm->host_rank);
    MPI_Comm_size(host, &comm->host_size);
    MPI_Comm_free(&host);
    return HX_OK;
}

/* By default Open MPI's mpirun binds each of two processes to a single core, which would leave most
 * cores of a large machine idle. The number of threads of a process is chosen later. */
static void leave_default_binding(void)
{
    const int n_core = (int)sysconf(_SC_NPROCESSORS_CONF);
    if (!getenv("OMPI_MCA_orte_bound_at_launch") || getenv("OMPI_MCA_hwloc_base_binding_policy"))
        return;
    cpu_set_t *const all = CPU_ALLOC(n_core);
    if (!all) return;
    /* the kernel reduces it to the existing and permitted cores */
    memset(all, 0xff, CPU_ALLOC_SIZE(n_core));
    sched_setaffinity(0, CPU_ALLOC_SIZE(n_core), all); /* on failure the binding stays */
    CPU_FREE(all);
}

/* HX_EENV if each of several processes is alone in its MPI. */
static int check_connected(hx_comm *comm)
{
    const struct starter *const starter = find_starter();
    if (comm->size > 1 || !starter) return HX_OK;
    MPI_Finalize();
    hx_comm_self(comm);
    return HX_RAISE(HX_EENV,
                    "%s processes were started together (%s), but MPI connects none of them, so "
                    "each would repeat the whole run: use the mpirun of the MPI that hextop was "
                    "built with, or unset %s for runs of their own",
                    getenv(starter->size), starter->size, starter->size);
}

int hx_comm_join(hx_comm *comm)
{
    int provided;
    hx_comm_self(comm);
    if (!hx_comm_is_started()) return HX_OK;
    /* SERIALIZED: the thread that writes checkpoints calls no MPI function, but any thread may
     * write blocks of a file, one thread at a time */
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &provided) != MPI_SUCCESS)
        return HX_RAISE(HX_EENV, "MPI could not be initialised (MPI_Init_thread failed)");
    leave_default_binding();
    comm->can_write = provided >= MPI_THREAD_SERIALIZED;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    comm->ops = &mpi;
    MPI_Comm_rank(MPI_COMM_WORLD, &comm->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &comm->size);
    HX_TRY(check_connected(comm));
    requests *kept;
    HX_TRY(hx_alloc(&kept, 1, sizeof *kept, "messages"));
    comm->impl = kept;
    HX_TRY(hx_comm_create_work(comm));
    return count_host(comm);
}

#else

int hx_comm_available(void)
{
    return 0;
}

int hx_comm_join(hx_comm *comm)
{
    hx_comm_self(comm);
    if (!hx_comm_is_started()) return HX_OK;
    return HX_RAISE(HX_EENV, "mpirun started several processes, but this hextop was built without "
                             "MPI, so each process would repeat the whole run; rebuild hextop "
                             "with MPI (Debian: libopenmpi-dev)");
}

#endif
