package dev.kvasir.lab.reproduce;

import dev.kvasir.error.InvalidInputException;
import dev.kvasir.lab.dataset.Dataset;
import dev.kvasir.lab.dataset.Item;
import dev.kvasir.lab.dataset.Programs;
import dev.kvasir.lab.dataset.SyntheticItems;
import dev.kvasir.lab.synthetic.SyntheticTask;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** Questions of a column. */
sealed interface ItemSource {
  /** Longest answer of a quick run. */
  int QUICK_ANSWER = 6;

  String name();

  /** Returns what the answers to its items depend on, for the journal. */
  String key(Request request);

  /** Returns what the source needs, in a few words; empty if nothing. */
  Optional<String> need();

  /** Rejects a request without what the source needs. */
  void check(Request request);

  List<Item> items(Conditions conditions);

  /** A benchmark that the user brings; a quick run without it takes lines of our own. */
  record Brought(Dataset dataset) implements ItemSource {
    @Override
    public String name() {
      return dataset.name();
    }

    /** Data sets in the same format have the same lines of our own. */
    @Override
    public String key(Request request) {
      return request.quick() && request.data().isEmpty()
          ? "lines of " + dataset.standIn()
          : dataset.name();
    }

    @Override
    public Optional<String> need() {
      return Optional.of(
          isCode() ? dataset.file() + " in --data, --run-code" : dataset.file() + " in --data");
    }

    private boolean isCode() {
      return dataset == Programs.LIVE_CODE || dataset == Programs.HUMAN_EVAL;
    }

    @Override
    public void check(Request request) {
      if (request.data().isPresent()) {
        String missing = dataset.missingFrom(request.data().get());
        if (!missing.isEmpty()) {
          throw new InvalidInputException(missing);
        }
      } else if (!request.quick()) {
        throw new InvalidInputException(
            "%s does not come with Kvasir; %s".formatted(dataset.name(), dataset.source()));
      }
      if (isCode() && !request.runCode() && !request.quick()) {
        throw new InvalidInputException(
            "%s runs generated programs; allow it with --run-code".formatted(dataset.name()));
      }
    }

    @Override
    public List<Item> items(Conditions conditions) {
      Request request = conditions.request();
      if (isCode() && !request.runCode()) {
        return List.of();
      }
      Optional<Path> data = request.data();
      List<Item> items =
          data.isPresent()
              ? dataset.read(data.get(), request.samples(Integer.MAX_VALUE, 1))
              : dataset.standIns().subList(0, 1);
      return request.quick()
          ? items.stream().map(item -> item.withMaxTokens(QUICK_ANSWER)).toList()
          : items;
    }
  }

  /** A generated task. */
  record Generated(String name, SyntheticTask task, int fullContext) implements ItemSource {
    private static final int QUICK_CONTEXT = 320;
    private static final int SAMPLES = 50;

    @Override
    public String key(Request request) {
      return name;
    }

    @Override
    public Optional<String> need() {
      return Optional.empty();
    }

    @Override
    public void check(Request request) {}

    @Override
    public List<Item> items(Conditions conditions) {
      int tokens = conditions.context(fullContext, QUICK_CONTEXT);
      List<Item> items =
          SyntheticItems.of(
              task,
              conditions.request().seed(),
              conditions.request().samples(SAMPLES, 1),
              tokens,
              text -> conditions.model().tokenizer().encode(text, false).length);
      return conditions.request().quick()
          ? items.stream().map(item -> item.withMaxTokens(QUICK_ANSWER)).toList()
          : items;
    }
  }
}
