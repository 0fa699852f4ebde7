package dev.kvasir.lab.roundtrip;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.kvasir.attention.AttentionShape;
import dev.kvasir.cache.CacheBytes;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.NpyFile;
import dev.kvasir.kernel.WorkerPool;
import dev.kvasir.memory.CountedArena;
import dev.kvasir.model.RopeLayout;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RoundTripTest {
  @TempDir Path folder;

  private RoundTripResult run(Dump dump, RoundTripOptions options) {
    OutputFolder out = OutputFolder.of(folder, List.of());
    return RoundTrip.run(dump, options, out, RoundTripListener.NONE);
  }

  private static RoundTripOptions options(String spec) {
    return RoundTripOptions.of(CacheSpec.parse(spec));
  }

  private float[] written(String name) {
    try (NpyFile file = NpyFile.open(folder.resolve(name))) {
      return file.tensor().toFloats();
    }
  }

  @Test
  void fewerBitsHaveLargerErrors() {
    Dump dump = RandomDump.of(2, 2, 400, 10, 64);
    RoundTripResult exact = run(dump, options("fp32"));
    RoundTripResult half = run(dump, options("fp16"));
    RoundTripResult four = run(dump, options("kivi:4"));
    RoundTripResult two = run(dump, options("kivi:2"));
    assertThat(exact.keyError()).isZero();
    assertThat(exact.outputError().orElseThrow()).isLessThan(1e-5);
    assertThat(half.keyError()).isBetween(1e-5, 1e-3);
    assertThat(half.valueError()).isBetween(1e-5, 1e-3);
    assertThat(half.outputError().orElseThrow()).isBetween(1e-5, 2e-3);
    assertThat(four.keyError()).isBetween(half.keyError(), two.keyError());
    assertThat(four.valueError()).isBetween(half.valueError(), two.valueError());
    assertThat(four.outputError().orElseThrow())
        .isBetween(half.outputError().orElseThrow(), two.outputError().orElseThrow());
    assertThat(two.keyError()).isLessThan(0.5);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 127, 128, 129, 255, 256, 257})
  void bytesMatchTheEstimateAtEveryLength(int tokens) {
    for (String text : List.of("fp16", "kivi:2", "kivi:4,window=0,sinks=5", "patternkv:2")) {
      Dump dump = RandomDump.of(2, 1, tokens, 0, 16);
      CacheBytes estimated = CacheSpec.parse(text).bytesFor(dump.cacheShape(), tokens);
      for (int prefill : new int[] {0, tokens / 2, tokens}) {
        RoundTripResult result = run(dump, options(text).withPrefill(prefill));
        assertThat(result.bytes()).as("%s, prefill %d", text, prefill).isEqualTo(estimated);
        double bits = tokens == 0 ? 0 : 8.0 * estimated.total() / (2.0 * 2 * 16 * tokens);
        assertThat(result.bitsPerValue()).isCloseTo(bits, within(1e-9));
        assertThat(result.outputError()).isEmpty();
        assertThat(written("keys.npy")).hasSize(2 * 16 * tokens);
      }
    }
    assertThat(folder.toFile().list()).containsExactlyInAnyOrder("keys.npy", "values.npy");
  }

  @ParameterizedTest
  @CsvSource({
    "fp16, 1, 1",
    "fp16, 129, 3",
    "kivi:4, 128, 1",
    "'kivi:4,window=0', 257, 8",
    "'kivi:2,window=10,sinks=3', 400, 5",
    "'kivi:2,k=4,v=2,window=0,group=32', 300, 2"
  })
  void outputIsAttentionOverTheWrittenVectors(String spec, int tokens, int group) {
    int count = Math.min(tokens, 5);
    Dump dump = RandomDump.of(2, group, tokens, count, 64);
    double[] straight = outputOfWritten(spec, dump, 0);
    double[] prefilled = outputOfWritten(spec, dump, tokens / 2);
    assertThat(prefilled).isEqualTo(straight);
  }

  /** Checks the written arrays for a prefill and returns attention over them. */
  private double[] outputOfWritten(String spec, Dump dump, int prefill) {
    run(dump, options(spec).withPrefill(prefill));
    HeadVectors queries = dump.queries().orElseThrow();
    long[] shape = dump.keys().tensor().shape();
    HeadVectors keys = RandomDump.vectors("keys.npy", written("keys.npy"), shape);
    HeadVectors values = RandomDump.vectors("values.npy", written("values.npy"), shape);
    AttentionShape heads = new AttentionShape(queries.heads(), keys.heads(), keys.headDim());
    float[] output = written("output.npy"); // (queryHeads, count, headDim)
    int count = queries.tokens();
    int headDim = queries.headDim();
    double[] expected = new double[queries.heads() * headDim];
    double[] all = new double[output.length];
    RelativeError error = new RelativeError();
    try (WorkerPool workers = new WorkerPool(1)) {
      ExactAttention exact = new ExactAttention(heads, keys, values, workers);
      float[] query = new float[expected.length];
      for (int i = 0; i < count; i++) {
        queries.readToken(i, query);
        exact.attend(query, dump.tokens() - count + i, expected);
        for (int j = 0; j < expected.length; j++) {
          int at = (j / headDim * count + i) * headDim + j % headDim;
          error.add(output[at], expected[j]);
          all[at] = expected[j];
        }
      }
    }
    assertThat(error.value()).isLessThan(1e-3);
    return all;
  }

  @Test
  void onlyTheLastQueriesAttend() {
    Dump dump = RandomDump.of(1, 2, 50, 20, 8);
    run(dump, options("fp32").withAttend(100));
    float[] all = written("output.npy"); // (2, 20, 8)
    run(dump, options("fp32").withAttend(3));
    float[] last = written("output.npy"); // (2, 3, 8)
    assertThat(last).hasSize(2 * 3 * 8);
    for (int head = 0; head < 2; head++) {
      for (int i = 0; i < 3 * 8; i++) {
        assertThat(last[head * 3 * 8 + i]).isEqualTo(all[(head * 20 + 17) * 8 + i]);
      }
    }
  }

  @Test
  void attentionToOnePositionIsItsValue() {
    run(RandomDump.of(2, 3, 1, 1, 4), options("fp32"));
    float[] values = written("values.npy");
    float[] output = written("output.npy");
    for (int head = 0; head < 6; head++) {
      for (int i = 0; i < 4; i++) {
        assertThat(output[head * 4 + i]).isEqualTo(values[head / 3 * 4 + i]);
      }
    }
  }

  @Test
  void cancellingLeavesNoFiles() {
    Dump dump = RandomDump.of(1, 1, 200, 4, 8);
    long arenas = CountedArena.liveArenas();
    RoundTripListener impatient =
        new RoundTripListener() {
          private int attended;

          @Override
          public void attended(int done, int total) {
            attended = done;
          }

          @Override
          public boolean isCancelled() {
            return attended == 2;
          }
        };
    OutputFolder out = OutputFolder.of(folder, List.of());
    assertThatThrownBy(() -> RoundTrip.run(dump, options("kivi:2"), out, impatient))
        .isInstanceOf(CancellationException.class);
    assertThat(folder).isEmptyDirectory();
    assertThat(CountedArena.liveArenas()).isEqualTo(arenas);
  }

  @Test
  void wrongShapesAreRejected() {
    Dump good = RandomDump.of(2, 2, 10, 3, 8);
    HeadVectors keys = good.keys();
    assertRejected(() -> vectors(2, 10), "x.npy: has shape 2 x 10; expected 3 dimensions");
    assertRejected(() -> vectors(1, 2, 10, 8), "heads x tokens x channels, which array[0] has");
    assertRejected(() -> vectors(0, 10, 8), "has 0 heads in its shape 0 x 10 x 8; expected 1 to");
    assertRejected(() -> vectors(2, 10, 0), "has 0 channels");
    assertRejected(
        () -> dump(keys, vectors(2, 9, 8)), "x.npy: has shape 2 x 9 x 8; expected 2 x 1");
    assertRejected(() -> dump(keys, keys, vectors(4, 3, 4)), "expected 8 channels, as keys have");
    assertRejected(() -> dump(keys, keys, vectors(3, 3, 8)), "a multiple of the 2 heads of keys");
    assertRejected(() -> dump(keys, keys, vectors(1, 3, 8)), "a multiple of the 2 heads of keys");
    assertRejected(() -> dump(keys, keys, vectors(4, 11, 8)), "expected 1 to 10 tokens");
    assertRejected(() -> dump(keys, keys, vectors(4, 0, 8)), "expected 1 to 10 tokens");
  }

  @Test
  void methodThatUndoesTheRotationNeedsItsBase() {
    Dump dump = RandomDump.of(2, 2, 400, 10, 64);
    RoundTripOptions untold = options("patternkv:2,rope=rotate");
    assertRejected(() -> run(dump, untold), "rope=rotate must know how keys are rotated");
    for (RopeLayout layout : RopeLayout.values()) {
      RoundTripResult result = run(dump, untold.withRope(10_000, layout));
      assertThat(result.keyError()).isBetween(0.01, 0.5);
      assertThat(result.bytes().tables()).isPositive();
    }
  }

  @Test
  void nonFiniteNumbersAreRejectedWithTheirPosition() {
    Dump odd = RandomDump.of(1, 1, 10, 0, 6);
    assertRejected(
        () -> run(odd, options("kivi:2")), "heads of 6 channels; expected a multiple of");
    assertRejected(
        () -> run(odd, options("fp16").withPrefill(11)), "prefill is 11; expected at mo");
    float[] bad = new float[20];
    bad[13] = Float.NaN;
    HeadVectors wrong = RandomDump.vectors("x.npy", bad, 2, 5, 2);
    HeadVectors right = RandomDump.vectors("y.npy", new float[20], 2, 5, 2);
    assertRejected(
        () -> run(dump(wrong, right), options("fp32")), "key of layer 0, head 1, position 1");
    assertRejected(
        () -> run(dump(right, wrong), options("fp32")), "value of layer 0, head 1, position 1");
    assertRejected(
        () -> run(dump(right, right, wrong), options("fp32")), "x.npy: head 1, token 1 holds a");
    assertThat(folder).isEmptyDirectory();
  }

  private static void assertRejected(ThrowingCallable attempt, String part) {
    assertThatThrownBy(attempt)
        .isInstanceOf(InvalidInputException.class)
        .hasMessageContaining(part);
  }

  private static HeadVectors vectors(int... shape) {
    long[] sizes = Arrays.stream(shape).asLongStream().toArray();
    int count = Arrays.stream(shape).reduce(1, (a, b) -> a * b);
    return RandomDump.vectors("x.npy", new float[count], sizes);
  }

  private static Dump dump(HeadVectors keys, HeadVectors values) {
    return new Dump(keys, values, Optional.empty());
  }

  private static Dump dump(HeadVectors keys, HeadVectors values, HeadVectors queries) {
    return new Dump(keys, values, Optional.of(queries));
  }
}
