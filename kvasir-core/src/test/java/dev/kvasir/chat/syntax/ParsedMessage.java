package dev.kvasir.chat.syntax;

import dev.kvasir.ToolFormat;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Records the parts of a message as lines, adjacent pieces of one part joined. */
final class ParsedMessage implements MessageListener {
  private static final String OBJECT =
      """
      {"type": "object", "properties": {
        "city": {"type": "string"}, "arg1": {"type": "integer"}, "arg2": {"type": "integer"},
        "on": {"type": "boolean"}, "items": {"type": "array"},
        "note": {"anyOf": [{"type": "string"}, {"type": "null"}]}}}
      """;

  static final CallableFunctions FUNCTIONS =
      new CallableFunctions(
          Map.of(
              "get_weather", OBJECT, "get_time", OBJECT, "special_function", OBJECT, "f", OBJECT),
          true);

  private final List<String> lines = new ArrayList<>();
  private final StringBuilder arguments = new StringBuilder();
  private final List<String> ids = new ArrayList<>();

  static ParsedMessage of(MessageParser parser, ParsedMessage parts, List<String> pieces) {
    pieces.forEach(parser::push);
    parser.finish();
    return parts;
  }

  static ParsedMessage parse(
      MessageSyntax syntax,
      CallableFunctions functions,
      boolean startsInReasoning,
      List<String> pieces) {
    ParsedMessage parts = new ParsedMessage();
    return of(MessageParser.of(syntax, functions, startsInReasoning, parts), parts, pieces);
  }

  static MessageSyntax syntax(ToolFormat format, String template) {
    return MessageSyntax.recognize(Optional.of(template), Optional.of(format));
  }

  List<String> lines() {
    return lines;
  }

  List<String> ids() {
    return ids;
  }

  private void add(String kind, String piece) {
    boolean joins = !lines.isEmpty() && lines.getLast().startsWith(kind);
    lines.add(joins ? lines.removeLast() + piece : kind + piece);
  }

  @Override
  public void text(String piece) {
    add("text:", piece);
  }

  @Override
  public void reasoning(String piece) {
    add("thought:", piece);
  }

  @Override
  public void callStarted(int index, String id, String name) {
    arguments.setLength(0);
    ids.add(id);
    lines.add("started:%d %s".formatted(index, name));
  }

  @Override
  public void callArguments(int index, String piece) {
    arguments.append(piece);
  }

  /** Replaces the line of the start: the pieces of the arguments make the whole. */
  @Override
  public void callCompleted(int index, String id, String name, String whole) {
    boolean isConsistent =
        lines.removeLast().equals("started:%d %s".formatted(index, name))
            && ids.getLast().equals(id)
            && arguments.toString().equals(whole);
    lines.add((isConsistent ? "call:" : "inconsistent:") + name + " " + whole);
  }
}
