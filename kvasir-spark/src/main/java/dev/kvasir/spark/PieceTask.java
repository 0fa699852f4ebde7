package dev.kvasir.spark;

import dev.kvasir.error.InvalidInputException;
import dev.kvasir.lab.WorkListener;
import dev.kvasir.lab.work.Arithmetic;
import dev.kvasir.lab.work.Material;
import dev.kvasir.lab.work.Materials;
import dev.kvasir.lab.work.Piece;
import dev.kvasir.lab.work.Stopped;
import dev.kvasir.lab.work.Worksite;
import java.nio.file.Path;
import org.apache.spark.SparkEnv;
import org.apache.spark.SparkFiles;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.function.Function;

/**
 * Runs a piece where Spark has put it.
 *
 * @param shipped whether materials came with the job
 * @param arithmetic the mark of the process that made the plan
 */
record PieceTask(Materials materials, boolean shipped, int arithmetic)
    implements Function<Piece<?>, Outcome> {

  @Override
  public Outcome call(Piece<?> piece) {
    TaskContext task = TaskContext.get();
    try {
      return ExecutorSites.at(
          materials, () -> open(task), site -> new Outcome.Done(piece.run(site, until(task))));
    } catch (InvalidInputException e) {
      return new Outcome.Refused(e.getMessage());
    } catch (Stopped e) {
      return new Outcome.Left();
    }
  }

  private WorkListener until(TaskContext task) {
    return new WorkListener() {
      @Override
      public void progress(double done, double inAll) {}

      @Override
      public boolean stopped() {
        return task.isInterrupted() || ExecutorSites.isWantedBack(materials);
      }
    };
  }

  private Worksite open(TaskContext task) {
    String host = SparkEnv.get().blockManager().blockManagerId().host();
    if (Arithmetic.mark() != arithmetic) {
      throw new InvalidInputException(
          "%s adds in another order than where the work was planned, because its vectors are of"
                  .formatted(host)
              + " another width; expected machines of one kind");
    }
    materials.all().forEach(material -> material.requireAt(place(material), host));
    return Worksite.open(materials, this::place, task.cpus());
  }

  /** Files that were sent lie side by side, so their folder is that of a model's folder too. */
  private Path place(Material material) {
    if (!shipped) {
      return Path.of(material.path());
    }
    return material.folder()
        ? Path.of(SparkFiles.getRootDirectory())
        : Path.of(SparkFiles.get(material.name()));
  }
}
