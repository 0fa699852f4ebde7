package dev.kvasir.spark;

import dev.kvasir.Model;
import dev.kvasir.lab.WorkListener;
import dev.kvasir.lab.work.Piece;
import dev.kvasir.lab.work.Runner;
import dev.kvasir.lab.work.Worksite;
import java.io.Serializable;
import java.util.List;
import java.util.Optional;
import org.apache.spark.api.java.JavaSparkContext;
import scala.jdk.javaapi.OptionConverters;

/**
 * Runs each piece as a job of its own, which has the piece's name on Spark's page. Spark runs a
 * piece again that was lost with its executor; others are not touched by that.
 */
final class SparkRunner implements Runner {
  private final JavaSparkContext spark;
  private final Model model;
  private final PieceTask task;
  private final Workforce workforce;
  private final Shipment shipment;

  /**
   * @param model the very one that pieces use where they run in this process
   */
  SparkRunner(
      JavaSparkContext spark, Model model, PieceTask task, Workforce workforce, Shipment shipment) {
    this.spark = spark;
    this.model = model;
    this.task = task;
    this.workforce = workforce;
    this.shipment = shipment;
  }

  /** Brings what pieces need to where they run. */
  void begin() {
    if (workforce.isLocal()) {
      ExecutorSites.lend(task.materials(), Worksite.of(model, workforce.taskCores()));
    } else if (task.shipped()) {
      shipment.add(task.materials());
      shipment.files().forEach(file -> spark.addFile(file.toString()));
    }
  }

  @Override
  public int sideBySide() {
    return workforce.places();
  }

  @Override
  public <R extends Serializable> boolean run(
      List<? extends Piece<? extends R>> pieces, WorkListener listener, Delivery<R> delivery) {
    if (pieces.isEmpty()) {
      return true;
    }
    requireMemory(pieces);
    return new PieceJobs<R>(spark, task, workforce, pieces, listener, delivery).run();
  }

  private void requireMemory(List<? extends Piece<?>> pieces) {
    if (!workforce.isLocal()) {
      long most = pieces.stream().mapToLong(piece -> piece.bytes(model)).max().orElse(0);
      new ExecutorMemory(model.weightBytes(), most, workforce.placesOfOne())
          .requireWithin(spark.getConf());
    }
  }

  @Override
  public Optional<String> page() {
    return OptionConverters.toJava(spark.sc().uiWebUrl());
  }

  @Override
  public void close() {
    try {
      spark.close();
    } finally {
      shipment.close();
      if (workforce.isLocal()) {
        ExecutorSites.takeBack(task.materials());
      }
    }
  }
}
