package dev.kvasir.template;

import static dev.kvasir.template.Rendering.map;
import static org.assertj.core.api.Assertions.assertThat;

import java.math.BigInteger;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Each row is an expression and its output in Jinja 3.1. */
class ExpressionTest {
  private static final Map<String, Object> VARIABLES =
      map(
          "s",
          "Hello, World",
          "u",
          "na\u00efve \uD83D\uDE42 test",
          "n",
          7,
          "f",
          2.5,
          "no",
          null,
          "l",
          List.of(3, 1, 2),
          "d",
          map("b", 2, "a", 1, "items", "entry"),
          "ms",
          List.of(
              map("role", "user", "n", 2),
              map("role", "assistant", "n", 1),
              map("role", "user", "tags", List.of("x"))));

  private static void prints(String expression, String expected) {
    assertThat(Rendering.render("{{ " + expression + " }}", VARIABLES)).isEqualTo(expected);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '#',
      quoteCharacter = '`',
      value = {
        "1 + 2 * 3 # 7",
        "2 ** 3 ** 2 # 64",
        "-2 ** 2 # 4",
        "-7 // 2 # -4",
        "-7 % 3 # 2",
        "6 / 2 # 3.0",
        "0.1 + 0.2 # 0.30000000000000004",
        "1e16 # 1e+16",
        "1.5e-5 # 1.5e-05",
        "true + 1 # 2",
        "'ab' * 2 ~ 3 # abab3",
        "1 ~ 2 * 3 # 16",
        "[1] + [2] # [1, 2]",
        "1 < 2 < 3 # True",
        "3 > 2 > 2 # False",
        "1 == 1.0 and true == 1 # True",
        "(1, 2) == [1, 2] # False",
        "'ell' in s and 9 not in l # True",
        "not 1 in l # False",
        "'a' if n > 9 else 'b' if n > 8 else 'c' # c",
        "('a' if false) is defined # False",
        "n or 5 # 7",
        "no or 'x' # x",
        "-5|abs # 5",
        "'a' 'b' # ab",
      })
  void operators(String expression, String expected) {
    prints(expression, expected);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '#',
      quoteCharacter = '`',
      value = {
        "none # None",
        "[true, none, 1.0, 'a'] # [True, None, 1.0, 'a']",
        "[\"it's\"] # [\"it's\"]",
        "(1,) # (1,)",
        "{'a': {'b': ()}} # {'a': {'b': ()}}",
        "d.items() # dict_items([('b', 2), ('a', 1), ('items', 'entry')])",
        "range(1, 4) # range(1, 4)",
        "['\\n\\t\\x41\\u00e9\\101\\q'] # ['\\n\\tA\u00e9A\\\\q']",
      })
  void printsAsPythonDoes(String expression, String expected) {
    prints(expression, expected);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '#',
      quoteCharacter = '`',
      value = {
        "l[-1] # 2",
        "l[::-1] # [2, 1, 3]",
        "l[1:] # [1, 2]",
        "l[10:-10:-1] # [2, 1, 3]",
        "s[-5:] # World",
        "u[6] ~ u|length # \uD83D\uDE4212",
        "u[::-1] # tset \uD83D\uDE42 ev\u00efan",
        "l[99] is defined # False",
        "d.a ~ d['b'] # 12",
        "d['items'] # entry",
        "d.items is callable # True",
        "d.get('q', 5) # 5",
        "s.foo is defined # False",
        "l.1 # 1",
      })
  void subscripts(String expression, String expected) {
    prints(expression, expected);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '#',
      quoteCharacter = '`',
      value = {
        "s.split(', ')[1] # World",
        "' a  b c '.split(none, 1) # ['a', 'b c ']",
        "'a,b,,c,'.rsplit(',', 2) # ['a,b,', 'c', '']",
        "'a\\n\\nb'.splitlines() # ['a', '', 'b']",
        "s.strip('Hd') # ello, Worl",
        "s.replace('l', 'L', 1) # HeLlo, World",
        "'abc'.replace('', '-') # -a-b-c-",
        "s.endswith(('x', 'ld')) # True",
        "u.find('test') # 8",
        "'aaa'.count('aa') # 1",
        "\"they're\".title() # They'Re",
        "', '.join(['a', 'b']) # a, b",
        "'<{}|{}>{{}}'.format('a', 3.5) # <a|3.5>{}",
        "'{1}-{0}-{x}'.format('a', none, x=[1]) # None-a-[1]",
        "'%s|%5.1f|%-4s|%04d|%x|%r' % ('a', 2.25, 'b', 42, 255, 'q') # a|  2.2|b   |0042|ff|'q'",
        "'%(a)s' % d # 1",
        "'7'.zfill(3) ~ 'a'.center(3, '*') # 007*a*",
      })
  void stringMethods(String expression, String expected) {
    prints(expression, expected);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '#',
      quoteCharacter = '`',
      value = {
        "s|upper|lower|title # Hello, World",
        "'x-y (z'|title # X-Y (Z",
        "l|sort|join(',') # 1,2,3",
        "['b', 'A']|sort # ['A', 'b']",
        "ms|map(attribute='role')|unique|list # ['user', 'assistant']",
        "ms|selectattr('role', 'equalto', 'user')|list|length # 2",
        "ms|rejectattr('tags', 'defined')|map(attribute='n')|sum # 3",
        "ms|map(attribute='tags', default='-')|list # ['-', '-', ['x']]",
        "l|map('string')|list # ['3', '1', '2']",
        "l|select('odd')|list # [3, 1]",
        "l|reject('gt', 1)|list # [1]",
        "no|selectattr('x')|list # []",
        "{'b': 1, 'a': 2}|dictsort # [('a', 2), ('b', 1)]",
        "l|first ~ l|last ~ l|min ~ l|max # 3213",
        "missing|default('q') ~ no|default('q') ~ no|d('r', true) # qNoner",
        "'3.7'|int ~ 'x'|int(5) ~ '2.5'|float # 352.5",
        "2.5|round ~ 2.567|round(2) # 2.02.57",
        "'a\\nb'|indent(2)|tojson # \"a\\n  b\"",
        "'<'|e ~ '<'|safe # &lt;<",
        "'a'|safe + '<' # a&lt;",
        "'%s-%s'|format(1, 2) # 1-2",
        "l|reverse|list # [2, 1, 3]",
      })
  void filters(String expression, String expected) {
    prints(expression, expected);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '#',
      quoteCharacter = '`',
      value = {
        "n is number and f is float and n is integer # True",
        "true is integer or 1 is true # False",
        "d is mapping and l is sequence and s is iterable # True",
        "missing is undefined and no is none # True",
        "6 is divisibleby 3 and n is odd # True",
        "1 is in [1] and 1 is not string # True",
        "n is sameas n and 'a' is lower # True",
        "(l|map('string')) is sequence # False",
      })
  void tests(String expression, String expected) {
    prints(expression, expected);
  }

  @Test
  void jsonIsPythons() {
    var value = map("b", List.of(1, 2.0, "\u00e9\"\n<"), "a", null, "e", map(), "t", true);
    assertThat(Rendering.render("{{ v|tojson }}", Map.of("v", value)))
        .isEqualTo("{\"b\": [1, 2.0, \"\u00e9\\\"\\n<\"], \"a\": null, \"e\": {}, \"t\": true}");
    assertThat(Rendering.render("{{ [1, {'a': []}]|tojson(indent=2) }}"))
        .isEqualTo("[\n  1,\n  {\n    \"a\": []\n  }\n]");
    assertThat(
            Rendering.render("{{ {'b': 1, 'a': '\u00e9'}|tojson(true, none, (',', ':'), true) }}"))
        .isEqualTo("{\"a\":\"\\u00e9\",\"b\":1}");
  }

  @Test
  void undefinedPrintsNothingAndIsEmpty() {
    assertThat(Rendering.render("[{{ x }}{{ x ~ 'a' }}{{ x|length }}{{ 'a' in x }}{{ x == y }}]"))
        .isEqualTo("[a0FalseTrue]");
  }

  @Test
  void wideIntegersArePassedThrough() {
    var wide = new BigInteger("123456789012345678901234567890");
    assertThat(Rendering.render("{{ [v]|tojson }}{{ v is integer }}", Map.of("v", wide)))
        .isEqualTo("[" + wide + "]True");
  }

  @Test
  void aLazyFilterIsTrueAndIteratedOnce() {
    assertThat(
            Rendering.render(
                "{% set g = []|map('upper') %}{{ 1 if g }}"
                    + "{% set h = ['a']|map('upper') %}{{ h|join }}{{ h|join }}"))
        .isEqualTo("1A");
  }

  @Test
  void theApplicationsValuesStayAsTheyWere() {
    var list = Arrays.asList(1, 2);
    assertThat(Rendering.render("{% set _ = l.append(3) %}{{ l }}", Map.of("l", list)))
        .isEqualTo("[1, 2, 3]");
    assertThat(list).containsExactly(1, 2);
  }
}
