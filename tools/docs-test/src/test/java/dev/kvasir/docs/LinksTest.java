package dev.kvasir.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Links of the documentation lead to files and headings that exist. */
class LinksTest {
  private static final Pattern ELSEWHERE = Pattern.compile("(?i)[a-z][a-z0-9+.-]*:.*|//.*");
  private static final Pattern LINES = Pattern.compile("L(\\d+)(?:-L(\\d+))?");

  @Test
  void everyRelativeLinkResolves() throws IOException {
    List<String> violations = new ArrayList<>();
    for (MarkdownPage page : Pages.all()) {
      violations.addAll(violations(page));
    }
    assertThat(violations).isEmpty();
  }

  @Test
  void brokenLinksAreFound() throws IOException {
    String text =
        """
        # Here
        [a](design.md#design) [b](../pom.xml#L1) [c](#here) [d](https://example.org/none)
        [e](none.md) [f](design.md#none) [g](../pom.xml#L99999) [h](../../x) [i](#none)
        """;
    assertThat(violations(new MarkdownPage("docs/page.md", text)))
        .containsExactly(
            "docs/page.md:3: the link none.md has no file",
            "docs/page.md:3: the link design.md#none has no heading",
            "docs/page.md:3: the link ../pom.xml#L99999 is behind the last line",
            "docs/page.md:3: the link ../../x leaves the repository",
            "docs/page.md:3: the link #none has no heading");
  }

  private static List<String> violations(MarkdownPage page) throws IOException {
    List<String> violations = new ArrayList<>();
    for (MarkdownPage.Part link : page.links().toList()) {
      problem(page, link.text())
          .map(problem -> page.violation(link.line(), "the link " + link.text() + " " + problem))
          .ifPresent(violations::add);
    }
    return violations;
  }

  private static Optional<String> problem(MarkdownPage page, String link) throws IOException {
    if (ELSEWHERE.matcher(link).matches()) {
      return Optional.empty();
    }
    String[] parts = link.split("#", 2);
    if (parts[0].isEmpty()) {
      return headingProblem(page, parts[1]);
    }
    Path path = target(page, URLDecoder.decode(parts[0], StandardCharsets.UTF_8));
    if (!path.startsWith(Pages.ROOT)) {
      return Optional.of("leaves the repository");
    }
    if (!Files.exists(path)) {
      return Optional.of("has no file");
    }
    return parts.length == 1 ? Optional.empty() : anchorProblem(path, parts[1]);
  }

  private static Path target(MarkdownPage page, String link) {
    return Pages.ROOT.resolve(page.name()).resolveSibling(link).normalize();
  }

  private static Optional<String> anchorProblem(Path path, String anchor) throws IOException {
    if (path.toString().endsWith(".md")) {
      return headingProblem(Pages.read(path), anchor);
    }
    Matcher lines = LINES.matcher(anchor);
    if (!lines.matches() || Files.isDirectory(path)) {
      return Optional.of("has an anchor that is neither a heading nor a line");
    }
    int last = Integer.parseInt(lines.group(2) == null ? lines.group(1) : lines.group(2));
    return last <= Files.readAllLines(path).size()
        ? Optional.empty()
        : Optional.of("is behind the last line");
  }

  private static Optional<String> headingProblem(MarkdownPage page, String anchor) {
    return page.anchors().contains(anchor) ? Optional.empty() : Optional.of("has no heading");
  }
}
