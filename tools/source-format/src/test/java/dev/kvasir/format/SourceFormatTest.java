package dev.kvasir.format;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.googlejavaformat.java.Formatter;
import com.google.googlejavaformat.java.ImportOrderer;
import com.google.googlejavaformat.java.JavaFormatterOptions.Style;
import com.google.googlejavaformat.java.RemoveUnusedImports;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * Every source file is as google-java-format writes it. With {@code -Dformat.apply} the files are
 * rewritten instead of checked.
 *
 * <p>This is a test and not a Maven plugin because the formatter parses with the compiler of the
 * JVM it runs in: Maven may run on an older Java that cannot read these sources, while tests run on
 * the JDK that the toolchain chose.
 */
class SourceFormatTest {
  private static final Path REPOSITORY = Path.of("../..").toAbsolutePath().normalize();
  private final Formatter formatter = new Formatter();

  @Test
  void everySourceFileIsFormatted() throws Exception {
    boolean apply = System.getProperty("format.apply") != null;
    List<Path> unformatted = new ArrayList<>();
    for (Path file : sourceFiles()) {
      String found = Files.readString(file);
      String wanted = format(file, found);
      if (found.equals(wanted)) {
        continue;
      }
      if (apply) {
        Files.writeString(file, wanted);
      } else {
        unformatted.add(REPOSITORY.relativize(file));
      }
    }
    assertThat(unformatted).as("files that ./tools/format would change").isEmpty();
  }

  private String format(Path file, String source) {
    try {
      String ordered =
          ImportOrderer.reorderImports(
              RemoveUnusedImports.removeUnusedImports(source), Style.GOOGLE);
      return formatter.formatSource(ordered);
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
