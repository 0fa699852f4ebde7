package dev.kvasir.kernel;

/**
 * A pool of threads that run the parts of a task together with the calling thread. A decoder step
 * submits about fifty tasks of a few microseconds each.
 *
 * <p>The pool serves one caller at a time. A second caller meanwhile runs its parts alone, which is
 * slower but gives the same result.
 */
public class WorkerPool implements AutoCloseable {
  /** A task made of independent parts. */
  public interface ParallelTask {
    /**
     * Runs one part.
     *
     * @param part index of the part; each part runs once
     * @param worker index of the running thread, below {@link WorkerPool#size()}; no two threads
     *     use the same index at the same time, so it can select scratch memory
     */
    void run(int part, int worker);
  }

  /** The maximum number of parts of a task. */
  public static final int MAX_PARTS = WorkerThreads.MAX_PARTS;

  private final WorkerThreads threads;

  public WorkerPool(int size) {
    this.threads = new WorkerThreads(size);
  }

  /** Creates a pool with the threads of another, which runs parts in another way. */
  protected WorkerPool(WorkerPool shared) {
    this.threads = shared.threads;
  }

  /** Returns the number of threads, including the caller. */
  public final int size() {
    return threads.size();
  }

  /** Runs every part and returns when all are done. Rethrows an exception that a part throws. */
  public void run(ParallelTask task, int parts) {
    threads.run(task, parts);
  }

  @Override
  public void close() {
    threads.close();
  }
}
