package dev.kvasir.cuda;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The parts of a step by the device's clock, within a graph: no launch waits for the host. */
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

  /** Of each part, all its occurrences together; the step has been waited for. */
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
