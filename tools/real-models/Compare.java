import dev.kvasir.error.InvalidInputException;
import dev.kvasir.kernel.FloatActivationKernels;
import dev.kvasir.lab.text.BundledText;
import dev.kvasir.runtime.EngineOptions;
import dev.kvasir.runtime.LoadedModel;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/**
 * Compares what Kvasir and llama.cpp make of the same model files, and prints one row per file.
 * Exits with 1 if a file does not load, or if tokens or a prompt differ.
 */
final class Compare {
  /** Twice the context is the least text that llama-perplexity takes. */
  private static final int CONTEXT = 256;

  private static final int CHUNKS = 2;
  private static final int GREEDY_TOKENS = 64;

  private static final List<String> PROMPTS =
      List.of("Once upon a time", "def fibonacci(n):\n", "The capital of France is");

  private final Path llama;
  private final String text;
  private final EngineOptions options;

  private Compare(Path llama, String text, EngineOptions options) {
    this.llama = llama;
    this.text = text;
    this.options = options;
  }

  public static void main(String[] arguments) throws IOException, InterruptedException {
    Path llama = Path.of(arguments[1]);
    for (String program : List.of(LlamaServer.PROGRAM, LlamaLogits.PROGRAM)) {
      if (!Files.isExecutable(llama.resolve(program))) {
        throw refuse("%s: has no program %s".formatted(llama, program));
      }
    }
    List<Path> models = models(Path.of(arguments[0]));
    if (models.isEmpty()) {
      throw refuse(arguments[0] + ": has no file *.gguf");
    }
    String text = arguments.length > 2 ? Files.readString(Path.of(arguments[2])) : novel();
    System.exit(new Compare(llama, text, options()).print(models) ? 0 : 1);
  }

  private static EngineOptions options() {
    EngineOptions options = EngineOptions.defaults();
    String threads = System.getenv().getOrDefault("THREADS", "" + options.threads());
    if (!threads.matches("[1-9][0-9]{0,2}")) {
      throw refuse("THREADS is '%s'; expected a number from 1 to 999".formatted(threads));
    }
    options = options.withThreads(Integer.parseInt(threads));
    String activations = System.getenv().getOrDefault("ACTIVATIONS", "bytes");
    return switch (activations) {
      case "bytes" -> options;
      case "float" -> options.withKernels(new FloatActivationKernels(options.kernels()));
      default ->
          throw refuse("ACTIVATIONS is '%s'; expected bytes or float".formatted(activations));
    };
  }

  private static String novel() {
    return BundledText.book().substring(0, 6_000);
  }

  /** Ends the process; the result is there to be thrown where a value would be returned. */
  private static AssertionError refuse(String sentence) {
    System.err.println("compare: " + sentence);
    System.exit(2);
    return new AssertionError(sentence);
  }

  private static List<Path> models(Path place) throws IOException {
    if (Files.isRegularFile(place)) {
      return List.of(place);
    }
    if (!Files.isDirectory(place)) {
      throw refuse(place + ": no such file or folder");
    }
    try (Stream<Path> files = Files.list(place)) {
      return files
          .filter(file -> file.toString().endsWith(".gguf"))
          .sorted(Comparator.comparingLong(file -> file.toFile().length()))
          .toList();
    }
  }

  private boolean print(List<Path> models) throws IOException, InterruptedException {
    System.out.println(Row.HEADER);
    boolean allAgree = true;
    for (Path model : models) {
      String file = model.getFileName().toString();
      try {
        Row row = compare(model);
        System.out.println(row.line(file));
        allAgree &= row.agrees();
      } catch (InvalidInputException refused) {
        System.out.println("| %s | no: %s |".formatted(file, refused.getMessage()));
        allAgree = false;
      }
    }
    return allAgree;
  }

  private Row compare(Path file) throws IOException, InterruptedException {
    int threads = options.threads();
    LlamaLogits theirs = LlamaLogits.compute(llama, file, text, CONTEXT, CHUNKS, threads);
    try (LoadedModel model = LoadedModel.load(file, options);
        LlamaServer server = LlamaServer.start(llama, file, threads)) {
      Tokens tokens = Tokens.of(model, server, theirs, text);
      List<GreedyText> greedy =
          PROMPTS.stream()
              .map(prompt -> GreedyText.of(model, server, prompt, GREEDY_TOKENS))
              .toList();
      return new Row(tokens, greedy, Divergence.of(model, theirs), Prompts.of(model, server));
    }
  }
}
