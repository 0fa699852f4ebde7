package dev.kvasir.template;

import static dev.kvasir.template.Rendering.map;
import static dev.kvasir.template.Rendering.message;

import java.util.List;
import java.util.Map;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

/** For any source, a template renders or throws a {@link TemplateException}. */
class TemplateFuzzTest {
  private static final Map<String, Object> VARIABLES =
      map(
          "messages", List.of(message("user", "hi"), message("assistant", null)),
          "tools", List.of(map("name", "f", "n", 1.5)),
          "x", 3);

  private static final String SEED =
      """
      {%- set ns = namespace(n=0, l=[]) %}
      {%- macro show(m, sep=': ') %}{{ m.role|upper ~ sep }}{{ m['content']|default('-', true) }}
      {% endmacro %}
      {% for m in messages[::-1] if m is mapping %}
        {%- set ns.n = ns.n + loop.index * 2 ** x // 3 %}
        {%- set _ = ns.l.append((m.role, loop.first)) %}
        {{- show(m, sep=' > ') }}
        {%- if not loop.last and ns.n in [1, 2.5, 'a'] %}{% continue %}{% elif x %}!{% endif %}
      {%- else %}none{% endfor %}
      {{ '%s-%03d' % ('a', x) }}{{ '{0} {y}'.format(ns.l, y=x) }}{{ tools|tojson(indent=2) }}
      {{ tools|map(attribute='name')|join(', ') }}{{ ns.l|sort|first }}{{ 'a b'.split()[-1:] }}
      {# done #}{% raw %}{{ raw }}{% endraw %}{% filter trim %} {{ {'k': [1, (2,)]} }} {% endfilter %}
      """;

  private static void renders(String source) {
    try {
      JinjaTemplate.parse(source, "fuzz").render(VARIABLES);
    } catch (TemplateException _) {
      // The only permitted failure.
    }
  }

  @Provide
  Arbitrary<String> pieces() {
    return Arbitraries.of(
            ("{{ }} {% %} {# #} {%- -%} {{- -}} if elif else endif for in endfor set endset macro"
                    + " endmacro call endcall filter endfilter raw endraw with endwith break"
                    + " continue generation not and or is defined none true x messages tools loop"
                    + " loop.index ns namespace( range( dict( ( ) [ ] { } , : . | = == < ~ + - * /"
                    + " // % ** 'a' \"b\" 0 1 -1 2.5 1e9 99999999999 |length |tojson |join(',')"
                    + " |list |first |sort |map('upper') |int |round(2) .items() .split() .format("
                    + " .pop( [::-1] [1:] *x **x \n _ \uD83D\uDE42 \\")
                .split(" "))
        .list()
        .ofMaxSize(40)
        .map(words -> String.join(" ", words));
  }

  @Property(tries = 3000, seed = "20250")
  void anyText(@ForAll String source) {
    renders(source);
    renders("{{ " + source + " }}");
  }

  @Property(tries = 2000, seed = "20251")
  void anyTokens(@ForAll("pieces") String source) {
    renders(source);
    renders("{{ " + source + " }}");
    renders("{% " + source + " %}");
  }

  @Property(tries = 2000, seed = "20252")
  void anyMutation(
      @ForAll int at, @ForAll int length, @ForAll("pieces") String piece, @ForAll int into) {
    int start = Math.floorMod(at, SEED.length());
    int end = Math.min(SEED.length(), start + Math.floorMod(length, 30));
    renders(SEED.substring(0, start) + SEED.substring(end));
    renders(SEED.substring(0, start) + piece + SEED.substring(end));
    int target = Math.floorMod(into, SEED.length());
    renders(SEED.substring(0, target) + SEED.substring(start, end) + SEED.substring(target));
  }
}
