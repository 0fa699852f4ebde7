package dev.kvasir.format;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A module descriptor provides the same services on the module path as the service files on the
 * class path, in the same order.
 */
class ModuleDescriptorTest {
  private static final Path ROOT = Path.of("../..");
  private static final Pattern PROVIDES =
      Pattern.compile("provides\\s+([\\w.]+)\\s+with\\s+([^;]+);");

  static List<Path> modules() throws IOException {
    try (Stream<Path> folders = Files.list(ROOT)) {
      return folders
          .filter(folder -> Files.exists(folder.resolve("src/main/java/module-info.java")))
          .sorted()
          .toList();
    }
  }

  @ParameterizedTest
  @MethodSource("modules")
  void descriptorAndServiceFilesAgree(Path module) throws IOException {
    String descriptor = Files.readString(module.resolve("src/main/java/module-info.java"));
    Map<String, List<String>> provided = new TreeMap<>();
    PROVIDES
        .matcher(descriptor)
        .results()
        .forEach(match -> provided.put(match.group(1), implementations(match)));
    assertThat(provided)
        .isEqualTo(serviceFiles(module.resolve("src/main/resources/META-INF/services")));
  }

  private static List<String> implementations(MatchResult match) {
    return Stream.of(match.group(2).split(",")).map(String::strip).toList();
  }

  private static Map<String, List<String>> serviceFiles(Path folder) throws IOException {
    Map<String, List<String>> services = new TreeMap<>();
    if (Files.isDirectory(folder)) {
      try (Stream<Path> files = Files.list(folder)) {
        for (Path file : files.toList()) {
          services.put(
              file.getFileName().toString(),
              Files.readAllLines(file).stream().filter(line -> !line.isBlank()).toList());
        }
      }
    }
    return services;
  }
}
