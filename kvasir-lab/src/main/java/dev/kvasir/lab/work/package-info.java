/**
 * The lab's work as independent tasks. A plan splits its work into {@link
 * dev.kvasir.lab.work.LabTask}s and combines their results with {@link
 * dev.kvasir.lab.work.TaskGroup}. A {@link dev.kvasir.lab.work.Runner} executes them, either {@link
 * dev.kvasir.lab.work.LocalRunner} in this process or one that a {@link
 * dev.kvasir.lab.work.RunnerProvider} opens on other machines. {@link
 * dev.kvasir.lab.work.WorkerContext} holds what tasks share. The package uses kvasir-core and the
 * lab's root package only.
 */
package dev.kvasir.lab.work;
