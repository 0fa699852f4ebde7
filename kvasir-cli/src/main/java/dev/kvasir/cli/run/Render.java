package dev.kvasir.cli.run;

import com.google.gson.JsonElement;
import dev.kvasir.cli.arguments.ModelArguments;
import dev.kvasir.cli.arguments.TextArgument;
import dev.kvasir.cli.terminal.Streams;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.JsonFile;
import dev.kvasir.format.JsonValues;
import dev.kvasir.text.PromptTemplate;
import dev.kvasir.text.Tokenizer;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Shows the prompt that a chat template renders from messages. */
@Command(
    name = "render",
    description = {
      "Show the prompt that a chat template makes of messages.",
      "The messages are a JSON array of objects with 'role' and 'content', or an"
          + " object with 'messages' and, optionally, 'tools', 'add_generation_prompt' and"
          + " other variables."
    },
    footer = {
      "  kvasir render --model folder --messages chat.json",
      "  kvasir render --template t.jinja --messages chat.json --set bos_token='\"<s>\"'",
      "  kvasir render --template chat.jinja --messages chat.json --tools tools.json"
    })
public final class Render implements Callable<Integer> {
  private static final String MESSAGES = "messages";

  private final Streams streams;

  @Option(
      names = "--template",
      paramLabel = "FILE",
      description = "Jinja template to use instead of the model's.")
  private Path templateFile;

  @Option(
      names = "--messages",
      paramLabel = "FILE",
      required = true,
      description = "The messages, as JSON.")
  private Path messagesFile;

  @Option(
      names = "--tools",
      paramLabel = "FILE",
      description = "The tools that the model may call, as JSON.")
  private Path toolsFile;

  @Option(
      names = "--no-generation-prompt",
      description = "Do not add the beginning of the assistant's answer.")
  private boolean noGenerationPrompt;

  @Option(
      names = "--set",
      paramLabel = "NAME=JSON",
      description = "Set a variable of the template. May be repeated.")
  private Map<String, String> settings = new LinkedHashMap<>();

  @Mixin private ModelArguments model;

  public Render(Streams streams) {
    this.streams = streams;
  }

  @Override
  public Integer call() {
    Map<String, Object> variables = new LinkedHashMap<>();
    variables.put("bos_token", "");
    variables.put("eos_token", "");
    // Hugging Face always defines these, and templates rely on it.
    variables.put("tools", null);
    variables.put("documents", null);
    variables.put("add_generation_prompt", true);
    PromptTemplate template = templateFile == null ? ofModel(variables) : ofFile();
    putMessages(variables);
    if (toolsFile != null) {
      variables.put("tools", JsonValues.of(json(toolsFile)));
    }
    if (noGenerationPrompt) {
      variables.put("add_generation_prompt", false);
    }
    settings.forEach((name, json) -> variables.put(name, setting(name, json)));
    streams.printExactly(template.render(variables));
    return 0;
  }

  private PromptTemplate ofFile() {
    if (!model.isBundled()) {
      throw new InvalidInputException(
          "both --template %s and --model %s were given; expected one of them"
              .formatted(templateFile, model.path()));
    }
    return PromptTemplate.parse(TextArgument.readFile(templateFile), templateFile.toString());
  }

  private PromptTemplate ofModel(Map<String, Object> variables) {
    if (model.isBundled()) {
      throw new InvalidInputException(
          "no template was given; expected --template FILE, or --model with a model that has one");
    }
    try (Tokenizer tokenizer = model.tokenizer()) {
      tokenizer.bosText().ifPresent(text -> variables.put("bos_token", text));
      tokenizer.eosText().ifPresent(text -> variables.put("eos_token", text));
      String source =
          tokenizer
              .chatTemplate()
              .orElseThrow(
                  () -> new InvalidInputException(model.path() + ": carries no chat template"));
      return PromptTemplate.parse(source, "chat template of " + model.path());
    }
  }

  private void putMessages(Map<String, Object> variables) {
    JsonElement root = json(messagesFile);
    if (root.isJsonArray()) {
      variables.put(MESSAGES, JsonValues.of(root));
      return;
    }
    JsonFile file = JsonFile.parse(messagesFile.toString(), root.toString());
    file.array(MESSAGES).orElseThrow(() -> file.missing(MESSAGES, "an array of messages"));
    file.root().asMap().forEach((name, value) -> variables.put(name, JsonValues.of(value)));
  }

  private static JsonElement json(Path file) {
    return JsonFile.parseElement(file.toString(), TextArgument.readFile(file));
  }

  private static Object setting(String name, String json) {
    try {
      return JsonValues.of(JsonFile.parseElement(name, json));
    } catch (InvalidInputException e) {
      throw new InvalidInputException(
          "--set %s=%s: the value is not valid JSON; a text is written as %s='\"text\"'"
              .formatted(name, json, name),
          e);
    }
  }
}
