package dev.kvasir.lab.reproduce;

import java.nio.file.Path;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * What a user asks for.
 *
 * @param quick whether to run the small form: few and short questions of our own
 * @param bundledModel whether the model is the one that comes with Kvasir
 * @param data folder with the user's benchmarks
 * @param runCode whether generated programs may be run
 * @param samples questions of each data set; all by default
 * @param context tokens of texts and generated tasks; the table's own by default
 * @param seed random seed
 */
public record Request(
    boolean quick,
    boolean bundledModel,
    Optional<Path> data,
    boolean runCode,
    OptionalInt samples,
    OptionalInt context,
    long seed) {

  /** Returns the smaller number in a quick run, the full one else, unless the user gave one. */
  int samples(int full, int small) {
    return samples.orElse(quick ? small : full);
  }

  /** Returns the tokens of a text, limited by the model's context. */
  int context(int full, int small, int most) {
    return Math.min(context.orElse(quick ? small : full), most);
  }
}
