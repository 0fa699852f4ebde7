package dev.kvasir.lab.mead;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.codec.mead.TableKind;
import java.util.Collections;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.IntPredicate;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class MeadTextsTest {
  private static final int PROSE = 96;
  private static final int TASKS = 48;

  /** Facts, tables, programs. */
  private static final int KINDS = 3;

  private static MeadTexts texts(int prose, int tasks) {
    return texts(prose, tasks, kinds());
  }

  private static MeadTexts texts(int prose, int tasks, TreeSet<TableKind> kinds) {
    MeadSettings settings =
        new MeadSettings(512, prose, tasks, 12, 100, Collections.unmodifiableSortedSet(kinds), 1);
    return new MeadTexts(
        Collections.nCopies(prose, new int[512]),
        Collections.nCopies(tasks, new MarkedText(new int[512], new boolean[512])),
        settings);
  }

  private static TreeSet<TableKind> kinds() {
    return new TreeSet<>(Set.of(TableKind.values()));
  }

  private static Set<Integer> kindsOfTasks(IntPredicate which) {
    return IntStream.range(0, TASKS)
        .filter(task -> which.test(PROSE + task))
        .mapToObj(task -> task % KINDS)
        .collect(Collectors.toSet());
  }

  @Test
  void everyKindOfTaskIsHeldOutAndRetained() {
    MeadTexts texts = texts(PROSE, TASKS);
    assertThat(kindsOfTasks(texts::isHeldOut)).containsExactlyInAnyOrder(0, 1, 2);
    assertThat(kindsOfTasks(texts::isRetained)).containsExactlyInAnyOrder(0, 1, 2);
  }

  @Test
  void noTextIsBothHeldOutAndRetained() {
    MeadTexts texts = texts(PROSE, TASKS);
    assertThat(IntStream.range(0, PROSE + TASKS))
        .noneMatch(text -> texts.isHeldOut(text) && texts.isRetained(text));
  }

  @Test
  void withoutTablesNoTextIsHeldOutAndUpToSixteenOfAKindAreRetained() {
    TreeSet<TableKind> off = new TreeSet<>(Set.of(TableKind.OFF));
    MeadTexts few = texts(12, 6, off);
    assertThat(IntStream.range(0, 18)).allMatch(few::isRetained).noneMatch(few::isHeldOut);
    MeadTexts many = texts(PROSE, TASKS, off);
    assertThat(IntStream.range(0, PROSE).filter(many::isRetained)).hasSize(16);
    assertThat(IntStream.range(PROSE, PROSE + TASKS).filter(many::isRetained)).hasSize(16);
    assertThat(many.settings().retainedTexts()).isEqualTo(32);
  }

  @Test
  void singleKindHasHeldOutAndMetricTexts() {
    for (MeadTexts texts : new MeadTexts[] {texts(12, 0), texts(0, 12)}) {
      assertThat(IntStream.range(0, 12)).anyMatch(texts::isHeldOut).anyMatch(texts::isRetained);
      assertThat(texts.metricTexts()).hasSize(12);
    }
  }
}
