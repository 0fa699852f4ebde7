package dev.kvasir.template;

import static dev.kvasir.template.Rendering.render;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class TemplateErrorTest {
  @ParameterizedTest
  @CsvSource(
      delimiter = '#',
      quoteCharacter = '`',
      value = {
        "{% include 'x' %} # the unsupported tag 'include'; supported are if, for",
        "{% import 'x' as y %} # the unsupported tag 'import'",
        "{% extends 'x' %} # the unsupported tag 'extends'",
        "{% block x %}{% endblock %} # the unsupported tag 'block'",
        "{{ 'a'|shout }} # the unsupported filter 'shout'; supported are abs",
        "{{ 'a' is loud }} # the unsupported test 'loud'; supported are !=",
        "{% for x in y recursive %}{% endfor %} # the unsupported 'recursive' for loop",
        "{% if true %} # a block without its '{% endif %}'",
        "{% break %} # 'break' outside of a for loop",
        "{{ 1 2 }} # found '2' where '}}' was expected",
        "{{ (1] }} # an unexpected ']' where ')' was expected",
        "{{ 'a # a string without its closing '",
        "{{ a # a tag without its '}}'",
        "{{ ? }} # the unexpected character '?'",
        "{% raw %} # a raw block without",
        "{% set true = 1 %} # an assignment to 'true'",
        "{{ 0x1F }} # found 'x1F' where '}}' was expected",
        "{{ 99999999999999999999 }} # needs more than 64 bits",
      })
  void malformedSourceIsRefusedWithItsLine(String source, String message) {
    assertThatThrownBy(() -> JinjaTemplate.parse("one\ntwo\n" + source, "chat.jinja"))
        .isInstanceOf(TemplateException.class)
        .hasMessageStartingWith("Chat template 'chat.jinja', line 3: ")
        .hasMessageContaining(message)
        .hasMessageEndingWith(".");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '#',
      quoteCharacter = '`',
      value = {
        "{{ missing.name }} # 'missing' is undefined",
        "{{ missing + 1 }} # 'missing' is undefined",
        "{{ shout('a') }} # 'shout' is undefined",
        "{{ {}.a.b }} # a value of type dict has no 'a'",
        "{{ 'a' + 1 }} # '+' does not work on values of type string and integer",
        "{{ 1 / 0 }} # division by zero",
        "{{ [1] < 1 }} # values of type list and integer have no order",
        "{{ 9223372036854775807 + 1 }} # an integer of more than 64 bits",
        "{{ 'a'.split(separator='b') }} # split has no argument 'separator'",
        "{% macro f(a) %}{% endmacro %}{{ f(1, 2) }} # the macro 'f' was given 1 arguments too many",
        "{% set x = {} %}{% set x.y = 1 %} # 'x' is no namespace to set",
        "{% set a, b = [1] %} # 2 names for 1 values",
        "{{ {[]: 1} }} # a value of type list cannot be a dictionary key",
        "{{ range|tojson }} # a value of type function has no JSON form",
        "{{ '{:>5}'.format(1) }} # the unsupported format field '{:>5}'",
        "{{ '{x}'.format(1) }} # a format names 'x', which was not given",
        "{{ '{} {}'.format(1) }} # a format of more values than the 1 given",
        "{{ '}'.format(1) }} # a single '}' in a format",
        "{{ '%g' % 1 }} # the unsupported format '%g'; supported are s r d x f",
        "{{ strftime_now('%Q') }} # the unsupported date directive '%Q'",
      })
  void failuresWhileRenderingNameTheirLine(String source, String message) {
    assertThatThrownBy(() -> render("one\ntwo\n" + source))
        .isInstanceOf(TemplateException.class)
        .hasMessageStartingWith("Chat template 'test', line 3: ")
        .hasMessageContaining(message);
  }

  @Test
  void aTemplateRaisesItsOwnRefusal() {
    var thrown =
        catchThrowableOfType(
            TemplateException.class,
            () ->
                render("{% if true %}\n{{ raise_exception('Roles must alternate!') }}{% endif %}"));
    assertThat(thrown)
        .hasMessage(
            "Chat template 'test', line 2: the template refuses its input:"
                + " Roles must alternate!");
    assertThat(thrown.line()).isEqualTo(2);
  }

  @Test
  void anUnknownFilterInsideAConditionIsOnlyAnErrorWhenReached() {
    String source = "{% if x %}{{ x|from_json }}{% endif %}{{ 'a'|shout if x else 'b' }}";
    assertThat(render(source)).isEqualTo("b");
    assertThatThrownBy(() -> render(source, Map.of("x", 1)))
        .isInstanceOf(TemplateException.class)
        .hasMessageContaining("the unsupported filter 'from_json'");
  }

  @Test
  void foreignValuesAreRefused() {
    assertThatThrownBy(() -> render("{{ x }}", Map.of("x", Thread.currentThread())))
        .isInstanceOf(TemplateException.class)
        .hasMessageContaining("strings, booleans, numbers, lists and maps are supported");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
        "{% macro f(x=g()) %}{% endmacro %}{% macro g() %}{{ f() }}{% endmacro %}{{ f() }}",
        "{{ range(1000000000) }}",
        "{{ 'x' * 1000000000 }}",
        "{{ [0] * 1000000000 }}",
        "{{ 'a'.ljust(1000000000) }}",
        "{{ '%999999999d' % 1 }}",
        "{{ ('x' * 1000000).replace('', 'y' * 1000000) }}",
        "{% set l = [] %}{% set _ = l.append(l) %}{{ l }}",
        "{% set l = [] %}{% set _ = l.append(l) %}{{ l|tojson }}",
        "{% set ns = namespace(l=[]) %}{% for i in range(99) %}{% set ns.l = [ns.l, ns.l] %}"
            + "{% endfor %}{{ ns.l }}",
        "{% set ns = namespace(s='x') %}{% for i in range(99) %}{% set ns.s = ns.s + ns.s %}"
            + "{% endfor %}",
        "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
        "{% set x = 'x' * 1000000 %}{% for a in range(99999) %}{{ x }}{% endfor %}",
      })
  void runawayTemplatesEnd(String source) {
    assertThatThrownBy(() -> render(source)).isInstanceOf(TemplateException.class);
  }
}
