package dev.kvasir.cli.run;

import dev.kvasir.cli.arguments.ModelArguments;
import dev.kvasir.cli.arguments.TextArgument;
import dev.kvasir.cli.terminal.Streams;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.text.Tokenizer;
import java.util.Arrays;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Converts text to token ids and back. */
@Command(
    name = "tokenize",
    description = {
      "Convert text to token ids, or back.",
      "A file with a vocabulary and no weights is enough. The whole text, line breaks"
          + " included, becomes one line of ids."
    },
    footer = {
      "  kvasir tokenize \"Once upon a time\"",
      "  kvasir tokenize --model model.gguf - < letter.txt",
      "  kvasir tokenize --decode \"1 2 3\""
    })
public final class Tokenize implements Callable<Integer> {
  private final Streams streams;

  @Parameters(
      arity = "0..1",
      paramLabel = "TEXT",
      description =
          "The text, or with --decode the ids. Without it, or with -, standard input is" + " read.")
  private String text;

  @Option(
      names = {"-d", "--decode"},
      description = "Convert ids, separated by spaces or commas, to text.")
  private boolean decode;

  @Option(
      names = "--no-special",
      description =
          "Do not add the special tokens that the model expects around a text; with"
              + " --decode, leave special tokens out.")
  private boolean noSpecial;

  @Mixin private ModelArguments model;

  public Tokenize(Streams streams) {
    this.streams = streams;
  }

  @Override
  public Integer call() {
    String example = decode ? "--decode \"1 2 3\"" : "\"Once upon a time\"";
    String input =
        TextArgument.read(
            text, streams, "no text was given; expected some, as in: kvasir tokenize " + example);
    try (Tokenizer tokenizer = model.tokenizer()) {
      if (decode) {
        int[] ids = ids(input, tokenizer.vocabularySize());
        streams.printExactly(tokenizer.decode(ids, noSpecial));
      } else {
        streams.out().println(line(tokenizer.encode(input, !noSpecial)));
        streams.out().flush();
      }
    }
    return 0;
  }

  private static String line(int[] ids) {
    return Arrays.stream(ids).mapToObj(Integer::toString).collect(Collectors.joining(" "));
  }

  private static int[] ids(String input, int vocabularySize) {
    String[] words = input.strip().split("[\\s,]+");
    return words.length == 1 && words[0].isEmpty()
        ? new int[0]
        : Arrays.stream(words).mapToInt(word -> id(word, vocabularySize)).toArray();
  }

  private static int id(String word, int vocabularySize) {
    try {
      int id = Integer.parseInt(word);
      if (id >= 0 && id < vocabularySize) {
        return id;
      }
    } catch (NumberFormatException e) {
      throw badId(word, vocabularySize, e);
    }
    throw badId(word, vocabularySize, null);
  }

  private static InvalidInputException badId(String word, int vocabularySize, Exception cause) {
    return new InvalidInputException(
        "the token id is '%s'; expected a whole number from 0 to %d"
            .formatted(word, vocabularySize - 1),
        cause);
  }
}
