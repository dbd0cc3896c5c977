/* What stands between a program and the machine while it is attacked: calls that fail, a clock that jumps, and a list of
 * what was opened. Loaded with LD_PRELOAD; everything is said by the environment:
 *
 *   ATTACK_BELOW   only files below this folder (absolute) are touched and counted
 *   ATTACK_CALLS   which calls: some of `write,read,rename,sync,open`
 *   ATTACK_AT      number of the call that fails, from 1; 0 or nothing only counts
 *   ATTACK_FAULT   how: ENOSPC, EIO, EMFILE, EINTR; SHORT does half of a read or write
 *   ATTACK_STAYS   set: every later call fails too; a SHORT one with ENOSPC
 *   ATTACK_COUNT   file to which a byte is appended per call, `x` for one that was made to fail, else `.`
 *   ATTACK_OPENED  file to which the real path of everything that was opened is appended, a line each
 *   ATTACK_CLOCK   1970, 2262, or jumps: the time of day that is told
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

enum { WRITE, READ, RENAME, SYNC, OPEN, N_CALLS };
static const char *const names[N_CALLS] = {"write", "read", "rename", "sync", "open"};
static const char *below, *clock_mode;
static int wanted[N_CALLS], fault, is_short, stays, count_fd = -1, opened_fd = -1;
static long fails_at, n_calls, n_ticks;

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static int append_to(const char *variable) {
  const char *path = getenv(variable);
  return path ? (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666) : -1;
}

static void trap_renames(void);

__attribute__((constructor)) static void begin(void) {
  below = getenv("ATTACK_BELOW");
  clock_mode = getenv("ATTACK_CLOCK");
  stays = getenv("ATTACK_STAYS") != NULL;
  const char *calls = getenv("ATTACK_CALLS"), *at = getenv("ATTACK_AT"), *how = getenv("ATTACK_FAULT");
  for (int call = 0; call < N_CALLS; call++) wanted[call] = calls && strstr(calls, names[call]) != NULL;
  fails_at = at ? atol(at) : 0;
  how = how ? how : "";
  is_short = !strcmp(how, "SHORT");
  fault = !strcmp(how, "ENOSPC") ? ENOSPC : !strcmp(how, "EMFILE") ? EMFILE : !strcmp(how, "EINTR") ? EINTR : EIO;
  count_fd = append_to("ATTACK_COUNT");
  opened_fd = append_to("ATTACK_OPENED");
  if (wanted[RENAME]) trap_renames();
}

static int is_below(const char *path) {
  size_t length = below ? strlen(below) : 0;
  return length && !strncmp(path, below, length) && (path[length] == '/' || path[length] == 0);
}

/* The path of an open file. */
static int path_of(int fd, char *path) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  long length = syscall(SYS_readlinkat, AT_FDCWD, link, path, PATH_MAX - 1);
  if (length < 0) return 0;
  path[length] = 0;
  return 1;
}

enum verdict { GOES, FAILS, HALF };

/* What happens to a call about the file `path`. */
static enum verdict judge(int call, const char *path) {
  if (!wanted[call] || !is_below(path)) return GOES;
  long number = __atomic_add_fetch(&n_calls, 1, __ATOMIC_SEQ_CST);
  int is_hit = fails_at && (number == fails_at || (stays && number > fails_at));
  int saved = errno;
  if (count_fd >= 0) syscall(SYS_write, count_fd, is_hit ? "x" : ".", 1);
  errno = saved;
  if (!is_hit) return GOES;
  if (is_short && number == fails_at && (call == WRITE || call == READ)) return HALF;
  errno = is_short ? ENOSPC : fault;
  return FAILS;
}

static enum verdict judge_fd(int call, int fd) {
  char path[PATH_MAX];
  int saved = errno;
  if (!wanted[call] || !path_of(fd, path)) {
    errno = saved;
    return GOES;
  }
  return judge(call, path);
}

static enum verdict judge_at(int call, int folder, const char *path) {
  char whole[2 * PATH_MAX];
  if (!wanted[call] || !path) return GOES;
  if (path[0] == '/') return judge(call, path);
  char base[PATH_MAX];
  if (folder == AT_FDCWD ? !getcwd(base, sizeof base) : !path_of(folder, base)) return GOES;
  snprintf(whole, sizeof whole, "%s/%s", base, path);
  return judge(call, whole);
}

static void note_opened(int fd) {
  char line[PATH_MAX + 1];
  int saved = errno;
  if (opened_fd >= 0 && fd >= 0 && path_of(fd, line)) {
    strcat(line, "\n");
    syscall(SYS_write, opened_fd, line, strlen(line));
  }
  errno = saved;
}

static int open_at(int folder, const char *path, int flags, mode_t mode) {
  if (judge_at(OPEN, folder, path) != GOES) return -1;
  int fd = (int)syscall(SYS_openat, folder, path, flags, mode);
  note_opened(fd);
  return fd;
}

#define MODE(flags) \
  mode_t mode = 0; \
  if ((flags) & (O_CREAT | O_TMPFILE)) { \
    va_list rest; \
    va_start(rest, flags); \
    mode = va_arg(rest, mode_t); \
    va_end(rest); \
  }

int open(const char *path, int flags, ...) { MODE(flags) return open_at(AT_FDCWD, path, flags, mode); }
int open64(const char *path, int flags, ...) { MODE(flags) return open_at(AT_FDCWD, path, flags, mode); }
int openat(int folder, const char *path, int flags, ...) { MODE(flags) return open_at(folder, path, flags, mode); }
int openat64(int folder, const char *path, int flags, ...) { MODE(flags) return open_at(folder, path, flags, mode); }

DIR *opendir(const char *path) {
  DIR *folder = REAL(opendir)(path);
  if (folder) note_opened(dirfd(folder));
  return folder;
}

ssize_t write(int fd, const void *bytes, size_t n) {
  enum verdict verdict = judge_fd(WRITE, fd);
  if (verdict == FAILS) return -1;
  return syscall(SYS_write, fd, bytes, verdict == HALF && n > 1 ? n / 2 : n);
}

ssize_t pwrite64(int fd, const void *bytes, size_t n, off64_t at) {
  enum verdict verdict = judge_fd(WRITE, fd);
  if (verdict == FAILS) return -1;
  return syscall(SYS_pwrite64, fd, bytes, verdict == HALF && n > 1 ? n / 2 : n, at);
}

ssize_t writev(int fd, const struct iovec *pieces, int n) {
  enum verdict verdict = judge_fd(WRITE, fd);
  if (verdict == FAILS) return -1;
  if (verdict == HALF && n > 0 && pieces[0].iov_len > 1)
    return syscall(SYS_write, fd, pieces[0].iov_base, pieces[0].iov_len / 2);
  return syscall(SYS_writev, fd, pieces, n);
}

ssize_t read(int fd, void *bytes, size_t n) {
  enum verdict verdict = judge_fd(READ, fd);
  if (verdict == FAILS) return -1;
  return syscall(SYS_read, fd, bytes, verdict == HALF && n > 1 ? n / 2 : n);
}

ssize_t pread64(int fd, void *bytes, size_t n, off64_t at) {
  enum verdict verdict = judge_fd(READ, fd);
  if (verdict == FAILS) return -1;
  return syscall(SYS_pread64, fd, bytes, verdict == HALF && n > 1 ? n / 2 : n, at);
}

/* Renames are called past the C library, so the kernel is asked to hand them over. What is done for them carries a mark
 * in an argument that nobody reads, and passes. */
#define PASSES 0x5ca1ab1e

#if defined(__x86_64__)
enum { ARCHITECTURE = AUDIT_ARCH_X86_64 };
#define ARGUMENT(context, n) \
  ((context)->uc_mcontext.gregs[(const int[]){REG_RDI, REG_RSI, REG_RDX, REG_R10, REG_R8}[n]])
#define RESULT(context) ((context)->uc_mcontext.gregs[REG_RAX])
#elif defined(__aarch64__)
enum { ARCHITECTURE = AUDIT_ARCH_AARCH64 };
#define ARGUMENT(context, n) ((context)->uc_mcontext.regs[n])
#define RESULT(context) ((context)->uc_mcontext.regs[0])
#endif

static void on_rename(int signal, siginfo_t *info, void *held) {
  (void)signal;
  ucontext_t *context = held;
  int saved = errno, folders[2] = {AT_FDCWD, AT_FDCWD}, flags = 0;
  const char *from, *to;
#ifdef SYS_rename
  if (info->si_syscall == SYS_rename) {
    from = (const char *)ARGUMENT(context, 0);
    to = (const char *)ARGUMENT(context, 1);
  } else
#endif
  {
    folders[0] = (int)ARGUMENT(context, 0);
    from = (const char *)ARGUMENT(context, 1);
    folders[1] = (int)ARGUMENT(context, 2);
    to = (const char *)ARGUMENT(context, 3);
    flags = info->si_syscall == SYS_renameat2 ? (int)ARGUMENT(context, 4) : 0;
  }
  long result = judge_at(RENAME, folders[1], to) == GOES
                    ? syscall(SYS_renameat2, folders[0], from, folders[1], to, flags, PASSES)
                    : -1;
  RESULT(context) = result < 0 ? -errno : result;
  errno = saved;
}

static void trap_renames(void) {
#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define IF(value, yes, no) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, yes, no)
  struct sock_filter filter[] = {
      LOAD(arch),           IF(ARCHITECTURE, 0, 7),
      LOAD(args[5]),        IF(PASSES, 5, 0),
      LOAD(nr),             IF(SYS_renameat2, 2, 0),
#ifdef SYS_rename
      IF(SYS_rename, 1, 0),
#else
      IF(SYS_renameat2, 1, 0),
#endif
      IF(SYS_renameat, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
  struct sigaction action = {.sa_sigaction = on_rename, .sa_flags = SA_SIGINFO | SA_NODEFER};
  if (sigaction(SIGSYS, &action, NULL) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
    perror("renames cannot be trapped");
    _exit(99);
  }
}

int linkat(int from_folder, const char *from, int folder, const char *to, int flags) {
  if (judge_at(RENAME, folder, to) != GOES) return -1;
  return (int)syscall(SYS_linkat, from_folder, from, folder, to, flags);
}

int fsync(int fd) { return judge_fd(SYNC, fd) == GOES ? (int)syscall(SYS_fsync, fd) : -1; }
int fdatasync(int fd) { return judge_fd(SYNC, fd) == GOES ? (int)syscall(SYS_fdatasync, fd) : -1; }

int clock_gettime(clockid_t which, struct timespec *now) {
  int result = (int)syscall(SYS_clock_gettime, which, now);
  if (result || !clock_mode || which != CLOCK_REALTIME) return result;
  long tick = __atomic_add_fetch(&n_ticks, 1, __ATOMIC_SEQ_CST);
  if (!strcmp(clock_mode, "1970")) now->tv_sec = tick % 3;
  else if (!strcmp(clock_mode, "2262")) now->tv_sec = 9223372036L + tick;
  else now->tv_sec += (tick % 2 ? 1 : -1) * (tick * 7919 % 1000) * 86400L;
  return result;
}
