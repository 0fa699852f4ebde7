package dev.kvasir.natives;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.natives.NativeLibrary.LibraryHashes;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Each library targets the machine in its name, needs no other library, and has no segment that is
 * both writable and executable. This also covers libraries that no test machine loads.
 */
class LibraryFormatTest {
  private static final Pattern FUNCTION = Pattern.compile("kv_[a-z0-9_]+(?=\0)");

  @ParameterizedTest
  @CsvSource({"LINUX_AARCH64, 183", "LINUX_X86_64, 62"})
  void linux(Platform platform, int machine) {
    ByteBuffer elf = library(platform);
    assertThat(elf.getInt(0)).isEqualTo(0x464C457F);
    assertThat(elf.getShort(18)).isEqualTo((short) machine);
    int segments = (int) elf.getLong(32);
    for (int i = 0; i < elf.getShort(56); i++) {
      int at = segments + i * elf.getShort(54);
      int access = elf.getInt(at + 4);
      assertThat(access & 3).as("writable and executable").isNotEqualTo(3);
      if (elf.getInt(at) == 2) { // the dynamic section: pairs of a tag and a value
        int entry = (int) elf.getLong(at + 8);
        for (; elf.getLong(entry) != 0; entry += 16) {
          assertThat(elf.getLong(entry)).as("needs another library").isNotEqualTo(1);
        }
      }
    }
  }

  @ParameterizedTest
  @CsvSource({"MACOS_AARCH64, 16777228", "MACOS_X86_64, 16777223"})
  void macos(Platform platform, int processor) {
    ByteBuffer macho = library(platform);
    assertThat(macho.getInt(0)).isEqualTo(0xFEEDFACF);
    assertThat(macho.getInt(4)).isEqualTo(processor);
    Map<Integer, Integer> commands = new HashMap<>(); // the last of each kind
    int at = 32;
    for (int i = 0; i < macho.getInt(16); i++) {
      commands.put(macho.getInt(at), at);
      if (macho.getInt(at) == 0x19) { // a segment
        assertThat(macho.getInt(at + 60) & 6).as("writable and executable").isNotEqualTo(6);
      }
      at += macho.getInt(at + 4);
    }
    assertThat(commands).as("needs another library").doesNotContainKeys(0xC, 0x80000018);
    assertThat(macho.getInt(commands.get(0xB) + 28)).as("undefined symbols").isZero();
    if (platform == Platform.MACOS_AARCH64) { // which requires a signature
      assertThat(commands).as("signature").containsKey(0x1D);
    }
  }

  @ParameterizedTest
  @CsvSource({"WINDOWS_AARCH64, 0xAA64", "WINDOWS_X86_64, 0x8664"})
  void windows(Platform platform, String machine) {
    ByteBuffer dos = library(platform);
    int pe = dos.getInt(60);
    assertThat(dos.getInt(pe)).isEqualTo(0x4550);
    assertThat(dos.getShort(pe + 4)).isEqualTo(Integer.decode(machine).shortValue());
    int optional = pe + 24;
    assertThat(dos.getInt(optional + 112)).as("exports").isNotZero();
    assertThat(dos.getInt(optional + 120)).as("imports").isZero();
    int sections = optional + dos.getShort(pe + 20);
    for (int i = 0; i < dos.getShort(pe + 6); i++) {
      int access = dos.getInt(sections + 40 * i + 36) >>> 28;
      assertThat(access & 0b1010).as("writable and executable").isNotEqualTo(0b1010);
    }
  }

  /** All libraries of a processor; only Linux supports AMX, because only Linux can grant it. */
  @ParameterizedTest
  @CsvSource({
    "LINUX_AARCH64, MACOS_AARCH64",
    "LINUX_AARCH64, WINDOWS_AARCH64",
    "LINUX_X86_64, MACOS_X86_64",
    "LINUX_X86_64, WINDOWS_X86_64"
  })
  void exportTheSameFunctions(Platform linux, Platform other) {
    Set<String> expected = functions(linux);
    expected.removeAll(Set.of("kv_coded_products_amx", "kv_ask_for_tiles"));
    assertThat(functions(other)).isEqualTo(expected).hasSizeGreaterThan(40);
  }

  private static Set<String> functions(Platform platform) {
    String text = new String(library(platform).array(), StandardCharsets.ISO_8859_1);
    Set<String> names = new TreeSet<>();
    FUNCTION.matcher(text).results().forEach(found -> names.add(found.group()));
    return names;
  }

  private static ByteBuffer library(Platform platform) {
    return ByteBuffer.wrap(LibraryHashes.read().verified(platform.library()))
        .order(ByteOrder.LITTLE_ENDIAN);
  }
}
