package dev.kvasir.cuda.engine;

import dev.kvasir.cuda.driver.CudaStream;

/** Called when a part of a step has been submitted to the stream. */
interface StepTimingListener {
  StepTimingListener NONE =
      new StepTimingListener() {
        @Override
        public void begin(CudaStream stream) {}

        @Override
        public void end(CudaStream stream, String part) {}
      };

  void begin(CudaStream stream);

  void end(CudaStream stream, String part);
}
