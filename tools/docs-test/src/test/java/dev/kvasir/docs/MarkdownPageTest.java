package dev.kvasir.docs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.groups.Tuple.tuple;

import java.util.List;
import org.junit.jupiter.api.Test;

/** What the other tests of this package see of a page. */
class MarkdownPageTest {
  @Test
  void linksAreThoseOutsideOfCode() {
    MarkdownPage page =
        page(
            """
            See [a](one.md), `[b](code.md)` and
            [![c](two.svg "title")](three.md#part) or <a href="four.md">d</a>.

                [e](indented.md)

            ```
            [f](fenced.md)
            ```
            [g]: five.md
            """);
    assertThat(page.links())
        .containsExactlyInAnyOrder(
            new MarkdownPage.Part(1, "one.md"),
            new MarkdownPage.Part(2, "two.svg"),
            new MarkdownPage.Part(2, "three.md#part"),
            new MarkdownPage.Part(2, "four.md"),
            new MarkdownPage.Part(9, "five.md"));
  }

  @Test
  void anchorsAreThoseOfGitHub() {
    MarkdownPage page =
        page(
            """
            # `mead`: bits, and where
            ## What is *new*?
            ## A [link](x.md) & more
            ## Twice
            ## Twice
            <a id="by-hand"></a>

                # comment
            """);
    assertThat(page.anchors())
        .containsExactlyInAnyOrder(
            "mead-bits-and-where", "what-is-new", "a-link--more", "twice", "twice-1", "by-hand");
  }

  @Test
  void blocksHaveTheirFirstLineAndRemarks() {
    MarkdownPage page =
        page(
            """
            Text
                goes on.

                indented

            - item

              of a list

                  in the list

            <!-- snippet: given int x -->
            ```Java
            x();

            y();
            ```
            """);
    assertThat(page.blocks())
        .extracting(CodeBlock::line, CodeBlock::language, CodeBlock::remarks)
        .containsExactly(
            tuple(4, "", List.of()),
            tuple(10, "", List.of()),
            tuple(14, "java", List.of("given int x")));
    assertThat(page.blocks().getLast().lines()).containsExactly("x();", "", "y();");
    assertThat(page.blocks().getLast().remark("given")).contains("int x");
  }

  @Test
  void spansMayGoOnInTheNextLine() {
    assertThat(page("Run `./kvasir\n  inspect` or ``a`b``.\n").codeSpans())
        .containsExactly(
            new MarkdownPage.Part(1, "./kvasir inspect"), new MarkdownPage.Part(2, "a`b"));
  }

  private static MarkdownPage page(String markdown) {
    return new MarkdownPage("page.md", markdown);
  }
}
