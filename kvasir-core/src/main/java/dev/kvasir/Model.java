package dev.kvasir;

import dev.kvasir.runtime.EngineOptions;
import dev.kvasir.runtime.LoadedModel;
import dev.kvasir.runtime.NamedModel;
import java.nio.file.Path;

/**
 * A loaded language model. Several threads may use its sessions at once. Closing it frees all
 * off-heap memory; sessions must not be used after that.
 *
 * <pre>{@code
 * try (Model model = Model.load(Path.of("model.gguf"));
 *     Session session = model.newSession()) {
 *   System.out.println(session.generate("Once upon a time").text());
 * }
 * }</pre>
 *
 * <p>This interface is implemented by Kvasir only.
 */
public interface Model extends AutoCloseable {
  /**
   * Loads a GGUF file, any part of a split model, or a Hugging Face folder.
   *
   * @throws KvasirException if it cannot be read or is not supported
   */
  static Model load(Path fileOrFolder) {
    return load(fileOrFolder, LoadOptions.defaults());
  }

  /**
   * Loads a GGUF file, any part of a split model, or a Hugging Face folder.
   *
   * @throws KvasirException if it cannot be read or is not supported
   */
  static Model load(Path fileOrFolder, LoadOptions options) {
    return LoadedModel.load(fileOrFolder, EngineOptions.of(options));
  }

  /**
   * Loads a model by name or path.
   *
   * @param model see {@link #load(String, LoadOptions)}
   * @throws KvasirException if it cannot be fetched, read or is not supported
   */
  static Model load(String model) {
    return load(model, LoadOptions.defaults());
  }

  /**
   * Loads a model by name or path. A name is {@code hf:owner/repo[:selector][@revision]}, where the
   * selector is a quantization such as {@code Q4_K_M} or a file. Its files are downloaded from
   * Hugging Face unless they are in the cache that Python tools use too; {@code HF_TOKEN}, {@code
   * HF_HOME}, {@code HF_ENDPOINT} and {@code HF_HUB_OFFLINE} have their usual meaning.
   *
   * @param model a name, or the path of a file or folder
   * @throws KvasirException if it cannot be fetched, read or is not supported
   */
  static Model load(String model, LoadOptions options) {
    return load(NamedModel.path(model, options.progress()), options);
  }

  /**
   * Loads the small model of the module kvasir-mini.
   *
   * @throws KvasirException if that module is missing
   */
  static Model bundled() {
    return bundled(LoadOptions.defaults());
  }

  /**
   * Loads the small model of the module kvasir-mini.
   *
   * @throws KvasirException if that module is missing
   */
  static Model bundled(LoadOptions options) {
    return LoadedModel.bundled(EngineOptions.of(options));
  }

  /** Returns the file or folder that it was loaded from. */
  String name();

  /** Returns the maximum tokens of a session. */
  int contextLength();

  /** Returns a description of the device that it computes on. */
  String device();

  /** Returns the bytes of the weights in memory. */
  long weightBytes();

  /** Returns the tokens of a text, without those that the model adds at its beginning. */
  int[] encode(String text);

  /** Returns the text of tokens. */
  String decode(int... tokens);

  /**
   * Returns the bytes that the cache of a session never exceeds while it grows to {@code tokens}
   * tokens. Where sizes depend on the vectors, this is the typical value.
   */
  long maxCacheBytes(SessionOptions options, int tokens);

  /**
   * Returns the cache that measured figures recommend, as {@code --kv auto} does: half precision if
   * it fits, else the one with the least divergence that fits and is not slower.
   *
   * @param tokens the longest context of a session
   * @param bytes memory for its cache
   * @throws KvasirException if no cache fits; the message names the smallest
   */
  KvCacheSpec chooseCache(int tokens, long bytes);

  /** Opens a session with default options: a half-precision cache and the whole context. */
  Session newSession();

  /**
   * Opens a session.
   *
   * @throws KvasirException if the cache is not possible with this model
   */
  Session newSession(SessionOptions options);

  /**
   * Restores a saved session with its options; it continues bit-identically. The file may be
   * replaced or deleted meanwhile, but must not be modified.
   *
   * @throws KvasirException if the file is damaged or belongs to another model
   */
  Session restore(Path file);

  /**
   * Restores a saved session with another cache, as {@link Session#convertedTo} does.
   *
   * @throws KvasirException if the file is damaged or belongs to another model
   */
  Session restore(Path file, KvCacheSpec cache);

  @Override
  void close();
}
