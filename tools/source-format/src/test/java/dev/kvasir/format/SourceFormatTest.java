package dev.kvasir.format;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.googlejavaformat.java.Formatter;
import com.google.googlejavaformat.java.ImportOrderer;
import com.google.googlejavaformat.java.JavaFormatterOptions.Style;
import com.google.googlejavaformat.java.RemoveUnusedImports;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListSet;
import org.junit.jupiter.api.Test;

/**
 * All source files are formatted by google-java-format. With {@code -Dformat.apply} they are
 * rewritten instead of checked.
 *
 * <p>Formatting 2,600 files takes longer than most modules' tests. Contents found formatted are
 * skipped by their hash: those of earlier runs, until {@code mvn clean}, and those that {@code
 * -Dformat.record} wrote to the repository. Thorough runs format every file.
 *
 * <p>This is a test and not a Maven plugin because the formatter parses with the compiler of its
 * JVM. Maven may run on an older Java that cannot read these sources, while tests run on the JDK of
 * the toolchain.
 */
class SourceFormatTest {
  private static final Path REPOSITORY = Path.of("../..").toAbsolutePath().normalize();

  /** Two of a million contents share a hash with a probability of 3e-8. */
  private static final int HASH_BYTES = 8;

  private static final String VERSION = Formatter.class.getPackage().getImplementationVersion();

  /** Hashes of contents that this version of the formatter leaves as they are. */
  private static final Path FOUND = Path.of("target", "formatted-" + VERSION);

  private static final Path RECORDED = Path.of("formatted-" + VERSION);

  @Test
  void everySourceFileIsFormatted() throws IOException {
    boolean apply = System.getProperty("format.apply") != null;
    boolean record = System.getProperty("format.record") != null;
    Set<String> known = new HashSet<>();
    if (!record && !Boolean.getBoolean("kvasir.thorough")) {
      addLines(FOUND, known);
      addLines(RECORDED, known);
    }
    Set<String> formatted = new ConcurrentSkipListSet<>();
    List<Path> unformatted =
        sourceFiles().parallelStream()
            .filter(file -> !isFormatted(file, apply, known, formatted))
            .map(REPOSITORY::relativize)
            .toList();
    Files.write(FOUND, formatted);
    if (record) {
      Files.write(RECORDED, formatted);
    }
    assertThat(unformatted).as("files that ./tools/format would change").isEmpty();
  }

  private static void addLines(Path file, Set<String> lines) throws IOException {
    if (Files.exists(file)) {
      lines.addAll(Files.readAllLines(file));
    }
  }

  private static boolean isFormatted(
      Path file, boolean apply, Set<String> known, Set<String> formatted) {
    try {
      String found = Files.readString(file);
      String hash = hash(found);
      String wanted = known.contains(hash) ? found : format(file, found);
      if (!found.equals(wanted) && !apply) {
        return false;
      }
      if (!found.equals(wanted)) {
        Files.writeString(file, wanted);
      }
      formatted.add(hash(wanted));
      return true;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String hash(String source) {
    try {
      byte[] digest = MessageDigest.getInstance("SHA-256").digest(source.getBytes(UTF_8));
      return HexFormat.of().formatHex(digest, 0, HASH_BYTES);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }

  private static String format(Path file, String source) {
    try {
      String ordered =
          ImportOrderer.reorderImports(
              RemoveUnusedImports.removeUnusedImports(source), Style.GOOGLE);
      return new Formatter().formatSource(ordered);
    } catch (Exception e) {
      throw new IllegalStateException("cannot format " + REPOSITORY.relativize(file), e);
    }
  }

  private static List<Path> sourceFiles() throws IOException {
    try (var walk = Files.walk(REPOSITORY)) {
      return walk.filter(path -> path.toString().endsWith(".java"))
          .filter(path -> !REPOSITORY.relativize(path).toString().contains("target/"))
          .sorted()
          .toList();
    }
  }
}
