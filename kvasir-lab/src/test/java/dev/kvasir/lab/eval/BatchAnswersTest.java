package dev.kvasir.lab.eval;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.SessionOptions.Prefill;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.lab.ProgressListener;
import dev.kvasir.lab.text.BundledText;
import dev.kvasir.lab.work.WorkerContext;
import dev.kvasir.runtime.LoadedModel;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.Serializable;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import kvasir.tools.ShallowModel;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BatchAnswersTest {
  @TempDir private static Path models;

  private static LoadedModel model;
  private static int[] book;

  private record Continuation(int[] prompt, int maxTokens) implements GenerationRequest {}

  @BeforeAll
  static void load() {
    model = LoadedModel.load(ShallowModel.write(models.resolve("shallow.gguf")));
    book = model.tokenizer().encode(BundledText.book());
  }

  @AfterAll
  static void close() {
    model.close();
  }

  private static List<CacheSpec> specs(String... texts) {
    return Arrays.stream(texts).map(CacheSpec::parse).toList();
  }

  /** Returns pieces of the book of different lengths. */
  private static List<Continuation> requests(int count, int tokens, int answerTokens) {
    List<Continuation> requests = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      int[] prompt = Arrays.copyOfRange(book, 50 * i, 50 * i + tokens + 7 * i);
      requests.add(new Continuation(prompt, answerTokens + i % 3));
    }
    return requests;
  }

  private static List<List<List<String>>> answers(
      BatchAnswers how, List<CacheSpec> caches, List<Continuation> requests) {
    return how.answer(model, "book", caches, requests, (done, total) -> {}).orElseThrow();
  }

  private static void assertSameAlone(
      BatchAnswers how, List<CacheSpec> caches, List<Continuation> requests) {
    List<List<List<String>>> together = answers(how, caches, requests);
    for (int row = 0; row < caches.size(); row++) {
      for (int i = 0; i < requests.size(); i++) {
        List<CacheSpec> one = List.of(caches.get(row));
        assertThat(answers(how, one, List.of(requests.get(i))).getFirst().getFirst())
            .as("%s, request %d", caches.get(row), i)
            .isEqualTo(together.get(row).get(i));
      }
    }
    assertThat(model.cacheMemory().usedBytes()).isZero();
  }

  @Test
  void answersOfABatchAreThoseOfEachRequestAlone() {
    assertSameAlone(
        BatchAnswers.greedy(),
        specs("fp16", "kivi:2,window=0,sinks=0", "pmkvq:2,window=0,sinks=0,widths=same"),
        requests(4, 120, 20));
  }

  @Test
  void sharedPromptsGiveTheAnswersOfEachCacheAlone() {
    assertSameAlone(
        new BatchAnswers(AnswerSampling.GREEDY, Prefill.EXACT, 0),
        specs(
            "kivi:2,window=0",
            "patternkv:2,sinks=16",
            "kivi:4",
            "mixkvq,high=0.6,mid=0.2",
            "kivi:2,sinks=16"),
        requests(2, 300, 12));
  }

  @Test
  void cachesWithEqualBlocksShareAPromptThatStaysDense() {
    assertThat(isShared("kivi:2", "kivi:4", 300, Prefill.EXACT)).isTrue();
    assertThat(isShared("fp16", "kivi:2", 300, Prefill.EXACT)).isTrue();
    assertThat(isShared("kivi:2", "kivi:4", 100, Prefill.CHUNKED)).isTrue();
    assertThat(isShared("kivi:2", "kivi:4", 300, Prefill.CHUNKED)).isFalse();
    assertThat(isShared("kivi:2", "kivi:2,sinks=16", 300, Prefill.EXACT)).isFalse();
    assertThat(isShared("fp16", "fp32", 300, Prefill.EXACT)).isFalse();
    assertThat(isShared("patternkv:2", "mixkvq,high=0.6,mid=0.2", 300, Prefill.EXACT)).isFalse();
    assertThat(isShared("patternkv:2", "pmkvq:2,sinks=0", 300, Prefill.EXACT))
        .as("its budget quantizes the prompt at once")
        .isFalse();
  }

  private static boolean isShared(String from, String to, int tokens, Prefill prefill) {
    try (KvCache one = model.newCache(CacheSpec.parse(from), 320);
        KvCache other = model.newCache(CacheSpec.parse(to), 320)) {
      return SharedPrefill.isPossible(one, other, tokens, prefill);
    }
  }

  @Test
  void morePromptsThanPlacesAreAllAnswered() {
    List<Continuation> requests = requests(BatchRunner.MAX_BATCH + 5, 3, 4);
    List<List<String>> all = answers(BatchAnswers.greedy(), specs("kivi:2"), requests).getFirst();
    assertThat(all).hasSize(requests.size()).allSatisfy(some -> assertThat(some).hasSize(1));
    Continuation last = requests.getLast();
    assertThat(answers(BatchAnswers.greedy(), specs("kivi:2"), List.of(last)).getFirst())
        .containsExactly(all.getLast());
  }

  @Test
  void seedDecidesSampledAnswers() {
    BatchAnswers how = new BatchAnswers(new AnswerSampling(0.9, 0.95, 5, 3), Prefill.CHUNKED, 0);
    List<Continuation> requests = requests(4, 130, 12);
    List<List<String>> first = answers(how, specs("kivi:4,window=0"), requests).getFirst();
    assertThat(answers(how, specs("kivi:4,window=0"), requests).getFirst()).isEqualTo(first);
    assertThat(first).allSatisfy(some -> assertThat(some).hasSize(5).doesNotHaveDuplicates());
    BatchAnswers other = new BatchAnswers(new AnswerSampling(0.9, 0.95, 5, 4), Prefill.CHUNKED, 0);
    assertThat(answers(other, specs("kivi:4,window=0"), requests).getFirst()).isNotEqualTo(first);
    assertThat(model.cacheMemory().usedBytes()).isZero();
  }

  @Test
  void everyFirstAnswerIsTheSameWithFewerAnswers() {
    AnswerSampling three = new AnswerSampling(1.2, 1, 3, 8);
    AnswerSampling one = new AnswerSampling(1.2, 1, 1, 8);
    List<Continuation> requests = requests(3, 20, 10);
    List<List<String>> many =
        answers(new BatchAnswers(three, Prefill.CHUNKED, 0), specs("fp16"), requests).getFirst();
    List<List<String>> few =
        answers(new BatchAnswers(one, Prefill.CHUNKED, 0), specs("fp16"), requests).getFirst();
    assertThat(few)
        .extracting(List::getFirst)
        .isEqualTo(many.stream().map(List::getFirst).toList());
  }

  @Test
  void cancelledRunReleasesItsCaches() {
    AtomicInteger reports = new AtomicInteger();
    Optional<List<List<List<String>>>> answers =
        BatchAnswers.greedy()
            .answer(
                model,
                "book",
                specs("kivi:2"),
                requests(3, 40, 30),
                new ProgressListener() {
                  @Override
                  public void progress(double done, double total) {
                    reports.incrementAndGet();
                  }

                  @Override
                  public boolean isCancelled() {
                    return reports.get() > 4;
                  }
                });
    assertThat(answers).isEmpty();
    assertThat(model.cacheMemory().usedBytes()).isZero();
  }

  @Test
  void tasksAndTheirAnswersCanBeSent() throws IOException, ClassNotFoundException {
    AnswerTask task =
        new AnswerTask(
            "book",
            List.of(CandidateCache.of(CacheSpec.parse("kivi:2"), model)),
            List.copyOf(requests(2, 30, 5)),
            0,
            new AnswerSampling(0.8, 1, 2, 1),
            Prefill.CHUNKED,
            "");
    AnswerTask.Texts here = task.run(WorkerContext.of(model), ProgressListener.NONE);
    AnswerTask.Texts there =
        ((AnswerTask) sent(task)).run(WorkerContext.of(model), ProgressListener.NONE);
    assertThat(sent(there)).isEqualTo(here);
  }

  private static Object sent(Serializable object) throws IOException, ClassNotFoundException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
      out.writeObject(object);
    }
    try (ObjectInputStream in =
        new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray()))) {
      return in.readObject();
    }
  }

  @Test
  void severalGreedyAnswersAreRefused() {
    assertThatThrownBy(() -> new AnswerSampling(0, 1, 4, 1))
        .hasMessage("4 answers at temperature 0; they would all be the same");
  }
}
