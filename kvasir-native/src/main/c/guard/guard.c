// Keeps the process alive when the bytes of a mapped file cannot be read, because the file was truncated or its disk
// failed. The kernel then sends SIGBUS to the thread that reads them. HotSpot turns that into an InternalError where
// compiled Java code reads, but ends the process where a native function does.
//
// This handler covers both: it lays zeros over the rest of the mapping, records that, and lets the read run again. What
// was computed from zeros is dropped by whoever asks afterwards. Addresses outside of the table are left to HotSpot.
//
// It runs in a signal handler, so it calls nothing but mmap, and uses no C library.

typedef unsigned long word;

struct range {
  volatile word begin;
  volatile word end; // 0: the entry is free
  volatile word damaged;
};

struct action { // of the system call, which differs from the C library's
  void (*handler)(int, char *, void *);
  word flags;
  void *restorer;
  word mask;
};

// No processor that this is built for has larger pages of files.
enum { LARGEST_PAGE = 1 << 16 };
enum { BUS_ERROR = 7, READ = 1, PRIVATE_FIXED_ANONYMOUS = 0x02 | 0x10 | 0x20, ADDRESS_IN_INFO = 16 };

static struct range *ranges;
static word rangeCount;
static word *faults;
static struct action former;

#if defined(__x86_64__)
enum { MMAP = 9, SIGACTION = 13 };

static long call(long number, word a, word b, word c, word d, word e, word f) {
  register word r10 __asm__("r10") = d;
  register word r8 __asm__("r8") = e;
  register word r9 __asm__("r9") = f;
  long result;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return result;
}
#else
enum { MMAP = 222, SIGACTION = 134 };

static long call(long number, word a, word b, word c, word d, word e, word f) {
  register word x8 __asm__("x8") = (word)number;
  register word x0 __asm__("x0") = a;
  register word x1 __asm__("x1") = b;
  register word x2 __asm__("x2") = c;
  register word x3 __asm__("x3") = d;
  register word x4 __asm__("x4") = e;
  register word x5 __asm__("x5") = f;
  __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
  return (long)x0;
}
#endif

// Returns whether zeros lie there now.
static int replace(struct range *range, word address) {
  word aligned = address & ~(word)(LARGEST_PAGE - 1);
  word from = aligned < range->begin ? range->begin : aligned; // a mapping begins with a page
  word length = range->end - from;
  range->damaged = 1;
  __atomic_fetch_add(faults, 1, __ATOMIC_SEQ_CST);
  return call(MMAP, from, length, READ, PRIVATE_FIXED_ANONYMOUS, (word)-1, 0) == (long)from;
}

static void onBusError(int signal, char *info, void *context) {
  word address = *(word *)(info + ADDRESS_IN_INFO);
  for (word i = 0; i < rangeCount; i++) {
    if (ranges[i].begin <= address && address < ranges[i].end && replace(&ranges[i], address)) {
      return;
    }
  }
  former.handler(signal, info, context);
}

// Takes the place of HotSpot's handler, with its flags. Returns 0, or a negative error of the kernel.
__attribute__((visibility("default"))) long kvasir_guard_install(
    struct range *table, word count, word *counter) {
  ranges = table;
  rangeCount = count;
  faults = counter;
  long error = call(SIGACTION, BUS_ERROR, 0, (word)&former, sizeof(word), 0, 0);
  if (error != 0 || former.handler == 0) {
    return error != 0 ? error : -1;
  }
  struct action ours = former;
  ours.handler = onBusError;
  return call(SIGACTION, BUS_ERROR, (word)&ours, 0, sizeof(word), 0, 0);
}
