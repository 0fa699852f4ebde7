package dev.kvasir.cache;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.cache.KvCache.Checkpoint;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.StateShape;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.memory.MemoryFullException;
import dev.kvasir.memory.MemoryPool;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.junit.jupiter.api.Test;

class RecurrentStatesTest {
  private static final int FLOATS = 3;

  /** States are smaller than the keys and values of a step, so every 256th position may stay. */
  private static final CacheShape SHAPE =
      new CacheShape(1, 1, 1).withState(new StateShape(2, FLOATS));

  private static final long BYTES = SHAPE.state().bytes();

  private final MemoryPool pool = MemoryPool.unlimited();
  private final RecurrentStates states = new RecurrentStates(SHAPE, pool, false);

  /** Runs a step that ends at a position, whose number is its state. */
  private static void step(RecurrentStates states, int position) {
    states.reserve();
    for (int layer = 0; layer < 2; layer++) {
      float[] numbers = {position, layer, -position};
      states.write(layer, 0, numbers, 0, FLOATS);
    }
    states.commit(position);
  }

  private static float[] read(RecurrentStates states, int layer) {
    float[] numbers = new float[FLOATS];
    states.read(layer, 0, numbers, 0, FLOATS);
    return numbers;
  }

  @Test
  void theFirstStateIsZero() {
    assertThat(read(states, 1)).containsExactly(0, 0, 0);
  }

  @Test
  void aStepThatIsNotCommittedChangesNothing() {
    step(states, 5);
    states.reserve();
    states.write(0, 0, new float[] {9, 9, 9}, 0, FLOATS);
    assertThat(read(states, 0)).containsExactly(5, 0, -5);
    assertThat(states.retainable(100)).isEqualTo(5);
  }

  @Test
  void aCutReturnsToACheckpoint() {
    step(states, 5);
    states.checkpoint(Checkpoint.TURN);
    step(states, 6);
    assertThat(states.retainable(6)).isEqualTo(6);
    assertThat(states.retainable(5)).isEqualTo(5);
    assertThat(states.retainable(4)).isZero();
    states.truncate(5);
    assertThat(read(states, 1)).containsExactly(5, 1, -5);
    assertThatThrownBy(() -> states.truncate(3)).isInstanceOf(IllegalArgumentException.class);
    states.truncate(0);
    assertThat(read(states, 1)).containsExactly(0, 0, 0);
  }

  @Test
  void theLastTurnsTheLastStepAndWholeIntervalsStay() {
    for (int position = 100; position <= 1000; position += 100) {
      step(states, position);
      states.checkpoint(position == 200 || position == 300 ? Checkpoint.TURN : Checkpoint.STEP);
      if (position == 500) {
        step(states, 512);
        states.checkpoint(Checkpoint.STEP);
      }
    }
    assertThat(states.retainable(999)).isEqualTo(512); // a multiple of the interval of 256
    assertThat(states.retainable(511)).isEqualTo(300);
    assertThat(states.retainable(299)).isEqualTo(200);
    assertThat(states.retainable(199)).isZero();
    assertThat(states.bytes()).isLessThanOrEqualTo(RecurrentStates.maxBytes(SHAPE, 1000, false));
  }

  @Test
  void checkpointsAreDroppedForTheMemoryOfAStep() {
    MemoryPool small = new MemoryPool(2 * BYTES);
    RecurrentStates tight = new RecurrentStates(SHAPE, small, false);
    step(tight, 1);
    tight.checkpoint(Checkpoint.TURN);
    step(tight, 2);
    tight.checkpoint(Checkpoint.TURN);
    assertThat(tight.retainable(1)).isEqualTo(1);
    step(tight, 3);
    assertThat(read(tight, 0)).containsExactly(3, 0, -3);
    assertThat(tight.retainable(2)).isZero();
    RecurrentStates fork = tight.fork();
    assertThatThrownBy(() -> step(fork, 4)).isInstanceOf(MemoryFullException.class);
    assertThat(read(fork, 0)).containsExactly(3, 0, -3);
    fork.close();
    step(tight, 4);
    assertThat(read(tight, 0)).containsExactly(4, 0, -4);
    tight.close();
    assertThat(small.usedBytes()).isZero();
  }

  @Test
  void storedStatesAreRead() {
    step(states, 5);
    states.checkpoint(Checkpoint.TURN);
    step(states, 9);
    ByteBuffer stored = stored();
    RecurrentStates restored =
        RecurrentStates.read(
            SHAPE, pool, false, 9, stored.duplicate().order(ByteOrder.LITTLE_ENDIAN));
    assertThat(read(restored, 1)).containsExactly(9, 1, -9);
    restored.truncate(restored.retainable(8));
    assertThat(read(restored, 1)).containsExactly(5, 1, -5);
    restored.close();
    states.close();
    assertThat(pool.usedBytes()).isZero();
  }

  @Test
  void statesOfAnotherLengthOrModelAreRejected() {
    step(states, 9);
    ByteBuffer stored = stored();
    assertThatThrownBy(() -> RecurrentStates.read(SHAPE, pool, false, 8, stored.rewind()))
        .isInstanceOf(InvalidInputException.class)
        .hasMessageContaining("has states of 9 tokens; it holds 8");
    CacheShape other = SHAPE.withState(new StateShape(1, FLOATS));
    assertThatThrownBy(() -> RecurrentStates.read(other, pool, false, 9, stored.rewind()))
        .isInstanceOf(InvalidInputException.class)
        .hasMessageContaining("has states of 2 layers with 3 numbers; this model has 1 with 3");
    stored.putInt(12, 0);
    assertThatThrownBy(() -> RecurrentStates.read(SHAPE, pool, false, 9, stored.rewind()))
        .isInstanceOf(InvalidInputException.class)
        .hasMessageContaining("at position 0");
    states.close();
    assertThat(pool.usedBytes()).isZero();
  }

  private ByteBuffer stored() {
    ByteBuffer out =
        ByteBuffer.allocate((int) states.serializedBytes()).order(ByteOrder.LITTLE_ENDIAN);
    states.write(out);
    return out.rewind();
  }
}
