package dev.kvasir.template;

import static dev.kvasir.template.Rendering.render;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** The expected texts are the output of Jinja with trim_blocks and lstrip_blocks. */
class WhitespaceTest {
  @Test
  void aBlockTakesItsIndentationAndItsNewline() {
    assertThat(render("  {% if true %}\n  a\n  {% endif %}\n")).isEqualTo("  a\n");
    assertThat(render("x {% if true %}\n a{% endif %} \n\n")).isEqualTo("x  a \n");
  }

  @Test
  void aPrintTagTakesNeither() {
    assertThat(render("  {{ 1 }}\n  {{ 2 }}\n\n")).isEqualTo("  1\n  2\n");
  }

  @Test
  void aMinusTakesEverything() {
    assertThat(render("a \n\t {{- 1 -}} \n\u00a0 b")).isEqualTo("a1b");
    assertThat(render("a \n {%- if true -%} \n b \n {%- endif -%} \n c")).isEqualTo("abc");
    assertThat(render("a \n {#- x -#} \n b")).isEqualTo("ab");
  }

  @Test
  void aPlusKeepsEverything() {
    assertThat(render("a\n  {%+ if true +%}\nb{% endif +%}\nc")).isEqualTo("a\n  \nb\nc");
  }

  @Test
  void aCommentBehavesAsABlock() {
    assertThat(render("a\n  {# c #}\nb {#-#} c")).isEqualTo("a\nb c");
  }

  @Test
  void oneNewlineAtTheEndGoes() {
    assertThat(render("a\n")).isEqualTo("a");
    assertThat(render("a\n\n")).isEqualTo("a\n");
    assertThat(render("a\r\nb\r\n")).isEqualTo("a\nb");
  }

  @Test
  void rawKeepsItsContent() {
    assertThat(render("{% if true %}\n  {% raw %}\n a {{ b }} \n{% endraw %}\n{% endif %}"))
        .isEqualTo("\n a {{ b }} \n");
    assertThat(render("{% raw -%}  a {%- endraw -%}  b")).isEqualTo("ab");
  }

  @Test
  void bracesInsideATagDoNotCloseIt() {
    assertThat(render("{{ {'a': {'b': 1}} }}")).isEqualTo("{'a': {'b': 1}}");
    assertThat(render("{{ '}}' }}{% if '%}' %}x{% endif %}")).isEqualTo("}}x");
  }
}
