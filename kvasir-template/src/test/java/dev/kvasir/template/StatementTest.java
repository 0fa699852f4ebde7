package dev.kvasir.template;

import static dev.kvasir.template.Rendering.render;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class StatementTest {
  @Test
  void ifTakesTheFirstTrueBranch() {
    String source = "{% if n < 2 %}a{% elif n < 4 %}b{% else %}c{% endif %}";
    assertThat(render(source, Map.of("n", 1))).isEqualTo("a");
    assertThat(render(source, Map.of("n", 3))).isEqualTo("b");
    assertThat(render(source, Map.of("n", 5))).isEqualTo("c");
  }

  @Test
  void forProvidesLoopVariables() {
    assertThat(
            render(
                "{% for x in 'ab' %}{{ loop.index }}{{ loop.index0 }}{{ loop.revindex }}"
                    + "{{ loop.first }}{{ loop.last }}{{ loop.length }}{{ loop.previtem }}"
                    + "{{ loop.nextitem }}{{ loop.cycle('x', 'y') }};{% endfor %}"))
        .isEqualTo("102TrueFalse2bx;211FalseTrue2ay;");
  }

  @Test
  void forFiltersUnpacksAndFallsBack() {
    assertThat(render("{% for i in [1, 2, 3] if i > 1 %}{{ i }}{{ loop.index }}{% endfor %}"))
        .isEqualTo("2132");
    assertThat(render("{% for a, (b, c) in [(1, (2, 3))] %}{{ a }}{{ b }}{{ c }}{% endfor %}"))
        .isEqualTo("123");
    assertThat(render("{% for k, v in {'a': 1}.items() %}{{ k }}={{ v }}{% endfor %}"))
        .isEqualTo("a=1");
    assertThat(render("{% for i in missing %}x{% else %}none{% endfor %}")).isEqualTo("none");
  }

  @Test
  void breakAndContinueBelongToTheInnermostLoop() {
    assertThat(
            render(
                "{% for i in [1, 2] %}{% for j in range(9) %}{% if j == 1 %}{% continue %}"
                    + "{% endif %}{% if j == 3 %}{% break %}{% endif %}{{ i }}{{ j }} "
                    + "{% endfor %}{% endfor %}"))
        .isEqualTo("10 12 20 22 ");
  }

  @Test
  void setInALoopIsLocalButANamespaceIsNot() {
    assertThat(
            render(
                "{% set x = 0 %}{% for i in [1, 2] %}{{ x }}{% set x = i %}{{ x }}{% endfor %}"
                    + "{{ x }}"))
        .isEqualTo("01020");
    assertThat(
            render(
                "{% set ns = namespace(x=0) %}{% for i in [1, 2] %}{% set ns.x = ns.x + i %}"
                    + "{% endfor %}{{ ns.x }}"))
        .isEqualTo("3");
  }

  @Test
  void setInAnIfReachesTheEnclosingScope() {
    assertThat(render("{% if true %}{% set x = 1 %}{% endif %}{{ x }}")).isEqualTo("1");
    assertThat(render("{% for i in [1] %}{% if i %}{% set x = 1 %}{% endif %}{% endfor %}{{ x }}"))
        .isEmpty();
  }

  @Test
  void setTakesTuplesAndBlocks() {
    assertThat(render("{% set a, b = 1, 2 %}{{ a }}{{ b }}{% set t = 1, 2 %}{{ t }}"))
        .isEqualTo("12(1, 2)");
    assertThat(render("{% set x | upper | trim %} a{{ 1 }} {% endset %}[{{ x }}]"))
        .isEqualTo("[A1]");
  }

  @Test
  void macrosSeeTheirScopeAtTheCall() {
    assertThat(
            render(
                "{% set x = 1 %}{% macro f() %}{{ x }}{% set x = 2 %}{{ x }}{% endmacro %}"
                    + "{% set x = 3 %}{{ f() }}{{ x }}"))
        .isEqualTo("323");
    assertThat(
            render(
                "{% macro f() %}{{ x }}{% endmacro %}{% set x = 3 %}"
                    + "{% for x in [7] %}{{ f() }}{% endfor %}"))
        .isEqualTo("3");
  }

  @Test
  void macrosTakeDefaultsNamesAndSurplus() {
    assertThat(
            render(
                "{% macro f(a, b=2, c=b) %}{{ a }}{{ b }}{{ c }} {% endmacro %}"
                    + "{{ f(1) }}{{ f(1, c=5) }}{{ f(b=3, a=1) }}"))
        .isEqualTo("122 125 133 ");
    assertThat(
            render(
                "{% macro f() %}{{ varargs }}{{ kwargs }}{% endmacro %}{{ f(*[1], **{'k': 2}) }}"))
        .isEqualTo("(1,){'k': 2}");
  }

  @Test
  void callBlocksHandTheirBodyToTheMacro() {
    assertThat(
            render(
                "{% macro m(x) %}<{{ caller(x + 1) }}>{% endmacro %}"
                    + "{% call(u) m(1) %}[{{ u }}]{% endcall %}"))
        .isEqualTo("<[2]>");
  }

  @Test
  void withFilterGenerationAndRaw() {
    assertThat(render("{% with a=1, b=2 %}{{ a }}{{ b }}{% endwith %}{{ a }}")).isEqualTo("12");
    assertThat(render("{% filter upper|replace('A', 'z') %}abc{% endfilter %}")).isEqualTo("zBC");
    assertThat(render("{% generation %}a{{ 1 }}{% endgeneration %}")).isEqualTo("a1");
    assertThat(render("{% raw %}{{ x }} {% if %}{% endraw %}")).isEqualTo("{{ x }} {% if %}");
  }

  @Test
  void listsAndDictsChangeInPlace() {
    assertThat(
            render(
                "{% set q = [] %}{% for i in [1, 2] %}{% set _ = q.append(i) %}{% endfor %}"
                    + "{{ q }}{{ q.pop(0) }}{{ q }}"))
        .isEqualTo("[1, 2]1[2]");
    assertThat(
            render(
                "{% set d = dict(a=1) %}{% set _ = d.update({'b': 2}) %}{{ d }}{{ d.pop('a') }}"))
        .isEqualTo("{'a': 1, 'b': 2}1");
  }

  @Test
  void theClockIsTheCallers() {
    var clock = Clock.fixed(Instant.parse("2025-03-07T09:05:03Z"), ZoneOffset.UTC);
    var template =
        JinjaTemplate.parse("{{ strftime_now('%d %b %Y, %A %-d %B %H:%M:%S %j') }}", "test");
    assertThat(template.render(Map.of(), clock))
        .isEqualTo("07 Mar 2025, Friday 7 March 09:05:03 066");
  }

  @Test
  void oneTemplateRendersManyTimes() {
    var template =
        JinjaTemplate.parse("{% set ns = namespace(n=0) %}{% set ns.n = n %}{{ ns.n }}", "t");
    var numbers = List.of(1, 2, 3, 4, 5, 6, 7, 8);
    assertThat(numbers.parallelStream().map(n -> template.render(Map.of("n", n))).toList())
        .containsExactly("1", "2", "3", "4", "5", "6", "7", "8");
  }
}
