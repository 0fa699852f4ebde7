package dev.kvasir.cli.run;

import dev.kvasir.cli.terminal.FactSheet;
import dev.kvasir.cli.terminal.Units;
import dev.kvasir.format.GgmlType;
import dev.kvasir.format.Tensor;
import java.util.Collection;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** The tensors of a file: totals, by type, or one by one. */
record TensorList(Collection<Tensor> tensors) {
  long bytes() {
    return tensors.stream().mapToLong(tensor -> tensor.data().byteSize()).sum();
  }

  long values() {
    return tensors.stream().mapToLong(Tensor::values).sum();
  }

  void describeTypes(FactSheet sheet) {
    Map<GgmlType, TensorList> byType =
        tensors.stream()
            .collect(
                Collectors.groupingBy(
                    Tensor::type,
                    TreeMap::new,
                    Collectors.collectingAndThen(Collectors.toList(), TensorList::new)));
    byType.forEach(
        (type, list) ->
            sheet.line(
                "  " + type,
                "%s tensors, %s values, %s"
                    .formatted(
                        Units.count(list.tensors().size()),
                        Units.count(list.values()),
                        Units.bytes(list.bytes()))));
  }

  void describeEach(FactSheet sheet) {
    for (Tensor tensor : tensors) {
      sheet.line(
          "  " + tensor.type(),
          "%s  %s  %s"
              .formatted(tensor.name(), tensor.shapeText(), Units.bytes(tensor.data().byteSize())));
    }
  }
}
