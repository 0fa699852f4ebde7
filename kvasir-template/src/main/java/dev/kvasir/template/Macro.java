package dev.kvasir.template;

import dev.kvasir.template.Node.Signature;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.Map;

/** A macro with the scope of its definition; a call returns the text of its body. */
record Macro(Signature signature, Scope scope, Renderer renderer) implements Callable {
  String name() {
    return signature.name();
  }

  @Override
  public Object call(Arguments arguments) {
    var inner = new Scope(scope);
    Map<String, Object> named = new LinkedHashMap<>(arguments.named());
    inner.put("caller", named.containsKey("caller") ? named.remove("caller") : noCaller());
    int given = arguments.positional().size();
    for (int i = 0; i < signature.parameters().size(); i++) {
      String parameter = signature.parameters().get(i);
      boolean twice = i < given && named.containsKey(parameter);
      if (twice) {
        throw new EvaluationException(
            "the macro '%s' was given '%s' twice".formatted(name(), parameter));
      }
      inner.put(
          parameter,
          i < given
              ? arguments.positional().get(i)
              : named.containsKey(parameter) ? named.remove(parameter) : fallback(i, inner));
    }
    int surplus = Math.min(given, signature.parameters().size());
    var rest = arguments.positional().subList(surplus, given);
    inner.put("varargs", new Sequence(Sequence.Kind.TUPLE, new ArrayList<>(rest)));
    if (!rest.isEmpty() && !signature.varargs()) {
      throw new EvaluationException(
          "the macro '%s' was given %d arguments too many".formatted(name(), rest.size()));
    }
    if (!named.isEmpty() && !signature.kwargs()) {
      throw new EvaluationException(
          "the macro '%s' has no argument %s".formatted(name(), named.keySet()));
    }
    var keywords = new Dict();
    named.forEach(keywords::put);
    inner.put("kwargs", keywords);
    return renderer.capture(signature.body(), inner);
  }

  private Object fallback(int index, Scope inner) {
    Expression fallback = signature.defaults().get(index);
    return fallback == null
        ? new Undefined(
            "the macro '%s' was not given '%s'"
                .formatted(name(), signature.parameters().get(index)))
        : renderer.evaluator().evaluate(fallback, inner);
  }

  private static Undefined noCaller() {
    return new Undefined("'caller' is undefined, as the macro was not used in a call block");
  }

  @Override
  public boolean equals(Object other) {
    return this == other;
  }

  @Override
  public int hashCode() {
    return System.identityHashCode(this);
  }
}
