package dev.kvasir.mini;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import dev.kvasir.GenerationListener;
import dev.kvasir.SamplingOptions;
import dev.kvasir.SessionOptions;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.runtime.GenerationSettings;
import dev.kvasir.runtime.LoadedModel;
import dev.kvasir.runtime.ModelSession;
import java.lang.management.ManagementFactory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Generating a token allocates little on the heap. */
@Tag("allocation")
class SessionHeapTest {
  private static final String PROMPT = "Once upon a time there was a little";

  /** Garbage collection would take time from every token, and generating one needs no garbage. */
  @Test
  void aTokenCostsAtMost600BytesOfHeap() {
    assertThat(heapPerToken(SessionOptions.defaults(), 600)).isLessThanOrEqualTo(600);
  }

  /** Pages of eight layers are quantized on the way; the share of each token must stay small. */
  @Test
  void aTokenCostsLittleMoreWithAQuantizedContext() {
    CacheSpec quantized = CacheSpec.parse("kivi:2,window=0");
    long perToken = heapPerToken(SessionOptions.builder().cache(quantized).build(), 2000);
    assertThat(perToken).isLessThanOrEqualTo(2000);
  }

  /** Returns the result of the best round; stops once it is within the bound. */
  private static long heapPerToken(SessionOptions sessionOptions, long bound) {
    SamplingOptions sampling =
        SamplingOptions.greedy().toBuilder()
            .temperature(1)
            .topP(0.9)
            .seed(7)
            .topK(40)
            .repetitionPenalty(1.1)
            .build();
    GenerationSettings options =
        GenerationSettings.greedy().withMaxTokens(220).withSampling(sampling);
    long perToken = Long.MAX_VALUE;
    // Code that is not compiled yet allocates boxes. Tokens are fast, and compilers take seconds.
    try (LoadedModel model = LoadedModel.bundled()) {
      for (int round = 0; round < 60 && perToken > bound; round++) {
        try (ModelSession session = model.newSession(sessionOptions)) {
          HeapMeter meter = new HeapMeter();
          session.generate(PROMPT, options, meter);
          perToken = Math.min(perToken, meter.bytesPerToken());
        }
      }
    }
    return perToken;
  }

  /** Measures the heap allocation of the thread per token after the tenth. */
  private static final class HeapMeter implements GenerationListener {
    private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private int calls;
    private long begin;
    private long end;

    @Override
    public void text(String piece) {}

    /** Called once before the prompt and once after each token. */
    @Override
    public boolean stopped() {
      end = threads.getCurrentThreadAllocatedBytes();
      if (calls == 10) {
        begin = end;
      }
      calls++;
      return false;
    }

    long bytesPerToken() {
      int tokens = calls - 11;
      assertThat(tokens).isGreaterThanOrEqualTo(200);
      return (end - begin) / tokens;
    }
  }
}
