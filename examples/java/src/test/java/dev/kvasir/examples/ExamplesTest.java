package dev.kvasir.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Each example runs on the module path, in a process of its own, and a page shows its source. */
class ExamplesTest {
  private static final Path SOURCES = Path.of("src/main/java/dev/kvasir/examples");
  private static final Path ROOT = Path.of("../..");

  @ParameterizedTest
  @ValueSource(strings = {"QuickStart", "Sessions", "Conversations"})
  void itRunsOnTheModulePath(String example) throws IOException, InterruptedException {
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-XX:ActiveProcessorCount=1", // others have the rest
                "--module-path",
                modulePath(),
                "--add-modules",
                "dev.kvasir.mini,dev.kvasir.natives,dev.kvasir.methods",
                "--enable-native-access=dev.kvasir.core,dev.kvasir.natives,ai.djl.tokenizers",
                "--module",
                "dev.kvasir.examples/dev.kvasir.examples." + example)
            .redirectErrorStream(true)
            .start();
    process.getOutputStream().close();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(output).isZero();
    assertThat(output).containsPattern("\\p{L}+").doesNotContain("WARNING");
  }

  /** Returns the jars and classes of this module's class path that are modules. */
  private static String modulePath() {
    String classPath =
        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
    return List.of(classPath.split(Pattern.quote(File.pathSeparator))).stream()
        .filter(entry -> !entry.endsWith("test-classes"))
        .filter(entry -> !entry.matches(".*(junit|assertj|opentest4j|apiguardian|surefire).*"))
        .collect(Collectors.joining(File.pathSeparator));
  }

  @Test
  void theReadmeShowsTheQuickStart() throws IOException {
    String source = Files.readString(SOURCES.resolve("QuickStart.java"));
    String shown = source.substring(source.indexOf("import ")).replaceFirst("/\\*\\*.*\\*/\n", "");
    assertThat(Files.readString(ROOT.resolve("README.md"))).contains("```java\n" + shown + "```");
  }

  @ParameterizedTest
  @ValueSource(strings = {"Sessions", "Conversations"})
  void thePageOfTheApiShowsTheOthers(String example) throws IOException {
    assertThat(Files.readString(ROOT.resolve("docs/java-api.md"))).contains(shown(example));
  }

  /** Returns the body of the main method, as pages show it. */
  private static String shown(String example) throws IOException {
    String source = Files.readString(SOURCES.resolve(example + ".java"));
    int start = source.indexOf('\n', source.indexOf("void main")) + 1;
    return source.substring(start, source.lastIndexOf("  }\n}")).stripTrailing().stripIndent();
  }
}
