package dev.kvasir.chat.syntax;

import com.google.gson.JsonElement;
import dev.kvasir.ToolFormat;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** Finds calls in text, and writes them where a template does not. */
public final class WrittenCalls {
  private WrittenCalls() {}

  /** Returns the arguments of the calls in a text. */
  public static List<String> in(String text, MessageSyntax syntax, CallableFunctions functions) {
    List<String> found = new ArrayList<>();
    MessageParser parser = MessageParser.of(syntax, functions, false, new Arguments(found));
    parser.push(text);
    parser.finish();
    return found;
  }

  private record Arguments(List<String> found) implements MessageListener {
    @Override
    public void text(String piece) {}

    @Override
    public void reasoning(String piece) {}

    @Override
    public void callStarted(int index, String id, String name) {}

    @Override
    public void callArguments(int index, String piece) {}

    @Override
    public void callCompleted(int index, String id, String name, String arguments) {
      found.add(arguments);
    }
  }

  /** Returns a call in Python for models that write it so, and otherwise in JSON with tags. */
  public static String write(ToolFormat format, String name, JsonElement arguments) {
    return format == ToolFormat.LFM2 && arguments.isJsonObject()
        ? "<|tool_call_start|>[%s(%s)]<|tool_call_end|>".formatted(name, python(arguments))
        : "<tool_call>\n{\"name\": %s, \"arguments\": %s}\n</tool_call>"
            .formatted(JsonText.string(name), arguments);
  }

  private static String python(JsonElement arguments) {
    return arguments.getAsJsonObject().entrySet().stream()
        .map(member -> member.getKey() + "=" + member.getValue())
        .collect(Collectors.joining(", "));
  }
}
