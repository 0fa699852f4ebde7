/**
 * Runs lab tasks on Apache Spark. {@link dev.kvasir.spark.SparkRunnerProvider} connects to a master
 * and opens a {@code SparkRunner}, which submits each {@link dev.kvasir.lab.work.LabTask} as a job.
 * {@code Cluster} tracks the executors. The package uses dev.kvasir.lab.work and kvasir-core. No
 * other part of Kvasir depends on Spark.
 */
package dev.kvasir.spark;
