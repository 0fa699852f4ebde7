package dev.kvasir.lab.eval;

import dev.kvasir.Prefill;
import dev.kvasir.lab.work.Bundle;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiFunction;
import java.util.function.Predicate;

/**
 * Cuts what rows have not found yet into pieces, and puts what comes of them into the rows. Texts
 * come first, through a few rows at once; then row by row, so that an interruption leaves whole
 * rows. Figures do not depend on the cut: a sequence's bits are the same beside any others.
 */
final class EvaluationPlan {
  /**
   * Rows that a text flows through beside the reference. More of them would spare the reference's
   * reading; fewer lose less where a run is ended.
   */
  private static final int ROWS_OF_A_TEXT = 4;

  /** Rows of a generated text beside the reference; several texts are then written together. */
  private static final int ROWS_OF_A_DRIFT = 7;

  /** Sequences of a piece: with fewer, the weights would be read for hardly anything. */
  private static final int FEWEST_TOGETHER = 4;

  private final Workload work;
  private final List<RowInProgress> rows;
  private final Prefill prefill;
  private final int sideBySide;
  private final List<Bundle<?>> bundles = new ArrayList<>();

  private EvaluationPlan(Workload work, List<RowInProgress> rows, Prefill prefill, int sideBySide) {
    this.work = work;
    this.rows = rows;
    this.prefill = prefill;
    this.sideBySide = sideBySide;
  }

  /**
   * @param rows the reference first
   * @param sideBySide pieces that run at the same time
   */
  static List<Bundle<?>> of(
      Workload work, List<RowInProgress> rows, Prefill prefill, int sideBySide) {
    EvaluationPlan plan = new EvaluationPlan(work, rows, prefill, sideBySide);
    work.texts().forEach(plan::addText);
    if (!work.openings().isEmpty()) {
      groups(rows, row -> row.has(Task.DRIFT), ROWS_OF_A_DRIFT).forEach(plan::addDrift);
    }
    rows.forEach(plan::addOwn);
    return plan.bundles;
  }

  private void addText(StreamText text) {
    int most = Math.min(ROWS_OF_A_TEXT, Math.ceilDiv(rows.size() - 1, sideBySide));
    for (List<RowInProgress> group : groups(rows, text::isDoneBy, Math.max(1, most))) {
      TextPiece piece = new TextPiece(contenders(group), text, prefill);
      bundles.add(Bundle.of(piece, readings -> take(readings, group)));
    }
  }

  private static void take(TextPiece.Readings readings, List<RowInProgress> group) {
    for (int i = 0; i < group.size(); i++) {
      if (!readings.footprints().isEmpty()) {
        group.get(i).weigh(readings.footprints().get(i));
      }
      readings.scores().get(i).forEach(group.get(i)::put);
    }
  }

  private void addDrift(List<RowInProgress> group) {
    List<Contender> contenders = contenders(group);
    int most = Math.max(1, Steps.SIDE_BY_SIDE / group.size());
    int fair = Math.ceilDiv(work.openings().size(), sideBySide);
    bundles.add(
        new Bundle<>(
            parts(
                "opening",
                work.openings(),
                Math.min(most, fair),
                (openings, part) -> new DriftPiece(contenders, openings, part, prefill)),
            departures -> {
              for (int i = 0; i < group.size(); i++) {
                group.get(i).put(Task.DRIFT, DriftTally.score(departures, i));
              }
            }));
  }

  private void addOwn(RowInProgress row) {
    addPassages(row, Task.NEEDLE, work.needles());
    addPassages(row, Task.RECORDS, work.records());
    addPrograms(row);
    addExercises(row);
  }

  private void addPassages(RowInProgress row, Task task, List<Passage> passages) {
    if (passages.isEmpty() || row.has(task)) {
      return;
    }
    List<RetrievalPiece> pieces = new ArrayList<>();
    for (int i = 0; i < passages.size(); i++) {
      Passage passage = passages.get(i);
      List<Passage> asLong =
          passages.stream().filter(one -> one.context() == passage.context()).toList();
      int place = asLong.indexOf(passage);
      String part = Names.part("document", place, place + 1, asLong.size());
      pieces.add(new RetrievalPiece(task, row.contender(), passage, part, prefill));
    }
    bundles.add(
        new Bundle<>(pieces, right -> row.put(task, RetrievalTally.score(passages, right))));
  }

  private void addPrograms(RowInProgress row) {
    if (work.programs().isEmpty() || row.has(Task.CHAIN)) {
      return;
    }
    int steps = work.programs().getFirst().chain().steps();
    bundles.add(
        new Bundle<>(
            parts(
                "program",
                work.programs(),
                together(work.programs().size()),
                (some, part) -> new ChainPiece(row.contender(), some, part, prefill)),
            attempts -> row.put(Task.CHAIN, ChainPiece.score(attempts, steps))));
  }

  private void addExercises(RowInProgress row) {
    if (work.exercises().isEmpty() || row.has(Task.JSONL)) {
      return;
    }
    bundles.add(
        new Bundle<>(
            parts(
                "question",
                work.exercises(),
                together(work.exercises().size()),
                (some, part) -> new ExercisePiece(row.contender(), some, part, prefill)),
            right -> row.put(Task.JSONL, ExercisePiece.score(right))));
  }

  private int together(int sequences) {
    int fair = Math.max(FEWEST_TOGETHER, Math.ceilDiv(sequences, sideBySide));
    return Math.min(Steps.SIDE_BY_SIDE, fair);
  }

  private static <S, P> List<P> parts(
      String what, List<S> samples, int most, BiFunction<List<S>, String, P> piece) {
    List<P> pieces = new ArrayList<>();
    for (int from = 0; from < samples.size(); from += most) {
      int to = Math.min(from + most, samples.size());
      String part = Names.part(what, from, to, samples.size());
      pieces.add(piece.apply(List.copyOf(samples.subList(from, to)), part));
    }
    return pieces;
  }

  private static List<Contender> contenders(List<RowInProgress> group) {
    return group.stream().map(RowInProgress::contender).toList();
  }

  /** The rows that are missing, each group behind the reference. */
  private static List<List<RowInProgress>> groups(
      List<RowInProgress> rows, Predicate<RowInProgress> done, int most) {
    RowInProgress reference = rows.getFirst();
    List<RowInProgress> missing = rows.stream().skip(1).filter(done.negate()).toList();
    List<List<RowInProgress>> groups = new ArrayList<>();
    for (int from = 0; from < missing.size(); from += most) {
      List<RowInProgress> group = new ArrayList<>(List.of(reference));
      group.addAll(missing.subList(from, Math.min(from + most, missing.size())));
      groups.add(group);
    }
    return groups.isEmpty() && !done.test(reference) ? List.of(List.of(reference)) : groups;
  }
}
