package dev.kvasir.cli;

import dev.kvasir.cli.arguments.MethodHelp;
import dev.kvasir.cli.arguments.ModelLocation;
import dev.kvasir.cli.origin.Version;
import dev.kvasir.cli.setup.Welcome;
import dev.kvasir.cli.terminal.ErrorReporter;
import dev.kvasir.cli.terminal.Streams;
import java.util.Arrays;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Help;
import picocli.CommandLine.Option;
import picocli.CommandLine.ScopeType;

/** The root command: it registers the subcommands and shows help. */
@Command(
    name = "kvasir",
    description = "Runs language models on the Java virtual machine.",
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    scope = ScopeType.INHERIT,
    synopsisSubcommandLabel = "COMMAND",
    sortOptions = false,
    usageHelpAutoWidth = true,
    descriptionHeading = "%n",
    parameterListHeading = "%nArguments:%n",
    optionListHeading = "%nOptions:%n",
    commandListHeading = "%nCommands:%n",
    footerHeading = "%nExamples:%n",
    footer = {
      "  kvasir generate \"Once upon a time\"",
      "  kvasir chat --model hf:Qwen/Qwen3-0.6B-GGUF:Q8_0",
      "  kvasir serve --model model.gguf --kv auto",
      "  kvasir doctor",
      "",
      "'kvasir COMMAND --help' shows the options of a command."
    })
final class Kvasir implements Runnable {
  private final Streams streams;

  @Option(
      names = "--verbose",
      scope = ScopeType.INHERIT,
      description = "Show the details of an error.")
  private boolean verbose;

  private Kvasir(Streams streams) {
    this.streams = streams;
  }

  /** Runs a command line and returns the exit code of the process. */
  static int run(Streams streams, String... arguments) {
    return run(streams, commandLine(streams, arguments), arguments);
  }

  /**
   * Runs a command line. Picocli does not handle JVM errors such as exhausted memory, so this
   * reports them.
   */
  static int run(Streams streams, CommandLine commandLine, String... arguments) {
    try {
      return commandLine.execute(arguments);
    } catch (Error e) {
      return new ErrorReporter(streams).reportFailure(e, named("--verbose", arguments));
    }
  }

  static CommandLine commandLine(Streams streams, String... arguments) {
    Kvasir root = new Kvasir(streams);
    ErrorReporter errors = new ErrorReporter(streams);
    CommandLine commandLine = new CommandLine(root);
    Subcommand.neededFor(streams, arguments).forEach(commandLine::addSubcommand);
    return commandLine
        .addSubcommand(new CommandLine.HelpCommand())
        .registerConverter(ModelLocation.class, typed -> new ModelLocation(typed, streams))
        .setResourceBundle(new MethodHelp())
        .setColorScheme(
            Help.defaultColorScheme(streams.outHasColours() ? Help.Ansi.ON : Help.Ansi.OFF))
        .setOut(streams.outWriter())
        .setErr(streams.errWriter())
        .setParameterExceptionHandler(
            (e, all) -> errors.reportInvalidArguments(e, root.verbose || named("--verbose", all)))
        .setExecutionExceptionHandler(
            (e, command, parsed) -> errors.reportFailure(e, root.verbose));
  }

  /** Looks for an option by name, because picocli stops parsing at the first mistake. */
  private static boolean named(String option, String[] arguments) {
    return Arrays.asList(arguments).contains(option);
  }

  @Override
  public void run() {
    Welcome.print(streams.out());
  }
}
