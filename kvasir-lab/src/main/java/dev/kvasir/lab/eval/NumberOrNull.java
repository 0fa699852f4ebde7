package dev.kvasir.lab.eval;

import com.google.gson.TypeAdapter;
import com.google.gson.stream.JsonReader;
import com.google.gson.stream.JsonToken;
import com.google.gson.stream.JsonWriter;
import java.io.IOException;

/** JSON has no NaN and no infinity; both stand for a figure that could not be told. */
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
