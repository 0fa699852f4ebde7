/**
 * The tasks that show what a cache forgets, in the exact words that the bundled model was trained
 * on ({@code tools/reference-model/tasks.py}). The same seed makes the same tasks.
 */
package dev.kvasir.lab.task;
