package dev.kvasir.template;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A Python dictionary: insertion-ordered, and {@code 1}, {@code 1.0} and {@code True} are one key.
 */
final class Dict {
  record Entry(Object key, Object value) {}

  private enum None {
    KEY
  }

  private final Map<Object, Entry> entries = new LinkedHashMap<>();

  int size() {
    return entries.size();
  }

  boolean contains(Object key) {
    return entries.containsKey(hashed(key));
  }

  Object find(Object key, Object fallback) {
    var entry = entries.get(hashed(key));
    return entry == null ? fallback : entry.value;
  }

  void put(Object key, Object value) {
    entries.compute(
        hashed(key), (_, old) -> new Entry(old == null ? key : old.key, Markup.plain(value)));
  }

  void putAll(Dict other) {
    other.entries().forEach(entry -> put(entry.key, entry.value));
  }

  Object remove(Object key, Object fallback) {
    var entry = entries.remove(hashed(key));
    return entry == null ? fallback : entry.value;
  }

  void clear() {
    entries.clear();
  }

  List<Entry> entries() {
    return List.copyOf(entries.values());
  }

  List<Object> keys() {
    var keys = new ArrayList<>(entries.size());
    entries.values().forEach(entry -> keys.add(entry.key));
    return keys;
  }

  List<Object> values() {
    var values = new ArrayList<>(entries.size());
    entries.values().forEach(entry -> values.add(entry.value));
    return values;
  }

  List<Object> items() {
    var items = new ArrayList<>(entries.size());
    entries.values().forEach(entry -> items.add(Sequence.tuple(entry.key, entry.value)));
    return items;
  }

  private static Object hashed(Object key) {
    return switch (Markup.plain(key)) {
      case null -> None.KEY;
      case Boolean truth -> truth ? 1L : 0L;
      case Double number when number == Math.rint(number) && Math.abs(number) < 1L << 53 ->
          number.longValue();
      case Sequence tuple when tuple.kind() == Sequence.Kind.TUPLE ->
          tuple.elements().stream().map(Dict::hashed).toList();
      case Sequence list -> throw unhashable(list);
      case Dict dict -> throw unhashable(dict);
      case Object other -> other;
    };
  }

  private static EvaluationException unhashable(Object key) {
    return new EvaluationException(
        "a value of type " + PythonValues.typeName(key) + " cannot be a dictionary key");
  }
}
