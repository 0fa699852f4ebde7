package dev.kvasir.lab.reproduce;

import dev.kvasir.SessionOptions;
import dev.kvasir.cache.KvCache;
import dev.kvasir.engine.Batch;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.lab.reproduce.Figures.Cell;
import dev.kvasir.lab.reproduce.Figures.Line;
import dev.kvasir.runtime.LoadedModel;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * A table by batch size: each row is a cache, each column a number of sequences that are generated
 * together. Memory is the weights' and the caches' at the end; it is computed, not measured.
 */
record BatchTable(
    List<TableRow> rows,
    List<Integer> batches,
    int promptTokens,
    int answerTokens,
    Quantity quantity)
    implements Procedure {
  private static final List<Integer> QUICK_BATCHES = List.of(1);
  private static final int QUICK_PROMPT = 160;
  private static final int QUICK_ANSWER = 2;
  private static final int CHUNK = 256;
  private static final double GIGA = 1e9;

  /** What is shown of a batch. */
  enum Quantity {
    SECONDS("seconds for prompts and answers together"),
    TOKENS_PER_SECOND("generated tokens per second, prompts included in the time"),
    GIGABYTES("gigabytes of weights and caches");

    private final String unit;

    Quantity(String unit) {
      this.unit = unit;
    }
  }

  @Override
  public List<String> needs() {
    return quantity == Quantity.GIGABYTES
        ? List.of()
        : List.of("a quiet machine; on a GPU: kvasir bench gpu --steps");
  }

  @Override
  public Optional<Figures> run(Conditions conditions) {
    boolean quick = conditions.request().quick();
    List<Integer> sizes = quick ? QUICK_BATCHES : batches;
    int prompt = conditions.context(promptTokens, QUICK_PROMPT);
    int answer = quick ? QUICK_ANSWER : answerTokens;
    prompt = Math.min(prompt, conditions.model().config().contextLength() - answer);
    List<Line> lines = new ArrayList<>();
    List<String> notes = new ArrayList<>(List.of("cells are " + quantity.unit));
    int part = 0;
    for (TableRow row : PaperCaches.suited(rows, conditions.model())) {
      Optional<String> obstacle = row.obstacle(conditions.model());
      obstacle.ifPresent(notes::add);
      List<Cell> cells = new ArrayList<>();
      for (int size : sizes) {
        if (conditions.listener().isCancelled()) {
          return Optional.empty();
        }
        cells.add(
            obstacle.isPresent() ? Cell.NONE : cell(conditions.model(), row, size, prompt, answer));
        conditions.listener().progress(++part, rows.size() * sizes.size());
      }
      lines.add(new Line(row.label(), row.spec(), cells));
    }
    return Optional.of(
        new Figures(sizes.stream().map(size -> "bz=" + size).toList(), lines, notes));
  }

  private Cell cell(LoadedModel model, TableRow row, int size, int prompt, int answer) {
    if (quantity == Quantity.GIGABYTES) {
      int tokens = prompt + answer;
      SessionOptions options =
          SessionOptions.builder().cache(row.cache()).contextLimit(tokens).build();
      long bytes = model.weightBytes() + size * model.maxCacheBytes(options, tokens);
      return Cell.of(bytes / GIGA);
    }
    try {
      double seconds = generate(model, row, size, prompt, answer) / 1e9;
      return Cell.of(quantity == Quantity.SECONDS ? seconds : size * (double) answer / seconds);
    } catch (InvalidInputException | OutOfMemoryError e) {
      return Cell.NONE; // as a dash in the papers: it does not fit
    }
  }

  private static long generate(LoadedModel model, TableRow row, int size, int prompt, int answer) {
    int[] ids = model.tokenizer().encode(Novel.start(prompt + size + answer));
    List<KvCache> caches = new ArrayList<>();
    try {
      for (int i = 0; i < size; i++) {
        caches.add(model.newCache(row.cache(), prompt + answer));
      }
      long start = System.nanoTime();
      for (int i = 0; i < size; i++) {
        int from = i % Math.max(1, ids.length - prompt);
        prefill(model, caches.get(i), Arrays.copyOfRange(ids, from, from + prompt));
      }
      decode(model, caches, ids, answer);
      return System.nanoTime() - start;
    } finally {
      caches.forEach(KvCache::close);
    }
  }

  private static void prefill(LoadedModel model, KvCache cache, int[] ids) {
    Batch batch = new Batch();
    int count;
    for (int from = 0; from < ids.length; from += count) {
      count = Math.max(1, cache.stepCapacity(Math.min(CHUNK, ids.length - from)));
      batch.clear();
      for (int i = from; i < from + count; i++) {
        batch.add(cache, ids[i], false);
      }
      model.forward(batch);
    }
  }

  private static void decode(LoadedModel model, List<KvCache> caches, int[] ids, int answer) {
    Batch batch = new Batch();
    for (int i = 0; i < answer; i++) {
      int token = ids[i];
      batch.clear();
      caches.forEach(cache -> batch.add(cache, token, true));
      model.forward(batch);
    }
  }
}
