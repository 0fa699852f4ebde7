// Loads a native library as it is in the jar: it takes nothing from anyone, so there is nothing to link.
#ifndef KVASIR_CHECK_LIBRARY_H
#define KVASIR_CHECK_LIBRARY_H

#include "check-system.h"

typedef struct {
  u8 ident[16];
  uint16_t type, machine;
  u32 version;
  u64 entry, segments_at, sections_at;
  u32 flags;
  uint16_t header_bytes, segment_bytes, segments, section_bytes, sections, names;
} Elf;

typedef struct {
  u32 type, flags;
  u64 offset, address, physical, file_bytes, memory_bytes, alignment;
} Segment;

typedef struct {
  u32 name;
  u8 info, other;
  uint16_t section;
  u64 value, bytes;
} Symbol;

typedef struct {
  u8 *base;
  const Symbol *symbols;
  u32 count;
  const char *names;
} Library;

static void map_segments(Library *library, int file, const Elf *elf, const Segment *segments) {
  u64 end = 0;
  for (int i = 0; i < elf->segments; i++) {
    u64 last = segments[i].address + segments[i].memory_bytes;
    if (segments[i].type == 1 && last > end) end = last;
  }
  library->base = map(0, ROUND_UP(end, PAGE) + PAGE, 0, -1, 0);
  for (int i = 0; i < elf->segments; i++) {
    const Segment *s = &segments[i];
    if (s->type != 1) continue;
    u64 within = s->address % s->alignment;
    int access = (s->flags & 4 ? READ : 0) | (s->flags & 2 ? WRITE : 0) | (s->flags & 1 ? EXECUTE : 0);
    map((u64)library->base + s->address - within, s->file_bytes + within, access, file, s->offset - within);
  }
}

static void find_symbols(Library *library, const u64 *dynamic, const char *name) {
  for (; dynamic[0]; dynamic += 2) {
    u8 *at = library->base + dynamic[1];
    switch (dynamic[0]) {
      case 4: library->count = ((const u32 *)at)[1]; break;
      case 5: library->names = (const char *)at; break;
      case 6: library->symbols = (const Symbol *)at; break;
      case 1: refuse(name, " needs another library");
      case 7:
      case 17:
      case 23: refuse(name, " has relocations, which kernels have no use for");
    }
  }
  for (u32 i = 1; i < library->count; i++) {
    if (!library->symbols[i].section) refuse(name, " wants a symbol from another library");
  }
}

static Library load(const char *name) {
  int file = open_file(name);
  const Elf *elf = (const Elf *)map(0, size_of_file(file), READ, file, 0);
#if defined(__x86_64__)
  const int machine = 62;
#else
  const int machine = 183;
#endif
  if (elf->machine != machine) refuse(name, " is for another architecture");
  const Segment *segments = (const Segment *)((const u8 *)elf + elf->segments_at);
  Library library = {0};
  map_segments(&library, file, elf, segments);
  for (int i = 0; i < elf->segments; i++) {
    if (segments[i].type == 2) find_symbols(&library, (const u64 *)(library.base + segments[i].address), name);
  }
  return library;
}

static const char *name_of(const Library *library, u32 symbol) {
  return library->names + library->symbols[symbol].name;
}

static void *find(const Library *library, const char *name) {
  for (u32 i = 1; i < library->count; i++) {
    if (are_equal(name, length_of(name), name_of(library, i))) return library->base + library->symbols[i].value;
  }
  return 0;
}

#endif
