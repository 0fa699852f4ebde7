package dev.kvasir.cli.lab;

import dev.kvasir.cli.arguments.ModelLocation;
import dev.kvasir.cli.terminal.Streams;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.AtomicFile;
import dev.kvasir.lab.claim.Experiment;
import dev.kvasir.lab.claim.Ledger;
import dev.kvasir.lab.claim.Ledger.Entry;
import dev.kvasir.lab.claim.LedgerPage;
import dev.kvasir.lab.claim.LedgerText;
import dev.kvasir.lab.claim.TestBed;
import dev.kvasir.lab.claim.Trial;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Shows the results for the papers' claims. */
@Command(
    name = "claims",
    description = {
      "Show what papers claim about their methods, and what was measured here.",
      "Reads the figures that commands such as 'kvasir compare' have written to a"
          + " folder. A claim without figures counts as not tried."
    },
    footer = {
      "  kvasir claims",
      "  kvasir claims --show 4",
      "  kvasir claims --out docs/claims.md",
      "  kvasir claims --run 4"
    })
public final class ShowClaims implements Callable<Integer> {
  private final Streams streams;

  @Spec private CommandSpec spec;

  @Option(
      names = "--results",
      paramLabel = "FOLDER",
      defaultValue = "docs/results",
      description = "Folder with the figures. Default: ${DEFAULT-VALUE}.")
  private Path results;

  @Option(names = "--out", paramLabel = "FILE", description = "Write the claims to a document.")
  private Path out;

  @Option(
      names = "--show",
      paramLabel = "N",
      description = "Show claim N alone, with the paper's figures and the commands of ours.")
  private Integer shown;

  @Option(
      names = "--run",
      paramLabel = "N",
      description = "Measure claim N again, with all others that its command measures.")
  private Integer number;

  @Option(
      names = "--model",
      paramLabel = "MODEL",
      description =
          "With --run: measure another model than the bundled one. Give it a folder of its own"
              + " with --results.")
  private ModelLocation model;

  public ShowClaims(Streams streams) {
    this.streams = streams;
  }

  @Override
  public Integer call() {
    if (out != null) {
      AtomicFile.checkWritable(out);
    }
    if (!Files.isDirectory(results)) {
      throw new InvalidInputException(
          "%s: is no folder; expected figures of 'kvasir compare'".formatted(results));
    }
    if (shown != null) {
      return showOne();
    }
    return number == null ? show(results, out) : run(Ledger.trials(number), results, out);
  }

  /**
   * Runs the commands of a claim, each once. They are parsed into the same option fields, so the
   * needed values are passed along.
   */
  private int run(List<Trial> trials, Path folder, Path document) {
    Optional<Path> other = Optional.ofNullable(model).map(ModelLocation::path);
    Set<Experiment> experiments = new LinkedHashSet<>();
    trials.forEach(trial -> experiments.add(trial.experiment()));
    for (Experiment experiment : experiments) {
      int exit = run(experiment.commands(folder, other));
      if (exit != 0 && experiment.needsCard() && experiments.size() > 1) {
        streams.note("the trial on a GPU keeps its figures");
      } else if (exit != 0) {
        return exit;
      }
    }
    return show(folder, document);
  }

  private int run(List<List<String>> commands) {
    for (List<String> command : commands) {
      int exit = execute(command);
      if (exit != 0) {
        return exit;
      }
    }
    return 0;
  }

  private int showOne() {
    if (number != null || out != null) {
      throw new InvalidInputException(
          "--show prints one claim; expected neither --run nor --out beside it");
    }
    streams.out().print(LedgerText.full(new Ledger(results).entry(shown), results));
    streams.out().flush();
    return 0;
  }

  private int show(Path folder, Path document) {
    List<Entry> entries = new Ledger(folder).entries();
    entries.forEach(entry -> streams.out().print(LedgerText.brief(entry)));
    streams.out().println(LedgerPage.summary(entries, TestBed.BUNDLED));
    streams.out().flush();
    if (document != null) {
      LedgerPage.write(entries, document);
    }
    return 0;
  }

  private int execute(List<String> command) {
    streams.note("kvasir " + String.join(" ", command));
    return spec.root().commandLine().execute(command.toArray(String[]::new));
  }
}
