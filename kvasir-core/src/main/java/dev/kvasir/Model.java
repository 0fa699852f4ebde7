package dev.kvasir;

import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.GgufFile;
import dev.kvasir.kernel.Crew;
import dev.kvasir.model.Batch;
import dev.kvasir.model.Decoder;
import dev.kvasir.model.ModelConfig;
import dev.kvasir.text.ChatTemplate;
import dev.kvasir.text.Tokenizer;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A language model that is loaded and ready. Sessions on it may run from several threads at once;
 * closing it frees all memory outside the heap, and using it after that is an error.
 */
public final class Model implements AutoCloseable {
  /** Where the module kvasir-mini keeps its file. */
  private static final String BUNDLED = "/dev/kvasir/mini/kvasir-mini-q8_0.gguf";

  private final String name;
  private final Decoder decoder;
  private final Tokenizer tokenizer;
  private final Crew crew;

  private Model(String name, Decoder decoder, Tokenizer tokenizer, Crew crew) {
    this.name = name;
    this.decoder = decoder;
    this.tokenizer = tokenizer;
    this.crew = crew;
  }

  /** Loads a GGUF file, or a folder as Hugging Face lays it out. */
  public static Model load(Path fileOrFolder) {
    return load(fileOrFolder, LoadOptions.defaults());
  }

  public static Model load(Path fileOrFolder, LoadOptions options) {
    return Files.isDirectory(fileOrFolder)
        ? loadFolder(fileOrFolder, options)
        : loadGguf(GgufFile.open(fileOrFolder), options);
  }

  /** Loads the small model of the module kvasir-mini. */
  public static Model bundled() {
    return bundled(LoadOptions.defaults());
  }

  public static Model bundled(LoadOptions options) {
    return loadGguf(openBundled(), options);
  }

  /** The file of the bundled model, to look into. */
  public static GgufFile openBundled() {
    try (InputStream stream = Model.class.getResourceAsStream(BUNDLED)) {
      if (stream == null) {
        throw new InvalidInputException(
            "no model was given and none is bundled; add the module kvasir-mini to the class path");
      }
      byte[] bytes = stream.readAllBytes();
      return GgufFile.of("kvasir-mini", MemorySegment.ofArray(bytes), Arena.ofShared());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Model loadGguf(GgufFile file, LoadOptions options) {
    Tokenizer tokenizer = null;
    Crew crew = null;
    try {
      String name = file.name();
      tokenizer = Tokenizer.ofGguf(name, file.metadata());
      crew = new Crew(options.threads());
      Decoder decoder = Decoder.load(file, options.kernels(), crew, options.progress()::layers);
      return new Model(name, decoder, tokenizer, crew);
    } catch (RuntimeException | Error e) {
      file.close();
      closeAll(tokenizer, crew);
      throw e;
    }
  }

  private static Model loadFolder(Path folder, LoadOptions options) {
    Tokenizer tokenizer = Tokenizer.ofFolder(folder);
    Crew crew = new Crew(options.threads());
    try {
      Decoder decoder = Decoder.load(folder, options.kernels(), crew, options.progress()::layers);
      return new Model(folder.toString(), decoder, tokenizer, crew);
    } catch (RuntimeException | Error e) {
      closeAll(tokenizer, crew);
      throw e;
    }
  }

  private static void closeAll(Tokenizer tokenizer, Crew crew) {
    if (tokenizer != null) {
      tokenizer.close();
    }
    if (crew != null) {
      crew.close();
    }
  }

  /** The file or folder that it came from. */
  public String name() {
    return name;
  }

  public ModelConfig config() {
    return decoder.config();
  }

  public Tokenizer tokenizer() {
    return tokenizer;
  }

  /** Bytes of the weights as they are used. */
  public long weightBytes() {
    return decoder.weightBytes();
  }

  /**
   * The chat template that its files carry.
   *
   * @throws InvalidInputException where there is none, or it uses what is not supported
   */
  public ChatTemplate chatTemplate() {
    String source =
        tokenizer
            .chatTemplate()
            .orElseThrow(
                () ->
                    new InvalidInputException(
                        name + ": carries no chat template; ask for the plain one instead"));
    return ChatTemplate.of(source, "chat template of " + name, tokenizer);
  }

  public Session newSession() {
    return newSession(SessionOptions.defaults());
  }

  public Session newSession(SessionOptions options) {
    return new Session(this, options);
  }

  /**
   * Runs one step over rows of any number of sequences at once, so that the weights are read once
   * for all of them.
   */
  public void forward(Batch batch) {
    decoder.forward(batch);
  }

  @Override
  public void close() {
    decoder.close();
    closeAll(tokenizer, crew);
  }
}
