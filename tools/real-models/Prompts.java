import com.google.gson.Gson;
import dev.kvasir.chat.ChatService;
import dev.kvasir.chat.CompletionObserver;
import dev.kvasir.chat.ServingOptions;
import dev.kvasir.chat.ToolSet;
import dev.kvasir.runtime.LoadedModel;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The conversations that both programs convert to the same tokens with the template in the file.
 *
 * @param differing names of those with other tokens
 */
record Prompts(int same, List<String> differing) {
  private static final Map<String, Object> PARAMETERS =
      ordered(
          "type",
          "object",
          "properties",
          ordered("city", ordered("type", "string", "description", "Name of a \"city\"")),
          "required",
          List.of("city"));

  private static final Map<String, Object> TOOL =
      ordered(
          "type",
          "function",
          "function",
          ordered(
              "name",
              "get_weather",
              "description",
              "Returns the weather of a city.",
              "parameters",
              PARAMETERS));

  /** The texts of a conversation, users and assistants in turns. */
  private record Conversation(String name, List<Map<String, Object>> messages) {
    static Conversation of(String name, String... rolesAndTexts) {
      List<Map<String, Object>> messages = new ArrayList<>();
      for (int i = 0; i < rolesAndTexts.length; i += 2) {
        messages.add(ordered("role", rolesAndTexts[i], "content", rolesAndTexts[i + 1]));
      }
      return new Conversation(name, messages);
    }
  }

  private static final List<Conversation> PLAIN =
      List.of(
          Conversation.of("question", "user", "Hello, how are you?"),
          Conversation.of("system", "system", "Be brief.", "user", " Why is \"it\" <so>?\n"),
          Conversation.of(
              "second turn", "user", "A colour?", "assistant", "Red.", "user", "Another one?"));

  private static final Conversation QUESTION =
      Conversation.of("tools", "user", "What is the weather in Oslo?");

  static Prompts of(LoadedModel model, LlamaServer server) {
    String template = model.tokenizer().chatTemplate().orElse("");
    Prompts prompts = new Prompts(0, List.of());
    if (template.isEmpty()) {
      return prompts;
    }
    try (ChatService service =
        new ChatService(model, ServingOptions.defaults(), CompletionObserver.NONE)) {
      for (Conversation plain : PLAIN) {
        int[] own = service.prompts().render(plain.messages, ToolSet.NONE).tokens();
        String theirs = server.prompt(plain.messages, List.of());
        prompts = prompts.with(plain.name, model, own, server.tokenize(theirs), theirs);
      }
      // Without tools in the template, each program describes them in its own words.
      return template.contains("tools") ? prompts.withTools(service, model, server) : prompts;
    }
  }

  private Prompts withTools(ChatService service, LoadedModel model, LlamaServer server) {
    Gson gson = new Gson();
    ToolSet tools =
        new ToolSet(
            List.of(new ToolSet.Function("get_weather", gson.toJson(PARAMETERS))),
            List.of(gson.toJson(TOOL)),
            false);
    Prompts prompts = this;
    // Kvasir's server parses arguments, which the interface of OpenAI passes as text.
    for (boolean isResult : List.of(false, true)) {
      List<Map<String, Object>> own = new ArrayList<>(QUESTION.messages);
      List<Map<String, Object>> theirs = new ArrayList<>(QUESTION.messages);
      if (isResult) {
        own.addAll(result(Map.of("city", "Oslo")));
        theirs.addAll(result("{\"city\": \"Oslo\"}"));
      }
      String prompt = server.prompt(theirs, List.of(TOOL));
      int[] tokens = service.prompts().render(own, tools).tokens();
      prompts =
          prompts.with(
              isResult ? "result" : "tools", model, tokens, server.tokenize(prompt), prompt);
    }
    return prompts;
  }

  private static List<Map<String, Object>> result(Object arguments) {
    Map<String, Object> function = ordered("name", "get_weather", "arguments", arguments);
    Map<String, Object> call = ordered("id", "call00001", "type", "function", "function", function);
    return List.of(
        ordered("role", "assistant", "content", "", "tool_calls", List.of(call)),
        ordered("role", "tool", "tool_call_id", "call00001", "content", "{\"sky\": \"clear\"}"));
  }

  private Prompts with(String name, LoadedModel model, int[] own, int[] theirs, String prompt) {
    if (Arrays.equals(own, theirs)) {
      return new Prompts(same + 1, differing);
    }
    System.err.printf(
        "other prompt: %s%nKvasir:%n%s%nllama.cpp:%n%s%n",
        name, model.tokenizer().decode(own, false), prompt);
    List<String> names = new ArrayList<>(differing);
    names.add(name);
    return new Prompts(same, names);
  }

  private static Map<String, Object> ordered(Object... namesAndValues) {
    Map<String, Object> map = new LinkedHashMap<>();
    for (int i = 0; i < namesAndValues.length; i += 2) {
      map.put((String) namesAndValues[i], namesAndValues[i + 1]);
    }
    return map;
  }

  @Override
  public String toString() {
    int all = same + differing.size();
    return all == 0 ? "no template" : same + " of " + all;
  }
}
