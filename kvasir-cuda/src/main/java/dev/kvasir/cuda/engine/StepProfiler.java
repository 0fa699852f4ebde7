package dev.kvasir.cuda.engine;

import dev.kvasir.cuda.driver.CudaEvent;
import dev.kvasir.cuda.driver.CudaStream;
import dev.kvasir.cuda.driver.Resources;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Times the parts of a step with device events inside a graph, so that no launch waits for the
 * host.
 */
final class StepProfiler implements StepTimingListener, AutoCloseable {
  private record Mark(String part, CudaEvent event) {}

  private final List<Mark> marks = new ArrayList<>();

  @Override
  public void begin(CudaStream stream) {
    end(stream, "");
  }

  @Override
  public void end(CudaStream stream, String part) {
    CudaEvent event = CudaEvent.open();
    marks.add(new Mark(part, event));
    event.recordInGraph(stream);
  }

  /** Returns the total microseconds of each part. The step must have completed. */
  Map<String, Double> micros() {
    Map<String, Double> sums = new LinkedHashMap<>();
    for (int i = 1; i < marks.size(); i++) {
      Mark mark = marks.get(i);
      if (!mark.part().isEmpty()) {
        double micros = mark.event().microsSince(marks.get(i - 1).event());
        sums.merge(mark.part(), micros, Double::sum);
      }
    }
    return sums;
  }

  @Override
  public void close() {
    Resources.closeAll(marks.stream().map(StepProfiler.Mark::event).toArray(AutoCloseable[]::new));
  }
}
