/** What work of the lab takes, before it begins: operations, time, memory and disk. */
package dev.kvasir.lab.forecast;
