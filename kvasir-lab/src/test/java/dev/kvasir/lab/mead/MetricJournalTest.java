package dev.kvasir.lab.mead;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.codec.CacheShape;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MetricJournalTest {
  @TempDir private Path folder;

  private MetricJournal journal(String source) {
    return new MetricJournal(folder.resolve("journal"), "model", source, new CacheShape(1, 1, 2));
  }

  private static float[] sums(int lossTokens) {
    MetricSums sums = new MetricSums(1, 1, 2, 2);
    sums.add(0, 0, 0, new float[] {1, 2, 3, 4}, 0, 2);
    sums.addLossTokens(lossTokens);
    return sums.floats();
  }

  @Test
  void questionsThatTheModelCannotAnswerDoNotCount() {
    MetricJournal journal = journal("texts");
    journal.add(sums(0), true);
    assertThat(journal.margins()).isNull();
    assertThat(journal.hasProse()).isFalse();
    journal.add(sums(4), false);
    assertThat(journal.margins()).isNull();
    assertThat(journal.hasProse()).isTrue();
    journal.add(sums(2), true);
    assertThat(journal.margins()).isNotNull();
  }

  @Test
  void onlyARunWithTheSameTextsResumes() {
    journal("texts").add(sums(4), false);
    MetricJournal resumed = journal("texts");
    assertThat(resumed.texts()).isEqualTo(1);
    assertThat(resumed.prose().keys(0, 0, 0)).containsExactly(0.25, 1);
    assertThat(journal("others").texts()).isZero();
  }
}
