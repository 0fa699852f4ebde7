package dev.kvasir.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.kvasir.GenerationListener;
import dev.kvasir.SamplingOptions;
import dev.kvasir.cache.CacheSnapshot;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.codec.CacheContext;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.memory.MemoryPool;
import dev.kvasir.profile.Profile;
import dev.kvasir.sampling.Sampler;
import dev.kvasir.sampling.TokenConstraint;
import dev.kvasir.text.SyntheticTokenizer;
import dev.kvasir.text.Tokenizer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The gaps between the tokens of streams while long prompts are read, on a simulated engine whose
 * clock counts rows and layers. No other clock is used.
 */
@Timeout(value = 300, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class PreemptedPrefillTest {
  private static final int CONTEXT = 20_000;
  private static final int PROMPTS = 8;
  private static final Tokenizer TOKENIZER =
      SyntheticTokenizer.of(List.of("a".getBytes(StandardCharsets.US_ASCII)));

  private final AtomicLong clock = new AtomicLong(1);
  private final SimulatedEngine engine = new SimulatedEngine();
  private final Scheduler scheduler = new Scheduler(engine, clock::get);
  private final List<Token> tokens = new ArrayList<>();

  /**
   * A token of the streams.
   *
   * @param length of the longest stream
   */
  private record Token(long time, int length) {}

  /**
   * A model whose attention to 8,192 tokens costs a row 1.4 times as much as a decode step with a
   * short past takes: what the bundled model takes on two cores.
   */
  private final class SimulatedEngine implements Engine {
    private static final int LAYERS = 8;
    private static final int OPERATIONS = 4; // of a layer, as long as each other
    private static final int ROUNDS = 4; // of an operation
    private static final double WEIGHTS = 110_000;
    private static final double ROW = 20_000;
    private static final double PAST = 172_000 / 8192.0;

    private final MemoryPool memory = MemoryPool.unlimited();
    private boolean isPreemptible = true;
    private boolean failsPreempted;

    /**
     * Whether steps of streams alone take real time. Otherwise a stream has thousands of tokens
     * before the thread of a test has sent a prompt.
     */
    private volatile boolean isPaced = true;

    private boolean staysPaced; // with prompts too

    private int promptRows;
    private int promptSteps;
    private int preemptedRows;
    private int preemptedSteps;

    @Override
    public MemoryPool memory() {
      return memory;
    }

    @Override
    public KvCache newCache(CacheSpec spec, Optional<Profile> profile, int contextLimit) {
      return spec.newCache(new CacheShape(1, 1, 8), CacheContext.unknown().withMemory(memory));
    }

    @Override
    public KvCache restoreCache(
        CacheSpec spec, Optional<Profile> profile, int contextLimit, CacheSnapshot snapshot) {
      throw new UnsupportedOperationException();
    }

    @Override
    public boolean isPreemptible() {
      return isPreemptible;
    }

    @Override
    public void step(Batch batch) {
      step(batch, null);
    }

    @Override
    public void step(Batch batch, Preemption preemption) {
      double layer = WEIGHTS;
      for (int row = 0; row < batch.rows(); row++) {
        layer += ROW + PAST * batch.position(row);
      }
      int ofPrompts = promptRows(batch);
      pace(ofPrompts);
      promptRows += ofPrompts;
      promptSteps += ofPrompts > 0 ? 1 : 0;
      preemptedRows += preemption == null ? 0 : ofPrompts;
      preemptedSteps += preemption == null ? 0 : 1;
      long round = (long) (layer / OPERATIONS / ROUNDS);
      boolean hasProgressed = false;
      for (int i = 0; i < LAYERS * OPERATIONS * ROUNDS; i++) {
        if (preemption != null && hasProgressed && preemption.nanosLeft() < round) {
          preemption.runOthers();
        }
        clock.addAndGet(round);
        hasProgressed = true;
      }
      if (preemption != null) {
        preemption.finished(round);
      }
      if (preemption != null && failsPreempted) {
        throw new IllegalStateException("a prompt step fails");
      }
      finish(batch);
    }

    /** Streams have a prompt of one row themselves. */
    private void pace(int ofPrompts) {
      if (ofPrompts > 1) {
        isPaced &= staysPaced;
      } else if (isPaced) {
        LockSupport.parkNanos(1_000_000);
      }
    }

    private static int promptRows(Batch batch) {
      return IntStream.range(0, batch.sequences())
          .filter(batch::isPrefill)
          .map(sequence -> batch.endRow(sequence) - batch.firstRow(sequence))
          .sum();
    }

    private void finish(Batch batch) {
      for (int s = 0; s < batch.sequences(); s++) {
        KvCache cache = batch.cache(s);
        cache.reserve(batch.stepEnd(s));
        cache.commit(batch.endRow(s) - batch.firstRow(s));
      }
      for (int i = 0; i < batch.logitRows(); i++) {
        batch.setArgmax(i, 0);
      }
    }

    /** Returns the time of a step with rows of the same past. */
    double nanos(int rows, int past) {
      return LAYERS * (WEIGHTS + rows * (ROW + PAST * past));
    }

    @Override
    public void close() {}
  }

  /** Stops a stream when all prompts were read. */
  private static GenerationListener until(AtomicBoolean isOver) {
    return new GenerationListener() {
      @Override
      public void text(String piece) {}

      @Override
      public boolean stopped() {
        return isOver.get();
      }
    };
  }

  private int generate(int promptTokens, int maxTokens, GenerationListener listener) {
    try (KvCache cache = engine.newCache(CacheSpec.parse("fp16"), Optional.empty(), CONTEXT)) {
      Request request = new Request(cache, CONTEXT, false, Set.of(), null);
      IntStream.range(0, promptTokens).forEach(i -> request.append(0));
      Sampler sampler =
          new Sampler(SamplingOptions.greedy(), TokenConstraint.NONE, OptionalInt.empty());
      scheduler.run(
          request,
          new GenerationParams(sampler, TOKENIZER.stream(true), maxTokens, null),
          listener);
      return request.generated();
    }
  }

  /** Runs streams while prompts arrive; returns the gaps in usual times, in rising order. */
  private double[] gaps(int streams, int promptTokens) throws Exception {
    AtomicBoolean isOver = new AtomicBoolean();
    scheduler.stepListener(
        new StepListener() {
          @Override
          public void stepped(long begin, long end, Batch batch, int decodingRows) {
            if (decodingRows == streams) {
              tokens.add(new Token(end, batch.position(0)));
            }
          }
        });
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<Integer>> running = new ArrayList<>();
      for (int i = 0; i < streams; i++) {
        running.add(threads.submit(() -> generate(1, CONTEXT - 10, until(isOver))));
      }
      List<Future<Integer>> prompts = new ArrayList<>();
      for (int i = 0; i < PROMPTS; i++) {
        prompts.add(threads.submit(() -> generate(promptTokens, 1, piece -> {})));
      }
      for (Future<Integer> prompt : prompts) {
        assertThat(prompt.get()).isOne();
      }
      isOver.set(true);
      for (Future<Integer> stream : running) {
        stream.get();
      }
    }
    return IntStream.range(1, tokens.size())
        .mapToDouble(i -> gap(i) / usualNanos(streams, i))
        .sorted()
        .toArray();
  }

  private double gap(int i) {
    return tokens.get(i).time - tokens.get(i - 1).time;
  }

  /** Returns the time of a step without prompts. */
  private double usualNanos(int streams, int i) {
    return engine.nanos(streams, tokens.get(i).length);
  }

  private static double at(double share, double[] sorted) {
    return sorted[(int) (share * (sorted.length - 1))];
  }

  @ParameterizedTest
  @CsvSource({"1, 8192", "1, 16384"})
  void aStreamGoesOnWhileLongPromptsAreRead(int streams, int promptTokens) throws Exception {
    double[] gaps = gaps(streams, promptTokens);
    assertThat(at(0.99, gaps)).isLessThan(2.5);
    assertThat(at(1, gaps)).isLessThan(6);
    assertThat(engine.promptRows).isGreaterThanOrEqualTo(PROMPTS * promptTokens);
    assertThat(engine.preemptedRows).isGreaterThan(PROMPTS * promptTokens / 8);
    assertThat(engine.preemptedRows / engine.preemptedSteps).isGreaterThan(32);
  }

  @Test
  void shortPromptsShareTheStepsOfStreams() throws Exception {
    double[] gaps = gaps(1, 1024);
    assertThat(at(0.99, gaps)).isLessThan(2.5);
    assertThat(at(1, gaps)).isLessThan(6);
    assertThat(engine.promptRows).isGreaterThanOrEqualTo(PROMPTS * 1024);
  }

  @Test
  void otherEnginesHaveRowsOfPromptsInTheStepsOfStreams() throws Exception {
    engine.isPreemptible = false;
    double[] gaps = gaps(1, 1024);
    assertThat(at(0.99, gaps)).isLessThan(2.5);
    assertThat(engine.promptRows).isGreaterThanOrEqualTo(PROMPTS * 1024);
    assertThat(engine.promptRows / engine.promptSteps).isBetween(2, 64);
  }

  @Test
  void aStreamSurvivesAPromptStepThatFails() throws Exception {
    engine.staysPaced = true;
    AtomicBoolean isOver = new AtomicBoolean();
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      Future<Integer> stream = threads.submit(() -> generate(1, CONTEXT - 10, until(isOver)));
      generate(1000, 1, piece -> {});
      engine.failsPreempted = true;
      assertThat(catchThrowable(() -> generate(6000, 1, piece -> {})))
          .hasMessage("a prompt step fails");
      isOver.set(true);
      assertThat(stream.get()).isPositive();
    }
  }
}
