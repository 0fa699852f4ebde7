package dev.kvasir.cli.setup;

import java.io.PrintStream;

/** The text that {@code kvasir} prints without arguments. */
public final class Welcome {
  private static final String TEXT =
      """
      Kvasir runs language models on the Java virtual machine, with a KV cache of 1 to 4
      bits per value. Three commands to start with:

        kvasir generate "Once upon a time"    continue a text, with the bundled model
        kvasir chat --model FILE.gguf         talk with a model of yours
        kvasir serve --model FILE.gguf        serve it over the OpenAI API, with a chat page

      'kvasir doctor' checks this machine, and 'kvasir --help' lists all commands.
      """;

  private Welcome() {}

  public static void print(PrintStream out) {
    out.print(TEXT);
    out.flush();
  }
}
