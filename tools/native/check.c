// Holds every kernel of a native library to recorded calls of the Java kernels, bit for bit:
//     check LIBRARY CALLS [GAP]
// RecordedCall says what the file of calls holds. Each piece of memory ends where a page begins that nobody may touch, and
// begins behind bytes that nobody may change, so that a kernel cannot leave its arrays unseen. GAP bytes, none unless
// given, lie before that page and may be read: QEMU's x86 reads what an instruction leaves out by its mask or its width.
#include "check-library.h"

#define MOST_ARGUMENTS 24
#define MOST_FLOATS 4
#define FENCE 64
#define FENCE_BYTE 0xA5
// What a thread's workspace holds, as CallScratch has it.
#define WORKSPACE_BYTES 32768

enum { INTEGER, FLOAT, MEMORY, SAME_MEMORY, NONE, LONG };

typedef struct {
  u32 kind, of_floats;
  u64 value;                  // bytes, of memory
  const u8 *before, *after;   // null for workspaces: a kernel finds nothing in them, and leaves nothing
} Argument;

typedef struct {
  const char *name;
  size_t name_length;
  u32 count, returns, result;
  Argument arguments[MOST_ARGUMENTS];
} Call;

// Where the memory of each argument ends, and how far it is from there to the page that nobody may touch.
static u8 *ends[MOST_ARGUMENTS];
static u64 gap;

// Workspaces: memory that is no result. A kernel that takes another one belongs here by the number of its argument.
static const struct {
  const char *kernel;
  u32 argument;
} workspaces[] = {
    {"many_products", 11}, {"many_sums", 12},  {"scaled_dots", 6},      {"decoded_products", 11},
    {"column_sums", 9},    {"many_dots", 14}, {"turning_products", 5},
};

typedef struct {
  const char *words, *ending;
  int there;
} Instructions;

static const u8 *read_argument(Argument *to, const u8 *at) {
  memcpy(to, at, 16);
  at += 16;
  if (to->kind != MEMORY) return at;
  u64 padded = ROUND_UP(to->value, 8);
  to->before = to->after = at;
  at += padded;
  u64 changed = *(const u64 *)at;
  at += 8;
  if (!changed) return at;
  to->after = at;
  return at + padded;
}

// Reads the call at a position of the file and returns the position of the next.
static const u8 *read_call(Call *to, const u8 *at) {
  const u32 *head = (const u32 *)at;
  to->name = (const char *)at + 24;
  to->name_length = head[1];
  to->count = head[2];
  to->returns = head[3];
  to->result = head[4];
  if (to->count > MOST_ARGUMENTS - 2) refuse("a call has more arguments than this program knows to pass", "");
  const u8 *next = at + 24 + ROUND_UP(head[1], 8);
  for (u32 i = 0; i < to->count; i++) next = read_argument(&to->arguments[i], next);
  if (next != at + head[0]) refuse("the file of calls is damaged", "");
  return next;
}

static void add(Call *call, u32 kind, u64 value) {
  call->arguments[call->count++] = (Argument){kind, 0, value, 0, 0};
}

// Arguments of coded_products, by number.
enum { COLUMNS_OF_PRODUCTS = 12, ROWS_OF_PRODUCTS = 21 };

// Whether a recorded call is one of this kernel, with the arguments that the kernel takes.
static int serves(Call *call, const char *kernel, size_t length, const char *set) {
  const Argument *a = call->arguments;
  if (are_equal(call->name, call->name_length, "coded_products") && are_equal(set, length_of(set), "amx")) {
    if (a[ROWS_OF_PRODUCTS].value % 16 || !are_equal(kernel, length, "coded_products")) return 0;
    add(call, MEMORY, 16 * a[COLUMNS_OF_PRODUCTS].value);
    add(call, INTEGER, 0);
    return 1;
  }
  if (are_equal(call->name, call->name_length, "add_dots") && are_equal(kernel, length, "many_dots")) {
    if (a[6].value > 7 || 64 * a[5].value > WORKSPACE_BYTES) return 0;
    add(call, MEMORY, WORKSPACE_BYTES);
    return 1;
  }
  if (are_equal(call->name, call->name_length, "many_dots") && are_equal(kernel, length, "add_dots")) {
    call->count--;
    return 1;
  }
  if (call->name_length != length) return 0;
  for (size_t i = 0; i < length; i++) {
    if (kernel[i] != call->name[i]) return 0;
  }
  return 1;
}

static void mark_workspaces(Call *call, const char *kernel, size_t length) {
  for (size_t i = 0; i < sizeof workspaces / sizeof *workspaces; i++) {
    if (are_equal(kernel, length, workspaces[i].kernel)) {
      Argument *argument = &call->arguments[workspaces[i].argument];
      argument->before = argument->after = 0;
    }
  }
}

// Copies an argument's memory to its place and returns that place.
static u8 *lay(const Argument *argument, u32 index) {
  u8 *at = ends[index] - argument->value;
  memset(at - FENCE, FENCE_BYTE, FENCE);
  memset(ends[index], FENCE_BYTE, gap);
  if (argument->before) {
    memcpy(at, argument->before, argument->value);
  } else {
    memset(at, 0xFF, argument->value);   // floats that are no numbers
  }
  return at;
}

// Arguments as a function gets them: numbers, bits of floats and addresses.
typedef struct {
  u32 count;
  u32 kinds[MOST_ARGUMENTS];
  u64 values[MOST_ARGUMENTS];
} Passed;

#define FIVE u64, u64, u64, u64, u64
#define TWENTY FIVE, FIVE, FIVE, FIVE
#define FIVE_OF(x, i) x[i], x[i + 1], x[i + 2], x[i + 3], x[i + 4]
#define TWENTY_OF(x, i) FIVE_OF(x, i), FIVE_OF(x, i + 5), FIVE_OF(x, i + 10), FIVE_OF(x, i + 15)

typedef void *Kernel;
typedef float (*Unix)(u64, u64, u64, u64, TWENTY, float, float, float, float);
#if defined(__x86_64__)
typedef float (*Windows)(u64, u64, u64, u64, TWENTY) __attribute__((ms_abi));
typedef float (*WindowsWithFourthFloat)(u64, u64, u64, float, TWENTY) __attribute__((ms_abi));
#endif

static float float_of(u64 bits) {
  float x;
  memcpy(&x, &bits, 4);
  return x;
}

// One way to call serves every signature, since integers and floats have registers of their own, and what a kernel does
// not take it does not see. Packed arguments are several in the 8 bytes of one.
static float call_by_register(Kernel kernel, const Passed *passed, int packed) {
  const u32 in_registers = 8;
  u64 i[MOST_ARGUMENTS] = {0}, stack = 8 * in_registers;
  float f[MOST_FLOATS] = {0};
  u32 integers = 0, floats = 0;
  for (u32 n = 0; n < passed->count; n++) {
    u64 value = passed->values[n];
    if (passed->kinds[n] == FLOAT) {
      f[floats++] = float_of(value);
    } else if (packed && integers++ >= in_registers) {
      u64 bytes = passed->kinds[n] == INTEGER ? 4 : 8, at = ROUND_UP(stack, bytes);
      memcpy((u8 *)i + at, &value, bytes);
      stack = at + bytes;
    } else {
      i[packed ? integers - 1 : integers++] = value;
    }
  }
  return ((Unix)kernel)(i[0], i[1], i[2], i[3], TWENTY_OF(i, 4), f[0], f[1], f[2], f[3]);
}

static float call(Convention convention, Kernel kernel, const Passed *passed) {
#if defined(__x86_64__)
  if (convention == BY_POSITION) {
    const u64 *v = passed->values;
    for (int n = 0; n < 3; n++) {
      if (passed->kinds[n] == FLOAT) refuse("a kernel takes a float before its fourth argument", "");
    }
    return passed->kinds[3] == FLOAT
               ? ((WindowsWithFourthFloat)kernel)(v[0], v[1], v[2], float_of(v[3]), TWENTY_OF(v, 4))
               : ((Windows)kernel)(v[0], v[1], v[2], v[3], TWENTY_OF(v, 4));
  }
#endif
  return call_by_register(kernel, passed, convention == PACKED);
}

static int is_number(u32 bits) { return (bits & 0x7FFFFFFF) <= 0x7F800000; }

// Where two differ, in bytes; -1 where nowhere. Which bits a float has that is no number is the processor's choice.
static i64 difference(const u8 *found, const u8 *expected, u64 bytes, int floats) {
  u64 i = 0;
  for (; i + 4 <= bytes; i += 4) {
    u32 a = *(const u32 *)(found + i), b = *(const u32 *)(expected + i);
    if (a != b && !(floats && !is_number(a) && !is_number(b))) return (i64)i;
  }
  for (; i < bytes; i++) {
    if (found[i] != expected[i]) return (i64)i;
  }
  return -1;
}

// What is reported: the symbol, the number of a recorded call in the file, and how many of the symbol's calls failed.
typedef struct {
  const char *symbol;
  i64 call, failures;
} Trial;

static Trial trial;

static void say_trial(void) {
  say("  ");
  say(trial.symbol);
  say(", recorded call ");
  say_number(trial.call);
}

// Counts a failure. Begins a line about it and returns 1 if it is one of the kernel's first.
static int report_failure(void) {
  if (++trial.failures > 3) return 0;
  say_trial();
  return 1;
}

static void faulted(int signal) {
  say_trial();
  say(signal == 4 ? ": an instruction that this processor does not have\n" : ": memory outside its arguments is touched\n");
  leave(1);
}

static void compare_words(u32 found, u32 expected) {
  say(": ");
  say_hex(found, 8);
  say(" for ");
  say_hex(expected, 8);
  say("\n");
}

static u32 word(const u8 *at, u64 bytes) {
  u32 x = 0;
  memcpy(&x, at, bytes < 4 ? bytes : 4);
  return x;
}

static int is_fence(const u8 *at, u64 count) {
  for (u64 i = 0; i < count; i++) {
    if (at[i] != FENCE_BYTE) return 0;
  }
  return 1;
}

static int compare(const Argument *argument, u32 index) {
  const u8 *found = ends[index] - argument->value;
  if (!is_fence(found - FENCE, FENCE) || !is_fence(ends[index], gap)) {
    if (report_failure()) {
      say(" writes outside argument ");
      say_number(index);
      say("\n");
    }
    return 0;
  }
  if (!argument->before) return 1;
  i64 at = difference(found, argument->after, argument->value, argument->of_floats);
  if (at < 0) return 1;
  if (report_failure()) {
    say(", argument ");
    say_number(index);
    say(", byte ");
    say_number(at);
    u64 left = argument->value - (u64)at;
    compare_words(word(found + at, left), word(argument->after + at, left));
  }
  return 0;
}

// The kernel under test.
typedef struct {
  const char *name;
  size_t length;
  Convention convention;
  Kernel at;
} Tested;

static void try_call(const Call *recorded, const Tested *tested) {
  Passed passed = {.count = recorded->count};
  for (u32 i = 0; i < recorded->count; i++) {
    const Argument *argument = &recorded->arguments[i];
    passed.kinds[i] = argument->kind;
    switch (argument->kind) {
      case MEMORY: passed.values[i] = (u64)lay(argument, i); break;
      case SAME_MEMORY: passed.values[i] = passed.values[argument->value]; break;
      default: passed.values[i] = argument->value;
    }
  }
  float result = call(tested->convention, tested->at, &passed);
  u32 bits;
  memcpy(&bits, &result, 4);
  if (recorded->returns && bits != recorded->result && (is_number(bits) || is_number(recorded->result))) {
    if (report_failure()) {
      say(", its result");
      compare_words(bits, recorded->result);
    }
    return;
  }
  for (u32 i = 0; i < recorded->count; i++) {
    if (recorded->arguments[i].kind == MEMORY && !compare(&recorded->arguments[i], i)) return;
  }
}

typedef struct {
  const u8 *at, *end;
} Calls;

// Makes all recorded calls of a kernel and returns how many there are.
static i64 try_kernel(const Library *library, Calls calls, u32 function, const Instructions *set) {
  static Call recorded;
  const char *symbol = library->functions[function].name;
  const Tested tested = {symbol + 3, length_of(symbol) - length_of(set->ending) - 4, library->convention,
                         library->functions[function].at};
  trial = (Trial){symbol, 0, 0};
  i64 tried = 0, number = 0;
  for (const u8 *at = calls.at; at < calls.end;) {
    at = read_call(&recorded, at);
    trial.call = ++number;
    if (!serves(&recorded, tested.name, tested.length, set->ending)) continue;
    mark_workspaces(&recorded, tested.name, tested.length);
    try_call(&recorded, &tested);
    tried++;
  }
  return tried;
}

static int ends_in(const char *name, const char *ending) {
  size_t length = length_of(name), last = length_of(ending);
  return length > last + 4 && name[length - last - 1] == '_' && are_equal(name + length - last, last, ending);
}

// Whether all kernels of a set give what was recorded.
static int try_set(const Library *library, Calls calls, const Instructions *set) {
  i64 kernels = 0, tried = 0, bad = 0;
  for (u32 i = 0; i < library->count; i++) {
    if (!ends_in(library->functions[i].name, set->ending)) continue;
    i64 some = try_kernel(library, calls, i, set);
    kernels++;
    tried += some;
    bad += trial.failures || !some;
    if (!some || trial.failures) {
      say("  ");
      say(trial.symbol);
      if (some) {
        say(": ");
        say_number(trial.failures);
        say(" of ");
        say_number(some);
        say(" recorded calls give other bits\n");
      } else {
        say(": no call of it is recorded\n");
      }
    }
  }
  say(set->words);
  say(": ");
  say_number(kernels);
  say(" kernels, ");
  say_number(tried);
  say(bad ? " calls, kernels that fail: " : " calls, all bits as recorded");
  if (bad) say_number(bad);
  say("\n");
  return !bad;
}

#if defined(__x86_64__)
static void cpuid(u32 leaf, u32 part, u32 *out) {
  __asm__ volatile("cpuid" : "=a"(out[0]), "=b"(out[1]), "=c"(out[2]), "=d"(out[3]) : "a"(leaf), "c"(part));
}

// As Processor.x86 reads them.
static void find_sets(const Library *library, const u64 *auxiliary, Instructions *sets) {
  (void)auxiliary;
  u32 first[4], seventh[4], more[4], low = 0, high = 0;
  cpuid(1, 0, first);
  cpuid(7, 0, seventh);
  cpuid(7, 1, more);
  if (first[2] >> 27 & 1) __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  int avx2 = (low & 6) == 6 && seventh[1] >> 5 & 1 && first[2] >> 29 & 1 && first[2] >> 12 & 1;
  int avx512 = avx2 && (low & 0xE0) == 0xE0 && (seventh[1] >> 16 & 3) == 3 && seventh[1] >> 30 == 3 && seventh[2] >> 11 & 1;
  i64 (*ask)(void) = (i64(*)(void))find(library, "kv_ask_for_tiles");
  int tiles = avx512 && (low >> 17 & 3) == 3 && (seventh[3] >> 24 & 3) == 3 && ask && !ask();
  sets[0] = (Instructions){"AVX2", "avx2", avx2};
  sets[1] = (Instructions){"AVX-VNNI", "avxvnni", avx2 && more[0] >> 4 & 1};
  sets[2] = (Instructions){"AVX-512 with VNNI", "avx512", avx512};
  sets[3] = (Instructions){"AMX", "amx", tiles};
}
#else
// As Processor.linuxArm reads them.
static void find_sets(const Library *library, const u64 *auxiliary, Instructions *sets) {
  (void)library;
  u64 features = 0;
  for (; auxiliary[0]; auxiliary += 2) {
    if (auxiliary[0] == 16) features = auxiliary[1];
  }
  sets[0] = (Instructions){"NEON", "neon", 1};
  sets[1] = (Instructions){"NEON with dot products", "dotprod", features >> 20 & 1};
}
#endif

// Every symbol is a kernel of a set, or one of those that ask what there is.
static void require_known(const Library *library, const Instructions *sets) {
  static const char *const others[] = {"kv_cpuid", "kv_xgetbv", "kv_ask_for_tiles"};
  for (u32 i = 0; i < library->count; i++) {
    const char *name = library->functions[i].name;
    int known = 0;
    for (int set = 0; sets[set].words; set++) known |= ends_in(name, sets[set].ending);
    for (int other = 0; other < 3; other++) known |= are_equal(name, length_of(name), others[other]);
    if (!known) refuse(name, " ends in no set of instructions that this program knows");
  }
}

static Calls read_calls(const char *name) {
  static Call call;
  int file = open_file(name);
  u64 bytes = size_of_file(file), most = WORKSPACE_BYTES;
  Calls calls = {map(0, bytes + 1, READ, file, 0), 0};
  calls.end = calls.at + bytes;
  if (bytes < 8 || difference(calls.at, (const u8 *)"KVCALLS1", 8, 0) >= 0) refuse(name, " holds no recorded calls");
  calls.at += 8;
  for (const u8 *at = calls.at; at < calls.end;) {
    at = read_call(&call, at);
    for (u32 i = 0; i < call.count; i++) {
      if (call.arguments[i].kind == MEMORY && call.arguments[i].value > most) most = call.arguments[i].value;
    }
  }
  for (int i = 0; i < MOST_ARGUMENTS; i++) {
    u64 bytes_before = ROUND_UP(most + FENCE + gap, PAGE);
    u8 *untouchable = map(0, bytes_before + PAGE, READ | WRITE, -1, 0) + bytes_before;
    protect(untouchable, PAGE, 0);
    ends[i] = untouchable - gap;
  }
  return calls;
}

__attribute__((used)) _Noreturn void begin(const u64 *stack) {
  const char *const *arguments = (const char *const *)(stack + 1);
  if (stack[0] != 3 && stack[0] != 4) refuse("expected: check LIBRARY CALLS [GAP]", "");
  for (const char *digit = stack[0] == 4 ? arguments[3] : ""; *digit; digit++) gap = 10 * gap + (u64)(*digit - '0');
  const u64 *auxiliary = stack + 1 + stack[0] + 1;
  while (*auxiliary++) {}
  on_fault(faulted);
  static Library library;
  load(&library, arguments[1]);
  Calls calls = read_calls(arguments[2]);
  Instructions sets[5] = {0};
  find_sets(&library, auxiliary, sets);
  require_known(&library, sets);
  int good = 1;
  for (int i = 0; sets[i].words; i++) {
    if (sets[i].there) {
      good &= try_set(&library, calls, &sets[i]);
    } else {
      say(sets[i].words);
      say(": skipped, this processor does not have it\n");
    }
  }
  leave(good ? 0 : 1);
}
