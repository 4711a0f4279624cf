/* A handler of NumPy whose malloc() asks a thread that starts when the library is loaded. */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

static pthread_mutex_t one_call = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static enum { IDLE, ASKED, ANSWERED } state;
static size_t wanted;
static void *block;

static void *serve(void *unused) {
  pthread_mutex_lock(&lock);
  for (;;) {
    while (state != ASKED)
      pthread_cond_wait(&changed, &lock);
    block = malloc(wanted);
    state = ANSWERED;
    pthread_cond_broadcast(&changed);
  }
  return unused;
}

__attribute__((constructor)) static void start(void) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, serve, NULL) != 0)
    abort();
}

static void *ask(void *context, size_t size) {
  (void)context;
  pthread_mutex_lock(&one_call);
  pthread_mutex_lock(&lock);
  wanted = size;
  state = ASKED;
  pthread_cond_broadcast(&changed);
  while (state != ANSWERED)
    pthread_cond_wait(&changed, &lock);
  state = IDLE;
  void *answer = block;
  pthread_mutex_unlock(&lock);
  pthread_mutex_unlock(&one_call);
  return answer;
}
static void *zeroed(void *context, size_t count, size_t size) {
  (void)context;
  return calloc(count, size);
}
static void *resize(void *context, void *old, size_t size) {
  (void)context;
  return realloc(old, size);
}
static void give(void *context, void *old, size_t size) {
  (void)context;
  (void)size;
  free(old);
}

struct {
  char name[127];
  uint8_t version;
  void *context;
  void *(*malloc)(void *, size_t);
  void *(*calloc)(void *, size_t, size_t);
  void *(*realloc)(void *, void *, size_t);
  void (*free)(void *, void *, size_t);
} allocert_nep49_handler = {"threaded", 1, NULL, ask, zeroed, resize, give};
