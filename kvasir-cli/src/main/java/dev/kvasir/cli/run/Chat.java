package dev.kvasir.cli.run;

import dev.kvasir.Generation;
import dev.kvasir.Generation.Finish;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cli.arguments.ModelArguments;
import dev.kvasir.cli.session.FolderArguments;
import dev.kvasir.cli.session.SessionName;
import dev.kvasir.cli.terminal.LineSource;
import dev.kvasir.cli.terminal.Streams;
import dev.kvasir.cli.terminal.Units;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.runtime.EngineOptions;
import dev.kvasir.runtime.GenerationSettings;
import dev.kvasir.runtime.LoadedModel;
import dev.kvasir.runtime.ModelSession;
import dev.kvasir.text.ChatTemplate;
import dev.kvasir.text.Message;
import dev.kvasir.text.PromptTemplateException;
import java.nio.file.Files;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicBoolean;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Chats with a model. */
@Command(
    name = "chat",
    description = {
      "Chat with a model.",
      "Ctrl-C stops an answer, Ctrl-D, /quit or /exit leaves, and /help lists other"
          + " commands. If input comes from a pipe, each line is a message, and the answers"
          + " go to standard output.",
      "With --resume, the conversation is saved under a name after every answer and"
          + " can be continued."
    },
    footer = {
      "  kvasir chat --model model.gguf",
      "  kvasir chat --temperature 0.7 --system \"Answer briefly.\" --model model.gguf",
      "  echo \"Who are you?\" | kvasir chat --model folder",
      "  kvasir chat --kv kivi:2 --resume letters"
    })
public final class Chat implements Callable<Integer> {
  private static final String HELP =
      """
      /save N  keep the conversation under the name N, from here on
      /reset   forget the conversation and start anew
      /stats   tokens in the context, the size of the KV cache, the seed, the last speeds
      /help    this list
      /quit    leave, as /exit and Ctrl-D do
      Ctrl-C   stop an answer, or give up the line""";

  private static final Set<String> LEAVING = Set.of("/quit", "/exit");

  private final Streams streams;
  private final AtomicBoolean interrupted = new AtomicBoolean();

  @Option(
      names = "--system",
      paramLabel = "TEXT",
      description = "System prompt, which tells the model how to behave.")
  private String system;

  @Option(
      names = "--resume",
      paramLabel = "NAME",
      description =
          "Continue the conversation of this name, or start one. A saved conversation"
              + " keeps its --kv, --prefill and --context. 'kvasir session list' shows the"
              + " names.")
  private String name;

  @Option(
      names = "--plain-template",
      description = "Use 'User:' and 'Assistant:' instead of the model's chat template.")
  private boolean plainTemplate;

  @Mixin private FolderArguments folder;
  @Mixin private ModelArguments model;
  @Mixin private GenerateArguments generate;
  @Mixin private RunArguments run;

  public Chat(Streams streams) {
    this.streams = streams;
  }

  @Override
  public Integer call() {
    GenerationSettings options = generate.options();
    boolean saves = name != null;
    run.chooseCache(model, saves, hasSession(), streams);
    ChatSaver saver = new ChatSaver(folder.folder(), streams);
    SessionLocation location = location(saver);
    EngineOptions loading = run.loadOptions(location.options(), saves);
    List<Message> history = saver.messages();
    Optional<String> systemPrompt = system(history);
    run.check(model, location.options(), loading.profile());
    saver.reportResumed();
    generate.ignoredOptions().ifPresent(streams::note);
    try (LoadedModel loaded = run.load(model, location.options(), loading, streams)) {
      boolean plain = plainTemplate || isBundledWithoutTemplate(loaded);
      ChatTemplate template = plain ? ChatTemplate.plain() : templateOf(loaded);
      // A model without chat training would go on to write the user's next message.
      Optional<String> stopPhrase = plain ? Optional.of("\nUser:") : Optional.empty();
      try (ModelSession session = location.open(loaded, streams);
          LineSource lines = LineSource.of(streams)) {
        greet(loaded, plain);
        Conversation conversation =
            new Conversation(
                session, loaded.config().name(), template, stopPhrase, systemPrompt, history);
        lines.onInterrupt(() -> interrupted.set(true));
        talk(conversation, saver, options, lines);
        saver.reportSaved(conversation);
      }
    }
    return 0;
  }

  private boolean hasSession() {
    return name != null && Files.exists(folder.folder().of(new SessionName(name)).file());
  }

  private SessionLocation location(ChatSaver saver) {
    if (name != null) {
      return saver.resume(new SessionName(name), run);
    }
    run.requireNoRepack("--resume NAME");
    return SessionLocation.none(run);
  }

  /** Returns the system prompt of the history, or the one given on the command line. */
  private Optional<String> system(List<Message> history) {
    Optional<String> before =
        history.stream()
            .limit(1)
            .filter(one -> one.role().equals("system"))
            .map(Message::content)
            .findFirst();
    if (system != null && !history.isEmpty() && !before.equals(Optional.of(system))) {
      throw new InvalidInputException(
          "--system is '%s'; the conversation '%s' began with %s"
              .formatted(system, name, before.map("'%s'"::formatted).orElse("none")));
    }
    return before.or(() -> Optional.ofNullable(system));
  }

  private boolean isBundledWithoutTemplate(LoadedModel loaded) {
    return model.isBundled() && loaded.tokenizer().chatTemplate().isEmpty();
  }

  private static ChatTemplate templateOf(LoadedModel loaded) {
    try {
      return loaded.chatTemplate();
    } catch (InvalidInputException e) {
      throw new InvalidInputException(e.getMessage() + "; --plain-template does without", e);
    }
  }

  private void greet(LoadedModel loaded, boolean plain) {
    if (streams.inIsTerminal()) {
      streams.note(
          "%s%s. /help for help, /quit to leave."
              .formatted(loaded.config().name(), plain ? ", with the plain template" : ""));
    }
  }

  private void talk(
      Conversation conversation, ChatSaver saver, GenerationSettings options, LineSource lines) {
    while (true) {
      Optional<String> line = lines.next().map(String::strip);
      if (line.isEmpty() || LEAVING.contains(line.get()) || streams.out().checkError()) {
        return;
      }
      switch (line.get()) {
        case "" -> {}
        case "/reset" -> {
          conversation.reset();
          saver.save(conversation);
          streams.note("the conversation is forgotten");
        }
        case "/stats" -> stats(conversation, options);
        case "/help" -> streams.note(HELP);
        case String typed when typed.startsWith("/save ") ->
            saver.name(typed.substring("/save ".length()).strip(), conversation);
        default -> {
          if (message(line.get(), conversation, options)) {
            saver.save(conversation);
          }
        }
      }
    }
  }

  /** Sends a message; returns whether the model answered. */
  private boolean message(String text, Conversation conversation, GenerationSettings options) {
    if (text.matches("/\\w+")) {
      streams.note("%s is unknown; /help lists what is known".formatted(text));
      return false;
    }
    interrupted.set(false);
    try (AnswerPrinter printer = new AnswerPrinter(streams, interrupted::get)) {
      Generation made = conversation.answer(text, options, printer);
      printer.endLine();
      if (interrupted.get()) {
        streams.note("(stopped)");
      } else if (made.finish() == Finish.MAX_TOKENS) {
        streams.note("(cut at --max-tokens %d)".formatted(options.maxTokens()));
      } else if (made.finish() == Finish.CONTEXT_FULL) {
        streams.note("the context is full; /reset starts anew");
      } else if (made.finish() == Finish.CACHE_FULL) {
        streams.note("the KV cache's budget is full; /reset starts anew");
      }
      return true;
    } catch (PromptTemplateException e) {
      streams.note(e.getMessage());
    } catch (InvalidInputException e) {
      streams.note(e.getMessage() + "; /reset starts anew");
    }
    return false;
  }

  private void stats(Conversation conversation, GenerationSettings options) {
    ModelSession session = conversation.session();
    streams.note(
        "%s of %s in the context, KV cache %s%s"
            .formatted(
                Units.tokens(session.length()),
                Units.count(session.contextLimit()),
                CacheSummary.of(session, CacheSpec.of(session.options().cache())),
                GenerateArguments.seedOf(options).map(words -> ", " + words).orElse("")));
    conversation
        .last()
        .ifPresent(
            made ->
                streams.note(
                    "last answer: read %s at %s, generated %s at %s"
                        .formatted(
                            Units.tokens(made.promptTokens()),
                            Units.rate(made.promptTokensPerSecond()),
                            Units.tokens(made.generatedTokens()),
                            Units.rate(made.generatedTokensPerSecond()))));
  }
}
