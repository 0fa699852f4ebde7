package dev.kvasir.lab.eval;

import dev.kvasir.Model;
import dev.kvasir.Prefill;
import dev.kvasir.cache.KvCache;
import dev.kvasir.engine.Batch;
import dev.kvasir.text.TextStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.BiPredicate;

/** Runs sequences through the model, step by step, so that work is counted and can be ended. */
final class Steps {
  /** Prompt tokens of a step: as in a session, so that an evaluation meets what a user meets. */
  private static final int PROMPT_STEP = 256;

  /** Sequences that are continued together: weights are read once for all of them. */
  static final int SIDE_BY_SIDE = 32;

  private final Model model;
  private final Prefill prefill;
  private final Pace pace;
  private final Set<Integer> endOfText;
  private final Batch batch = new Batch();

  Steps(Model model, Prefill prefill, Pace pace) {
    this.model = model;
    this.prefill = prefill;
    this.pace = pace;
    this.endOfText = model.tokenizer().endOfText();
  }

  /**
   * Reads the ids before {@code to} of a prompt that begins where the cache ends. It is packed on
   * the way, or at its end.
   */
  void read(KvCache cache, int[] prompt, int to) {
    if (prefill == Prefill.EXACT) {
      cache.holdSealing(true);
      readSteps(cache, prompt, to);
      cache.holdSealing(false);
    } else {
      readSteps(cache, prompt, to);
    }
  }

  private void readSteps(KvCache cache, int[] prompt, int to) {
    int count;
    for (int from = 0; from < to; from += count) {
      count = Math.max(1, cache.stepOf(Math.min(PROMPT_STEP, to - from)));
      double work = Pace.reading(cache.length(), count);
      batch.clear();
      for (int i = from; i < from + count; i++) {
        batch.add(cache, prompt[i], false);
      }
      model.forward(batch);
      pace.count(work);
    }
  }

  /** Continues each draft with its likeliest tokens; at most {@link #SIDE_BY_SIDE} of them. */
  void write(List<Draft> drafts) {
    List<Pen> pens = new ArrayList<>();
    for (Draft draft : drafts) {
      read(draft.cache(), draft.prompt(), draft.prompt().length - 1);
      pens.add(new Pen(draft));
    }
    while (!pens.isEmpty()) {
      batch.clear();
      pens.forEach(pen -> batch.add(pen.draft.cache(), pen.next, true));
      model.forward(batch);
      double work = 0;
      for (int i = 0; i < pens.size(); i++) {
        work +=
            pens.get(i).take(Likeliest.of(batch.logits(), batch.logitsAt(i), batch.vocabulary()));
      }
      pens.removeIf(pen -> pen.lifted);
      pace.count(work);
    }
  }

  /**
   * Lets the model answer everything that is asked, each in a cache of its own.
   *
   * @param isEnough says of an answer so far that nothing is missing
   * @return what was written
   */
  <A extends Asked> List<String> answers(
      Contender row, List<A> asked, BiPredicate<A, String> isEnough) {
    List<Draft> drafts = new ArrayList<>();
    try {
      for (A one : asked) {
        drafts.add(
            new Draft(
                row.open(model, one.tokens()),
                one.prompt(),
                one.mostTokens(),
                text -> isEnough.test(one, text)));
      }
      write(drafts);
      return drafts.stream().map(Draft::text).toList();
    } finally {
      drafts.forEach(Draft::close);
    }
  }

  /** Where a draft is being continued. */
  private final class Pen {
    private final Draft draft;
    private final TextStream stream = model.tokenizer().stream(true);
    private int next;
    private int written;
    private boolean lifted;

    Pen(Draft draft) {
      this.draft = draft;
      this.next = draft.prompt()[draft.prompt().length - 1];
    }

    /** Takes the next token and answers with the work that this has spared or done. */
    double take(int token) {
      int past = draft.cache().length();
      next = token;
      written++;
      boolean over = endOfText.contains(token);
      boolean enough = !over && draft.append(stream.push(token));
      if (over || enough || written == draft.mostTokens()) {
        lifted = true;
        draft.append(stream.finish());
      }
      return Pace.writing(past, lifted ? draft.mostTokens() - written + 1 : 1);
    }
  }
}
