package dev.kvasir.lab.reproduce;

import dev.kvasir.lab.dataset.Dataset;
import dev.kvasir.lab.dataset.LongBench;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** The selections of LongBench that the papers use. */
final class LongBenchColumns {
  /**
   * Means of the six groups; with MultiFieldQA-zh among single documents the mean is the paper's.
   */
  static final List<AnswerColumn> GROUPS =
      List.of(
          AnswerColumn.of(
              "MQA", LongBench.HOTPOT_QA, LongBench.WIKI_QA, LongBench.MUSIQUE, LongBench.DUREADER),
          AnswerColumn.of(
              "SQA",
              LongBench.FIELD_QA,
              LongBench.FIELD_QA_ZH,
              LongBench.NARRATIVE_QA,
              LongBench.QASPER),
          AnswerColumn.of(
              "Summ.",
              LongBench.GOV_REPORT,
              LongBench.QMSUM,
              LongBench.MULTI_NEWS,
              LongBench.VCSUM),
          AnswerColumn.of(
              "Few-shot", LongBench.TRIVIA_QA, LongBench.SAMSUM, LongBench.TREC, LongBench.LSHT),
          AnswerColumn.of(
              "Synth.", LongBench.PASSAGES, LongBench.PASSAGE_COUNT, LongBench.PASSAGES_ZH),
          AnswerColumn.of("Code", LongBench.LCC, LongBench.REPOBENCH));

  /** The groups and the mean of all 21 data sets. */
  static final List<AnswerColumn> GROUPS_AND_MEAN = withMean(GROUPS, "Avg");

  /** The nine data sets of MixKVQ's table and their mean. */
  static final List<AnswerColumn> NINE =
      withMean(
          each(
              LongBench.QASPER,
              LongBench.FIELD_QA,
              LongBench.QMSUM,
              LongBench.MULTI_NEWS,
              LongBench.TREC,
              LongBench.TRIVIA_QA,
              LongBench.SAMSUM,
              LongBench.LCC,
              LongBench.REPOBENCH),
          "Avg.");

  /** The eight data sets of CommVQ's table and their mean. */
  static final List<AnswerColumn> EIGHT =
      withMean(
          each(
              LongBench.QASPER,
              LongBench.QMSUM,
              LongBench.MULTI_NEWS,
              LongBench.TREC,
              LongBench.TRIVIA_QA,
              LongBench.SAMSUM,
              LongBench.LCC,
              LongBench.REPOBENCH),
          "Average");

  private LongBenchColumns() {}

  private static List<AnswerColumn> each(Dataset... datasets) {
    return Stream.of(datasets).map(dataset -> AnswerColumn.of(dataset.name(), dataset)).toList();
  }

  static List<AnswerColumn> withMean(List<AnswerColumn> columns, String label) {
    List<AnswerColumn> all = new ArrayList<>(columns);
    all.add(AnswerColumn.average(label, columns));
    return List.copyOf(all);
  }
}
