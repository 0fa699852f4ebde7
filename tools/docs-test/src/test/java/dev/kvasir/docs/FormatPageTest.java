package dev.kvasir.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The page about byte formats lists the kind numbers of all pages, states and matrices. */
class FormatPageTest {
  private static final Path PAGE = Pages.ROOT.resolve("docs/format.md");
  private static final Pattern KIND =
      Pattern.compile("static final int (?:\\w+_)?KIND\\s*=\\s*(\\d+);");
  private static final Pattern FIRST_CELL = Pattern.compile("(?m)^\\| ([\\d, ]+) \\|");

  @Test
  void everyKindIsListed() throws IOException {
    String page = Files.readString(PAGE);
    List<String> missing = new ArrayList<>();
    int found = 0;
    for (Path source : sources()) {
      String text = Files.readString(source);
      Set<String> listed = listed(page, section(source, text));
      for (String kind : KIND.matcher(text).results().map(one -> one.group(1)).toList()) {
        found++;
        if (!listed.contains(kind)) {
          missing.add(kind + " of " + source.getFileName());
        }
      }
    }
    assertThat(found).isGreaterThan(30);
    assertThat(missing).isEmpty();
  }

  /** Returns the sources of classes that write pages, states and matrices. */
  private static List<Path> sources() throws IOException {
    List<Path> sources = new ArrayList<>();
    for (String folder :
        List.of(
            "kvasir-core/src/main/java/dev/kvasir/codec",
            "kvasir-core/src/main/java/dev/kvasir/page",
            "kvasir-methods/src/main/java")) {
      try (Stream<Path> files = Files.walk(Pages.ROOT.resolve(folder))) {
        files.filter(file -> file.toString().endsWith(".java")).forEach(sources::add);
      }
    }
    return sources;
  }

  private static String section(Path source, String text) {
    if (source.getParent().endsWith("page")) {
      return "Code matrices";
    }
    boolean isState = text.contains("SnapshotHeader.STATE") || text.contains("LatentSequence.");
    return isState ? "State" : "Pages";
  }

  /** Returns the numbers in the first column of a section's tables. */
  private static Set<String> listed(String page, String section) {
    int begin = page.indexOf("\n## " + section + "\n");
    assertThat(begin).as(section).isNotNegative();
    int end = page.indexOf("\n## ", begin + 1);
    Set<String> kinds = new HashSet<>();
    FIRST_CELL
        .matcher(page.substring(begin, end))
        .results()
        .forEach(cell -> kinds.addAll(List.of(cell.group(1).split(", "))));
    return kinds;
  }
}
