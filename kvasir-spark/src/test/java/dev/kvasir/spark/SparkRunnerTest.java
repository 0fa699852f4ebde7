package dev.kvasir.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.google.gson.JsonElement;
import com.google.gson.JsonParser;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.lab.ProgressListener;
import dev.kvasir.lab.eval.CacheEvaluator;
import dev.kvasir.lab.eval.Evaluation;
import dev.kvasir.lab.eval.EvaluationJournal;
import dev.kvasir.lab.eval.EvaluationJson;
import dev.kvasir.lab.eval.EvaluationSettings;
import dev.kvasir.lab.eval.Sources;
import dev.kvasir.lab.eval.Task;
import dev.kvasir.lab.work.LabTask;
import dev.kvasir.lab.work.LocalRunner;
import dev.kvasir.lab.work.Runner;
import dev.kvasir.lab.work.RunnerProvider;
import dev.kvasir.lab.work.TaskInput;
import dev.kvasir.lab.work.TaskInputs;
import dev.kvasir.lab.work.WorkCancelledException;
import dev.kvasir.lab.work.WorkerContext;
import dev.kvasir.runtime.EngineOptions;
import dev.kvasir.runtime.LoadedModel;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.BitSet;
import java.util.Collections;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import kvasir.tools.ShallowModel;
import org.apache.spark.SparkContext;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SparkRunnerTest {
  private static final Map<String, String> HERE =
      Map.of("spark.ui.enabled", "false", "spark.driver.host", "127.0.0.1");

  @TempDir private static Path models;
  private static LoadedModel model;
  private static String expected;

  @BeforeAll
  static void measureWithoutSpark() {
    assumeTrue(
        SparkRunnerProvider.runsOnThisJava(), "Spark does not run on Java " + Runtime.version());
    model =
        LoadedModel.load(
            ShallowModel.write(models.resolve("shallow.gguf")),
            EngineOptions.defaults().withThreads(1));
    expected = figures(evaluate(new LocalRunner(WorkerContext.of(model)), ProgressListener.NONE));
  }

  @AfterAll
  static void close() {
    if (model != null) {
      model.close();
    }
  }

  private static CacheEvaluator evaluator() {
    return new CacheEvaluator(
        model,
        new EvaluationSettings(
                List.of(CacheSpec.parse("kivi:2,window=0")),
                EnumSet.of(Task.KLD, Task.NEEDLE, Task.CHAIN),
                List.of(260),
                5,
                1,
                1)
            .untimed(),
        Sources.bundled(true));
  }

  private static Evaluation evaluate(Runner runner, ProgressListener listener) {
    return evaluator().run(runner, listener, EvaluationJournal.none());
  }

  private static String figures(Evaluation evaluation) {
    assertThat(evaluation.complete()).isTrue();
    return EvaluationJson.of(evaluation);
  }

  private static Runner spark(String place, Map<String, String> settings) {
    return new SparkRunnerProvider()
        .open(
            new RunnerProvider.RunnerRequest(place, settings, false, TaskInputs.bundled(), model));
  }

  /** Returns the text of a file and how many models its process has loaded. */
  private record Reading(String file) implements LabTask<String> {
    @Override
    public String name() {
      return "reading " + file;
    }

    @Override
    public double cost() {
      return 1;
    }

    @Override
    public String run(WorkerContext context, ProgressListener listener) {
      Path here = context.file(Path.of(file));
      assertThat(here).isNotEqualTo(Path.of(file));
      try {
        return Files.readString(here) + " " + System.identityHashCode(context.model());
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  @Tag("thorough")
  @Test
  void twoWorkersGiveTheSameBitsEvenIfOneIsLost(@TempDir Path folder) throws IOException {
    Path content = Files.writeString(folder.resolve("c0ffee"), "sent along");
    Path file = Files.createSymbolicLink(folder.resolve("text"), content);
    TaskInputs inputs =
        TaskInputs.bundled()
            .with(TaskInput.of(TaskInput.Role.MODEL, models.resolve("shallow.gguf")))
            .with(TaskInput.of(TaskInput.Role.FILE, file));
    try (StandaloneCluster cluster = new StandaloneCluster(folder, 2);
        Runner runner =
            new SparkRunnerProvider(Duration.ofSeconds(1))
                .open(
                    new RunnerProvider.RunnerRequest(
                        cluster.address(), StandaloneCluster.settings(2), true, inputs, model))) {
      assertThat(runner.parallelism()).isEqualTo(2);
      Set<String> read = new HashSet<>();
      runner.<String>run(
          Collections.nCopies(6, new Reading(file.toString())),
          ProgressListener.NONE,
          (index, result) -> read.add(result));
      assertThat(read).as("a model for each executor").hasSizeBetween(1, 2);
      assertThat(read).allMatch(text -> text.startsWith("sent along "));
      assertThat(figures(evaluate(runner, ProgressListener.NONE))).isEqualTo(expected);
      boolean[] killed = {false};
      ProgressListener killer =
          (done, total) -> {
            if (done > 0 && !killed[0]) {
              killed[0] = true;
              cluster.killWorker();
            }
          };
      assertThat(figures(evaluate(runner, killer))).isEqualTo(expected);
      assertThat(killed[0]).isTrue();
      cluster.killWorker();
      assertThatThrownBy(() -> evaluate(runner, ProgressListener.NONE))
          .isInstanceOf(InvalidInputException.class)
          .hasMessageContaining("where no executor has been for");
    }
  }

  @Test
  void localTasksGiveTheSameBitsAndAreNamedInTheSparkUi() throws IOException, InterruptedException {
    Map<String, String> settings = Map.of("spark.ui.port", "0", "spark.driver.host", "127.0.0.1");
    try (Runner runner = spark("local[4]", settings);
        HttpClient client = HttpClient.newHttpClient()) {
      assertThat(runner.parallelism()).isEqualTo(4);
      assertThat(figures(evaluate(runner, ProgressListener.NONE))).isEqualTo(expected);
      String applications = runner.dashboardUrl().orElseThrow() + "/api/v1/applications";
      String id = read(client, applications).getFirst().getAsJsonObject().get("id").getAsString();
      assertThat(read(client, applications + "/" + id + "/jobs"))
          .extracting(job -> job.getAsJsonObject().get("description").getAsString())
          .containsExactlyInAnyOrder(
              "the text with fp16; kivi:2,window=0",
              "needle with fp16, 260 tokens, document 1 of 3",
              "needle with fp16, 260 tokens, document 2 of 3",
              "needle with fp16, 260 tokens, document 3 of 3",
              "chain with fp16, programs 1 to 4 of 5",
              "chain with fp16, program 5 of 5",
              "needle with kivi:2,window=0, 260 tokens, document 1 of 3",
              "needle with kivi:2,window=0, 260 tokens, document 2 of 3",
              "needle with kivi:2,window=0, 260 tokens, document 3 of 3",
              "chain with kivi:2,window=0, programs 1 to 4 of 5",
              "chain with kivi:2,window=0, program 5 of 5");
    }
  }

  private static List<JsonElement> read(HttpClient client, String address)
      throws IOException, InterruptedException {
    HttpRequest request = HttpRequest.newBuilder(URI.create(address)).build();
    String body = client.send(request, HttpResponse.BodyHandlers.ofString()).body();
    return JsonParser.parseString(body).getAsJsonArray().asList();
  }

  /** Simulates a driver that dies during its work. */
  private static final class Death extends RuntimeException {
    private static final long serialVersionUID = 1L;
  }

  @Test
  void finishedTasksOfADeadDriverAreNotRunAgain(@TempDir Path folder) {
    Path file = folder.resolve("journal");
    double[] work = {0, 0};
    try (Runner runner = spark("local[2]", HERE)) {
      ProgressListener dying =
          (done, total) -> {
            work[0] = total;
            if (done > total / 2) {
              throw new Death();
            }
          };
      assertThatThrownBy(
              () -> evaluator().run(runner, dying, EvaluationJournal.at(file, "a build")))
          .isInstanceOf(Death.class);
    }
    try (Runner runner = spark("local[2]", HERE)) {
      Evaluation rest =
          evaluator()
              .run(runner, (done, total) -> work[1] = total, EvaluationJournal.at(file, "a build"));
      assertThat(figures(rest)).isEqualTo(expected);
    }
    assertThat(work[1]).isPositive().isLessThan(work[0]);
  }

  private record Refusing(String name) implements LabTask<Integer> {
    private static final AtomicInteger TRIES = new AtomicInteger();

    @Override
    public double cost() {
      return 1;
    }

    @Override
    public Integer run(WorkerContext context, ProgressListener listener) {
      TRIES.incrementAndGet();
      throw new InvalidInputException("name is '%s'; expected another".formatted(name));
    }
  }

  @Test
  void rejectionIsAMessageAndNotRetried() {
    try (Runner runner = spark("local[1,4]", HERE)) {
      assertThatThrownBy(
              () ->
                  runner.<Integer>run(
                      List.of(new Refusing("this")), ProgressListener.NONE, (index, result) -> {}))
          .isInstanceOf(InvalidInputException.class)
          .hasMessage("name is 'this'; expected another");
      assertThat(Refusing.TRIES).hasValue(1);
    }
  }

  /** The first task waits for a signal; all share this process. */
  private record InLine(int place) implements LabTask<Integer> {
    private static final AtomicBoolean SAID = new AtomicBoolean();

    @Override
    public String name() {
      return "place " + place;
    }

    @Override
    public double cost() {
      return 1;
    }

    @Override
    public Integer run(WorkerContext context, ProgressListener listener) {
      while (place == 0 && !SAID.get()) {
        if (listener.isCancelled()) {
          throw new WorkCancelledException();
        }
        LockSupport.parkNanos(1_000_000);
      }
      return place;
    }
  }

  @Test
  void tasksStayCloseToTheFirstUnfinishedOne() {
    int twoPerSlot = 4;
    BitSet delivered = new BitSet();
    try (Runner runner = spark("local[2]", HERE)) {
      runner.<Integer>run(
          IntStream.range(0, 20).mapToObj(InLine::new).toList(),
          ProgressListener.NONE,
          (index, result) -> {
            assertThat(result).isEqualTo(index);
            assertThat(index).isLessThan(delivered.nextClearBit(0) + twoPerSlot);
            delivered.set(index);
            if (delivered.cardinality() == twoPerSlot - 1) {
              InLine.SAID.set(true);
            }
          });
    }
    assertThat(delivered.cardinality()).isEqualTo(20);
  }

  private record Endless() implements LabTask<Integer> {
    private static final AtomicInteger BEGUN = new AtomicInteger();

    @Override
    public String name() {
      return "no end";
    }

    @Override
    public double cost() {
      return 1;
    }

    @Override
    public Integer run(WorkerContext context, ProgressListener listener) {
      BEGUN.incrementAndGet();
      while (!listener.isCancelled()) {
        LockSupport.parkNanos(1_000_000);
      }
      throw new WorkCancelledException();
    }
  }

  /** Cancels work as soon as a condition is true. */
  private static ProgressListener until(BooleanSupplier end) {
    return new ProgressListener() {
      @Override
      public void progress(double done, double total) {}

      @Override
      public boolean isCancelled() {
        return end.getAsBoolean();
      }
    };
  }

  @Test
  void runningTasksEndWhenTheWorkIsCancelled() {
    try (Runner runner = spark("local[2]", HERE)) {
      int before = Endless.BEGUN.get();
      ProgressListener stopping = until(() -> Endless.BEGUN.get() == before + 2);
      assertThat(
              runner.<Integer>run(
                  Collections.nCopies(3, new Endless()), stopping, (index, result) -> {}))
          .isFalse();
    } // would block if the tasks were still running
  }

  @Test
  void workStoppedWithSparkIsCancelledNotFailed() {
    try (Runner runner = spark("local[1]", HERE)) {
      AtomicBoolean stopped = new AtomicBoolean();
      assertThat(
              runner.<Integer>run(
                  List.of(new InLine(1), new Endless()),
                  until(stopped::get),
                  (index, result) -> {
                    SparkContext.getOrCreate().stop(); // as the driver does when its process ends
                    stopped.set(true);
                  }))
          .isFalse();
    }
  }

  @Test
  void contextStoppedElsewhereIsReported() {
    try (Runner runner = spark("local[1]", HERE)) {
      assertThatThrownBy(
              () ->
                  runner.<Integer>run(
                      List.of(new InLine(1), new Endless()),
                      ProgressListener.NONE,
                      (index, result) -> SparkContext.getOrCreate().stop()))
          .isInstanceOf(InvalidInputException.class)
          .hasMessage(
              "--on is 'local[1]', which has ended the work of this command; its master's log may"
                  + " say why");
    }
  }
}
