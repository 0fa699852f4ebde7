package dev.kvasir.cli.session;

import dev.kvasir.cli.arguments.ModelArguments;
import dev.kvasir.cli.terminal.FactSheet;
import dev.kvasir.cli.terminal.Streams;
import dev.kvasir.cli.terminal.Units;
import dev.kvasir.stored.Identity;
import dev.kvasir.stored.SessionFile;
import dev.kvasir.stored.StoredSequence;
import dev.kvasir.text.Tokenizer;
import java.nio.file.Files;
import java.util.Arrays;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** Describes a session. */
@Command(
    name = "show",
    description = {
      "Show the model, the contents and the memory of a session.",
      "If --model is the model of the session, the last words of its text are shown" + " too."
    },
    footer = {
      "  kvasir session show letters",
      "  kvasir session show tale.session --model model.gguf"
    })
final class ShowSession implements Callable<Integer> {
  private static final int LAST_TOKENS = 40;

  private final Streams streams;

  @Parameters(paramLabel = "NAME|FILE", description = "Name or file of the session.")
  private String wanted;

  @Mixin private FolderArguments arguments;
  @Mixin private ModelArguments model;

  ShowSession(Streams streams) {
    this.streams = streams;
  }

  @Override
  public Integer call() {
    SessionEntry entry = arguments.folder().find(wanted);
    FactSheet sheet = new FactSheet(streams.out(), streams.outHasColours());
    sheet.line("session", entry.name());
    if (Files.exists(entry.messages())) {
      Transcript chat = Transcript.read(entry.messages());
      sheet.line("messages", "%d, with %s".formatted(chat.messages().size(), chat.model()));
    }
    if (Files.exists(entry.file())) {
      describe(entry, sheet);
    }
    streams.out().flush();
    return 0;
  }

  private void describe(SessionEntry entry, FactSheet sheet) {
    try (SessionFile file = SessionFile.open(entry.file())) {
      StoredSequence saved = file.sequence();
      belonging(saved, sheet);
      bytes(file, sheet);
      boolean isOfModel = model.fingerprint().equals(saved.identity().model());
      sheet.line(
          "last words",
          isOfModel ? lastWords(saved.tokens()) : "of another model; --model names it");
    }
  }

  private static void belonging(StoredSequence saved, FactSheet sheet) {
    Identity identity = saved.identity();
    int length = saved.tokens().length;
    sheet.line("saved", saved.storedAt());
    sheet.line(
        "tokens", "%s, %s remembered".formatted(Units.count(length), Units.count(saved.length())));
    sheet.line("KV cache", saved.cacheSpec());
    if (!identity.spec().equals(saved.cacheSpec())) {
      sheet.line("", "stored as %s".formatted(identity.spec()));
    }
    sheet.line("prefill", saved.defersQuantization() ? "exact" : "chunked");
    sheet.line(
        "context",
        saved.contextLimit() == Integer.MAX_VALUE
            ? "as many as the model can"
            : Units.tokens(saved.contextLimit()));
    sheet.line("model", identity.model());
    sheet.line("weights", identity.weights());
    sheet.line("profile", identity.profile().isEmpty() ? "nothing of it" : identity.profile());
  }

  private static void bytes(SessionFile file, FactSheet sheet) {
    StoredSequence saved = file.sequence();
    long rest = saved.residual().size();
    sheet.line("bytes", Units.bytes(file.bytes()));
    sheet.line(
        "  blocks",
        "%s in %d of them".formatted(Units.bytes(file.blockBytes()), saved.blocks().size()));
    sheet.line("  rest", "%s: recent tokens, sinks, state".formatted(Units.bytes(rest)));
    sheet.line(
        "  text",
        "%s: its tokens, names".formatted(Units.bytes(file.bytes() - file.blockBytes() - rest)));
  }

  private String lastWords(int[] tokens) {
    try (Tokenizer tokenizer = model.tokenizer()) {
      int from = Math.max(0, tokens.length - LAST_TOKENS);
      String text = tokenizer.decode(Arrays.copyOfRange(tokens, from, tokens.length));
      return (from == 0 ? "" : "...") + text.replaceAll("\\s+", " ");
    }
  }
}
