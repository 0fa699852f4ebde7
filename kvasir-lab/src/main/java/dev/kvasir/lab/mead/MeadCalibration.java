package dev.kvasir.lab.mead;

import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.mead.HeadProfile;
import dev.kvasir.codec.mead.MeadProfile;
import dev.kvasir.codec.mead.TableKind;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.kernel.WorkerPool;
import dev.kvasir.lab.ProgressListener;
import dev.kvasir.lab.codebook.SampleStorage;
import dev.kvasir.lab.gradient.ActivationPrecision;
import dev.kvasir.lab.gradient.LayerVectors;
import dev.kvasir.lab.gradient.TextVisitor;
import dev.kvasir.lab.gradient.TracedDecoder;
import dev.kvasir.lab.work.OrderedDelivery;
import dev.kvasir.lab.work.Runner;
import dev.kvasir.profile.Profile;
import dev.kvasir.runtime.LoadedModel;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;

/**
 * Calibrates a model for Mead in five steps: generate or cut texts; read them for statistics of
 * each token; backpropagate the loss for the metric; fit tables; and fit components, tiers and
 * deviations of each head.
 */
public final class MeadCalibration {
  /** Minimum trace of a layer's metric relative to the mean over layers. */
  private static final double MIN_TRACE = 0.05;

  private final LoadedModel model;
  private final MeadSettings settings;
  private final TracedDecoder decoder;
  private final CacheShape shape;
  private final TokenKvLayout layout;
  private final Runner runner;
  private final Function<String, ProgressListener> phases;

  /**
   * @param phases starts a named phase and returns its listener
   */
  public MeadCalibration(
      LoadedModel model,
      MeadSettings settings,
      WorkerPool workers,
      Runner runner,
      Function<String, ProgressListener> phases) {
    this.model = model;
    this.settings = settings;
    this.decoder = TracedDecoder.of(model, 1, ActivationPrecision.BYTES, workers);
    this.shape = model.config().cacheShape();
    this.layout = new TokenKvLayout(decoder);
    this.runner = runner;
    this.phases = phases;
  }

  /**
   * @param texts prose and lookups, the latter with marked answers
   * @param storage storage for the vectors of retained texts
   * @param profile profile to extend
   * @return empty if the listener cancelled the calibration
   */
  public Optional<Profile> run(
      MeadTexts texts, MetricJournal journal, SampleStorage storage, Profile profile) {
    List<TextActivations> fitted = new ArrayList<>();
    List<TextActivations> heldOut = new ArrayList<>();
    Optional<TokenSums> read = read(texts, storage, fitted, heldOut);
    if (read.isEmpty() || !backpropagate(texts, journal)) {
      return Optional.empty();
    }
    return fit(read.get(), journal, fitted, heldOut, profile);
  }

  private Optional<TokenSums> read(
      MeadTexts texts,
      SampleStorage storage,
      List<TextActivations> fitted,
      List<TextActivations> heldOut) {
    ProgressListener listener = phases.apply("reading");
    List<int[]> all = texts.allTexts();
    List<TextReadingTask> tasks =
        IntStream.range(0, all.size())
            .mapToObj(
                i -> {
                  boolean isHeldOut = texts.isHeldOut(i);
                  boolean isRetained = isHeldOut || texts.isRetained(i);
                  return new TextReadingTask(
                      i, all.get(i), !isHeldOut, settings.hasTokenTables(), isRetained);
                })
            .toList();
    TokenSums sums =
        new TokenSums(layout, shape.layers(), tableRows(tasks), model.config().hidden());
    boolean complete =
        runner.<TextStatistics>run(
            tasks,
            listener,
            new OrderedDelivery<>(
                (read, i) -> {
                  TextReadingTask task = tasks.get(i);
                  if (task.contributes()) {
                    sums.add(read);
                  }
                  if (task.retainsVectors()) {
                    (task.contributes() ? fitted : heldOut)
                        .add(
                            TextActivations.of(
                                storage, "text-" + i, task.text(), read, shape.kvHeads()));
                  }
                }));
    return complete ? Optional.of(sums) : Optional.empty();
  }

  /** Returns the ids with a row in the token tables, which are known before any text is read. */
  private TableRows tableRows(List<TextReadingTask> tasks) {
    int[] frequencies = new int[model.config().vocabulary()];
    for (TextReadingTask task : tasks) {
      if (task.contributes()) {
        Arrays.stream(task.text()).skip(PageRanks.SINKS).forEach(id -> frequencies[id]++);
      }
    }
    return TableRows.mostFrequent(
        frequencies, settings.hasTokenTables() ? settings.tableRows() : 0);
  }

  /** Returns whether all texts were processed; texts in the journal are skipped. */
  private boolean backpropagate(MeadTexts texts, MetricJournal journal) {
    ProgressListener listener = phases.apply("gradients");
    List<MarkedText> all = texts.metricTexts();
    List<TextMetricTask> tasks =
        IntStream.range(journal.texts(), all.size())
            .mapToObj(i -> new TextMetricTask(i, all.get(i), settings.seed() + i))
            .toList();
    return runner.<float[]>run(
        tasks,
        listener,
        new OrderedDelivery<>((sums, i) -> journal.add(sums, tasks.get(i).marked().hasAnswers())));
  }

  private Optional<Profile> fit(
      TokenSums sums,
      MetricJournal journal,
      List<TextActivations> fitted,
      List<TextActivations> heldOut,
      Profile profile) {
    ProgressListener listener = phases.apply("fitting");
    Metric[][] metrics = metrics(sums, journal, fitted, heldOut);
    Profile made = profile;
    int done = 0;
    for (TableKind kind : settings.tables()) {
      IntFunction<LayerTable> tables = tables(kind, sums, metrics, fitted, heldOut);
      List<List<HeadProfile>> layers = new ArrayList<>();
      for (int layer = 0; layer < shape.layers() && !listener.isCancelled(); layer++) {
        layers.add(heads(layer, metrics[layer], fitted, heldOut, tables.apply(layer)));
        listener.progress(++done, shape.layers() * settings.tables().size());
      }
      if (listener.isCancelled()) {
        return Optional.empty();
      }
      int[] tokenRows = kind == TableKind.TOKENS ? sums.rows().rowOfIds() : new int[0];
      made = new MeadProfile(kind, layers, tokenRows).addTo(made, shape);
    }
    return Optional.of(
        settings.hasTokenTables() ? new FirstLayerRows(model).read().addTo(made, shape) : made);
  }

  /**
   * The table rows that are subtracted from vectors of a layer.
   *
   * @param rows (rows, width of {@link TokenKvLayout})
   * @param weights frequency of each row
   * @param assignments row assignment by head
   */
  private record LayerTable(
      float[] rows, double[] weights, IntFunction<RowAssignment> assignments) {}

  private IntFunction<LayerTable> tables(
      TableKind kind,
      TokenSums sums,
      Metric[][] metrics,
      List<TextActivations> fitted,
      List<TextActivations> heldOut) {
    return switch (kind) {
      case TOKENS -> {
        TableRows rows = sums.rows();
        float[][] contextFree = contextFree(rows, sums);
        RowAssignment assignment = RowAssignment.byId(rows::rowOf);
        yield layer ->
            new LayerTable(
                table(layer, rows, sums, contextFree[layer]), rows.weights(), head -> assignment);
      }
      case CENTROIDS -> layer -> centroids(layer, metrics[layer], fitted, heldOut);
      case OFF -> {
        RowAssignment first = RowAssignment.byId(id -> 0);
        yield layer -> new LayerTable(sums.mean(layer), new double[] {1}, head -> first);
      }
    };
  }

  private LayerTable centroids(
      int layer, Metric[] metrics, List<TextActivations> fitted, List<TextActivations> heldOut) {
    float[] rows = new float[HeadCentroids.ROWS * layout.width()];
    RowAssignment[] picks = new RowAssignment[shape.kvHeads()];
    List<TextActivations> all = joined(fitted, heldOut);
    decoder
        .workers()
        .run(
            (head, worker) ->
                picks[head] =
                    new HeadCentroids(layer, head, layout, decoder.kernels())
                        .fit(metrics[head], fitted, all, rows),
            shape.kvHeads());
    return new LayerTable(rows, HeadCentroids.weights(), head -> picks[head]);
  }

  private static List<TextActivations> joined(
      List<TextActivations> fitted, List<TextActivations> heldOut) {
    List<TextActivations> all = new ArrayList<>(fitted);
    all.addAll(heldOut);
    return all;
  }

  private Metric[][] metrics(
      TokenSums sums,
      MetricJournal journal,
      List<TextActivations> fitted,
      List<TextActivations> heldOut) {
    List<TextActivations> all = joined(fitted, heldOut);
    RowAssignment first = RowAssignment.byId(id -> 0);
    Covariance[][] spread = new Covariance[shape.layers()][shape.kvHeads()];
    decoder
        .workers()
        .run(
            (part, worker) -> {
              int layer = part / shape.kvHeads();
              int head = part % shape.kvHeads();
              float[] mean = sums.mean(layer);
              spread[layer][head] = covariance(all, layer, head, mean, first);
            },
            shape.layers() * shape.kvHeads());
    MetricSums prose = journal.prose();
    MetricSums margins = journal.margins();
    double share = 1;
    if (margins == null && !journal.hasProse()) {
      throw new InvalidInputException(
          "the model answers none of the calibration lookups; expected some prose (--texts)");
    }
    if (margins != null && journal.hasProse()) {
      share = traces(prose, null, 1, spread).sum() / traces(margins, null, 1, spread).sum();
    }
    double[] byLayer = traces(prose, margins, share, spread).toArray();
    double mean = Arrays.stream(byLayer).average().orElseThrow();
    Metric[][] metrics = new Metric[shape.layers()][shape.kvHeads()];
    for (int layer = 0; layer < shape.layers(); layer++) {
      double raised = Math.max(1, MIN_TRACE * mean / Math.max(byLayer[layer], Double.MIN_NORMAL));
      for (int head = 0; head < shape.kvHeads(); head++) {
        metrics[layer][head] = Metric.of(prose, margins, share, raised, layer, head);
      }
    }
    return metrics;
  }

  private DoubleStream traces(
      MetricSums first, MetricSums second, double share, Covariance[][] spread) {
    return IntStream.range(0, shape.layers())
        .mapToDouble(
            layer ->
                IntStream.range(0, shape.kvHeads())
                    .mapToDouble(
                        head ->
                            Metric.of(first, second, share, 1, layer, head)
                                .trace(spread[layer][head].keys(), spread[layer][head].values()))
                    .sum());
  }

  private Covariance covariance(
      List<TextActivations> texts, int layer, int head, float[] rows, RowAssignment assignment) {
    return Covariance.of(
        texts, layer, head, layout, rows, assignment, shape.keyDim(), shape.valueDim());
  }

  private List<HeadProfile> heads(
      int layer,
      Metric[] metrics,
      List<TextActivations> fitted,
      List<TextActivations> heldOut,
      LayerTable table) {
    HeadProfile[] heads = new HeadProfile[shape.kvHeads()];
    List<TextActivations> all = joined(fitted, heldOut);
    decoder
        .workers()
        .run(
            (head, worker) -> {
              RowAssignment assignment = table.assignments.apply(head);
              Covariance left = residuals(layer, head, fitted, heldOut, table.rows, assignment);
              HeadFit fit =
                  new HeadFit(
                      layer,
                      head,
                      layout,
                      shape.keyDim(),
                      shape.valueDim(),
                      metrics[head],
                      left,
                      table.rows,
                      table.weights);
              heads[head] = fit.fit(all, assignment);
            },
            shape.kvHeads());
    return List.of(heads);
  }

  /** Weighs held-out texts as much as all others, to which tables are fitted. */
  private Covariance residuals(
      int layer,
      int head,
      List<TextActivations> fitted,
      List<TextActivations> heldOut,
      float[] rows,
      RowAssignment assignment) {
    Covariance ofFitted = covariance(fitted, layer, head, rows, assignment);
    return heldOut.isEmpty()
        ? ofFitted
        : Covariance.mean(ofFitted, covariance(heldOut, layer, head, rows, assignment));
  }

  /** Computes the keys and values of each table id without context. */
  private float[][] contextFree(TableRows rows, TokenSums sums) {
    int[] ids = rows.ids();
    float[][] found = new float[shape.layers()][ids.length * layout.width()];
    int some = settings.length();
    float[][] updates = sums.meanUpdates();
    for (int first = 0; first < ids.length; first += some) {
      int begin = first;
      int[] part = Arrays.copyOfRange(ids, first, Math.min(first + some, ids.length));
      decoder.withoutContext(
          part,
          updates,
          new TextVisitor() {
            @Override
            public boolean forward(LayerVectors seen) {
              float[] joined = layout.joined(seen.layer(), seen.keys(), seen.values());
              int at = begin * layout.width();
              System.arraycopy(joined, 0, found[seen.layer()], at, joined.length);
              return true;
            }
          });
    }
    return found;
  }

  /** Returns the rows of the table: one for each id, and one for all others. */
  private float[] table(int layer, TableRows rows, TokenSums sums, float[] contextFree) {
    TokenFeatures features = TokenFeatures.of(decoder, rows.ids(), contextFree, layout.width());
    float[] ofIds =
        TokenTable.fit(
            features.numbers(),
            features.count(),
            rows.counts(),
            sums.sums(layer),
            layout.width(),
            decoder.workers());
    float[] table = Arrays.copyOf(ofIds, rows.rows() * layout.width());
    float[] mean = sums.mean(layer);
    System.arraycopy(mean, 0, table, rows.ids().length * layout.width(), mean.length);
    return table;
  }

  /**
   * Context-free features of tokens: normalized embeddings, context-free keys and values of a
   * layer, and a constant.
   *
   * @param numbers (tokens, count), each scaled to a standard deviation of 1
   */
  private record TokenFeatures(float[] numbers, int count) {
    private static final double MIN_DEVIATION = 1e-6;

    /**
     * @param contextFree (tokens, width)
     */
    static TokenFeatures of(TracedDecoder decoder, int[] ids, float[] contextFree, int width) {
      int hidden = decoder.config().hidden();
      int count = hidden + width + 1;
      float[] embeddings = decoder.embeddings(ids);
      float[] numbers = new float[ids.length * count];
      for (int token = 0; token < ids.length; token++) {
        double squares = 0;
        for (int i = 0; i < hidden; i++) {
          squares += embeddings[token * hidden + i] * (double) embeddings[token * hidden + i];
        }
        double length = Math.sqrt(squares / hidden + decoder.config().normEpsilon());
        int at = token * count;
        for (int i = 0; i < hidden; i++) {
          numbers[at + i] = (float) (embeddings[token * hidden + i] / length);
        }
        System.arraycopy(contextFree, token * width, numbers, at + hidden, width);
        numbers[at + count - 1] = 1;
      }
      for (int i = 0; i < count - 1; i++) {
        scale(numbers, count, i, ids.length);
      }
      return new TokenFeatures(numbers, count);
    }

    private static void scale(float[] numbers, int count, int feature, int tokens) {
      double sum = 0;
      double squares = 0;
      for (int token = 0; token < tokens; token++) {
        double x = numbers[token * count + feature];
        sum += x;
        squares += x * x;
      }
      double mean = sum / tokens;
      double deviation = Math.sqrt(Math.max(0, squares / tokens - mean * mean));
      float factor = (float) (1 / Math.max(deviation, MIN_DEVIATION));
      for (int token = 0; token < tokens; token++) {
        numbers[token * count + feature] *= factor;
      }
    }
  }
}
