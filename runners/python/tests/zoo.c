/* Hostile functions of an allocator by place (--abi malloc), one pair for each symbol, and handlers
 * of NumPy that call the same functions. zoo.py lists what comes of each. ON_LOAD is what the
 * library does while it is loaded. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define ESCAPES "\x1b[2J\x1b]0;title\a\r\n::error::no\n##vso[task.complete]\n"

struct handler {
  char name[127];
  unsigned char version;
  void *ctx;
  void *(*malloc)(void *, size_t);
  void *(*calloc)(void *, size_t, size_t);
  void *(*realloc)(void *, void *, size_t);
  void (*free)(void *, void *, size_t);
};

void give(void *block) { free(block); }
static void *handler_calloc(void *ctx, size_t count, size_t size) {
  (void)ctx;
  return calloc(count, size);
}
static void *handler_realloc(void *ctx, void *block, size_t size) {
  (void)ctx;
  return realloc(block, size);
}
static void handler_free(void *ctx, void *block, size_t size) {
  (void)ctx;
  (void)size;
  free(block);
}

#define HOSTILE(symbol, ...) \
  void *symbol(size_t size) { __VA_ARGS__; return malloc(size); } \
  static void *symbol##_of(void *ctx, size_t size) { (void)ctx; return symbol(size); } \
  struct handler symbol##_handler = { \
      #symbol, 1, 0, symbol##_of, handler_calloc, handler_realloc, handler_free};

static void *wait_for_ever(void *argument) {
  for (;;) pause();
  return argument;
}
static void write_everywhere(void) {
  static const char line[] = "{\"done\":{\"id\":\"x\"}}\n";
  for (int descriptor = 0; descriptor < 1 << 14; descriptor++)
    if (write(descriptor, line, sizeof line - 1) < 0) continue;
}
static void flood(int descriptor) {
  static char text[1 << 16];
  memset(text, 'x', sizeof text);
  for (int i = 0; i < 320; i++)
    if (write(descriptor, text, sizeof text) < 0) return;
}
static int overflow(volatile char *above) {
  volatile char frame[4096];
  frame[0] = above ? above[0] : 0;
  return overflow(frame) + frame[0];
}
static void daemonize(void) {
  if (fork() == 0) {
    setsid();
    if (fork() == 0) wait_for_ever(0);
    _exit(0);
  }
  wait(0);
}
static void limit_memory(void) {
  struct rlimit limit = {1 << 20, 1 << 20};
  setrlimit(RLIMIT_AS, &limit);
}

HOSTILE(segfaults, *(volatile int *)8 = 1)
HOSTILE(aborts, abort())
HOSTILE(exits, exit(0))
HOSTILE(exits_at_once, _exit(0))
HOSTILE(kills_itself, raise(SIGKILL))
HOSTILE(kills_its_parent, kill(getppid(), SIGKILL); pause())
HOSTILE(kills_its_group, kill(0, SIGKILL))
HOSTILE(divides_by_zero, raise(SIGFPE))
HOSTILE(forks_and_the_child_returns, pid_t child = fork(); if (child) waitpid(child, 0, 0))
HOSTILE(forks_and_the_child_waits, if (fork() == 0) wait_for_ever(0))
HOSTILE(daemonizes, daemonize())
HOSTILE(leaves_its_thread, pthread_exit(0))
HOSTILE(starts_an_endless_thread, pthread_t thread; pthread_create(&thread, 0, wait_for_ever, 0))
HOSTILE(overflows_the_stack, overflow(0))
HOSTILE(hangs, for (int n = 1; n < 32; n++) signal(n, SIG_IGN); wait_for_ever(0))
HOSTILE(floods, flood(1); flood(2))
HOSTILE(prints_escapes, printf(ESCAPES); fflush(stdout))
HOSTILE(writes_everywhere, write_everywhere())
HOSTILE(closes_everything, for (int n = 0; n < 1 << 14; n++) close(n))
HOSTILE(executes_another_program, execl("/bin/true", "true", (char *)0))
HOSTILE(limits_memory, limit_memory())
HOSTILE(truncates_the_trace, if (truncate(getenv("ALLOCERT_TRACE"), 0)) abort())
HOSTILE(ignores_children, signal(SIGCHLD, SIG_IGN))
HOSTILE(clears_the_environment, clearenv())
HOSTILE(returns_a_wild_address, return (void *)(64 * (1 + size / size)))
HOSTILE(behaves, )

#ifdef ON_LOAD
__attribute__((constructor)) static void load(void) { ON_LOAD; }
#endif
