package dev.kvasir.chat.syntax;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import dev.kvasir.grammar.Grammar;
import dev.kvasir.grammar.JsonGrammar;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * Builds grammars of calls whose parameters are written one by one. Parameters are in the order of
 * the schema, and only those that it names.
 */
final class ParameterGrammar {
  private ParameterGrammar() {}

  /** A parameter in the format of a model. */
  private record Parameter(Grammar grammar, boolean isRequired) {
    Grammar optional() {
      return isRequired ? grammar : grammar.repeated(0, 1);
    }
  }

  static Grammar functionTags(String name, JsonObject schema) {
    return tags(
        "<function=%s>\n".formatted(name),
        parameters(
            schema,
            (key, property) ->
                Grammar.sequence(
                    Grammar.literal("<parameter=%s>\n".formatted(key)),
                    text(property, "\n</parameter>\n"))),
        Grammar.literal("</function>"));
  }

  static Grammar argumentTags(String name, JsonObject schema, Function<String, Grammar> marker) {
    return tags(
        name + "\n",
        parameters(
            schema,
            (key, property) ->
                Grammar.sequence(
                    marker.apply("<arg_key>"),
                    Grammar.literal(key),
                    marker.apply("</arg_key>"),
                    Grammar.literal("\n"),
                    marker.apply("<arg_value>"),
                    text(property, "</arg_value>\n"))),
        Grammar.literal(""));
  }

  static Grammar invoke(String name, JsonObject schema) {
    return tags(
        "<invoke name=\"%s\">\n".formatted(name),
        parameters(
            schema,
            (key, property) ->
                Grammar.sequence(
                    Grammar.literal("<parameter name=\"%s\">".formatted(key)),
                    text(property, "</parameter>\n"))),
        Grammar.literal("</invoke>"));
  }

  static Grammar dsmlInvoke(String name, JsonObject schema) {
    return tags(
        "<｜DSML｜invoke name=\"%s\">\n".formatted(name),
        parameters(
            schema,
            (key, property) ->
                Grammar.sequence(
                    Grammar.literal(
                        "<｜DSML｜parameter name=\"%s\" string=\"%s\">"
                            .formatted(key, isString(property))),
                    text(property, "</｜DSML｜parameter>\n"))),
        Grammar.literal("</｜DSML｜invoke>"));
  }

  /**
   * Returns a call such as {@code call:f{a:1,b:<|"|>x<|"|>}}. Objects and arrays are JSON, which is
   * read as well.
   */
  static Grammar gemma4(String name, JsonObject schema, Grammar quote) {
    Grammar members =
        arguments(
            parameters(
                schema,
                (key, property) ->
                    Grammar.sequence(Grammar.literal(key + ":"), gemma4Value(property, quote))),
            ",");
    return Grammar.sequence(Grammar.literal("call:" + name + "{"), members, Grammar.literal("}"));
  }

  private static Grammar gemma4Value(JsonObject property, Grammar quote) {
    if (!isString(property)) {
      return JsonGrammar.of(property);
    }
    Grammar text =
        property.get("enum") instanceof JsonArray values
            ? Grammar.choice(
                values.asList().stream().map(ParameterGrammar::plain).toArray(Grammar[]::new))
            : Grammar.textWithout(Gemma4CallReader.QUOTE);
    return Grammar.sequence(quote, text, quote);
  }

  private static Grammar tags(String head, List<Parameter> parameters, Grammar tail) {
    return Grammar.sequence(
        Stream.of(
                Stream.of(Grammar.literal(head)),
                parameters.stream().map(Parameter::optional),
                Stream.of(tail))
            .flatMap(parts -> parts)
            .toArray(Grammar[]::new));
  }

  /** Returns a call such as {@code f(a=1, b="x")}, required parameters first. */
  static Grammar python(String name, JsonObject schema) {
    List<Parameter> all =
        parameters(
            schema,
            (key, property) ->
                Grammar.sequence(Grammar.literal(key + "="), JsonGrammar.of(property)));
    return Grammar.sequence(
        Grammar.literal(name + "("), arguments(all, ", "), Grammar.literal(")"));
  }

  /** Returns arguments with a separator between them, required ones first. */
  private static Grammar arguments(List<Parameter> all, String separator) {
    List<Grammar> required =
        all.stream().filter(Parameter::isRequired).map(Parameter::grammar).toList();
    List<Grammar> optional =
        all.stream().filter(p -> !p.isRequired()).map(Parameter::grammar).toList();
    return required.isEmpty()
        ? firstOf(optional, separator)
        : Grammar.sequence(joined(required, separator), following(optional, separator));
  }

  private static Grammar joined(List<Grammar> parts, String separator) {
    List<Grammar> all = new ArrayList<>();
    for (Grammar part : parts) {
      all.add(Grammar.literal(all.isEmpty() ? "" : separator));
      all.add(part);
    }
    return Grammar.sequence(all.toArray(Grammar[]::new));
  }

  private static Grammar following(List<Grammar> optional, String separator) {
    return Grammar.sequence(
        optional.stream()
            .map(part -> Grammar.sequence(Grammar.literal(separator), part).repeated(0, 1))
            .toArray(Grammar[]::new));
  }

  /** Returns nothing, or any of the parts followed by any of those after it. */
  private static Grammar firstOf(List<Grammar> optional, String separator) {
    List<Grammar> choices = new ArrayList<>(List.of(Grammar.literal("")));
    for (int first = 0; first < optional.size(); first++) {
      choices.add(
          Grammar.sequence(
              optional.get(first),
              following(optional.subList(first + 1, optional.size()), separator)));
    }
    return Grammar.choice(choices.toArray(Grammar[]::new));
  }

  /** Builds the grammar of a parameter. */
  @FunctionalInterface
  private interface Writer {
    Grammar of(String key, JsonObject property);
  }

  private static List<Parameter> parameters(JsonObject schema, Writer writer) {
    Set<String> required = new HashSet<>();
    if (schema.get("required") instanceof JsonArray names) {
      names.forEach(name -> required.add(name.getAsString()));
    }
    List<Parameter> parameters = new ArrayList<>();
    if (schema.get("properties") instanceof JsonObject properties) {
      for (Map.Entry<String, JsonElement> entry : properties.entrySet()) {
        JsonObject property = withDefinitions(entry.getValue(), schema);
        parameters.add(
            new Parameter(writer.of(entry.getKey(), property), required.contains(entry.getKey())));
      }
    }
    return parameters;
  }

  /** Adds the definitions of the whole schema, since references are relative to it. */
  private static JsonObject withDefinitions(JsonElement property, JsonObject schema) {
    JsonObject copy =
        property.isJsonObject() ? property.getAsJsonObject().deepCopy() : new JsonObject();
    for (String definitions : new String[] {"$defs", "definitions"}) {
      if (schema.has(definitions)) {
        copy.add(definitions, schema.get(definitions));
      }
    }
    return copy;
  }

  /** Returns a value as plain text up to a tag: a string without quotes, or JSON. */
  private static Grammar text(JsonObject property, String close) {
    if (property.get("enum") instanceof JsonArray values) {
      Grammar[] choices =
          values.asList().stream().map(ParameterGrammar::plain).toArray(Grammar[]::new);
      return Grammar.sequence(Grammar.choice(choices), Grammar.literal(close));
    }
    return Grammar.sequence(
        isString(property) ? Grammar.textWithout(close.strip()) : JsonGrammar.of(property),
        Grammar.literal(close));
  }

  private static boolean isString(JsonObject property) {
    JsonElement type = property.get("type");
    return type != null && type.isJsonPrimitive() && type.getAsString().equals("string");
  }

  private static Grammar plain(JsonElement value) {
    boolean isString = value.isJsonPrimitive() && value.getAsJsonPrimitive().isString();
    return Grammar.literal(isString ? value.getAsString() : value.toString());
  }
}
