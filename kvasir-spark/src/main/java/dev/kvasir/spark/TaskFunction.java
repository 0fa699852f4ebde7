package dev.kvasir.spark;

import dev.kvasir.error.InvalidInputException;
import dev.kvasir.lab.ProgressListener;
import dev.kvasir.lab.work.ArithmeticFingerprint;
import dev.kvasir.lab.work.LabTask;
import dev.kvasir.lab.work.TaskInput;
import dev.kvasir.lab.work.TaskInputs;
import dev.kvasir.lab.work.WorkCancelledException;
import dev.kvasir.lab.work.WorkerContext;
import java.nio.file.Path;
import org.apache.spark.SparkEnv;
import org.apache.spark.SparkFiles;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.function.Function;

/**
 * Runs a task on the executor that Spark chose.
 *
 * @param distributed whether input files were sent with the job
 * @param arithmetic fingerprint of the process that made the plan
 */
record TaskFunction(TaskInputs inputs, boolean distributed, int arithmetic)
    implements Function<LabTask<?>, TaskOutcome> {

  @Override
  public TaskOutcome call(LabTask<?> task) {
    TaskContext taskContext = TaskContext.get();
    try {
      return ExecutorContexts.runWith(
          inputs,
          () -> open(taskContext),
          context -> new TaskOutcome.Done(task.run(context, cancelledBy(taskContext))));
    } catch (InvalidInputException e) {
      return new TaskOutcome.Refused(e.getMessage());
    } catch (WorkCancelledException e) {
      return new TaskOutcome.Cancelled();
    }
  }

  private ProgressListener cancelledBy(TaskContext taskContext) {
    return new ProgressListener() {
      @Override
      public void progress(double done, double total) {}

      @Override
      public boolean isCancelled() {
        return taskContext.isInterrupted() || ExecutorContexts.isClosing(inputs);
      }
    };
  }

  private WorkerContext open(TaskContext taskContext) {
    String host = SparkEnv.get().blockManager().blockManagerId().host();
    if (ArithmeticFingerprint.compute() != arithmetic) {
      throw new InvalidInputException(
          "%s adds in another order than where the work was planned, because its vectors are of"
                  .formatted(host)
              + " another width; expected machines of one kind");
    }
    inputs.all().forEach(input -> input.verifyAt(place(input), host));
    return WorkerContext.open(inputs, this::place, taskContext.cpus());
  }

  /** Distributed files are siblings, so the folder of a model is Spark's root folder. */
  private Path place(TaskInput input) {
    if (!distributed) {
      return Path.of(input.path());
    }
    return input.folder()
        ? Path.of(SparkFiles.getRootDirectory())
        : Path.of(SparkFiles.get(input.name()));
  }
}
