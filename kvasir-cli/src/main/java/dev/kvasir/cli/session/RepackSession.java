package dev.kvasir.cli.session;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cli.arguments.LoadArguments;
import dev.kvasir.cli.arguments.MethodHelp;
import dev.kvasir.cli.arguments.ModelArguments;
import dev.kvasir.cli.terminal.Streams;
import dev.kvasir.cli.terminal.Units;
import dev.kvasir.format.AtomicFile;
import dev.kvasir.runtime.LoadedModel;
import dev.kvasir.runtime.ModelSession;
import dev.kvasir.stored.SessionFile;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Requantizes a session with another kind of cache. */
@Command(
    name = "repack",
    description = {
      "Convert a session to another KV cache by requantizing it.",
      "This needs the model, but reads no text. The errors of both caches add up."
    },
    footer = {"  kvasir session repack tale.session --kv kivi:2 --out narrow.session"})
final class RepackSession implements Callable<Integer> {
  private final Streams streams;

  @Parameters(paramLabel = "NAME|FILE", description = "Name or file of the session.")
  private String wanted;

  @Option(names = "--kv", paramLabel = "SPEC", required = true, description = MethodHelp.SPEC)
  private String cache;

  @Option(
      names = {"-o", "--out"},
      paramLabel = "FILE",
      required = true,
      description = "The file to write.")
  private Path out;

  @Mixin private FolderArguments arguments;
  @Mixin private ModelArguments model;
  @Mixin private LoadArguments load;

  RepackSession(Streams streams) {
    this.streams = streams;
  }

  @Override
  public Integer call() {
    CacheSpec spec = CacheSpec.parse(cache);
    Path file = arguments.folder().find(wanted).file();
    AtomicFile.checkWritable(out);
    String before = words(file);
    try (LoadedModel loaded = model.load(load.options(), streams);
        ModelSession session = loaded.restore(file, spec)) {
      session.save(out);
      streams.note(
          "%s: %s became %s in %s"
              .formatted(Units.tokens(session.length()), before, words(out), out));
    }
    return 0;
  }

  private static String words(Path file) {
    try (SessionFile saved = SessionFile.open(file)) {
      return "%s (%s)".formatted(Units.bytes(saved.bytes()), saved.sequence().cacheSpec());
    }
  }
}
