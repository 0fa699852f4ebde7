package dev.kvasir.bench;

import de.kherud.llama.InferenceParameters;
import de.kherud.llama.LlamaModel;
import de.kherud.llama.ModelParameters;
import de.kherud.llama.args.LogFormat;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** llama.cpp from the artifact de.kherud:llama, on the CPU. */
final class LlamaCppBenchEngine implements BenchEngine {
  private final LlamaModel model;
  private final String prompt;
  private final boolean ownsModel;

  LlamaCppBenchEngine(Path gguf, int threads, int contextLength) {
    LlamaLibrary.load();
    this.prompt = "";
    this.ownsModel = true;
    this.model =
        new LlamaModel(
            new ModelParameters()
                .setModel(gguf.toString())
                .setThreads(threads)
                .setThreadsBatch(threads)
                .setCtxSize(contextLength)
                .disableLog());
  }

  private LlamaCppBenchEngine(LlamaModel model, String prompt) {
    this.model = model;
    this.prompt = prompt;
    this.ownsModel = false;
  }

  /** Returns an engine with the same loaded model and another prompt. */
  LlamaCppBenchEngine withPrompt(String text) {
    return new LlamaCppBenchEngine(model, text);
  }

  @Override
  public String name() {
    return "llama.cpp";
  }

  @Override
  public long prefill() {
    return complete(1);
  }

  /** Subtracts the prefill time, which the call includes. */
  @Override
  public long generate(int tokens) {
    long promptNanos = complete(1);
    return complete(tokens + 1) - promptNanos;
  }

  private long complete(int tokens) {
    InferenceParameters parameters =
        new InferenceParameters(prompt)
            .setNPredict(tokens)
            .setTemperature(0)
            .setIgnoreEos(true)
            .setCachePrompt(false);
    long start = System.nanoTime();
    model.complete(parameters);
    return System.nanoTime() - start;
  }

  @Override
  public void close() {
    if (ownsModel) {
      model.close();
    }
  }

  /**
   * Loads llama.cpp without the side effects of its loader. That loader writes to the shared
   * temporary folder, deletes presumed old copies of itself there, and prints to standard output.
   */
  private static final class LlamaLibrary {
    private static final String FOLDER = "de.kherud.llama.tmpdir";

    private static boolean loaded;

    static synchronized void load() {
      if (loaded) {
        return;
      }
      PrintStream out = System.out;
      try {
        Path folder = Files.createTempDirectory("kvasir-llama");
        System.setProperty(FOLDER, folder.toString());
        System.setOut(new PrintStream(OutputStream.nullOutputStream()));
        LlamaModel.setLogger(LogFormat.TEXT, (level, message) -> {});
        delete(folder);
        loaded = true;
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      } finally {
        System.setOut(out);
      }
    }

    /** Deletes the files; the loaded library stays in memory. */
    private static void delete(Path folder) throws IOException {
      try (var files = Files.list(folder)) {
        for (Path file : files.toList()) {
          Files.delete(file);
        }
      }
      Files.delete(folder);
    }
  }
}
