package dev.kvasir.cli.setup;

import dev.kvasir.cli.terminal.Streams;
import dev.kvasir.error.OptionValue;
import java.util.concurrent.Callable;
import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Prints a script that makes a shell complete commands and options. */
@Command(
    name = "completion",
    description = {
      "Print a completion script for a shell.",
      "The script completes commands, options, some values, and file names."
    },
    footer = {
      "  kvasir completion bash > ~/.local/share/bash-completion/completions/kvasir",
      "  kvasir completion zsh > ~/.kvasir.zsh && echo '. ~/.kvasir.zsh' >> ~/.zshrc",
      "  kvasir completion fish > ~/.config/fish/completions/kvasir.fish"
    })
public final class Completion implements Callable<Integer> {
  /** The supported shells, as typed. */
  enum Shell {
    BASH,
    ZSH,
    FISH
  }

  private final Streams streams;

  @Spec private CommandSpec spec;

  @Parameters(paramLabel = "SHELL", description = "The shell: bash, zsh or fish.")
  private String shell;

  public Completion(Streams streams) {
    this.streams = streams;
  }

  @Override
  public Integer call() {
    CommandLine root = spec.root().commandLine();
    streams
        .out()
        .print(
            switch (OptionValue.oneOf("the shell", shell, Shell.class)) {
              case BASH -> bash(root);
              case ZSH -> zsh(root);
              case FISH -> new FishScript(root).text();
            });
    streams.out().flush();
    return 0;
  }

  private static String bash(CommandLine root) {
    return AutoComplete.bash(root.getCommandName(), root);
  }

  /** Zsh runs completion functions of bash after two modules have been loaded. */
  private static String zsh(CommandLine root) {
    return """
        autoload -Uz compinit && compinit
        autoload -Uz bashcompinit && bashcompinit
        """
        + bash(root);
  }
}
