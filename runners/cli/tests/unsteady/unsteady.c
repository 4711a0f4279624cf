/* Allocators of host memory that differ from process to process, are slow, or hang. */

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* The number of processes before this one that asked, counted in the file UNSTEADY_COUNTER. */
static long processes_before(void) {
  static pid_t counted_by = 0;
  static long before = 0;
  if (counted_by != getpid()) {
    FILE *file = fopen(getenv("UNSTEADY_COUNTER"), "a");
    fseek(file, 0, SEEK_END);
    before = ftell(file);
    fputc('.', file);
    fclose(file);
    counted_by = getpid();
  }
  return before;
}

/* Every fourth process gets no memory. */
void *unsteady_malloc(size_t size) {
  return processes_before() % 4 == 3 ? NULL : malloc(size);
}

void unsteady_free(void *pointer) { free(pointer); }

void *slow_malloc(size_t size) {
  struct timespec time = {0, 400000000};
  nanosleep(&time, NULL);
  return malloc(size);
}

void slow_free(void *pointer) { free(pointer); }

/* Hangs in the third call. */
void *stuck_malloc(size_t size) {
  static int calls = 0;
  if (++calls == 3) {
    for (;;) pause();
  }
  return malloc(size);
}

void stuck_free(void *pointer) { free(pointer); }
