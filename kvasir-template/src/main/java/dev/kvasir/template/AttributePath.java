package dev.kvasir.template;

import java.util.ArrayList;
import java.util.List;

/** The {@code attribute} argument of a filter: {@code 'a.b'} or an index. */
record AttributePath(List<Object> steps) {
  static AttributePath of(Object attribute) {
    if (!(attribute instanceof String path)) {
      return new AttributePath(List.of(attribute));
    }
    var steps = new ArrayList<>();
    for (Object part : PythonStrings.split(path, ".", -1)) {
      String step = (String) part;
      boolean index = !step.isEmpty() && step.length() < 10;
      index &= step.chars().allMatch(c -> c >= '0' && c <= '9');
      steps.add(index ? (Object) Long.valueOf(step) : step);
    }
    return new AttributePath(steps);
  }

  Object of(Object element, RenderBudget budget) {
    Object value = element;
    for (Object step : steps) {
      value = Subscript.item(value, step, budget);
    }
    return value;
  }

  List<Object> of(List<Object> elements, RenderBudget budget) {
    var values = new ArrayList<>(elements.size());
    for (Object element : elements) {
      values.add(of(element, budget));
    }
    return values;
  }
}
