package dev.kvasir.mini;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.Model;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.engine.Batch;
import dev.kvasir.kernel.KernelChoice;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;

/** Whichever kernels serve, a prompt and the tokens after it have the same logits, to the bit. */
class KernelAgreementTest {
  private static final List<String> SPECS =
      List.of("fp16", "kivi:2,window=0", "mixkvq,window=0", "commvq:1,window=0,sinks=0");

  @Test
  void logitsAreTheSameWithEveryChoiceOfKernels() throws Exception {
    Process plainJava = start("java");
    Process vectors = start("vector");
    List<String> plain = logits(plainJava, "scalar Java");
    assertThat(plain).hasSize(SPECS.size()).doesNotHaveDuplicates();
    assertThat(logits(vectors, "Vector API")).isEqualTo(plain);
    assertThat(logits(start("native"), "native")).isEqualTo(plain);
  }

  /** A process of its own, since kernels are chosen once for each. */
  private static Process start(String kernels) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(ProcessHandle.current().info().command().orElseThrow());
    command.addAll(
        List.of(
            "--add-modules",
            "jdk.incubator.vector",
            "--enable-native-access=ALL-UNNAMED",
            "-Dkvasir.kernels=" + kernels,
            "-cp",
            System.getProperty("java.class.path"),
            PrintLogits.class.getName()));
    return new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
  }

  /** What it prints; few enough lines to wait in its pipe. */
  private static List<String> logits(Process process, String name) throws Exception {
    List<String> lines = new String(process.getInputStream().readAllBytes()).lines().toList();
    assertThat(process.waitFor()).as(String.join("\n", lines)).isZero();
    assertThat(lines.getFirst()).startsWith(name);
    return lines.subList(1, lines.size());
  }

  /** A line for each kind of cache: a checksum over the bits of all logits. */
  static final class PrintLogits {
    public static void main(String[] arguments) {
      System.out.println(KernelChoice.ofThisProcess().kernels().name());
      try (Model model = Model.bundled()) {
        int[] tokens = model.tokenizer().encode("Once upon a time there was a king. ".repeat(30));
        for (String spec : SPECS) {
          try (KvCache cache = model.newCache(CacheSpec.parse(spec))) {
            CRC32C sum = new CRC32C();
            add(sum, step(model, cache, Arrays.copyOf(tokens, 140)));
            for (int i = 140; i < 144; i++) {
              add(sum, step(model, cache, tokens[i]));
            }
            System.out.println(spec + " " + sum.getValue());
          }
        }
      }
    }

    private static float[] step(Model model, KvCache cache, int... tokens) {
      Batch batch = new Batch();
      for (int i = 0; i < tokens.length; i++) {
        batch.add(cache, tokens[i], i == tokens.length - 1);
      }
      model.forward(batch);
      return Arrays.copyOf(batch.logits(), batch.vocabulary());
    }

    private static void add(CRC32C sum, float[] logits) {
      for (float logit : logits) {
        int bits = Float.floatToIntBits(logit);
        for (int shift = 0; shift < 32; shift += 8) {
          sum.update(bits >>> shift);
        }
      }
    }
  }
}
