package dev.kvasir.docs;

import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** A Markdown file: its code blocks, and the headings, links and code spans of its text. */
final class MarkdownPage {
  /** A stretch of the page. Lines count from 1. */
  record Part(int line, String text) {}

  private static final Pattern HEADING = Pattern.compile("(?m)^#{1,6} +(.*?)[ #]*$");
  private static final Pattern HTML_ANCHOR =
      Pattern.compile("<[a-z][^>]*\\b(?:id|name)=\"([^\"]+)\"");

  /** Spans end with as many backticks as they begin with, in the same paragraph. */
  private static final Pattern SPAN =
      Pattern.compile("(?<!`)(`+)(?!`)((?:(?!\\n\\s*\\n).)+?)(?<!`)\\1(?!`)", Pattern.DOTALL);

  private static final List<Pattern> LINKS =
      List.of(
          Pattern.compile("\\]\\(<?([^)\\s>]+)>?(?:\\s+\"[^\"]*\")?\\)"),
          Pattern.compile("(?m)^ {0,3}\\[[^\\]]+\\]: +(\\S+)"),
          Pattern.compile("\\b(?:href|src|srcset)=\"([^\"]+)\""));

  private final String name;
  private final List<CodeBlock> blocks;

  /** The page with blank lines for code blocks, and the same with blanks for code spans. */
  private final String text;

  private final String masked;

  /**
   * @param name the path from the root of the repository, with slashes
   */
  MarkdownPage(String name, String markdown) {
    this.name = name;
    CodeBlocks found = CodeBlocks.of(markdown);
    this.blocks = found.blocks();
    this.text = found.text();
    this.masked = SPAN.matcher(text).replaceAll(span -> blank(span.group()));
  }

  private static String blank(String span) {
    return Matcher.quoteReplacement(span.replaceAll("[^\\n]", " "));
  }

  String name() {
    return name;
  }

  List<CodeBlock> blocks() {
    return blocks;
  }

  /** Returns code within sentences; a line break in it is a blank. */
  Stream<Part> codeSpans() {
    return SPAN.matcher(text)
        .results()
        .map(span -> part(span, span.group(2).replaceAll("\\s*\\n\\s*", " ").strip()));
  }

  /** Returns targets of links and pictures. */
  Stream<Part> links() {
    return LINKS.stream()
        .flatMap(pattern -> pattern.matcher(masked).results())
        .map(link -> part(link, link.group(1)));
  }

  private Part part(MatchResult match, String content) {
    int line = 1 + (int) text.substring(0, match.start()).chars().filter(c -> c == '\n').count();
    return new Part(line, content);
  }

  /** Returns what may follow {@code #} in a link to this page. */
  Set<String> anchors() {
    Map<String, Integer> uses = new HashMap<>();
    Set<String> anchors = new HashSet<>();
    HEADING
        .matcher(text)
        .results()
        .map(heading -> slug(heading.group(1)))
        .forEach(
            slug -> {
              int earlier = uses.merge(slug, 1, Integer::sum) - 1;
              anchors.add(earlier == 0 ? slug : slug + "-" + earlier);
            });
    HTML_ANCHOR.matcher(masked).results().forEach(anchor -> anchors.add(anchor.group(1)));
    return anchors;
  }

  /** Returns the anchor of a heading by the rules of GitHub, which the site follows. */
  static String slug(String heading) {
    return heading
        .replaceAll("!?\\[([^\\]]*)\\]\\([^)]*\\)", "$1")
        .replaceAll("<[^>]*>", "")
        .strip()
        .toLowerCase(Locale.ROOT)
        .replaceAll("[^\\p{L}\\p{M}\\p{N}\\p{Pc} -]", "")
        .replace(' ', '-');
  }

  /** Returns one violation as a line that an editor can jump to. */
  String violation(int line, String what) {
    return name + ":" + line + ": " + what;
  }
}
