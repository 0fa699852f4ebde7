package dev.kvasir.cuda;

/** Told when a part of a step has been put into the stream. */
interface StepMarks {
  StepMarks NONE =
      new StepMarks() {
        @Override
        public void begin(Stream stream) {}

        @Override
        public void end(Stream stream, String part) {}
      };

  void begin(Stream stream);

  void end(Stream stream, String part);
}
