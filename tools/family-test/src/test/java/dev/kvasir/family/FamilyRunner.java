package dev.kvasir.family;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.engine.Batch;
import dev.kvasir.format.GgufFile;
import dev.kvasir.kernel.KernelChoice;
import dev.kvasir.kernel.ScalarKernels;
import dev.kvasir.kernel.WorkerPool;
import dev.kvasir.lab.gradient.TracedDecoder;
import dev.kvasir.memory.MemoryPool;
import dev.kvasir.model.HostEngine;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Optional;
import java.util.OptionalInt;

/** A loaded model with the kernels that users get, and ways to run it. */
final class FamilyRunner implements AutoCloseable {
  /** The limit given to llama.cpp, which selects the LongRoPE factors by it. */
  private static final OptionalInt CONTEXT = OptionalInt.of(FamilyGolden.CONTEXT_LIMIT);

  private final WorkerPool workers;
  private final HostEngine engine;

  private FamilyRunner(WorkerPool workers, HostEngine engine) {
    this.workers = workers;
    this.engine = engine;
  }

  static FamilyRunner ofGguf(Path file) {
    WorkerPool workers = new WorkerPool(1);
    return new FamilyRunner(
        workers,
        HostEngine.load(
            GgufFile.open(file),
            CONTEXT,
            KernelChoice.ofThisProcess().kernels(),
            workers,
            MemoryPool.unlimited(),
            (done, inAll) -> {}));
  }

  static FamilyRunner ofFolder(Path folder) {
    WorkerPool workers = new WorkerPool(1);
    return new FamilyRunner(
        workers,
        HostEngine.load(
            folder,
            CONTEXT,
            KernelChoice.ofThisProcess().kernels(),
            workers,
            MemoryPool.unlimited(),
            (done, inAll) -> {}));
  }

  /** Returns the lab's decoder with the same weights. */
  TracedDecoder traced() {
    return new TracedDecoder(engine.config(), engine.weights(), 1, new ScalarKernels(), workers);
  }

  float[][] inOneStep(String spec, int[] tokens) {
    try (KvCache cache = newCache(spec)) {
      return step(cache, tokens);
    }
  }

  float[][] tokenByToken(String spec, int[] tokens) {
    return tokenByTokenAfter(new int[0], spec, tokens);
  }

  /**
   * Returns the logits of tokens decoded one by one after a text that was prefilled in one step.
   */
  float[][] tokenByTokenAfter(int[] text, String spec, int[] tokens) {
    try (KvCache cache = newCache(spec)) {
      if (text.length > 0) {
        step(cache, text);
      }
      float[][] rows = new float[tokens.length][];
      for (int t = 0; t < tokens.length; t++) {
        rows[t] = step(cache, tokens[t])[0];
      }
      return rows;
    }
  }

  /** Returns the greedy continuation of a prompt. */
  int[] greedy(String spec, int[] prompt, int count) {
    try (KvCache cache = newCache(spec)) {
      float[][] rows = step(cache, prompt);
      int[] ids = new int[count];
      for (int i = 0; i < count; i++) {
        ids[i] = likeliest(rows[rows.length - 1]);
        rows = step(cache, ids[i]);
      }
      return ids;
    }
  }

  /** Returns the logits of a token in a step that also computes the hidden states of a text. */
  float[] besideStates(int[] text, int token) {
    try (KvCache other = newCache("fp16");
        KvCache cache = newCache("fp16")) {
      Batch batch = new Batch();
      for (int id : text) {
        batch.addForState(other, id);
      }
      batch.add(cache, token, true);
      engine.forward(batch);
      int at = batch.logitsAt(0);
      return Arrays.copyOfRange(batch.logits(), at, at + batch.vocabulary());
    }
  }

  private KvCache newCache(String spec) {
    return engine.newCache(CacheSpec.parse(spec), Optional.empty(), FamilyGolden.CONTEXT_LIMIT);
  }

  private float[][] step(KvCache cache, int... tokens) {
    Batch batch = new Batch();
    for (int token : tokens) {
      batch.add(cache, token, true);
    }
    engine.forward(batch);
    float[][] rows = new float[tokens.length][];
    for (int t = 0; t < tokens.length; t++) {
      int at = batch.logitsAt(t);
      rows[t] = Arrays.copyOfRange(batch.logits(), at, at + batch.vocabulary());
    }
    return rows;
  }

  private static int likeliest(float[] logits) {
    int best = 0;
    for (int i = 1; i < logits.length; i++) {
      best = logits[i] > logits[best] ? i : best;
    }
    return best;
  }

  @Override
  public void close() {
    engine.close();
    workers.close();
  }
}
