package dev.kvasir.lab.eval;

import com.google.gson.TypeAdapter;
import com.google.gson.stream.JsonReader;
import com.google.gson.stream.JsonToken;
import com.google.gson.stream.JsonWriter;
import java.io.IOException;

/** Writes NaN and infinities, which JSON lacks, as null and reads null as NaN. */
final class NumberOrNull extends TypeAdapter<Double> {
  static final NumberOrNull ADAPTER = new NumberOrNull();

  private NumberOrNull() {}

  @Override
  public void write(JsonWriter out, Double value) throws IOException {
    if (value != null && Double.isFinite(value)) {
      out.value(value);
    } else {
      out.nullValue();
    }
  }

  @Override
  public Double read(JsonReader in) throws IOException {
    if (in.peek() == JsonToken.NULL) {
      in.nextNull();
      return Double.NaN;
    }
    return in.nextDouble();
  }
}
