/* The library can be loaded, used by threads, and unloaded, again and again: nothing of it stays.
   Usage: unload LIBLPT_SO */
#include <dlfcn.h>
#include <lpt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ROUNDS 400
#define SETTLED 100 /* rounds after which the allocator has what it takes */
#define MOST 2048   /* kB of growth: a tensor that moves to another place of the heap is 1024 */
#define ELEMENTS 262144

static int fail(const char *what, int round) {
  fprintf(stderr, "round %d: %s\n", round, what);
  return 1;
}

/* A number of /proc/self/status, such as "Threads:". */
static long status_of(const char *name) {
  char line[256];
  long value = -1;
  FILE *file = fopen("/proc/self/status", "r");
  while (file != NULL && fgets(line, sizeof line, file) != NULL) {
    if (strncmp(line, name, strlen(name)) == 0) value = atol(line + strlen(name));
  }
  if (file != NULL) fclose(file);
  return value;
}

static int is_mapped(const char *name) {
  char line[4096];
  int found = 0;
  FILE *file = fopen("/proc/self/maps", "r");
  while (file != NULL && fgets(line, sizeof line, file) != NULL) found = found || strstr(line, name) != NULL;
  if (file != NULL) fclose(file);
  return found;
}

/* The kernel counts a thread until some time after pthread_join() of it has returned. */
static int has_threads(void) {
  const struct timespec pause = {0, 1000000};
  int tries;
  for (tries = 0; tries < 5000 && status_of("Threads:") != 1; ++tries) nanosleep(&pause, NULL);
  return tries == 5000;
}

/* A cast by two threads; all handles are destroyed. */
static int use(void *library) {
  int is_good = 0;
  const int64_t extents[] = {512, ELEMENTS / 512};
  lpt_context_options options = LPT_CONTEXT_OPTIONS_INIT;
  lpt_context *context = NULL;
  lpt_tensor *source = NULL, *codes = NULL;
  lpt_status (*create)(const lpt_context_options *, lpt_context **);
  lpt_status (*make)(lpt_context *, lpt_format, int32_t, const int64_t *, lpt_tensor **);
  lpt_status (*quantize)(lpt_context *, const lpt_tensor *, const lpt_quantize_options *, lpt_tensor *, lpt_tensor *);
  void (*drop)(lpt_tensor *), (*destroy)(lpt_context *);
  *(void **)&create = dlsym(library, "lpt_context_create");
  *(void **)&make = dlsym(library, "lpt_tensor_create");
  *(void **)&quantize = dlsym(library, "lpt_quantize");
  *(void **)&drop = dlsym(library, "lpt_tensor_destroy");
  *(void **)&destroy = dlsym(library, "lpt_context_destroy");
  options.thread_count = 2;
  if (create(&options, &context) != LPT_OK) return 0;
  if (make(context, LPT_FORMAT_F32, 2, extents, &source) == LPT_OK &&
      make(context, LPT_FORMAT_NVFP4, 2, extents, &codes) == LPT_OK) {
    is_good = quantize(context, source, NULL, codes, NULL) == LPT_OK;
  }
  drop(codes);
  drop(source);
  destroy(context);
  return is_good;
}

int main(int count, char **arguments) {
  long settled = 0, after;
  int round;
  if (count != 2) return fail("expected the path of liblpt.so", 0);
  for (round = 0; round < ROUNDS; ++round) {
    void *library = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) return fail(dlerror(), round);
    if (!use(library)) return fail("a call failed", round);
    if (dlclose(library) != 0) return fail(dlerror(), round);
    if (is_mapped("liblpt.so")) return fail("liblpt.so is still mapped", round);
    if (has_threads()) return fail("a thread is left", round);
    if (round == SETTLED) settled = status_of("VmRSS:");
  }
  after = status_of("VmRSS:");
  printf("%d rounds; resident %ld kB after %d, %ld kB at the end\n", ROUNDS, settled, SETTLED, after);
  return after > settled + MOST ? fail("memory has grown", ROUNDS) : 0;
}
