/**
 * Synthetic tasks that test the memory of a cache, in the wording that the bundled model was
 * trained on ({@code tools/reference-model/tasks.py}). The same seed produces the same tasks.
 * {@link dev.kvasir.lab.task.Needles} and {@link dev.kvasir.lab.task.Records} create retrieval
 * documents, {@link dev.kvasir.lab.task.Chain} register programs, and {@link
 * dev.kvasir.lab.task.WordProblem} reads questions from a file. The package uses kvasir-core's
 * exceptions only.
 */
package dev.kvasir.lab.task;
