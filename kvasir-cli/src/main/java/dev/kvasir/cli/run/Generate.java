package dev.kvasir.cli.run;

import dev.kvasir.Generation;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cli.arguments.ModelArguments;
import dev.kvasir.cli.arguments.TextArgument;
import dev.kvasir.cli.terminal.Interruption;
import dev.kvasir.cli.terminal.Streams;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.runtime.EngineOptions;
import dev.kvasir.runtime.GenerationSettings;
import dev.kvasir.runtime.LoadedModel;
import dev.kvasir.runtime.ModelSession;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Continues a text. */
@Command(
    name = "generate",
    description = {
      "Continue a text.",
      "The text goes to standard output while it is generated. Speed, seed and size"
          + " of the KV cache go to standard error. A line break at the end of piped text or"
          + " of a prompt file is not part of the prompt.",
      "With --session, the text and its KV cache are saved in a file, and the next"
          + " call continues from there."
    },
    footer = {
      "  kvasir generate \"Once upon a time\"",
      "  kvasir generate --temperature 0 \"Once upon a time\"",
      "  kvasir generate --temperature 0.8 --top-p 0.95 --seed 7 \"Once upon a time\"",
      "  kvasir generate --model model.gguf --prompt-file letter.txt",
      "  echo \"Once upon a time\" | kvasir generate --max-tokens 50",
      "  kvasir generate --kv auto --kv-memory 512MiB --prompt-file letter.txt",
      "  kvasir generate --kv kivi:4 --session tale.session --prompt-file tale.txt",
      "  kvasir generate --session tale.session \" And then\"",
      "  kvasir generate --session tale.session --kv kivi:2 --repack"
    })
public final class Generate implements Callable<Integer> {
  private final Streams streams;

  @Parameters(
      arity = "0..1",
      paramLabel = "PROMPT",
      description =
          "The text to continue. Without it, or with -, the prompt is read from standard"
              + " input.")
  private String prompt;

  @Option(
      names = {"-f", "--prompt-file"},
      paramLabel = "FILE",
      description = "Read the prompt from a file.")
  private Path promptFile;

  @Option(
      names = "--session",
      paramLabel = "FILE",
      description =
          "Save the session in a file, and continue it if the file exists: the prompt, if"
              + " any, is appended to its text. A saved session keeps its --kv, --prefill and"
              + " --context. Ctrl-C saves the text so far.")
  private Path sessionFile;

  @Mixin private ModelArguments model;
  @Mixin private GenerateArguments generate;
  @Mixin private RunArguments run;

  public Generate(Streams streams) {
    this.streams = streams;
  }

  @Override
  public Integer call() {
    // Check the options before the model loads.
    GenerationSettings options = generate.options();
    boolean saves = sessionFile != null;
    run.chooseCache(model, saves, saves && Files.exists(sessionFile), streams);
    SessionLocation location = location();
    EngineOptions loading = run.loadOptions(location.options(), saves);
    String text = promptText(location.hasSession());
    run.check(model, location.options(), loading.profile());
    generate.ignoredOptions().ifPresent(streams::note);
    try (LoadedModel loaded = run.load(model, location.options(), loading, streams);
        ModelSession session = location.open(loaded, streams)) {
      continueText(
          session,
          text,
          options,
          loaded.resolve(CacheSpec.of(session.options().cache())),
          location);
    }
    return 0;
  }

  private SessionLocation location() {
    if (sessionFile != null) {
      return SessionLocation.at(sessionFile, run);
    }
    run.requireNoRepack("--session FILE");
    return SessionLocation.none(run);
  }

  /** Generates and saves; Ctrl-C ends the process after the text so far has been saved. */
  private void continueText(
      ModelSession session,
      String text,
      GenerationSettings options,
      CacheSpec kind,
      SessionLocation location) {
    try (Interruption interruption = Interruption.install();
        AnswerPrinter printer = new AnswerPrinter(streams, interruption::isRequested)) {
      Generation made = session.generate(text, options, printer);
      printer.endLine();
      if (!printer.isOutputClosed()) {
        streams.note(SpeedLine.of(made, session, kind, options));
      }
      location.save(session, streams);
    }
  }

  private String promptText(boolean mayBeEmpty) {
    if (prompt != null && promptFile != null) {
      throw new InvalidInputException(
          "both a prompt and --prompt-file %s were given; expected one of them"
              .formatted(promptFile));
    }
    if (mayBeEmpty && prompt == null && promptFile == null && streams.inIsTerminal()) {
      return "";
    }
    String text = promptFile == null ? typedOrPiped() : fromFile();
    if (text.isEmpty() && !mayBeEmpty) {
      throw new InvalidInputException(
          "the prompt is empty; expected some text, as in: kvasir generate \"Once upon a time\"");
    }
    return text;
  }

  private String typedOrPiped() {
    String text =
        TextArgument.read(
            prompt,
            streams,
            "no prompt was given; expected one, as in: kvasir generate \"Once upon a time\"");
    return text.equals(prompt) ? text : TextArgument.withoutLastLineBreak(text);
  }

  private String fromFile() {
    return TextArgument.withoutLastLineBreak(TextArgument.readFile(promptFile));
  }
}
