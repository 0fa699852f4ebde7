package dev.kvasir.lab.reproduce;

import dev.kvasir.lab.dataset.Dataset;
import dev.kvasir.lab.synthetic.SyntheticTask;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/**
 * A column of scores.
 *
 * @param sources data sets; the column is the mean of their scores
 * @param judge index of the metric in the data set's list
 * @param summary how the answers to a question count
 */
record AnswerColumn(String label, List<ItemSource> sources, int judge, Summary summary) {

  /** How several answers to each question become one score. */
  enum Summary {
    /** Mean over all answers. */
    MEAN,
    /** Score of the most frequent answer. */
    MAJORITY,
    /** Mean over all answers, with the deviation of runs that take one answer to each question. */
    PASS
  }

  static AnswerColumn of(String label, Dataset... datasets) {
    return of(label, Summary.MEAN, datasets);
  }

  static AnswerColumn of(String label, Summary summary, Dataset... datasets) {
    return new AnswerColumn(label, brought(datasets), 0, summary);
  }

  /** Returns the columns of all metrics of a data set. */
  static List<AnswerColumn> metrics(Dataset dataset) {
    return IntStream.range(0, dataset.metrics().size())
        .mapToObj(
            i -> new AnswerColumn(dataset.metrics().get(i), brought(dataset), i, Summary.MEAN))
        .toList();
  }

  static AnswerColumn generated(String label, SyntheticTask task, int context) {
    return new AnswerColumn(
        label, List.of(new ItemSource.Generated(label, task, context)), 0, Summary.MEAN);
  }

  /** Returns the mean over the sources of several columns. */
  static AnswerColumn average(String label, List<AnswerColumn> columns) {
    List<ItemSource> all = columns.stream().flatMap(column -> column.sources.stream()).toList();
    return new AnswerColumn(label, all, 0, Summary.MEAN);
  }

  private static List<ItemSource> brought(Dataset... datasets) {
    return Arrays.stream(datasets).<ItemSource>map(ItemSource.Brought::new).toList();
  }
}
