package dev.kvasir.natives;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.kvasir.format.ContentHash;
import dev.kvasir.natives.NativeLibrary.LibraryHashes;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The libraries in the jar are built from the sources of this module. */
class LibrariesTest {
  private static final Path SOURCES = Path.of("src/main/c");
  private static final Path LIBRARIES = Path.of("src/main/resources/dev/kvasir/natives");
  private static final Path BUILD = Path.of("../tools/native/build");

  @TempDir Path folder;

  @Test
  void theyAreBuiltFromTheseSources() throws IOException {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    for (String ending : List.of(".c", ".h")) {
      for (Path file : sources(ending)) {
        all.write(Files.readAllBytes(file));
      }
    }
    assertThat(ContentHash.hex(all.toByteArray()))
        .as("the sources have changed: run tools/native/build")
        .isEqualTo(LibraryHashes.read().byName().get("sources"));
  }

  private static List<Path> sources(String ending) throws IOException {
    try (Stream<Path> files = Files.list(SOURCES)) {
      return files.filter(file -> file.toString().endsWith(ending)).sorted().toList();
    }
  }

  @ParameterizedTest
  @EnumSource(Platform.class)
  void eachIsWhatWasBuilt(Platform platform) {
    assertThat(LibraryHashes.read().verified(platform.library())).isNotEmpty();
  }

  @Test
  void theGuardsAreBuiltFromTheirSource() throws IOException {
    LibraryHashes recorded = LibraryHashes.read();
    assertThat(ContentHash.hex(Files.readAllBytes(SOURCES.resolve("guard/guard.c"))))
        .as("the source has changed: run tools/native/build")
        .isEqualTo(recorded.byName().get("guard/guard.c"));
    assertThat(Stream.of(Platform.values()).flatMap(one -> one.guardLibrary().stream()))
        .containsExactly("guard/linux-aarch64.so", "guard/linux-x86_64.so")
        .allSatisfy(library -> assertThat(recorded.verified(library)).isNotEmpty());
  }

  @Test
  void oneThatWasChangedIsRefused() {
    LibraryHashes others = new LibraryHashes(Map.of("linux-x86_64.so", "00"));
    assertThatThrownBy(() -> others.verified("linux-x86_64.so"))
        .isInstanceOf(NativeUnavailableException.class)
        .hasMessageMatching(
            "linux-x86_64.so has the hash [0-9a-f]{64}; expected 00; "
                + "replace the jar, or run tools/native/build in its sources");
    assertThatThrownBy(() -> others.verified("plan9.so"))
        .isInstanceOf(NativeUnavailableException.class)
        .hasMessageStartingWith(
            "plan9.so is missing from the jar of kvasir-native; replace the jar");
  }

  /** Another compiler version gives different but equally good bytes. The test takes a minute. */
  @Test
  @Tag("thorough")
  void buildingAgainGivesTheSameBytes() throws Exception {
    String version = LibraryHashes.read().byName().get("clang");
    assumeTrue(
        run(List.of("clang", "-dumpversion")).trim().equals(version)
            && !run(List.of("ld.lld", "--version")).isEmpty(),
        "clang %s and lld are not installed".formatted(version));
    for (Platform platform : rebuilt()) {
      run(List.of("bash", BUILD.toString(), folder.toString(), platform.library()));
      assertThat(folder.resolve(platform.library()))
          .hasSameBinaryContentAs(LIBRARIES.resolve(platform.library()));
    }
  }

  /** Building all six takes minutes of CPU time: only this platform's, unless more is requested. */
  private static List<Platform> rebuilt() {
    return Boolean.getBoolean("kvasir.native.rebuild")
        ? List.of(Platform.values())
        : List.of(Platform.ofThisProcess());
  }

  /** Returns the output of a program, or nothing if it does not exist. */
  private static String run(List<String> command) throws InterruptedException {
    try {
      Process process =
          new ProcessBuilder(new ArrayList<>(command)).redirectErrorStream(true).start();
      String said = new String(process.getInputStream().readAllBytes());
      return process.waitFor() == 0 ? said : "";
    } catch (IOException e) {
      return "";
    }
  }
}
