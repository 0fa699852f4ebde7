package dev.kvasir.cli;

import dev.kvasir.cli.batch.Batch;
import dev.kvasir.cli.lab.Calibrate;
import dev.kvasir.cli.lab.Compare;
import dev.kvasir.cli.lab.Eval;
import dev.kvasir.cli.lab.Reproduce;
import dev.kvasir.cli.lab.ShowClaims;
import dev.kvasir.cli.lab.ShowCodebooks;
import dev.kvasir.cli.lab.ShowPatterns;
import dev.kvasir.cli.lab.Tune;
import dev.kvasir.cli.models.ListModels;
import dev.kvasir.cli.models.Pull;
import dev.kvasir.cli.models.RemoveModel;
import dev.kvasir.cli.run.Chat;
import dev.kvasir.cli.run.Generate;
import dev.kvasir.cli.run.Inspect;
import dev.kvasir.cli.run.Render;
import dev.kvasir.cli.run.Roundtrip;
import dev.kvasir.cli.run.Tokenize;
import dev.kvasir.cli.serve.Serve;
import dev.kvasir.cli.session.SessionCommand;
import dev.kvasir.cli.setup.Caches;
import dev.kvasir.cli.setup.Completion;
import dev.kvasir.cli.setup.Doctor;
import dev.kvasir.cli.terminal.Streams;
import java.util.List;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * A subcommand that is created on demand. Picocli reads options by reflection, which for all
 * commands together would take a quarter of a short run.
 */
record Subcommand(String name, Function<Streams, Object> command) {
  private static final String CLAIMS = "claims";
  private static final String COMPLETION = "completion";
  private static final String REPRODUCE = "reproduce";

  /** These commands run other commands or list them. */
  private static final Set<String> USERS_OF_ALL = Set.of(CLAIMS, COMPLETION, REPRODUCE);

  private static final List<Subcommand> OWN =
      List.of(
          new Subcommand("generate", Generate::new),
          new Subcommand("chat", Chat::new),
          new Subcommand("session", SessionCommand::of),
          new Subcommand("serve", Serve::new),
          new Subcommand("batch", Batch::new),
          new Subcommand("pull", Pull::new),
          new Subcommand("list", ListModels::new),
          new Subcommand("rm", RemoveModel::new),
          new Subcommand("inspect", Inspect::new),
          new Subcommand("tokenize", Tokenize::new),
          new Subcommand("render", Render::new),
          new Subcommand("roundtrip", Roundtrip::new),
          new Subcommand("eval", Eval::new),
          new Subcommand("compare", Compare::new),
          new Subcommand("tune", Tune::new),
          new Subcommand("calibrate", Calibrate::of),
          new Subcommand("patterns", ShowPatterns::new),
          new Subcommand(CLAIMS, ShowClaims::new),
          new Subcommand(REPRODUCE, Reproduce::new),
          new Subcommand("codebooks", ShowCodebooks::new),
          new Subcommand("caches", Caches::new),
          new Subcommand("doctor", Doctor::new),
          new Subcommand(COMPLETION, Completion::new));

  /**
   * Returns the command that a command line starts with. Returns all commands in help order if it
   * uses others or is not known, since help lists them and a mistyped name is compared with them.
   */
  static List<Object> neededFor(Streams streams, String... arguments) {
    return OWN.stream()
        .filter(each -> arguments.length > 0 && each.name.equals(arguments[0]))
        .filter(each -> !USERS_OF_ALL.contains(each.name))
        .findFirst()
        .map(each -> List.of(each.command.apply(streams)))
        .orElseGet(() -> all(streams));
  }

  private static List<Object> all(Streams streams) {
    Stream<Object> own = OWN.stream().map(each -> each.command.apply(streams));
    Stream<Object> others =
        ServiceLoader.load(CommandProvider.class).stream()
            .map(each -> each.get().command(streams.out(), streams.err()));
    return Stream.concat(own, others).toList();
  }
}
