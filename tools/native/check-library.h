// Loads a native library of any platform as it is in the jar. A library of kernels takes nothing from others and holds no
// addresses, so loading is copying its segments to where they want to be from its beginning on.
#ifndef KVASIR_CHECK_LIBRARY_H
#define KVASIR_CHECK_LIBRARY_H

#include "check-system.h"

#define MOST_FUNCTIONS 512

// How functions take arguments, beyond what all platforms of an architecture share.
typedef enum {
  BY_REGISTER,   // integers and floats have registers of their own, and then 8 bytes of the stack each
  PACKED,        // the same, but on the stack each takes no more bytes than it has: macOS on ARM
  BY_POSITION,   // the first four have a register by their position, others 8 bytes of the stack: Windows on x86
} Convention;

typedef struct {
  const char *file;
  const u8 *bytes;
  u8 *base;
  u64 span;
  Convention convention;
  u32 count;
  struct {
    const char *name;
    void *at;
  } functions[MOST_FUNCTIONS];
} Library;

#if defined(__x86_64__)
enum { ELF_MACHINE = 62, MACHO_MACHINE = 0x01000007, PE_MACHINE = 0x8664 };
static void make_executable(u8 *at, u64 bytes) { protect(at, bytes, READ | EXECUTE); }
#else
enum { ELF_MACHINE = 183, MACHO_MACHINE = 0x0100000C, PE_MACHINE = 0xAA64 };
// Instructions are read through a cache of their own, by lines of 16 bytes or more.
static void make_executable(u8 *at, u64 bytes) {
  for (u64 i = 0; i < bytes; i += 16) __asm__ volatile("dc cvau, %0" ::"r"(at + i) : "memory");
  __asm__ volatile("dsb ish" ::: "memory");
  for (u64 i = 0; i < bytes; i += 16) __asm__ volatile("ic ivau, %0" ::"r"(at + i) : "memory");
  __asm__ volatile("dsb ish\nisb" ::: "memory");
  protect(at, bytes, READ | EXECUTE);
}
#endif

static u32 u32_at(const u8 *at) { return *(const u32 *)at; }
static u32 u16_at(const u8 *at) { return *(const uint16_t *)at; }
static u64 u64_at(const u8 *at) { return *(const u64 *)at; }

static void require(const Library *library, int holds, const char *otherwise) {
  if (!holds) refuse(library->file, otherwise);
}

static void add_function(Library *library, const char *name, u64 address) {
  require(library, library->count < MOST_FUNCTIONS, " has more functions than this program can hold");
  library->functions[library->count].name = name;
  library->functions[library->count++].at = library->base + address;
}

static const char WRONG_MACHINE[] = " is for another architecture";
static const char NEEDS_OTHERS[] = " needs another library";
static const char HAS_ADDRESSES[] = " holds addresses, which kernels have no use for";

static void reserve(Library *library, u64 span) {
  library->span = ROUND_UP(span, PAGE);
  library->base = map(0, library->span, READ | WRITE, -1, 0);
}

// Copies a segment to its address; those without bytes of a file stay zero.
static void copy_segment(Library *library, u64 address, u64 offset, u64 bytes) {
  memcpy(library->base + address, library->bytes + offset, bytes);
}

// Linux

static void read_dynamic(Library *library, const u8 *entry) {
  const u8 *symbols = 0, *names = 0;
  u32 count = 0;
  for (; u64_at(entry); entry += 16) {
    const u8 *at = library->base + u64_at(entry + 8);
    switch (u64_at(entry)) {
      case 1: require(library, 0, NEEDS_OTHERS); break;
      case 4: count = u32_at(at + 4); break;
      case 5: names = at; break;
      case 6: symbols = at; break;
      case 7:
      case 17:
      case 23: require(library, 0, HAS_ADDRESSES);
    }
  }
  for (u32 i = 1; i < count; i++) {
    const u8 *symbol = symbols + 24 * i;
    require(library, u16_at(symbol + 6), NEEDS_OTHERS);
    add_function(library, (const char *)names + u32_at(symbol), u64_at(symbol + 8));
  }
}

static void load_elf(Library *library) {
  const u8 *elf = library->bytes;
  require(library, u16_at(elf + 18) == ELF_MACHINE, WRONG_MACHINE);
  const u32 segments = u16_at(elf + 56), bytes = u16_at(elf + 54);
  const u8 *first = elf + u64_at(elf + 32), *last = first + segments * bytes;
  u64 span = 0, dynamic = 0;
  for (const u8 *s = first; s < last; s += bytes) {
    u64 end = u64_at(s + 16) + u64_at(s + 40);
    if (u32_at(s) == 1 && end > span) span = end;
    if (u32_at(s) == 2) dynamic = u64_at(s + 16);
  }
  reserve(library, span);
  for (const u8 *s = first; s < last; s += bytes) {
    if (u32_at(s) == 1) copy_segment(library, u64_at(s + 16), u64_at(s + 8), u64_at(s + 32));
  }
  read_dynamic(library, library->base + dynamic);
}

// macOS

static void load_macho(Library *library) {
  const u8 *macho = library->bytes, *symbols = 0;
  require(library, u32_at(macho + 4) == MACHO_MACHINE, WRONG_MACHINE);
  const u8 *first = macho + 32, *last = first + u32_at(macho + 20);
  u64 span = 0;
  for (const u8 *c = first; c < last; c += u32_at(c + 4)) {
    if (u32_at(c) == 0x19 && u64_at(c + 24) + u64_at(c + 32) > span) span = u64_at(c + 24) + u64_at(c + 32);
  }
  reserve(library, span);
  for (const u8 *c = first; c < last; c += u32_at(c + 4)) {
    switch (u32_at(c)) {
      case 0x02: symbols = c; break;
      case 0x0C: require(library, 0, NEEDS_OTHERS); break;
      case 0x19: copy_segment(library, u64_at(c + 24), u64_at(c + 40), u64_at(c + 48)); break;
      case 0x80000022: require(library, !u32_at(c + 12) && !u32_at(c + 20), HAS_ADDRESSES);
    }
  }
  require(library, symbols != 0, " has no symbols");
  for (u32 i = 0; i < u32_at(symbols + 12); i++) {
    const u8 *symbol = macho + u32_at(symbols + 8) + 16 * i;
    const char *name = (const char *)macho + u32_at(symbols + 16) + u32_at(symbol);
    if (symbol[4] == 0x0F) add_function(library, name + 1, u64_at(symbol + 8));   // behind an underscore
  }
  library->convention = MACHO_MACHINE == 0x0100000C ? PACKED : BY_REGISTER;
}

// Windows

static void load_pe(Library *library) {
  const u8 *pe = library->bytes + u32_at(library->bytes + 60), *optional = pe + 24;
  require(library, u16_at(pe + 4) == PE_MACHINE, WRONG_MACHINE);
  require(library, !u32_at(optional + 120), NEEDS_OTHERS);
  require(library, !u32_at(optional + 152), HAS_ADDRESSES);
  reserve(library, u32_at(optional + 56));
  const u8 *section = optional + u16_at(pe + 20);
  for (u32 i = 0; i < u16_at(pe + 6); i++, section += 40) {
    u32 bytes = u32_at(section + 8) < u32_at(section + 16) ? u32_at(section + 8) : u32_at(section + 16);
    copy_segment(library, u32_at(section + 12), u32_at(section + 20), bytes);
  }
  const u8 *exports = library->base + u32_at(optional + 112);
  const u8 *addresses = library->base + u32_at(exports + 28), *names = library->base + u32_at(exports + 32);
  const u8 *ordinals = library->base + u32_at(exports + 36);
  for (u32 i = 0; i < u32_at(exports + 24); i++) {
    const char *name = (const char *)library->base + u32_at(names + 4 * i);
    add_function(library, name, u32_at(addresses + 4 * u16_at(ordinals + 2 * i)));
  }
  library->convention = PE_MACHINE == 0x8664 ? BY_POSITION : BY_REGISTER;
}

static void load(Library *library, const char *name) {
  int file = open_file(name);
  library->file = name;
  library->bytes = map(0, size_of_file(file), READ, file, 0);
  if (u32_at(library->bytes) == 0x464C457F) {
    load_elf(library);
  } else if (u32_at(library->bytes) == 0xFEEDFACF) {
    load_macho(library);
  } else if (u16_at(library->bytes) == 0x5A4D) {
    load_pe(library);
  } else {
    refuse(name, " is no library of a known format");
  }
  make_executable(library->base, library->span);
}

static __attribute__((unused)) void *find(const Library *library, const char *name) {
  for (u32 i = 0; i < library->count; i++) {
    if (are_equal(name, length_of(name), library->functions[i].name)) return library->functions[i].at;
  }
  return 0;
}

#endif
