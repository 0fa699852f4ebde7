package dev.kvasir.cache;

import dev.kvasir.cache.KvCache.Checkpoint;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.SnapshotHeader;
import dev.kvasir.codec.StateShape;
import dev.kvasir.memory.CopyOnWriteMemory;
import dev.kvasir.memory.MemoryFullException;
import dev.kvasir.memory.MemoryPool;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Set;

/**
 * The recurrent states of one sequence: the states of all recurrent layers at its length, and those
 * at some earlier positions, its checkpoints. A state cannot be computed backwards, so a sequence
 * can be cut only at a checkpoint.
 *
 * <p>States never change once they are committed. A step reads the current ones and writes others,
 * which replace them when it is committed. Checkpoints and forks therefore share memory.
 *
 * <pre>
 * layer 0 | layer 1 | ... , each of {@link StateShape#floats} 32-bit floats
 * </pre>
 */
public final class RecurrentStates {
  private static final ValueLayout.OfFloat FLOAT =
      ValueLayout.JAVA_FLOAT.withOrder(ByteOrder.LITTLE_ENDIAN);

  /** Positions between the ends of prefill steps, where checkpoints may stay for good. */
  private static final int STEP = 256;

  /** How many of the last checkpoints of turns are retained: the begin and end of a prompt. */
  private static final int TURNS = StateShape.RECENT - 3;

  /** The interval of a sequence with a budget, which has no memory for checkpoints that stay. */
  private static final int NEVER = Integer.MAX_VALUE;

  private record Saved(int position, Checkpoint kind, CopyOnWriteMemory memory) {}

  private final StateShape shape;
  private final MemoryPool pool;
  private final int interval;
  private final List<Saved> checkpoints = new ArrayList<>(); // by position
  private int length;
  private CopyOnWriteMemory current; // null at position 0, where all numbers are 0
  private CopyOnWriteMemory next; // what a step writes; null until it is reserved
  private boolean isWritten; // whether a step has written the next states

  /**
   * @param hasBudget whether the sequence has a budget, which then leaves memory for recent
   *     checkpoints only
   */
  RecurrentStates(CacheShape shape, MemoryPool pool, boolean hasBudget) {
    this(shape.state(), pool, hasBudget ? NEVER : interval(shape));
  }

  private RecurrentStates(StateShape shape, MemoryPool pool, int interval) {
    this.shape = shape;
    this.pool = pool;
    this.interval = interval;
  }

  /**
   * Returns the distance of checkpoints that stay: so many steps that a checkpoint takes no more
   * memory than the 16-bit keys and values between two of them.
   */
  private static int interval(CacheShape shape) {
    long ofStep = Math.max(1, STEP * shape.valuesPerToken() * Short.BYTES);
    return (int) Math.min(1 << 22, Math.ceilDiv(shape.state().bytes(), ofStep)) * STEP;
  }

  /** Returns the most bytes of a sequence's states up to a number of tokens. */
  static long maxBytes(CacheShape shape, int tokens, boolean hasBudget) {
    if (shape.state().isEmpty() || tokens == 0) {
      return 0;
    }
    int stay = hasBudget ? 0 : tokens / interval(shape);
    return shape.state().recentBytes() + stay * shape.state().bytes();
  }

  public StateShape shape() {
    return shape;
  }

  /**
   * Reserves memory for the states that a step writes. Checkpoints are dropped if there is no other
   * memory.
   *
   * @throws MemoryFullException if there is none even then
   */
  void reserve() {
    isWritten = false;
    if (next != null) {
      return;
    }
    try {
      next = new CopyOnWriteMemory(shape.bytes(), pool);
    } catch (MemoryFullException e) {
      if (checkpoints.isEmpty()) {
        throw e;
      }
      dropCheckpoints(0);
      next = new CopyOnWriteMemory(shape.bytes(), pool);
    }
  }

  /** Reads numbers of a layer's committed state, from {@code from} on. */
  public void read(int layer, int from, float[] to, int at, int count) {
    if (current == null) {
      Arrays.fill(to, at, at + count, 0);
    } else {
      MemorySegment.copy(current.bytes(), FLOAT, offset(layer, from), to, at, count);
    }
  }

  /** Writes numbers of the state that a layer has after the step; every number is written once. */
  public void write(int layer, int to, float[] from, int at, int count) {
    MemorySegment.copy(from, at, next.bytes(), FLOAT, offset(layer, to), count);
    isWritten = true;
  }

  private long offset(int layer, int index) {
    return ((long) layer * shape.floats() + index) * Float.BYTES;
  }

  /** Makes the written states those of a length. */
  void commit(int newLength) {
    if (!isWritten) {
      return; // only keys and values were filled; the states are copied at their end
    }
    CopyOnWriteMemory before = current;
    current = next;
    next = null;
    isWritten = false;
    length = newLength;
    if (before != null && before.isShared()) {
      before.release();
    } else {
      next = before;
    }
  }

  /** Returns the largest position up to {@code wanted} whose states are known. */
  int retainable(int wanted) {
    if (wanted >= length) {
      return length;
    }
    int found = 0;
    for (Saved saved : checkpoints) {
      found = saved.position <= wanted ? saved.position : found;
    }
    return found;
  }

  /**
   * Returns to a position that {@link #retainable} has returned, and forgets all that follow it.
   */
  void truncate(int position) {
    isWritten = false;
    if (position == length) {
      return;
    }
    CopyOnWriteMemory found = null;
    for (Saved saved : checkpoints) {
      found = saved.position == position ? saved.memory : found;
    }
    if (position > 0 && found == null) {
      throw new IllegalArgumentException("no states are known at position %d".formatted(position));
    }
    releaseIfAny(current);
    current = found == null ? null : found.retain();
    length = position;
    dropCheckpoints(position + 1);
  }

  private void dropCheckpoints(int from) {
    for (Iterator<Saved> all = checkpoints.iterator(); all.hasNext(); ) {
      Saved saved = all.next();
      if (saved.position >= from) {
        saved.memory.release();
        all.remove();
      }
    }
  }

  /** Retains the states at the current length. */
  void checkpoint(Checkpoint kind) {
    if (current == null) {
      return;
    }
    boolean isKnown = !checkpoints.isEmpty() && checkpoints.getLast().position == length;
    Checkpoint both =
        isKnown && checkpoints.getLast().kind == Checkpoint.TURN ? Checkpoint.TURN : kind;
    if (isKnown) {
      checkpoints.removeLast().memory.release();
    }
    checkpoints.add(new Saved(length, both, current.retain()));
    thinOut();
  }

  /** Drops all but the last step, the last turns and the positions at whole intervals. */
  private void thinOut() {
    int steps = 0;
    int turns = 0;
    for (int i = checkpoints.size() - 1; i >= 0; i--) {
      Saved saved = checkpoints.get(i);
      boolean isRecent = saved.kind == Checkpoint.TURN ? turns++ < TURNS : steps++ < 1;
      if (!isRecent && saved.position % interval != 0) {
        saved.memory.release();
        checkpoints.remove(i);
      }
    }
  }

  /** Returns the states of another sequence with the same past. */
  RecurrentStates fork() {
    RecurrentStates fork = new RecurrentStates(shape, pool, interval);
    fork.copyFrom(this);
    return fork;
  }

  /** Takes over the states and checkpoints of another sequence of the same model. */
  void copyFrom(RecurrentStates other) {
    releaseIfAny(current);
    dropCheckpoints(0);
    current = other.current == null ? null : other.current.retain();
    length = other.length;
    isWritten = false;
    for (Saved saved : other.checkpoints) {
      checkpoints.add(new Saved(saved.position, saved.kind, saved.memory.retain()));
    }
  }

  /** Returns the allocated bytes, those shared with other sequences included. */
  long bytes() {
    Set<CopyOnWriteMemory> distinct = new HashSet<>();
    checkpoints.forEach(saved -> distinct.add(saved.memory));
    if (current != null) {
      distinct.add(current);
    }
    if (next != null) {
      distinct.add(next);
    }
    return distinct.size() * shape.bytes();
  }

  private static void releaseIfAny(CopyOnWriteMemory memory) {
    if (memory != null) {
      memory.release();
    }
  }

  void close() {
    releaseIfAny(current);
    releaseIfAny(next);
    current = null;
    next = null;
    length = 0;
    dropCheckpoints(0);
  }

  /**
   * The states in serialized form, without the checkpoints at whole intervals:
   *
   * <pre>
   * u32     layers
   * u32     n, numbers of a layer
   * u32     m, states; the last one is that of the length
   * for each: u32 position, u8 kind of checkpoint, f32 (layers, n)
   * </pre>
   */
  long serializedBytes() {
    return 3L * Integer.BYTES + stored().size() * (Integer.BYTES + 1 + shape.bytes());
  }

  void write(ByteBuffer out) {
    List<Saved> stored = stored();
    out.putInt(shape.layers()).putInt(shape.floats()).putInt(stored.size());
    for (Saved saved : stored) {
      out.putInt(saved.position).put((byte) saved.kind.ordinal());
      out.put(saved.memory.bytes().asByteBuffer());
    }
  }

  /** Returns the last checkpoints and the current states. */
  private List<Saved> stored() {
    int from = Math.max(0, checkpoints.size() - TURNS - 1);
    List<Saved> stored = new ArrayList<>(checkpoints.subList(from, checkpoints.size()));
    if (current != null) {
      stored.add(new Saved(length, Checkpoint.STEP, current));
    }
    return stored;
  }

  /**
   * Reads serialized states.
   *
   * @param wanted the length of the sequence
   * @throws MemoryFullException if the pool has too little memory
   */
  static RecurrentStates read(
      CacheShape shape, MemoryPool pool, boolean hasBudget, int wanted, ByteBuffer in) {
    RecurrentStates states = new RecurrentStates(shape, pool, hasBudget);
    int layers = in.getInt();
    int floats = in.getInt();
    if (layers != shape.state().layers() || floats != shape.state().floats()) {
      throw SnapshotHeader.STATES.invalid(
          "has states of %d layers with %d numbers; this model has %d with %d"
              .formatted(layers, floats, shape.state().layers(), shape.state().floats()));
    }
    int count = in.getInt();
    long each = Integer.BYTES + 1 + shape.state().bytes();
    SnapshotHeader.STATES.requireRemaining(in, count * each);
    try {
      for (int i = 0; i < count; i++) {
        states.readOne(in, i == count - 1);
      }
      if (states.length != wanted) {
        throw SnapshotHeader.STATES.invalid(
            "has states of %d tokens; it holds %d".formatted(states.length, wanted));
      }
      return states;
    } catch (RuntimeException | Error e) {
      states.close();
      throw e;
    }
  }

  private void readOne(ByteBuffer in, boolean isLast) {
    int position = SnapshotHeader.STATES.readPosition(in);
    int kind = in.get();
    int before = checkpoints.isEmpty() ? 0 : checkpoints.getLast().position;
    if (position == 0
        || kind < 0
        || kind >= Checkpoint.values().length
        || position < before
        || position == before && !isLast) {
      throw SnapshotHeader.STATES.invalid(
          "has a state of kind %d at position %d after one at %d"
              .formatted(kind, position, before));
    }
    CopyOnWriteMemory memory = new CopyOnWriteMemory(shape.bytes(), pool);
    memory.bytes().asByteBuffer().put(in.slice(in.position(), (int) shape.bytes()));
    in.position(in.position() + (int) shape.bytes());
    if (isLast) {
      current = memory;
      length = position;
    } else {
      checkpoints.add(new Saved(position, Checkpoint.values()[kind], memory));
    }
  }
}
