package dev.kvasir.chat;

import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

/** A Flight Recorder event for a request that waits for memory and is admitted or rejected. */
@Name("dev.kvasir.Admission")
@Label("Admission")
@Description("From the arrival of a request to the reservation of its memory")
@Category("Kvasir")
@StackTrace(false)
final class AdmissionEvent extends Event {
  @Label("Sequences")
  int sequences;

  @Label("Bytes")
  @Description("The most that its KV caches can take without a shared prefix")
  @DataAmount
  long bytes;

  @Label("Queued")
  @Description("Requests that still wait")
  int queued;

  @Label("Admitted")
  boolean isAdmitted;
}
